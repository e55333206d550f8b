// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// One node as its handler reads it: operands, attributes with defaults, and
// what is wrong with it.
#ifndef ADZE_LIB_IMPORT_ONNX_NODEVIEW_H
#define ADZE_LIB_IMPORT_ONNX_NODEVIEW_H

#include "Dialect/Graph/IR/Graph.h"
#include "Model.h"

namespace adze::importer {

class Importer;

/// Errors stick: what comes after the first one does not count.
class NodeView {
public:
  NodeView(const Node &node, llvm::SmallVector<mlir::Value> operands)
      : node(node), operands(std::move(operands)) {}

  const Node &node;

  /// Version of the operator's definition.
  int version() const { return node.sinceVersion; }

  //===--------------------------------------------------------------------===//
  // Operands
  //===--------------------------------------------------------------------===//

  unsigned getNumOperands() const { return operands.size(); }
  /// Null if the node leaves it out; the table says how many never are.
  mlir::Value operand(unsigned i) const {
    return i < operands.size() ? operands[i] : mlir::Value();
  }
  llvm::ArrayRef<mlir::Value> getOperands() const { return operands; }
  /// Whether output i is asked for.
  bool wants(unsigned i) const {
    return i < node.outputs.size() && !node.outputs[i].empty();
  }

  /// 0 of what an error has left without a value.
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

  /// The elements of operand i, which has to be known now; none after an error.
  std::optional<llvm::SmallVector<int64_t>> getConstantInts(unsigned i);
  std::optional<llvm::SmallVector<double>> getConstantFloats(unsigned i);
  /// The only element of operand i.
  std::optional<double> getConstantFloat(unsigned i);
  std::optional<int64_t> getConstantInt(unsigned i);

  //===--------------------------------------------------------------------===//
  // Attributes
  //===--------------------------------------------------------------------===//

  int64_t getInt(llvm::StringRef name, int64_t otherwise);
  double getFloat(llvm::StringRef name, double otherwise);
  llvm::StringRef getString(llvm::StringRef name, llvm::StringRef otherwise);
  std::optional<llvm::SmallVector<int64_t>> getInts(llvm::StringRef name);
  /// `count` times the number `otherwise` if not there.
  llvm::SmallVector<int64_t> getInts(llvm::StringRef name, size_t count,
                                     int64_t otherwise);
  std::optional<llvm::ArrayRef<std::string>> getStrings(llvm::StringRef name);
  const TensorData *getTensor(llvm::StringRef name);
  const Graph *getGraph(llvm::StringRef name);
  bool hasAttribute(llvm::StringRef name) const { return node.find(name); }

  /// A dim of a tensor of this rank, counted from the end if negative.
  int64_t normalizeAxis(int64_t axis, int64_t rank);
  int64_t getAxis(llvm::StringRef name, int64_t otherwise, int64_t rank) {
    return normalizeAxis(getInt(name, otherwise), rank);
  }
  /// Normalised, sorted, each once.
  llvm::SmallVector<int64_t> normalizeAxes(llvm::ArrayRef<int64_t> axes,
                                           int64_t rank);
  /// Axes from attribute `axes`, or from operand `i` as newer versions have it;
  /// none if neither is there.
  std::optional<llvm::SmallVector<int64_t>> getAxes(unsigned i, int64_t rank);

  //===--------------------------------------------------------------------===//
  // Errors
  //===--------------------------------------------------------------------===//

  /// The model is at fault. Only the first message counts.
  mlir::LogicalResult fail(const llvm::Twine &message);
  /// Adze falls short.
  mlir::LogicalResult unsupported(const llvm::Twine &message);
  bool hasFailed() const { return failed; }
  /// Takes `unsupported` back where there is another way; false after any other
  /// error.
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
