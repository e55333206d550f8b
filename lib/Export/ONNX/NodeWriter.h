// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Writes one op of the graph dialect as ONNX nodes.
#ifndef ADZE_LIB_EXPORT_ONNX_NODEWRITER_H
#define ADZE_LIB_EXPORT_ONNX_NODEWRITER_H

#include "Dialect/Graph/IR/Graph.h"
#include "Proto.h"

namespace adze::exporter {

/// Returns the ONNX number of an element type, or 0 if the exported opset has
/// none.
int getDataType(mlir::Type elementType);

/// The model that nodes are added to: names of values, small constants, and
/// nodes that compute an operand of another node.
class NodeContext {
public:
  virtual ~NodeContext() = default;
  virtual llvm::StringRef getName(mlir::Value value) = 0;
  /// Returns a name that no other value has.
  virtual std::string makeName(llvm::StringRef wanted) = 0;
  /// Returns the name of an i64 initializer: of rank 1, or a scalar.
  virtual std::string makeInts(llvm::ArrayRef<int64_t> values,
                               bool isScalar = false) = 0;
  /// Returns the name of an initializer: `wanted`, or a name derived from it.
  virtual std::string makeConstant(mlir::DenseElementsAttr elements,
                                   llvm::StringRef wanted) = 0;
  /// Returns the name of an f32 initializer of rank 1.
  virtual std::string makeFloats(llvm::ArrayRef<double> values) = 0;
  /// Returns the name of a scalar initializer of a floating-point type.
  virtual std::string makeScalar(mlir::Type elementType, double value) = 0;
  /// Adds a node with one result and returns the name of the result.
  virtual std::string addNode(Node node, llvm::StringRef wanted) = 0;
  /// Returns the name of an i64 tensor of rank 1 that holds the expressions, or
  /// failure, without a message, if a symbol has no source.
  virtual mlir::FailureOr<std::string>
  makeSizes(llvm::ArrayRef<mlir::AffineExpr> sizes) = 0;
};

/// Returns the node of `op`, with inputs and attributes, without outputs and a
/// name. Additional nodes are added to `context`. Fails with an "unsupported"
/// error if ONNX has no such operator.
mlir::FailureOr<Node> writeNode(mlir::Operation *op, NodeContext &context);

} // namespace adze::exporter

#endif // ADZE_LIB_EXPORT_ONNX_NODEWRITER_H
