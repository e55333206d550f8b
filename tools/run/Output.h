// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// What tools without LLVM write: files that are whole or absent, and standard
// output.

#ifndef ADZE_TOOLS_RUN_OUTPUT_H
#define ADZE_TOOLS_RUN_OUTPUT_H

#include "Tensor.h"

#include <string_view>

namespace adze::run {

/// Writes a file: to a temporary one in the same directory, which is renamed
/// when all bytes are on it. Otherwise, and on a signal, nothing is left. A
/// device or a pipe is written in place.
Error writeBytes(const std::string &path, std::string_view bytes);
inline Error writeBytes(const std::string &path, const Bytes &bytes) {
  return writeBytes(
      path, std::string_view(reinterpret_cast<const char *>(bytes.data()),
                             bytes.size()));
}

/// Makes closed pipes and limits of file sizes errors of the writes, not
/// signals.
void prepareOutputs();

/// Flushes standard output; the reason if anything was lost.
Error finishStandardOutput();

} // namespace adze::run

#endif // ADZE_TOOLS_RUN_OUTPUT_H
