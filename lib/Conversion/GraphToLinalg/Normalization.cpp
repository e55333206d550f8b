// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Softmax and normalisations: the statistics of a slice, then its elements.
#include "KernelLowering.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace adze::graph;

namespace {

Type getWideType(Value tensor) {
  return getAccumulatorType(
      cast<RankedTensorType>(tensor.getType()).getElementType());
}

//===----------------------------------------------------------------------===//
// Softmax
//===----------------------------------------------------------------------===//

/// Lowers softmax and log_softmax along `axis`.
LogicalResult lowerSoftmax(Value tensor, Value result, int64_t axis,
                           bool logarithm, KernelLowering &k) {
  Value input = k.get(tensor), output = k.getOutput(result);
  Type type = getWideType(tensor);
  SmallVector<Value> sizes = k.getSizes(tensor);
  Value size = sizes[axis];
  sizes.erase(sizes.begin() + axis);
  ElementBuilder b = k.elements();
  k.forEach(sizes, [&](ValueRange outer) {
    auto at = [&](Value i) {
      SmallVector<Value> indices(outer);
      indices.insert(indices.begin() + axis, i);
      return indices;
    };
    Value max = k.fold({{k.index(0), size}},
                       b.constant(getNeutral(Combiner::Max, type)),
                       [&](ValueRange i, Value max) {
                         return buildCombine(b, Combiner::Max, type, max,
                                             k.loadWide(input, at(i[0])));
                       });
    auto shifted = [&](Value i) {
      return k.subNum(k.loadWide(input, at(i)), max);
    };
    auto exp = [&](Value x) -> Value {
      return math::ExpOp::create(k.builder, k.loc, x, tinyIsZero);
    };
    Value sum = k.fold({{k.index(0), size}}, k.number(type, 0),
                       [&](ValueRange i, Value sum) {
                         return k.addNum(sum, exp(shifted(i[0])));
                       });
    Value log = logarithm
                    ? math::LogOp::create(k.builder, k.loc, sum).getResult()
                    : Value();
    k.forEach(size, [&](ValueRange i) {
      Value x = shifted(i[0]);
      Value y = logarithm ? k.subNum(x, log) : k.divNum(exp(x), sum);
      k.storeWide(y, output, at(i[0]));
    });
  });
  return success();
}

//===----------------------------------------------------------------------===//
// Normalisations
//===----------------------------------------------------------------------===//

/// A normalisation: statistics over the inner loops for each iteration of the
/// outer ones.
struct Normalization {
  Value tensor, result;
  SmallVector<Value> outer, inner;
  double epsilon;
  bool centered = true;
  /// Returns the indices of an element from those of the outer and inner loops.
  std::function<SmallVector<Value>(ValueRange, ValueRange)> place;
  /// Return the factor and the summand of an element; null for none.
  std::function<Value(ValueRange)> scale, bias;
};

/// Emits (x - mean) / sqrt(variance + epsilon) * scale + bias.
LogicalResult lowerStatistics(const Normalization &n, KernelLowering &k) {
  Value input = k.get(n.tensor), output = k.getOutput(n.result);
  Type type = getWideType(n.tensor);
  Value count = k.toNumber(k.multiply(n.inner), type);
  k.forEach(n.outer, [&](ValueRange outer) {
    auto mean = [&](llvm::function_ref<Value(Value)> prepare) {
      Value sum = k.fold(k.getRanges(n.inner), k.number(type, 0),
                         [&](ValueRange inner, Value sum) {
                           Value x = k.loadWide(input, n.place(outer, inner));
                           return k.addNum(sum, prepare(x));
                         });
      return k.divNum(sum, count);
    };
    Value center = n.centered ? mean([](Value x) { return x; }) : Value();
    auto centered = [&](Value x) { return center ? k.subNum(x, center) : x; };
    Value variance = mean([&](Value x) {
      Value difference = centered(x);
      return k.mulNum(difference, difference);
    });
    Value deviation = math::SqrtOp::create(
        k.builder, k.loc, k.addNum(variance, k.number(type, n.epsilon)));
    k.forEach(n.inner, [&](ValueRange inner) {
      SmallVector<Value> at = n.place(outer, inner);
      Value y = k.divNum(centered(k.loadWide(input, at)), deviation);
      if (n.scale)
        y = k.mulNum(y, n.scale(at));
      if (n.bias)
        y = k.addNum(y, n.bias(at));
      k.storeWide(y, output, at);
    });
  });
  return success();
}

/// Reads a parameter that is broadcast to the normalised tensor.
std::function<Value(ValueRange)> readBroadcast(Value parameter, Value tensor,
                                               KernelLowering &k) {
  if (!parameter)
    return nullptr;
  Value memref = k.get(parameter);
  return [=, &k](ValueRange at) {
    Dims from = getDims(parameter), to = getDims(tensor);
    size_t offset = to.size() - from.size();
    SmallVector<Value> indices;
    for (size_t i = 0; i < from.size(); ++i) {
      Value index = at[offset + i];
      if (getConstant(from[i]) == 1) {
        index = k.index(0);
      } else if (!areEqual(from[i], to[offset + i])) {
        Value isOne = k.compare(arith::CmpIPredicate::eq, k.evaluate(from[i]),
                                k.index(1));
        index = k.select(isOne, k.index(0), index);
      }
      indices.push_back(index);
    }
    return k.loadWide(memref, indices);
  };
}

/// Reads a parameter that has one element for each index of dim `axis`.
std::function<Value(ValueRange)> readPerChannel(Value parameter, int64_t axis,
                                                KernelLowering &k) {
  Value memref = k.get(parameter);
  return [=, &k](ValueRange at) { return k.loadWide(memref, at[axis]); };
}

/// Lowers layer_norm and rms_norm, whose inner dims are those from `axis` on.
Normalization getTrailing(Value tensor, Value result, int64_t axis,
                          double epsilon, KernelLowering &k) {
  Normalization n;
  SmallVector<Value> sizes = k.getSizes(tensor);
  n.tensor = tensor;
  n.result = result;
  n.epsilon = epsilon;
  n.outer.assign(sizes.begin(), sizes.begin() + axis);
  n.inner.assign(sizes.begin() + axis, sizes.end());
  n.place = [](ValueRange outer, ValueRange inner) {
    SmallVector<Value> at(outer);
    llvm::append_range(at, inner);
    return at;
  };
  return n;
}

LogicalResult lowerLayerNorm(LayerNormOp op, KernelLowering &k) {
  Normalization n = getTrailing(op.getInput(), op.getResult(), op.getAxis(),
                                op.getEpsilon().convertToDouble(), k);
  n.scale = readBroadcast(op.getScale(), op.getInput(), k);
  n.bias = readBroadcast(op.getBias(), op.getInput(), k);
  return lowerStatistics(n, k);
}

LogicalResult lowerRMSNorm(RMSNormOp op, KernelLowering &k) {
  Normalization n = getTrailing(op.getInput(), op.getResult(), op.getAxis(),
                                op.getEpsilon().convertToDouble(), k);
  n.centered = false;
  n.scale = readBroadcast(op.getScale(), op.getInput(), k);
  return lowerStatistics(n, k);
}

LogicalResult lowerInstanceNorm(InstanceNormOp op, KernelLowering &k) {
  Normalization n;
  int64_t axis = op.getAxis();
  n.tensor = op.getInput();
  n.result = op.getResult();
  n.epsilon = op.getEpsilon().convertToDouble();
  for (auto [i, size] : llvm::enumerate(k.getSizes(op.getInput())))
    (i == 0 || int64_t(i) == axis ? n.outer : n.inner).push_back(size);
  n.place = [axis](ValueRange outer, ValueRange inner) {
    SmallVector<Value> at = {outer[0]};
    llvm::append_range(at, inner);
    at.insert(at.begin() + axis, outer[1]);
    return at;
  };
  n.scale = readPerChannel(op.getScale(), axis, k);
  n.bias = readPerChannel(op.getBias(), axis, k);
  return lowerStatistics(n, k);
}

LogicalResult lowerGroupNorm(GroupNormOp op, KernelLowering &k) {
  Normalization n;
  SmallVector<Value> sizes = k.getSizes(op.getInput());
  Value groups = k.index(op.getGroups());
  Value perGroup =
      k.builder.createOrFold<arith::DivSIOp>(k.loc, sizes[1], groups);
  n.tensor = op.getInput();
  n.result = op.getResult();
  n.epsilon = op.getEpsilon().convertToDouble();
  n.outer = {sizes[0], groups};
  n.inner = {perGroup};
  n.inner.append(sizes.begin() + 2, sizes.end());
  n.place = [&k, perGroup](ValueRange outer, ValueRange inner) {
    SmallVector<Value> at = {outer[0],
                             k.add(k.mul(outer[1], perGroup), inner[0])};
    llvm::append_range(at, inner.drop_front());
    return at;
  };
  n.scale = readPerChannel(op.getScale(), 1, k);
  n.bias = readPerChannel(op.getBias(), 1, k);
  return lowerStatistics(n, k);
}

LogicalResult lowerBatchNorm(BatchNormOp op, KernelLowering &k) {
  Value input = k.get(op.getInput()), output = k.getOutput(op.getResult());
  Type type = getWideType(op.getInput());
  int64_t axis = op.getAxis();
  auto read = [&](Value parameter, ValueRange at) {
    return k.loadWide(k.get(parameter), at[axis]);
  };
  Value epsilon = k.number(type, op.getEpsilon().convertToDouble());
  k.forEach(k.getSizes(op.getInput()), [&](ValueRange at) {
    Value deviation = math::SqrtOp::create(
        k.builder, k.loc, k.addNum(read(op.getVariance(), at), epsilon));
    Value x = k.subNum(k.loadWide(input, at), read(op.getMean(), at));
    Value factor = k.divNum(read(op.getScale(), at), deviation);
    k.storeWide(k.addNum(k.mulNum(x, factor), read(op.getBias(), at)), output,
                at);
  });
  return success();
}

} // namespace

FamilyResult adze::graph::lowerNormalization(Operation *op, KernelLowering &k) {
  if (auto softmax = dyn_cast<SoftmaxOp>(op))
    return lowerSoftmax(softmax.getInput(), softmax.getResult(),
                        softmax.getAxis(), /*logarithm=*/false, k);
  if (auto softmax = dyn_cast<LogSoftmaxOp>(op))
    return lowerSoftmax(softmax.getInput(), softmax.getResult(),
                        softmax.getAxis(), /*logarithm=*/true, k);
  if (auto norm = dyn_cast<LayerNormOp>(op))
    return lowerLayerNorm(norm, k);
  if (auto norm = dyn_cast<RMSNormOp>(op))
    return lowerRMSNorm(norm, k);
  if (auto norm = dyn_cast<BatchNormOp>(op))
    return lowerBatchNorm(norm, k);
  if (auto norm = dyn_cast<InstanceNormOp>(op))
    return lowerInstanceNorm(norm, k);
  if (auto norm = dyn_cast<GroupNormOp>(op))
    return lowerGroupNorm(norm, k);
  return std::nullopt;
}
