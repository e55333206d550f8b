// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Verification and cost of pooling over regions of interest.
#include "Infer.h"

using namespace mlir;
using namespace adze::graph;
using namespace adze::graph::op_detail;

/// Verifies images [N, C, H, W], `width` numbers for each region, and results
/// [R, C, oh, ow].
template <typename OpT>
static LogicalResult verifyPooling(OpT op, int64_t width) {
  Dims input = getDims(op.getInput()), rois = getDims(op.getRois()),
       result = getDims(op.getResult());
  AffineExpr columns = getAffineConstantExpr(width, op.getContext());
  if (input.size() != 4 || rois.size() != 2 || areDifferent(rois[1], columns))
    return op.emitOpError("expected an input of rank 4 and regions of ")
           << width << " numbers, but got " << toString(input) << " and "
           << toString(rois);
  if (result.size() != 4 || areDifferent(result[0], rois[0]) ||
      areDifferent(result[1], input[1]))
    return op.emitOpError("expected a result of one image a region, but got ")
           << toString(result);
  if (getElement(op.getResult()) != getElement(op.getInput()))
    return op.emitOpError("expected a result of ")
           << getElement(op.getInput()) << ", but got "
           << getElement(op.getResult());
  return success();
}

LogicalResult RoiAlignOp::verify() {
  if (int64_t(getSamples()) < 0)
    return emitOpError("expected samples of at least 0, but got ")
           << int64_t(getSamples());
  return verifyPooling(*this, 4);
}

LogicalResult RoiPoolOp::verify() { return verifyPooling(*this, 5); }

AffineExpr RoiAlignOp::getFlops() {
  // There are four products and sums for each sample; without a number of
  // samples the cost is unknown.
  int64_t samples = getSamples() * getSamples();
  return samples
             ? getElementCost(getContext(), getResult().getType(), 8 * samples)
             : AffineExpr();
}

AffineExpr RoiPoolOp::getFlops() { return {}; }
