// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The interface of a node for its handler: operands, attributes with defaults,
// and errors.
#ifndef ADZE_LIB_IMPORT_ONNX_NODEVIEW_H
#define ADZE_LIB_IMPORT_ONNX_NODEVIEW_H

#include "Dialect/Graph/IR/Graph.h"
#include "Model.h"

namespace adze::importer {

class Importer;

/// Only the first error counts; later ones are ignored.
class NodeView {
public:
  NodeView(const Node &node, llvm::SmallVector<mlir::Value> operands)
      : node(node), operands(std::move(operands)) {}

  const Node &node;

  /// Returns the version of the definition of the operator.
  int version() const { return node.sinceVersion; }

  //===--------------------------------------------------------------------===//
  // Operands
  //===--------------------------------------------------------------------===//

  unsigned getNumOperands() const { return operands.size(); }
  /// Returns an operand, or null if the node omits it; the table has the number
  /// of required ones.
  mlir::Value operand(unsigned i) const {
    return i < operands.size() ? operands[i] : mlir::Value();
  }
  llvm::ArrayRef<mlir::Value> getOperands() const { return operands; }
  /// Returns true if output i is used.
  bool wants(unsigned i) const {
    return i < node.outputs.size() && !node.outputs[i].empty();
  }

  /// Returns the rank, or 0 for a null value after an error.
  static int64_t getRank(mlir::Value value) {
    return value ? llvm::cast<mlir::RankedTensorType>(value.getType()).getRank()
                 : 0;
  }
  static mlir::Type getElementType(mlir::Value value) {
    return llvm::cast<mlir::RankedTensorType>(value.getType()).getElementType();
  }

  static bool isString(mlir::Value value) {
    return value && graph::isString(getElementType(value));
  }

  /// Returns the elements of operand i, which has to be constant, or nothing
  /// after an error.
  std::optional<llvm::SmallVector<int64_t>> getConstantInts(unsigned i);
  std::optional<llvm::SmallVector<double>> getConstantFloats(unsigned i);
  /// Returns the only element of operand i.
  std::optional<double> getConstantFloat(unsigned i);
  std::optional<int64_t> getConstantInt(unsigned i);

  //===--------------------------------------------------------------------===//
  // Attributes
  //===--------------------------------------------------------------------===//

  int64_t getInt(llvm::StringRef name, int64_t otherwise);
  double getFloat(llvm::StringRef name, double otherwise);
  llvm::StringRef getString(llvm::StringRef name, llvm::StringRef otherwise);
  std::optional<llvm::SmallVector<int64_t>> getInts(llvm::StringRef name);
  /// Returns the attribute, or `count` times the number `otherwise`.
  llvm::SmallVector<int64_t> getInts(llvm::StringRef name, size_t count,
                                     int64_t otherwise);
  std::optional<llvm::ArrayRef<std::string>> getStrings(llvm::StringRef name);
  const TensorData *getTensor(llvm::StringRef name);
  const Graph *getGraph(llvm::StringRef name);
  bool hasAttribute(llvm::StringRef name) const { return node.find(name); }

  /// Normalizes a dim of a tensor of this rank; a negative one counts from the
  /// end.
  int64_t normalizeAxis(int64_t axis, int64_t rank);
  int64_t getAxis(llvm::StringRef name, int64_t otherwise, int64_t rank) {
    return normalizeAxis(getInt(name, otherwise), rank);
  }
  /// Normalizes and sorts axes, and checks that they are unique.
  llvm::SmallVector<int64_t> normalizeAxes(llvm::ArrayRef<int64_t> axes,
                                           int64_t rank);
  /// Returns the axes in attribute `axes`, or in operand `i` for newer
  /// versions, or nothing.
  std::optional<llvm::SmallVector<int64_t>> getAxes(unsigned i, int64_t rank);

  //===--------------------------------------------------------------------===//
  // Errors
  //===--------------------------------------------------------------------===//

  /// Reports an invalid model. Only the first message counts.
  mlir::LogicalResult fail(const llvm::Twine &message);
  /// Reports an unsupported model.
  mlir::LogicalResult unsupported(const llvm::Twine &message);
  bool hasFailed() const { return failed; }
  /// Withdraws an `unsupported` error if there is an alternative. Returns false
  /// after any other error.
  bool forgive();

protected:
  const Attribute *find(llvm::StringRef name, Attribute::Kind kind);

  bool failed = false;

private:
  friend class Importer;

  llvm::SmallVector<mlir::Value> operands;
  bool isUnsupported = false;
  std::string message;
};

} // namespace adze::importer

#endif // ADZE_LIB_IMPORT_ONNX_NODEVIEW_H
