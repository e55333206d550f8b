// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// From the tensors of a model to constants: #graph.blob where they are large.
#ifndef ADZE_LIB_IMPORT_ONNX_TENSORS_H
#define ADZE_LIB_IMPORT_ONNX_TENSORS_H

#include "Model.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/Support/MemoryBuffer.h"

namespace adze::importer {

/// The graph element type of a TensorProto.DataType; null if there is none.
mlir::Type getElementType(mlir::MLIRContext *context, int dataType);

/// The inverse; 0 if there is none.
int getDataType(mlir::Type elementType);

/// Those that have one, a bit for each.
uint32_t getSupportedTypes();

/// "f32", or "data_type 99".
std::string describeDataType(int dataType);

/// Maps a regular file; null, with the reason in `error`, if that fails.
std::unique_ptr<llvm::MemoryBuffer> mapFile(llvm::StringRef path,
                                            std::string &error);

class Tensors {
public:
  /// `file` is what is mapped of `contents`, the file with the bytes of the
  /// model at `path`.
  Tensors(mlir::MLIRContext *context, llvm::StringRef path,
          llvm::StringRef contents, llvm::ArrayRef<char> file)
      : context(context), path(path), contents(contents), file(file) {}

  /// What is wrong with a tensor; empty if nothing. Reads no elements.
  std::string check(const TensorData &tensor);

  /// Whether both are without fault, of one type and have the same bytes.
  bool areEqual(const TensorData &lhs, const TensorData &rhs);

  /// The elements; null, with the reason in `error`, if they cannot be had.
  mlir::ElementsAttr get(const TensorData &tensor, std::string &error);

  /// The number of a string in the table that the run begins with.
  int64_t intern(llvm::StringRef text);
  llvm::ArrayRef<std::string> getStrings() const { return strings; }

private:
  /// Where the elements are: bytes in memory, and a file with an offset unless
  /// they are in the model's protobuf.
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
