// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Calls of the ONNX library, whose exceptions become messages.
#ifndef ADZE_LIB_IMPORT_ONNX_GUARDED_H
#define ADZE_LIB_IMPORT_ONNX_GUARDED_H

#include "llvm/ADT/StringRef.h"
#include <exception>
#include <optional>
#include <string>

namespace adze::importer {

/// Runs `body`, and converts exceptions to messages. This is the only catch.
template <typename Body>
std::optional<std::string> guarded(Body body) {
  try {
    body();
    return std::nullopt;
  } catch (const std::exception &e) {
    return std::string(e.what());
  } catch (...) {
    return std::string("unknown exception");
  }
}

/// Converts a message of ONNX to the grammar of our diagnostics: one line,
/// lower case, no full stop.
std::string tidy(llvm::StringRef message);

} // namespace adze::importer

#endif // ADZE_LIB_IMPORT_ONNX_GUARDED_H
