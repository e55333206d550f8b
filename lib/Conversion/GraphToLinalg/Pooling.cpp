// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Pooling and local response normalisation: one window for each element of the
// output.
#include "KernelLowering.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace adze::graph;

namespace {

template <typename OpT>
WindowDim getWindow(OpT op, const ImageDims &at, int64_t i) {
  return {op.getStrides()[i], op.getPads()[i], op.getPads()[at.spatialRank + i],
          op.getDilations()[i]};
}

/// Combines the elements of the window of output `out`.
template <typename OpT>
Value foldWindow(OpT op, KernelLowering &k, const ImageDims &at, ValueRange out,
                 Value init, llvm::function_ref<Value(Value, Value)> combine) {
  Value input = k.get(op.getInput());
  SmallVector<KernelLowering::Range> ranges;
  for (int64_t i = 0; i < at.spatialRank; ++i)
    ranges.push_back(getTaps(k, getWindow(op, at, i), out[at.spatial(i)],
                             k.index(op.getKernel()[i]),
                             k.getSize(op.getInput(), at.spatial(i))));
  return k.fold(ranges, init, [&](ValueRange tap, Value carried) {
    SmallVector<Value> from;
    for (int64_t i = 0; i < at.spatialRank; ++i)
      from.push_back(
          getPosition(k, getWindow(op, at, i), out[at.spatial(i)], tap[i]));
    Value x = k.loadWide(input, at.order(out[0], out[at.channel()], from));
    return combine(carried, x);
  });
}

LogicalResult lowerMaxPool(MaxPoolOp op, KernelLowering &k) {
  ImageDims at(op.getInput(), op.getLayout());
  Type declared =
      cast<RankedTensorType>(op.getInput().getType()).getElementType();
  Type type =
      isa<FloatType>(declared) ? getAccumulatorType(declared) : declared;
  Value output = k.getOutput(op.getResult());
  k.forEach(k.getSizes(op.getResult()), [&](ValueRange out) {
    ElementBuilder b = k.elements();
    Value init = b.constant(getNeutral(Combiner::Max, type));
    Value result =
        foldWindow(op, k, at, out, init, [&](Value carried, Value x) {
          return buildCombine(b, Combiner::Max, type, carried, x);
        });
    k.storeWide(result, output, out);
  });
  return success();
}

/// Returns the index of a position in the whole input, with the last or the
/// first spatial dim as the fastest.
Value getPlace(MaxPoolIndexOp op, KernelLowering &k, const ImageDims &at,
               Value image, Value channel, ValueRange spatial) {
  SmallVector<Value> sizes = k.getSizes(op.getInput());
  Value place = k.add(k.mul(image, sizes[at.channel()]), channel);
  SmallVector<int64_t> order = llvm::to_vector(llvm::seq(at.spatialRank));
  if (op.getColumnMajor())
    std::reverse(order.begin(), order.end());
  for (int64_t i : order)
    place = k.add(k.mul(place, sizes[at.spatial(i)]), spatial[i]);
  return place;
}

LogicalResult lowerMaxPoolIndex(MaxPoolIndexOp op, KernelLowering &k) {
  ImageDims at(op.getInput(), op.getLayout());
  Value input = k.get(op.getInput()), output = k.getOutput(op.getResult());
  Type declared =
      cast<RankedTensorType>(op.getInput().getType()).getElementType();
  bool isFloat = isa<FloatType>(declared);
  Type type = isFloat ? getAccumulatorType(declared) : declared;
  k.forEach(k.getSizes(op.getResult()), [&](ValueRange out) {
    SmallVector<KernelLowering::Range> ranges;
    for (int64_t i = 0; i < at.spatialRank; ++i)
      ranges.push_back(getTaps(k, getWindow(op, at, i), out[at.spatial(i)],
                               k.index(op.getKernel()[i]),
                               k.getSize(op.getInput(), at.spatial(i))));
    ElementBuilder b = k.elements();
    Value none = b.constant(getNeutral(Combiner::Max, type));
    auto body = [&](ValueRange tap, ValueRange carried) {
      SmallVector<Value> from;
      for (int64_t i = 0; i < at.spatialRank; ++i)
        from.push_back(
            getPosition(k, getWindow(op, at, i), out[at.spatial(i)], tap[i]));
      Value x = k.loadWide(input, at.order(out[0], out[at.channel()], from));
      Value place = getPlace(op, k, at, out[0], out[at.channel()], from);
      Value isFirst =
          k.compare(arith::CmpIPredicate::slt, carried[1], k.index(0));
      // Only a greater element replaces the maximum, so the first of equal ones
      // stays.
      Value greater;
      if (isFloat)
        greater = arith::CmpFOp::create(
            k.builder, k.loc, arith::CmpFPredicate::OGT, x, carried[0]);
      else
        greater =
            k.compare(declared.isUnsignedInteger() ? arith::CmpIPredicate::ugt
                                                   : arith::CmpIPredicate::sgt,
                      x, carried[0]);
      Value wins = arith::OrIOp::create(k.builder, k.loc, isFirst, greater);
      return SmallVector<Value>{k.select(wins, x, carried[0]),
                                k.select(wins, place, carried[1])};
    };
    SmallVector<Value> best = k.fold(ranges, {none, k.index(-1)}, body);
    k.store(k.toNumber(k.max(best[1], k.index(0)), k.builder.getI64Type()),
            output, out);
  });
  return success();
}

LogicalResult lowerAvgPool(AvgPoolOp op, KernelLowering &k) {
  ImageDims at(op.getInput(), op.getLayout());
  Value output = k.getOutput(op.getResult());
  Type type =
      getAccumulatorType(cast<MemRefType>(output.getType()).getElementType());
  k.forEach(k.getSizes(op.getResult()), [&](ValueRange out) {
    Value sum = foldWindow(
        op, k, at, out, k.number(type, 0),
        [&](Value carried, Value x) { return k.addNum(carried, x); });
    Value count = k.index(1);
    for (int64_t i = 0; i < at.spatialRank; ++i) {
      auto taps = getTaps(k, getWindow(op, at, i), out[at.spatial(i)],
                          k.index(op.getKernel()[i]),
                          k.getSize(op.getInput(), at.spatial(i)),
                          op.getCountIncludePad());
      count = k.mul(count, k.sub(taps.high, taps.low));
    }
    k.storeWide(k.divNum(sum, k.toNumber(count, type)), output, out);
  });
  return success();
}

LogicalResult lowerLRN(LRNOp op, KernelLowering &k) {
  Value input = k.get(op.getInput()), output = k.getOutput(op.getResult());
  Type type =
      getAccumulatorType(cast<MemRefType>(output.getType()).getElementType());
  int64_t axis = op.getAxis(), size = op.getSize();
  Value channels = k.getSize(op.getInput(), axis);
  double scale = op.getAlpha().convertToDouble() / double(size);
  k.forEach(k.getSizes(op.getResult()), [&](ValueRange out) {
    WindowDim window{1, (size - 1) / 2, 0, 1};
    auto taps = getTaps(k, window, out[axis], k.index(size), channels);
    Value sum =
        k.fold({taps}, k.number(type, 0), [&](ValueRange tap, Value sum) {
          SmallVector<Value> from(out);
          from[axis] = getPosition(k, window, out[axis], tap[0]);
          Value x = k.loadWide(input, from);
          return k.addNum(sum, k.mulNum(x, x));
        });
    Value base = k.addNum(k.number(type, op.getBias().convertToDouble()),
                          k.mulNum(k.number(type, scale), sum));
    Value power = math::PowFOp::create(
        k.builder, k.loc, base, k.number(type, op.getBeta().convertToDouble()));
    k.storeWide(k.divNum(k.loadWide(input, out), power), output, out);
  });
  return success();
}

} // namespace

FamilyResult adze::graph::lowerPooling(Operation *op, KernelLowering &k) {
  if (auto pool = dyn_cast<MaxPoolOp>(op))
    return lowerMaxPool(pool, k);
  if (auto pool = dyn_cast<MaxPoolIndexOp>(op))
    return lowerMaxPoolIndex(pool, k);
  if (auto pool = dyn_cast<AvgPoolOp>(op))
    return lowerAvgPool(pool, k);
  if (auto lrn = dyn_cast<LRNOp>(op))
    return lowerLRN(lrn, k);
  return std::nullopt;
}
