// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Common parts of the inference functions of the op families: errors and
// windows.
#ifndef ADZE_LIB_DIALECT_GRAPH_IR_INFER_H
#define ADZE_LIB_DIALECT_GRAPH_IR_INFER_H

#include "Dialect/Graph/IR/Graph.h"

namespace adze::graph::op_detail {

/// Reports "'graph.op' op <message>" at the location, if there is one.
template <typename OpT, typename... Args>
mlir::LogicalResult inferError(Where where, Args &&...args) {
  return mlir::emitOptionalError(where, "'", OpT::getOperationName(), "' op ",
                                 std::forward<Args>(args)...);
}

inline mlir::Type getElement(mlir::Value value) {
  return llvm::cast<mlir::RankedTensorType>(value.getType()).getElementType();
}
inline int64_t getRank(mlir::Value value) {
  return llvm::cast<mlir::RankedTensorType>(value.getType()).getRank();
}

/// Returns the element type of a product: that of both operands, i32 for ui8 by
/// i8, f32 for narrower floats if it is wide, or null.
mlir::Type getProductType(mlir::Type lhs, mlir::Type rhs, bool isWide);

/// Checks that `axis` is a dim of a tensor of `rank`.
template <typename OpT>
mlir::LogicalResult checkAxis(Where where, int64_t axis, int64_t rank) {
  if (axis < 0 || axis >= rank)
    return inferError<OpT>(where, "expected an axis in [0, ", rank,
                           "), but got ", axis);
  return mlir::success();
}

/// The positions of the dims of images.
struct ImageDims {
  int64_t spatialRank;
  bool channelsLast;
  int64_t channel() const { return channelsLast ? spatialRank + 1 : 1; }
  int64_t spatial(int64_t i) const { return channelsLast ? i + 1 : i + 2; }
  /// Returns a spatial dim of a filter, which is independent of the layout of
  /// images.
  int64_t kernel(int64_t i) const { return i + 2; }
};

/// Returns the number of windows along a dim; fails if the kernel does not fit.
mlir::FailureOr<mlir::AffineExpr>
windowDim(mlir::AffineExpr input, mlir::AffineExpr kernel, int64_t stride,
          int64_t low, int64_t high, int64_t dilation, bool ceil);

} // namespace adze::graph::op_detail

#endif // ADZE_LIB_DIALECT_GRAPH_IR_INFER_H
