// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// One op of the graph dialect as one ONNX node.
#ifndef ADZE_LIB_EXPORT_ONNX_NODEWRITER_H
#define ADZE_LIB_EXPORT_ONNX_NODEWRITER_H

#include "Dialect/Graph/IR/Graph.h"
#include "Proto.h"

namespace adze::exporter {

/// ONNX's number of an element type; 0 if it has none here.
int getDataType(mlir::Type elementType);

/// What a node needs beside itself: names of values, small constants.
class NodeContext {
public:
  virtual ~NodeContext() = default;
  virtual llvm::StringRef getName(mlir::Value value) = 0;
  /// The name of an i64 initialiser: of rank 1, or a scalar.
  virtual std::string makeInts(llvm::ArrayRef<int64_t> values,
                               bool isScalar = false) = 0;
  /// The name of an f32 initialiser of rank 1.
  virtual std::string makeFloats(llvm::ArrayRef<double> values) = 0;
};

/// The node of `op`, with inputs and attributes; without outputs and a name.
/// None, with an error that says "unsupported", where ONNX has none.
mlir::FailureOr<Node> writeNode(mlir::Operation *op, NodeContext &context);

} // namespace adze::exporter

#endif // ADZE_LIB_EXPORT_ONNX_NODEWRITER_H
