// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Matchers of the recognizing passes: splat constants, and operands in either
// order; and the slices, casts and reshapes that rewrites create.
#ifndef ADZE_LIB_DIALECT_GRAPH_TRANSFORMS_MATCHING_H
#define ADZE_LIB_DIALECT_GRAPH_TRANSFORMS_MATCHING_H

#include "Dialect/Graph/IR/Graph.h"
#include "Dialect/Graph/IR/Shape.h"
#include "mlir/IR/PatternMatch.h"
#include <optional>

namespace adze::graph {

/// Returns the value of a float or integer splat constant, through casts,
/// reshapes, broadcasts and simple arithmetic.
std::optional<double> getSplatNumber(mlir::Value value, unsigned depth = 0);

/// Returns the value of a splat constant of bools.
std::optional<bool> getSplatBool(mlir::Value value);

/// Returns the value of a selection whose condition is constant, if it has the
/// type of the result and the condition does not broadcast it, else null.
mlir::Value getDecided(SelectOp op);

inline bool isSplat(mlir::Value value, double number, double relative = 1e-4) {
  std::optional<double> splat = getSplatNumber(value);
  return splat && std::abs(*splat - number) <= relative * std::abs(number);
}

/// Returns the channels of the input, with padding, of which
/// graph-space-to-depth makes more channels when the operands have this element
/// type; 0 if it does not convert the convolution.
int64_t getShallowChannels(ConvOp op, mlir::Type element);
/// Returns true if graph-band-groups makes a matrix unit multiply the groups of
/// the convolution when its operands have this element type.
bool formsBand(ConvOp op, mlir::Type element);

/// Matches a binary op with a splat constant, and returns the other operand.
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

/// Matches x * number or x / (1 / number), and returns x.
mlir::Value matchScaled(mlir::Value value, double &factor);

/// Matches x ^ 2 or x * x, and returns x.
mlir::Value matchSquare(mlir::Value value);

/// Matches x - max(x) along these dims, which are kept, and returns x.
mlir::Value matchWithoutMaximum(mlir::Value value,
                                llvm::ArrayRef<int64_t> axes);

/// Returns true if a product uses the value, or a simple function of it only.
bool isWeight(mlir::Value value);

/// Creates the slice of `size` positions along one dim from `start` on.
mlir::Value createSlice(mlir::OpBuilder &b, mlir::Location loc,
                        mlir::Value value, int64_t dim, mlir::AffineExpr start,
                        mlir::AffineExpr size);

/// Returns the value cast to an element type, which is the value itself if it
/// has that type.
mlir::Value createCast(mlir::OpBuilder &b, mlir::Location loc,
                       mlir::Value value, mlir::Type element);

/// Creates the reshape of the value to dims with the same number of elements.
mlir::Value createReshape(mlir::OpBuilder &b, mlir::Location loc,
                          mlir::Value value,
                          llvm::ArrayRef<mlir::AffineExpr> dims);

/// Returns the operand other than `known` of a commutative op.
template <typename OpT>
mlir::Value matchOther(mlir::Value value, mlir::Value known) {
  auto op = value.getDefiningOp<OpT>();
  if (!op)
    return {};
  if (op->getOperand(0) == known)
    return op->getOperand(1);
  return op->getOperand(1) == known ? op->getOperand(0) : mlir::Value();
}

/// Returns true for tensors that are known to have one element.
inline bool isOne(mlir::Value value) {
  return llvm::all_of(getDims(value), [](mlir::AffineExpr size) {
    return getConstant(size) == 1;
  });
}

inline int64_t getRank(mlir::Value value) {
  return llvm::cast<mlir::RankedTensorType>(value.getType()).getRank();
}
inline mlir::Type getElement(mlir::Value value) {
  return llvm::cast<mlir::RankedTensorType>(value.getType()).getElementType();
}

} // namespace adze::graph

#endif // ADZE_LIB_DIALECT_GRAPH_TRANSFORMS_MATCHING_H
