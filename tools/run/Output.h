// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Output of tools without LLVM: files that are written completely or not at
// all, and standard output.

#ifndef ADZE_TOOLS_RUN_OUTPUT_H
#define ADZE_TOOLS_RUN_OUTPUT_H

#include "Tensor.h"

#include <string_view>

namespace adze::run {

/// Writes a temporary file in the same directory, and renames it when it is
/// complete. On failure or a signal, it is removed. A device or a pipe is
/// written in place.
Error writeBytes(const std::string &path, std::string_view bytes);
inline Error writeBytes(const std::string &path, const Bytes &bytes) {
  return writeBytes(
      path, std::string_view(reinterpret_cast<const char *>(bytes.data()),
                             bytes.size()));
}

/// Turns closed pipes and exceeded file size limits into errors of the write
/// instead of signals.
void prepareOutputs();

/// Flushes standard output; returns the error of any failed write.
Error finishStandardOutput();

} // namespace adze::run

#endif // ADZE_TOOLS_RUN_OUTPUT_H
