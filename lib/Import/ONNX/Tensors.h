// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Converts the tensors of a model to constants, which are #graph.blob if they
// are large.
#ifndef ADZE_LIB_IMPORT_ONNX_TENSORS_H
#define ADZE_LIB_IMPORT_ONNX_TENSORS_H

#include "Model.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/Support/MemoryBuffer.h"

namespace adze::importer {

/// Returns the graph element type of a TensorProto.DataType, or null.
mlir::Type getElementType(mlir::MLIRContext *context, int dataType);

/// Returns the TensorProto.DataType of an element type, or 0.
int getDataType(mlir::Type elementType);

/// Returns the supported types, one bit for each.
uint32_t getSupportedTypes();

/// Returns "f32", or "data_type 99".
std::string describeDataType(int dataType);

/// Maps a regular file. Returns null, with the reason in `error`, on failure.
std::unique_ptr<llvm::MemoryBuffer> mapFile(llvm::StringRef path,
                                            std::string &error);

class Tensors {
public:
  /// `file` is the mapping of `contents`, the file with the bytes of the model
  /// at `path`.
  Tensors(mlir::MLIRContext *context, llvm::StringRef path,
          llvm::StringRef contents, llvm::ArrayRef<char> file)
      : context(context), path(path), contents(contents), file(file) {}

  /// Returns an error of a tensor, or an empty string. Reads no elements.
  std::string check(const TensorData &tensor);

  /// Returns true if both are valid, of one type, and have the same bytes.
  bool areEqual(const TensorData &lhs, const TensorData &rhs);

  /// Returns the elements, or null with the reason in `error`.
  mlir::ElementsAttr get(const TensorData &tensor, std::string &error);

  /// Returns the index of a string in the initial table of strings.
  int64_t intern(llvm::StringRef text);
  llvm::ArrayRef<std::string> getStrings() const { return strings; }

private:
  /// The location of the elements: bytes in memory, and a file with an offset
  /// unless they are in the protobuf of the model.
  struct Source {
    llvm::ArrayRef<char> bytes;
    std::string file;
    uint64_t offset = 0;
  };
  struct External {
    std::string path, error;
    std::unique_ptr<llvm::MemoryBuffer> buffer;
  };

  const External &open(llvm::StringRef location);
  std::string find(const TensorData &tensor, mlir::RankedTensorType &type,
                   Source &source);
  mlir::ElementsAttr getDense(mlir::RankedTensorType type,
                              llvm::ArrayRef<char> bytes);

  mlir::MLIRContext *context;
  std::string path, contents;
  llvm::ArrayRef<char> file;
  llvm::StringMap<External> externals;
  /// The first string is always "".
  std::vector<std::string> strings{""};
  llvm::StringMap<int64_t> numbers{{"", 0}};
};

} // namespace adze::importer

#endif // ADZE_LIB_IMPORT_ONNX_TENSORS_H
