// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Expands normalisation of channels-last tensors to reductions and elementwise
// arithmetic: all memory is accessed in order, by many programs even for a
// single row.
#include "ChannelsLastNorm.h"
#include "Matching.h"

using namespace mlir;
using namespace adze::graph;

namespace {

/// The value that is subtracted from all elements, and the divisor.
struct Statistics {
  Value mean, variance;
};

class ChannelsLastNorm {
public:
  ChannelsLastNorm(OpBuilder &b, Location loc, Value x)
      : b(b), loc(loc), x(x), dims(getDims(x)) {}

  Value normalise(int64_t groups, APFloat epsilon);

private:
  AffineExpr number(int64_t n) { return b.getAffineConstantExpr(n); }
  Value reshape(Value value, ArrayRef<AffineExpr> to) {
    auto type = makeType(getElement(value), to);
    return type == value.getType()
               ? value
               : ReshapeOp::create(b, loc, type, value).getResult();
  }
  Value mean(Value value, int64_t axis) {
    return ReduceMeanOp::create(b, loc, value, axis, /*keepdims=*/true);
  }
  Statistics getStatistics(Value elements, int64_t axis);
  Statistics mergeChannels(const Statistics &each, int64_t groups);

  OpBuilder &b;
  Location loc;
  Value x;
  Dims dims;
};

} // namespace

Statistics ChannelsLastNorm::getStatistics(Value elements, int64_t axis) {
  Value centre = mean(elements, axis);
  Value distance = SubOp::create(b, loc, elements, centre);
  return {centre, mean(MulOp::create(b, loc, distance, distance), axis)};
}

/// Combines the statistics of channels, which have equal numbers of elements,
/// to those of groups: a variance is the mean of the variances plus that of the
/// squared distances of the means.
Statistics ChannelsLastNorm::mergeChannels(const Statistics &each,
                                           int64_t groups) {
  int64_t channels = *getConstant(dims.back());
  Dims parts{dims[0], number(groups), number(channels / groups)};
  Value means = reshape(each.mean, parts);
  Value centre = mean(means, 2);
  Value distance = SubOp::create(b, loc, means, centre);
  Value between = MulOp::create(b, loc, distance, distance);
  Value within = reshape(each.variance, parts);
  return {centre, mean(AddOp::create(b, loc, within, between), 2)};
}

Value ChannelsLastNorm::normalise(int64_t groups, APFloat epsilon) {
  int64_t channels = *getConstant(dims.back());
  bool inGroups = groups != 1 && groups != channels;
  AffineExpr positions =
      product(b.getContext(), ArrayRef(dims).drop_front().drop_back());
  Dims rows{dims[0], positions, dims.back()};
  if (groups == 1)
    rows = {dims[0], mulExprs(positions, dims.back())};
  Statistics all = getStatistics(reshape(x, rows), 1);
  if (inGroups)
    all = mergeChannels(all, groups);
  auto scalar = RankedTensorType::get({}, getElement(x));
  bool lossy;
  epsilon.convert(cast<FloatType>(scalar.getElementType()).getFloatSemantics(),
                  APFloat::rmNearestTiesToEven, &lossy);
  Value least =
      ConstantOp::create(b, loc, DenseElementsAttr::get(scalar, epsilon));
  Value deviation =
      SqrtOp::create(b, loc, AddOp::create(b, loc, all.variance, least));
  // There is one number for each channel, so that later ops apply to the
  // original dims. The difference is computed again and not shared, as it is
  // then fused into the sum, and not stored.
  Dims numbers(dims.size(), number(1));
  numbers[0] = dims[0];
  numbers.back() = number(groups == 1 ? 1 : channels);
  auto spread = [&](Value value) {
    if (inGroups)
      value = BroadcastToOp::create(
          b, loc,
          makeType(getElement(value),
                   {dims[0], number(groups), number(channels / groups)}),
          value);
    return reshape(value, numbers);
  };
  Value shift = spread(NegOp::create(b, loc, all.mean));
  Value factor = spread(ReciprocalOp::create(b, loc, deviation));
  return MulOp::create(b, loc, AddOp::create(b, loc, x, shift), factor);
}

Value adze::graph::createChannelsLastNorm(OpBuilder &b, Location loc, Value x,
                                          int64_t groups, APFloat epsilon) {
  return ChannelsLastNorm(b, loc, x).normalise(groups, epsilon);
}
