// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Writes expressions of symbols as ONNX nodes that compute them.
#ifndef ADZE_LIB_EXPORT_ONNX_SIZEWRITER_H
#define ADZE_LIB_EXPORT_ONNX_SIZEWRITER_H

#include "NodeWriter.h"
#include "llvm/ADT/DenseMap.h"

namespace adze::exporter {

class SizeWriter {
public:
  explicit SizeWriter(NodeContext &context) : context(context) {}

  /// Makes the shape of the value the source of each symbol that is a dim of it
  /// and has no source yet.
  void addSource(mlir::Value value);
  /// Makes element `index` of an i64 tensor of rank 1 the source of the symbol.
  void addSource(unsigned symbol, mlir::Value tensor, int64_t index);
  /// Makes an expression of symbols with sources the source of the symbol.
  void addSource(unsigned symbol, mlir::AffineExpr value);

  /// Returns the name of an i64 tensor of rank 1 that holds the expressions;
  /// fails if a symbol has no source.
  mlir::FailureOr<std::string> write(llvm::ArrayRef<mlir::AffineExpr> sizes);

private:
  mlir::FailureOr<std::string> writeOne(mlir::AffineExpr expr);
  mlir::FailureOr<std::string> writeSymbol(unsigned symbol);
  mlir::FailureOr<std::string> writeBinary(mlir::AffineBinaryOpExpr expr);
  std::string add(llvm::StringRef op, llvm::ArrayRef<std::string> inputs);

  /// A dim of a value, an element of a value, or an expression.
  struct Source {
    mlir::Value dimOf, elementOf;
    int64_t index = 0;
    mlir::AffineExpr expr;
  };
  NodeContext &context;
  llvm::DenseMap<unsigned, Source> sources;
  /// Names of tensors of one element.
  llvm::DenseMap<mlir::AffineExpr, std::string> written;
};

} // namespace adze::exporter

#endif // ADZE_LIB_EXPORT_ONNX_SIZEWRITER_H
