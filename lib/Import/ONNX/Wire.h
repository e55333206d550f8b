// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The wire format of a mapped .onnx file: makes a small copy of the model in
// which large tensor data is replaced by its place in the file.
#ifndef ADZE_LIB_IMPORT_ONNX_WIRE_H
#define ADZE_LIB_IMPORT_ONNX_WIRE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <optional>
#include <string>

namespace adze::importer {

/// What is wrong with the bytes, and where.
struct WireError {
  uint64_t offset = 0;
  std::string message;
};

/// Tensor data of more bytes than this stays in the file.
constexpr uint64_t kInlineBytes = 1024;

/// A protobuf-encoded ModelProto without documentation and with every
/// TensorProto's raw_data rewritten (see RawData); packed float_data and
/// double_data over kInlineBytes become raw_data too. None if the bytes are not
/// a well-formed model: nothing is read past the end whatever they hold.
std::optional<std::string> makeSkeleton(llvm::ArrayRef<uint8_t> file,
                                        WireError &error);

/// raw_data as it stands in a skeleton: either the bytes themselves or where
/// they are in the file.
struct RawData {
  bool inFile = false;
  llvm::StringRef bytes;
  uint64_t offset = 0, size = 0;

  static std::optional<RawData> decode(llvm::StringRef rawData);
};

/// What a file is that is no ONNX model, and what to do; empty if that is not
/// known.
llvm::StringRef describeForeignFile(llvm::StringRef bytes);

} // namespace adze::importer

#endif // ADZE_LIB_IMPORT_ONNX_WIRE_H
