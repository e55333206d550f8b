// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Verification of softmax and the normalisations; their result has the type of
// their first operand.
#include "Infer.h"

using namespace mlir;
using namespace adze::graph;
using namespace adze::graph::op_detail;

/// Checks that a parameter is of the element type of the input or f32 and
/// broadcasts to the input.
template <typename OpT>
static LogicalResult checkBroadcasts(Where where, Value input, Value parameter,
                                     StringRef what) {
  if (!parameter)
    return success();
  if (getElement(parameter) != getElement(input))
    return inferError<OpT>(where, "expected equal element types, but got ",
                           getElement(input), " and ", getElement(parameter));
  Dims dims = getDims(input), small = getDims(parameter);
  std::string error;
  auto both = broadcastDims({dims, small}, error);
  bool same = succeeded(both) && both->size() == dims.size();
  for (size_t i = 0; same && i < dims.size(); ++i)
    same = !areDifferent((*both)[i], dims[i]);
  if (!same)
    return inferError<OpT>(where, "expected a ", what, " that broadcasts to ",
                           toString(dims), ", but got ", toString(small));
  return success();
}

/// Checks that each parameter has one element for each index of dim `axis`.
template <typename OpT>
static LogicalResult checkPerChannel(Where where, Value input, int64_t axis,
                                     ValueRange parameters) {
  if (failed(checkAxis<OpT>(where, axis, getRank(input))))
    return failure();
  AffineExpr channels = getDims(input)[axis];
  for (Value parameter : parameters) {
    Dims dims = getDims(parameter);
    if (dims.size() != 1 || areDifferent(dims[0], channels))
      return inferError<OpT>(where, "expected one number a channel ",
                             toString({channels}), ", but got ",
                             toString(dims));
    if (getElement(parameter) != getElement(input))
      return inferError<OpT>(where, "expected equal element types, but got ",
                             getElement(input), " and ", getElement(parameter));
  }
  return success();
}

LogicalResult SoftmaxOp::verifyOperands(Where where, Adaptor adaptor) {
  return checkAxis<SoftmaxOp>(where, adaptor.getAxis(),
                              op_detail::getRank(adaptor.getInput()));
}

LogicalResult LogSoftmaxOp::verifyOperands(Where where, Adaptor adaptor) {
  return checkAxis<LogSoftmaxOp>(where, adaptor.getAxis(),
                                 op_detail::getRank(adaptor.getInput()));
}

LogicalResult LayerNormOp::verifyOperands(Where where, Adaptor adaptor) {
  Value input = adaptor.getInput();
  if (failed(checkAxis<LayerNormOp>(where, adaptor.getAxis(),
                                    op_detail::getRank(input))) ||
      failed(checkBroadcasts<LayerNormOp>(where, input, adaptor.getScale(),
                                          "scale")))
    return failure();
  return checkBroadcasts<LayerNormOp>(where, input, adaptor.getBias(), "bias");
}

LogicalResult RMSNormOp::verifyOperands(Where where, Adaptor adaptor) {
  Value input = adaptor.getInput();
  if (failed(checkAxis<RMSNormOp>(where, adaptor.getAxis(),
                                  op_detail::getRank(input))))
    return failure();
  return checkBroadcasts<RMSNormOp>(where, input, adaptor.getScale(), "scale");
}

LogicalResult BatchNormOp::verifyOperands(Where where, Adaptor adaptor) {
  return checkPerChannel<BatchNormOp>(where, adaptor.getInput(),
                                      adaptor.getAxis(),
                                      adaptor.getOperands().drop_front());
}

LogicalResult InstanceNormOp::verifyOperands(Where where, Adaptor adaptor) {
  return checkPerChannel<InstanceNormOp>(where, adaptor.getInput(),
                                         adaptor.getAxis(),
                                         adaptor.getOperands().drop_front());
}

LogicalResult GroupNormOp::verifyOperands(Where where, Adaptor adaptor) {
  Value input = adaptor.getInput();
  if (failed(checkPerChannel<GroupNormOp>(where, input, 1,
                                          adaptor.getOperands().drop_front())))
    return failure();
  int64_t groups = adaptor.getGroups();
  std::optional<int64_t> channels = getConstant(getDims(input)[1]);
  if (groups < 1 || (channels && *channels % groups))
    return inferError<GroupNormOp>(
        where, "expected groups that divide the channels, but got ", groups);
  return success();
}
