// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Makes a small copy of a mapped .onnx file, in which large tensor data is
// replaced by its position in the file.
#ifndef ADZE_LIB_IMPORT_ONNX_WIRE_H
#define ADZE_LIB_IMPORT_ONNX_WIRE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <optional>
#include <string>

namespace adze::importer {

/// An error in the bytes, and its position.
struct WireError {
  uint64_t offset = 0;
  std::string message;
};

/// Tensor data of more bytes stays in the file.
constexpr uint64_t kInlineBytes = 1024;

/// Returns a protobuf-encoded ModelProto without documentation, with raw_data
/// of every TensorProto rewritten (see RawData); packed float_data and
/// double_data over kInlineBytes become raw_data, too. Returns nothing if the
/// bytes are not a well-formed model; no bytes after the end are read.
std::optional<std::string> makeSkeleton(llvm::ArrayRef<uint8_t> file,
                                        WireError &error);

/// raw_data in a skeleton: the bytes themselves, or their position in the file.
struct RawData {
  bool inFile = false;
  llvm::StringRef bytes;
  uint64_t offset = 0, size = 0;

  static std::optional<RawData> decode(llvm::StringRef rawData);
};

/// Returns a description of a file that is not an ONNX model, and a remedy, or
/// an empty string.
llvm::StringRef describeForeignFile(llvm::StringRef bytes);

} // namespace adze::importer

#endif // ADZE_LIB_IMPORT_ONNX_WIRE_H
