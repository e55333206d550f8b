// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// What the recognisers match with: constants of one value, and operands in
// either order.
#ifndef ADZE_LIB_DIALECT_GRAPH_TRANSFORMS_MATCHING_H
#define ADZE_LIB_DIALECT_GRAPH_TRANSFORMS_MATCHING_H

#include "Dialect/Graph/IR/Graph.h"
#include "Dialect/Graph/IR/Shape.h"
#include "mlir/IR/PatternMatch.h"
#include <optional>

namespace adze::graph {

/// The one value of a constant float or integer tensor, seen through casts,
/// reshapes, broadcasts and a little arithmetic.
std::optional<double> getSplatNumber(mlir::Value value, unsigned depth = 0);

/// The one value of a constant bool tensor.
std::optional<bool> getSplatBool(mlir::Value value);

/// What a choice comes to where its condition is known, as far as that has the
/// result's type and the condition does not make it larger; else null.
mlir::Value getDecided(SelectOp op);

inline bool isSplat(mlir::Value value, double number, double relative = 1e-4) {
  std::optional<double> splat = getSplatNumber(value);
  return splat && std::abs(*splat - number) <= relative * std::abs(number);
}

/// Returns true if graph-space-to-depth gives the convolution more channels once
/// its operands have this element type.
bool isOfFewChannels(ConvOp op, mlir::Type element);

/// The other operand of a binary op of which one is a splat constant.
template <typename OpT>
mlir::Value matchWithSplat(mlir::Value value, double &number) {
  auto op = value.getDefiningOp<OpT>();
  if (!op)
    return {};
  for (unsigned i : {1u, 0u})
    if (std::optional<double> splat = getSplatNumber(op->getOperand(i))) {
      number = *splat;
      return op->getOperand(1 - i);
    }
  return {};
}

/// x of x * number or x / (1 / number).
mlir::Value matchScaled(mlir::Value value, double &factor);

/// x where value is x ^ 2 or x * x.
mlir::Value matchSquare(mlir::Value value);

/// x of x - max(x) along these dims, which it keeps.
mlir::Value matchWithoutMaximum(mlir::Value value,
                                llvm::ArrayRef<int64_t> axes);

/// Whether a product takes the value, or what a few ops make of it alone.
bool isWeight(mlir::Value value);

/// The operand beside `known` of a commutative op.
template <typename OpT>
mlir::Value matchOther(mlir::Value value, mlir::Value known) {
  auto op = value.getDefiningOp<OpT>();
  if (!op)
    return {};
  if (op->getOperand(0) == known)
    return op->getOperand(1);
  return op->getOperand(1) == known ? op->getOperand(0) : mlir::Value();
}

inline int64_t getRank(mlir::Value value) {
  return llvm::cast<mlir::RankedTensorType>(value.getType()).getRank();
}
inline mlir::Type getElement(mlir::Value value) {
  return llvm::cast<mlir::RankedTensorType>(value.getType()).getElementType();
}

} // namespace adze::graph

#endif // ADZE_LIB_DIALECT_GRAPH_TRANSFORMS_MATCHING_H
