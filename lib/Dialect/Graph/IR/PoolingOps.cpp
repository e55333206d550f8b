// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Inference and cost of windows: pooling and local response normalisation.
#include "Infer.h"

using namespace mlir;
using namespace adze::graph;
using namespace adze::graph::op_detail;

FailureOr<AffineExpr> op_detail::windowDim(AffineExpr input, AffineExpr kernel,
                                           int64_t stride, int64_t low,
                                           int64_t high, int64_t dilation,
                                           bool ceil) {
  if (!input || !kernel)
    return AffineExpr();
  // The first window starts at 0 .. span.
  AffineExpr span =
      normalize(input + (low + high) - (kernel - 1) * dilation - 1);
  if (getConstant(span).value_or(0) < 0)
    return failure();
  if (!ceil)
    return normalize(span.floorDiv(stride) + 1);
  // The count is one less if the last window starts neither inside of the input
  // nor in the padding before it, which the lesser of the dividends determines.
  AffineExpr inside = normalize(input + low),
             windows = normalize(span + stride);
  int64_t more = getConstant(subExprs(windows, inside)).value_or(0);
  if (more > 0 && more <= stride)
    windows = inside;
  AffineExpr count = normalize(windows.ceilDiv(stride));
  return more > stride ? normalize(count - 1) : count;
}

/// Infers max and average pooling.
template <typename OpT>
static LogicalResult inferPool(Where where, typename OpT::Adaptor adaptor,
                               Types &types) {
  Dims input = getDims(adaptor.getInput());
  ImageDims at{int64_t(input.size()) - 2, adaptor.getLayout() == Layout::NHWC};
  if (at.spatialRank < 1)
    return inferError<OpT>(where,
                           "expected an input of rank 3 or more, but got ",
                           input.size(), "-D");
  size_t spatial = at.spatialRank;
  if (adaptor.getKernel().size() != spatial ||
      adaptor.getStrides().size() != spatial ||
      adaptor.getPads().size() != 2 * spatial ||
      adaptor.getDilations().size() != spatial)
    return inferError<OpT>(
        where, "expected ", spatial,
        " kernel sizes, strides and dilations and ", 2 * spatial,
        " pads, but got ", adaptor.getKernel().size(), ", ",
        adaptor.getStrides().size(), ", ", adaptor.getDilations().size(),
        " and ", adaptor.getPads().size());
  auto positive = [](int64_t value) { return value > 0; };
  if (!llvm::all_of(adaptor.getStrides(), positive) ||
      !llvm::all_of(adaptor.getDilations(), positive) ||
      !llvm::all_of(adaptor.getKernel(), positive))
    return inferError<OpT>(
        where, "expected kernel, strides and dilations of at least 1");
  Dims dims(input);
  for (int64_t i = 0; i < at.spatialRank; ++i) {
    AffineExpr kernel = getAffineConstantExpr(adaptor.getKernel()[i],
                                              adaptor.getInput().getContext());
    auto size =
        windowDim(input[at.spatial(i)], kernel, adaptor.getStrides()[i],
                  adaptor.getPads()[i], adaptor.getPads()[at.spatialRank + i],
                  adaptor.getDilations()[i], adaptor.getCeilMode());
    if (failed(size))
      return inferError<OpT>(
          where, "expected a window within the padded input, but got input ",
          toString(input));
    dims[at.spatial(i)] = *size;
  }
  types.push_back(makeType(getElement(adaptor.getInput()), dims));
  return success();
}

LogicalResult MaxPoolOp::inferReturnTypes(MLIRContext *context, Where where,
                                          Adaptor adaptor, Types &types) {
  return inferPool<MaxPoolOp>(where, adaptor, types);
}

LogicalResult AvgPoolOp::inferReturnTypes(MLIRContext *context, Where where,
                                          Adaptor adaptor, Types &types) {
  return inferPool<AvgPoolOp>(where, adaptor, types);
}

LogicalResult MaxPoolIndexOp::inferReturnTypes(MLIRContext *context,
                                               Where where, Adaptor adaptor,
                                               Types &types) {
  if (failed(inferPool<MaxPoolIndexOp>(where, adaptor, types)))
    return failure();
  types.back() =
      cast<RankedTensorType>(types.back()).clone(IntegerType::get(context, 64));
  return success();
}

static int64_t getWindowSize(ArrayRef<int64_t> kernel) {
  int64_t size = 1;
  for (int64_t k : kernel)
    size *= k;
  return size;
}

AffineExpr MaxPoolOp::getFlops() {
  return getElementCost(getContext(), getResult().getType(),
                        getWindowSize(getKernel()));
}

AffineExpr MaxPoolIndexOp::getFlops() {
  return getElementCost(getContext(), getResult().getType(),
                        getWindowSize(getKernel()));
}

AffineExpr AvgPoolOp::getFlops() {
  return getElementCost(getContext(), getResult().getType(),
                        getWindowSize(getKernel()) + 1);
}

LogicalResult LRNOp::inferReturnTypes(MLIRContext *context, Where where,
                                      Adaptor adaptor, Types &types) {
  if (failed(checkAxis<LRNOp>(where, adaptor.getAxis(),
                              getRank(adaptor.getInput()))))
    return failure();
  if (int64_t(adaptor.getSize()) < 1)
    return inferError<LRNOp>(where, "expected a size of at least 1, but got ",
                             int64_t(adaptor.getSize()));
  types.push_back(adaptor.getInput().getType());
  return success();
}

AffineExpr LRNOp::getFlops() {
  return getElementCost(getContext(), getResult().getType(),
                        2 * int64_t(getSize()) + 4);
}
