// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The forms of ops: one function each, in the file of its family.
#ifndef ADZE_LIB_EXPORT_ONNX_WRITER_H
#define ADZE_LIB_EXPORT_ONNX_WRITER_H

#include "Dialect/Graph/IR/Shape.h"
#include "NodeWriter.h"

namespace adze::exporter {

/// Writes one op; each form has a function.
class Writer {
public:
  Writer(mlir::Operation *op, NodeContext &context)
      : op(op), context(context) {}

  mlir::FailureOr<Node> run();

private:
  mlir::InFlightDiagnostic unsupported() {
    return op->emitError("unsupported: no ONNX operator for '")
           << op->getName() << "'";
  }
  void addOperands(Node &node) {
    for (mlir::Value operand : op->getOperands())
      node.input(context.getName(operand));
  }
  void addAttributes(Node &node);
  /// Adds a node with named inputs and no attributes, and returns the name of
  /// its result.
  std::string add(llvm::StringRef name, llvm::ArrayRef<std::string> inputs);
  Node make(llvm::StringRef name, llvm::ArrayRef<std::string> inputs);
  /// Calls NodeContext::makeSizes, and emits a message on failure.
  mlir::FailureOr<std::string>
  makeSizes(llvm::ArrayRef<mlir::AffineExpr> sizes);

  mlir::FailureOr<Node> writeSameForm(llvm::StringRef name);
  mlir::FailureOr<Node> writeReduction(llvm::StringRef name);
  template <typename OpT>
  mlir::FailureOr<Node> writeArg(OpT arg, llvm::StringRef name);

  // ComputeWriter.cpp
  std::string transpose(mlir::Value value);
  std::string cast(llvm::StringRef name, mlir::Type elementType);
  mlir::FailureOr<Node> write(graph::MatmulOp matmul);
  mlir::FailureOr<Node> write(graph::ConvOp conv);
  mlir::FailureOr<Node> write(graph::ConvTransposeOp conv);
  mlir::FailureOr<Node> write(graph::MaxPoolOp pool);
  mlir::FailureOr<Node> write(graph::AvgPoolOp pool);
  template <typename OpT>
  mlir::FailureOr<Node> writePool(OpT pool, llvm::StringRef name);
  mlir::FailureOr<Node> write(graph::LRNOp lrn);
  mlir::FailureOr<Node> write(graph::SiluOp silu);
  mlir::FailureOr<Node> write(graph::GeluOp gelu);
  mlir::FailureOr<Node> write(graph::CeluOp celu);
  mlir::FailureOr<Node> write(graph::IsInfOp test);
  mlir::FailureOr<Node> write(graph::ModOp mod);
  mlir::FailureOr<Node> write(graph::FmodOp mod);
  mlir::FailureOr<Node> writeShift(llvm::StringRef direction);
  mlir::FailureOr<Node> write(graph::LayerNormOp norm);
  mlir::FailureOr<Node> write(graph::RMSNormOp norm);
  mlir::FailureOr<Node> write(graph::BatchNormOp norm);
  mlir::FailureOr<Node> write(graph::InstanceNormOp norm);
  mlir::FailureOr<Node> write(graph::GroupNormOp norm);
  mlir::FailureOr<Node> write(graph::AttentionOp attention);

  // MovementWriter.cpp
  mlir::FailureOr<std::string> makeReshapeSizes(graph::ReshapeOp reshape,
                                                bool &allowZero);
  mlir::FailureOr<Node> write(graph::ReshapeOp reshape);
  mlir::FailureOr<Node> write(graph::BroadcastToOp broadcast);
  mlir::FailureOr<Node> write(graph::SliceOp slice);
  mlir::FailureOr<Node> write(graph::ReverseOp reverse);
  mlir::FailureOr<Node> write(graph::PadOp pad);
  mlir::FailureOr<Node> write(graph::CastOp cast);
  mlir::FailureOr<Node> write(graph::ResizeOp resize);
  mlir::FailureOr<Node> write(graph::RangeOp range);
  mlir::FailureOr<Node> write(graph::TriluOp triangle);
  mlir::FailureOr<Node> write(graph::CumsumOp scan);
  mlir::FailureOr<Node> write(graph::TopKOp top);
  mlir::FailureOr<Node> write(graph::OneHotOp oneHot);
  mlir::FailureOr<Node> write(graph::ScatterElementsOp scatter);
  mlir::FailureOr<Node> write(graph::ScatterNDOp scatter);

  // TreeWriter.cpp
  struct TreeTables;
  mlir::FailureOr<TreeTables> makeTables(graph::TreeLeavesOp trees);
  std::string takeChildren(graph::TreeLeavesOp trees, const TreeTables &tables,
                           const std::string &nodes);
  mlir::FailureOr<Node> write(graph::TreeLeavesOp trees);

  mlir::Operation *op;
  NodeContext &context;
};

} // namespace adze::exporter

#endif // ADZE_LIB_EXPORT_ONNX_WRITER_H
