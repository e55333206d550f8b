// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Calls of the ONNX library: what they throw becomes a message.
#ifndef ADZE_LIB_IMPORT_ONNX_GUARDED_H
#define ADZE_LIB_IMPORT_ONNX_GUARDED_H

#include "llvm/ADT/StringRef.h"
#include <exception>
#include <optional>
#include <string>

namespace adze::importer {

/// Runs `body`; what it throws becomes a message. The only catch.
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

/// A message of ONNX's in our grammar: one line, lower case, no full stop.
std::string tidy(llvm::StringRef message);

} // namespace adze::importer

#endif // ADZE_LIB_IMPORT_ONNX_GUARDED_H
