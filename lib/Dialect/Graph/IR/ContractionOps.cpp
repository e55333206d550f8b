// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Inference and cost of matrix products and convolutions.
#include "Infer.h"

using namespace mlir;
using namespace adze::graph;
using namespace adze::graph::op_detail;

Type adze::graph::op_detail::getProductType(Type lhs, Type rhs, bool isWide) {
  if (isWide)
    return lhs == rhs && (lhs.isF16() || lhs.isBF16())
               ? Type(Float32Type::get(lhs.getContext()))
               : Type();
  if (lhs.isUnsignedInteger(8) && rhs.isInteger(8) && !rhs.isUnsignedInteger(8))
    return IntegerType::get(lhs.getContext(), 32);
  return lhs == rhs ? lhs : Type();
}

/// Returns the element type of a convolution: also f32 for ui8 by f32, if each
/// channel is summed separately.
static Type getConvType(ConvOp::Adaptor op) {
  Type input = getElement(op.getInput()), filter = getElement(op.getFilter());
  if (!input.isUnsignedInteger(8) || !filter.isF32())
    return getProductType(input, filter, op.getWideResult());
  Dims dims = getDims(op.getFilter());
  bool isDepthwise = op.getGroup() > 1 && getConstant(dims[1]) == 1 &&
                     getConstant(dims[0]) == int64_t(op.getGroup());
  return isDepthwise ? filter : Type();
}

//===----------------------------------------------------------------------===//
// matmul
//===----------------------------------------------------------------------===//

LogicalResult MatmulOp::inferReturnTypes(MLIRContext *context, Where where,
                                         Adaptor adaptor, Types &types) {
  Dims lhs = getDims(adaptor.getLhs()), rhs = getDims(adaptor.getRhs());
  if (lhs.size() < 2 || rhs.size() < 2)
    return inferError<MatmulOp>(where,
                                "expected operands of rank 2 or more, "
                                "but got ranks ",
                                lhs.size(), " and ", rhs.size());
  Type element =
      getProductType(getElement(adaptor.getLhs()), getElement(adaptor.getRhs()),
                     adaptor.getWideResult());
  if (!element)
    return inferError<MatmulOp>(where, "expected equal element types, but got ",
                                getElement(adaptor.getLhs()), " and ",
                                getElement(adaptor.getRhs()));
  if (adaptor.getTransposeA())
    std::swap(lhs.end()[-1], lhs.end()[-2]);
  if (adaptor.getTransposeB())
    std::swap(rhs.end()[-1], rhs.end()[-2]);
  if (areDifferent(lhs.end()[-1], rhs.end()[-2]))
    return inferError<MatmulOp>(where, "expected equal inner sizes, but got ",
                                toString(lhs), " x ", toString(rhs));
  std::string error;
  auto dims = broadcastDims(
      {Dims(ArrayRef(lhs).drop_back(2)), Dims(ArrayRef(rhs).drop_back(2))},
      error);
  if (failed(dims))
    return inferError<MatmulOp>(where, error);
  dims->push_back(lhs.end()[-2]);
  dims->push_back(rhs.end()[-1]);
  types.push_back(makeType(element, *dims));
  return success();
}

AffineExpr MatmulOp::getFlops() {
  Dims lhs = getDims(getLhs());
  AffineExpr inner = lhs.end()[getTransposeA() ? -2 : -1];
  return mulExprs(getElementCost(getContext(), getResult().getType(), 2),
                  inner);
}

//===----------------------------------------------------------------------===//
// Convolutions
//===----------------------------------------------------------------------===//

/// Checks the common properties of both convolutions: ranks, element types, the
/// sizes of the attributes, the group.
template <typename OpT>
static LogicalResult checkConv(Where where, typename OpT::Adaptor adaptor) {
  int64_t rank = getRank(adaptor.getInput());
  int64_t spatial = rank - 2;
  if (spatial < 1)
    return inferError<OpT>(
        where, "expected an input of rank 3 or more, but got ", rank, "-D");
  if (getRank(adaptor.getFilter()) != rank)
    return inferError<OpT>(where, "expected ", rank, "-D weights, but got ",
                           getRank(adaptor.getFilter()), "-D");
  Type input = getElement(adaptor.getInput()),
       filter = getElement(adaptor.getFilter()), element = input;
  if constexpr (std::is_same_v<OpT, ConvOp>)
    element = getConvType(adaptor);
  if (!element || (input != filter && element == input))
    return inferError<OpT>(where, "expected equal element types, but got ",
                           input, " and ", filter);
  if (Value bias = adaptor.getBias(); bias && getElement(bias) != element)
    return inferError<OpT>(where, "expected equal element types, but got ",
                           element, " and ", getElement(bias));
  int64_t strides = adaptor.getStrides().size(),
          pads = adaptor.getPads().size(),
          dilations = adaptor.getDilations().size();
  if (strides != spatial || pads != 2 * spatial || dilations != spatial)
    return inferError<OpT>(where, "expected ", spatial, " strides, ",
                           2 * spatial, " pads and ", spatial,
                           " dilations, but got ", strides, ", ", pads, " and ",
                           dilations);
  auto positive = [](int64_t value) { return value > 0; };
  if (!llvm::all_of(adaptor.getStrides(), positive) ||
      !llvm::all_of(adaptor.getDilations(), positive) || adaptor.getGroup() < 1)
    return inferError<OpT>(
        where, "expected strides, dilations and group of at least 1");
  return success();
}

template <typename OpT>
static LogicalResult checkBias(Where where, Value bias, AffineExpr channels) {
  if (!bias)
    return success();
  Dims dims = getDims(bias);
  if (dims.size() != 1 || areDifferent(dims[0], channels))
    return inferError<OpT>(where, "expected a bias of one number a channel ",
                           toString({channels}), ", but got ", toString(dims));
  return success();
}

LogicalResult ConvOp::inferReturnTypes(MLIRContext *context, Where where,
                                       Adaptor adaptor, Types &types) {
  if (failed(checkConv<ConvOp>(where, adaptor)))
    return failure();
  Dims input = getDims(adaptor.getInput()),
       filter = getDims(adaptor.getFilter());
  ImageDims at{int64_t(input.size()) - 2, adaptor.getLayout() == Layout::NHWC};
  AffineExpr group =
      getAffineConstantExpr(int64_t(adaptor.getGroup()), context);
  AffineExpr expected = mulExprs(filter[1], group);
  if (int64_t band = adaptor.getBand().value_or(1); band < 1)
    return inferError<ConvOp>(where, "expected a band of at least 1, but got ",
                              band);
  if (!adaptor.getBand() && areDifferent(input[at.channel()], expected))
    return inferError<ConvOp>(where, "expected ", toString({expected}),
                              " input channels (weights x group), but got ",
                              toString({input[at.channel()]}));
  AffineExpr out = filter[0];
  if (auto channels = getConstant(out);
      channels && *channels % int64_t(adaptor.getGroup()))
    return inferError<ConvOp>(where, "expected output channels divisible by ",
                              adaptor.getGroup(), ", but got ", *channels);
  if (failed(checkBias<ConvOp>(where, adaptor.getBias(), out)))
    return failure();
  Dims dims(input);
  dims[at.channel()] = out;
  for (int64_t i = 0; i < at.spatialRank; ++i) {
    auto size = windowDim(input[at.spatial(i)], filter[at.kernel(i)],
                          adaptor.getStrides()[i], adaptor.getPads()[i],
                          adaptor.getPads()[at.spatialRank + i],
                          adaptor.getDilations()[i], /*ceil=*/false);
    if (failed(size))
      return inferError<ConvOp>(
          where, "expected a kernel within the padded input, but got input ",
          toString(input), " and weights ", toString(filter));
    dims[at.spatial(i)] = *size;
  }
  types.push_back(makeType(getConvType(adaptor), dims));
  return success();
}

/// Returns the operations of a convolution: a multiply-add for each element of
/// `type` and each element of the filter, except those along dim `without`.
static AffineExpr getConvFlops(MLIRContext *context, Type type, Value filter,
                               int64_t without) {
  Dims dims = getDims(filter);
  dims.erase(dims.begin() + without);
  return mulExprs(getElementCost(context, type, 2), product(context, dims));
}

AffineExpr ConvOp::getFlops() {
  AffineExpr flops = getConvFlops(getContext(), getResult().getType(),
                                  getFilter(), /*without=*/0);
  auto read = getConstant(getDims(getFilter())[1]),
       channels = getConstant(getDims(
           getInput())[getLayout() == Layout::NHWC ? getRank(getInput()) - 1
                                                   : 1]);
  // Zeros outside of the groups are not counted.
  if (!getBand() || !flops || !channels || read.value_or(0) == 0)
    return flops;
  return mulExprs(flops.floorDiv(*read),
                  getAffineConstantExpr(*channels / getGroup(), getContext()));
}

LogicalResult ConvTransposeOp::inferReturnTypes(MLIRContext *context,
                                                Where where, Adaptor adaptor,
                                                Types &types) {
  if (failed(checkConv<ConvTransposeOp>(where, adaptor)))
    return failure();
  Dims input = getDims(adaptor.getInput()),
       filter = getDims(adaptor.getFilter());
  ImageDims at{int64_t(input.size()) - 2, adaptor.getLayout() == Layout::NHWC};
  int64_t extra = adaptor.getOutputPadding().size();
  if (extra != at.spatialRank)
    return inferError<ConvTransposeOp>(where, "expected ", at.spatialRank,
                                       " output paddings, but got ", extra);
  if (areDifferent(input[at.channel()], filter[0]))
    return inferError<ConvTransposeOp>(
        where, "expected ", toString({filter[0]}), " input channels, but got ",
        toString({input[at.channel()]}));
  AffineExpr group =
      getAffineConstantExpr(int64_t(adaptor.getGroup()), context);
  Dims dims(input);
  dims[at.channel()] = mulExprs(filter[1], group);
  if (failed(checkBias<ConvTransposeOp>(where, adaptor.getBias(),
                                        dims[at.channel()])))
    return failure();
  for (int64_t i = 0; i < at.spatialRank; ++i) {
    AffineExpr in = input[at.spatial(i)], kernel = filter[at.kernel(i)];
    AffineExpr size;
    if (in && kernel)
      size = normalize((in - 1) * adaptor.getStrides()[i] +
                       (kernel - 1) * adaptor.getDilations()[i] + 1 +
                       adaptor.getOutputPadding()[i] - adaptor.getPads()[i] -
                       adaptor.getPads()[at.spatialRank + i]);
    if (getConstant(size).value_or(0) < 0)
      return inferError<ConvTransposeOp>(
          where, "expected a result of at least 0 elements, but got a size of ",
          *getConstant(size));
    dims[at.spatial(i)] = size;
  }
  types.push_back(makeType(getElement(adaptor.getInput()), dims));
  return success();
}

AffineExpr ConvTransposeOp::getFlops() {
  return getConvFlops(getContext(), getInput().getType(), getFilter(),
                      /*without=*/0);
}
