// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Verification and cost of ops on the buffers of states.
#include "Infer.h"

using namespace mlir;
using namespace adze::graph;

/// Verifies that a buffer and the rows of it differ in at most one dim.
static LogicalResult verifyRows(Operation *op, Value input, Value result) {
  Dims lhs = getDims(input), rhs = getDims(result);
  bool isSame = lhs.size() == rhs.size() &&
                getElementTypeOrSelf(input) == getElementTypeOrSelf(result);
  unsigned differing = 0;
  if (isSame)
    for (auto [size, other] : llvm::zip_equal(lhs, rhs))
      differing += areDifferent(size, other);
  if (isSame && differing <= 1)
    return success();
  return op->emitOpError("expected the element type and dims of the operand "
                         "but for one, but got ")
         << input.getType() << " and " << result.getType();
}

LogicalResult OpenStateOp::verify() {
  return verifyRows(*this, getPast(), getResult());
}

LogicalResult CloseStateOp::verify() {
  return verifyRows(*this, getBuffer(), getResult());
}

AffineExpr OpenStateOp::getFlops() {
  return getAffineConstantExpr(0, getContext());
}

AffineExpr CloseStateOp::getFlops() {
  return getAffineConstantExpr(0, getContext());
}
