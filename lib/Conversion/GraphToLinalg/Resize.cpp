// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Resize: for each output element its place in the input, dim by dim, and the
// weighted neighbours. Coordinates are computed in f64.
#include "KernelLowering.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include <cmath>

using namespace mlir;
using namespace adze::graph;

namespace {

/// A kernel over neighbours `first + start` and `count - 1` behind it, whose
/// number only the run knows; the place is `fraction` behind `first`.
struct Stretched {
  Value first, fraction, scale, start, count;
};

/// The neighbours of a place along one dim: tap t reads `position(t)` with
/// `weight(t)` (null: 1).
struct Taps {
  SmallVector<Value> positions, weights;
  std::optional<Stretched> stretched = {}; // instead of these
};

class ResizeLowering {
public:
  ResizeLowering(ResizeOp op, KernelLowering &k)
      : op(op), k(k), f64(k.builder.getF64Type()),
        inSizes(k.getSizes(op.getInput())),
        outSizes(k.getSizes(op.getResult())) {}

  LogicalResult run();

private:
  Value num(double value) { return k.number(f64, value); }
  Value floor(Value x) { return math::FloorOp::create(k.builder, k.loc, x); }
  Value toIndex(Value x) {
    ElementBuilder b = k.elements();
    Value i = buildCast(b, x, f64, k.builder.getI64Type());
    return arith::IndexCastOp::create(k.builder, k.loc,
                                      k.builder.getIndexType(), i);
  }
  Value clamp(Value position, int64_t dim) {
    return k.max(k.min(position, k.add(inSizes[dim], -1)), k.index(0));
  }
  Value isLess(Value x, Value y) {
    return arith::CmpFOp::create(k.builder, k.loc, arith::CmpFPredicate::OLT, x,
                                 y);
  }

  bool isCopied(int64_t dim);
  Value getScale(int64_t dim);
  Value getCoordinate(int64_t dim, Value out);
  Value roundNearest(Value x);
  Value getCubicWeight(Value distance);
  Taps getTaps(int64_t dim, Value out);
  Taps getInterpolation(int64_t dim, Value coordinate);
  Taps getAntialiased(int64_t dim, Value coordinate);
  Value getStretchedWeight(int64_t dim, Value distance, Value position);
  Value weigh(int64_t dim, Value x, Value weight);
  std::optional<double> getStaticScale(int64_t dim);
  void normalize(Taps &taps);
  Value interpolate(ArrayRef<Taps> taps, size_t dim,
                    SmallVector<Value> &position);
  Value fold(ArrayRef<Taps> taps, size_t dim, SmallVector<Value> &position);

  ResizeOp op;
  KernelLowering &k;
  Type f64;
  SmallVector<Value> inSizes, outSizes;
  SmallVector<Value> scales;
  /// Whether the coordinate is outside of the input (tf_crop_and_resize).
  Value outside;
};

} // namespace

bool ResizeLowering::isCopied(int64_t dim) {
  if (op.getCoordinates() == CoordinateMode::TfCropAndResize) {
    ArrayRef<double> roi = *op.getRoi();
    if (roi[dim] != 0.0 || roi[dim + roi.size() / 2] != 1.0)
      return false;
  }
  if (op.getScales() && (*op.getScales())[dim] != 1.0)
    return false;
  return areEqual(getDims(op.getInput())[dim], getDims(op.getResult())[dim]);
}

Value ResizeLowering::getScale(int64_t dim) {
  if (op.getScales())
    return num((*op.getScales())[dim]);
  return k.divNum(k.toNumber(outSizes[dim], f64),
                  k.toNumber(inSizes[dim], f64));
}

/// The place in the input of output index `out`, by ONNX's formulas.
Value ResizeLowering::getCoordinate(int64_t dim, Value out) {
  Value x = k.toNumber(out, f64), scale = scales[dim];
  Value in = k.toNumber(inSizes[dim], f64);
  // Where ratios are given, ONNX means the size before it is rounded down.
  Value size =
      op.getScales() ? k.mulNum(in, scale) : k.toNumber(outSizes[dim], f64);
  Value half = num(0.5), one = num(1);
  auto halfPixel = [&] {
    return k.subNum(k.divNum(k.addNum(x, half), scale), half);
  };
  // A size of 1 would divide by 0.
  auto guarded = [&](Value value, Value otherwise) {
    return k.select(isLess(one, size), value, otherwise);
  };
  Value steps = k.select(isLess(one, size), k.subNum(size, one), one);
  switch (op.getCoordinates()) {
  case CoordinateMode::HalfPixel:
    return halfPixel();
  case CoordinateMode::HalfPixelSymmetric: {
    // The centre of the input stays the centre of the (rounded) output.
    Value adjustment =
        k.divNum(k.toNumber(outSizes[dim], f64), k.mulNum(scale, in));
    Value center = k.divNum(in, num(2));
    Value offset = k.mulNum(center, k.subNum(one, adjustment));
    return k.addNum(offset, halfPixel());
  }
  case CoordinateMode::PytorchHalfPixel:
    return guarded(halfPixel(), num(0));
  case CoordinateMode::AlignCorners:
    return guarded(k.divNum(k.mulNum(x, k.subNum(in, one)), steps), num(0));
  case CoordinateMode::Asymmetric:
    return k.divNum(x, scale);
  case CoordinateMode::TfHalfPixelForNN:
    return k.divNum(k.addNum(x, half), scale);
  case CoordinateMode::TfCropAndResize: {
    ArrayRef<double> roi = *op.getRoi();
    double start = roi[dim], end = roi[dim + roi.size() / 2];
    Value last = k.subNum(in, one);
    Value step = k.divNum(k.mulNum(num(end - start), last), steps);
    Value moving = k.addNum(k.mulNum(num(start), last), k.mulNum(x, step));
    Value middle = k.mulNum(num(0.5 * (start + end)), last);
    return guarded(moving, middle);
  }
  }
  llvm_unreachable("all modes are handled");
}

Value ResizeLowering::roundNearest(Value x) {
  auto ceil = [&](Value v) -> Value {
    return math::CeilOp::create(k.builder, k.loc, v);
  };
  switch (op.getNearestMode()) {
  case NearestMode::RoundPreferFloor:
    return ceil(k.subNum(x, num(0.5)));
  case NearestMode::RoundPreferCeil:
    return floor(k.addNum(x, num(0.5)));
  case NearestMode::Floor:
    return floor(x);
  case NearestMode::Ceil:
    return ceil(x);
  }
  llvm_unreachable("all modes are handled");
}

/// Keys' kernel with coefficient a, 0 from distance 2 on.
Value ResizeLowering::getCubicWeight(Value distance) {
  double a = op.getCubicCoeff().convertToDouble();
  Value d = math::AbsFOp::create(k.builder, k.loc, distance);
  auto polynomial = [&](double c3, double c2, double c1, double c0) {
    Value y = k.addNum(k.mulNum(num(c3), d), num(c2));
    y = k.addNum(k.mulNum(y, d), num(c1));
    return k.addNum(k.mulNum(y, d), num(c0));
  };
  Value near = polynomial(a + 2, -(a + 3), 0, 1);
  Value far = polynomial(a, -5 * a, 8 * a, -4 * a);
  Value tail = k.select(isLess(d, num(2)), far, num(0));
  return k.select(isLess(num(1), d), tail, near);
}

/// Divides by the sum of the weights.
void ResizeLowering::normalize(Taps &taps) {
  Value sum = taps.weights.front();
  for (Value weight : ArrayRef(taps.weights).drop_front())
    sum = k.addNum(sum, weight);
  for (Value &weight : taps.weights)
    weight = k.divNum(weight, sum);
}

/// Two (linear) or four (cubic) neighbours.
Taps ResizeLowering::getInterpolation(int64_t dim, Value x) {
  bool cubic = op.getMode() == ResizeMode::Cubic;
  Value base = floor(x);
  Value fraction = k.subNum(x, base), first = toIndex(base);
  Taps taps;
  for (int64_t t = cubic ? -1 : 0; t <= (cubic ? 2 : 1); ++t) {
    Value position = k.add(first, t);
    Value weight;
    if (cubic)
      weight = getCubicWeight(k.subNum(fraction, num(t)));
    else
      weight = t == 0 ? k.subNum(num(1), fraction) : fraction;
    if (op.getExcludeOutside()) {
      Value inside =
          k.compare(arith::CmpIPredicate::ult, position, inSizes[dim]);
      weight = k.select(inside, weight, num(0));
    }
    taps.positions.push_back(clamp(position, dim));
    taps.weights.push_back(weight);
  }
  if (op.getExcludeOutside())
    normalize(taps);
  return taps;
}

std::optional<double> ResizeLowering::getStaticScale(int64_t dim) {
  if (op.getScales())
    return (*op.getScales())[dim];
  auto in = getConstant(getDims(op.getInput())[dim]),
       out = getConstant(getDims(op.getResult())[dim]);
  if (!in || !out || *in == 0)
    return std::nullopt;
  return double(*out) / double(*in);
}

/// Of a neighbour at a distance in output elements.
Value ResizeLowering::getStretchedWeight(int64_t dim, Value distance,
                                         Value position) {
  Value weight;
  if (op.getMode() == ResizeMode::Cubic) {
    weight = getCubicWeight(distance);
  } else {
    Value magnitude = math::AbsFOp::create(k.builder, k.loc, distance);
    Value line = k.subNum(num(1), magnitude);
    weight = k.select(isLess(line, num(0)), num(0), line);
  }
  if (!op.getExcludeOutside())
    return weight;
  Value inside = k.compare(arith::CmpIPredicate::ult, position, inSizes[dim]);
  return k.select(inside, weight, num(0));
}

/// The kernel stretched over as many elements as one output element covers.
/// Places are told from the left, so that the fraction is in (0, 1].
Taps ResizeLowering::getAntialiased(int64_t dim, Value x) {
  double reach = op.getMode() == ResizeMode::Cubic ? -2 : -1;
  Value base = k.subNum(math::CeilOp::create(k.builder, k.loc, x), num(1));
  Value fraction = k.subNum(x, base), first = toIndex(base);
  Taps taps;
  auto known = getStaticScale(dim);
  if (!known) {
    Value one = num(1), given = scales[dim];
    Value scale = k.select(isLess(given, one), given, one);
    Value start = k.add(toIndex(floor(k.divNum(num(reach), scale))), 1);
    Value count = k.mul(k.sub(k.index(1), start), 2);
    taps.stretched = Stretched{first, fraction, scale, start, count};
    return taps;
  }
  double scale = std::min(*known, 1.0);
  int64_t start = int64_t(std::floor(reach / scale)) + 1;
  for (int64_t t = start; t < 2 - start; ++t) {
    Value position = k.add(first, t);
    Value distance = k.mulNum(k.subNum(num(t), fraction), num(scale));
    taps.positions.push_back(clamp(position, dim));
    taps.weights.push_back(getStretchedWeight(dim, distance, position));
  }
  normalize(taps);
  return taps;
}

Taps ResizeLowering::getTaps(int64_t dim, Value out) {
  if (isCopied(dim))
    return {{out}, {Value()}};
  Value x = getCoordinate(dim, out);
  if (op.getCoordinates() == CoordinateMode::TfCropAndResize) {
    Value last = k.toNumber(k.add(inSizes[dim], -1), f64);
    Value beyond = arith::OrIOp::create(k.builder, k.loc, isLess(x, num(0)),
                                        isLess(last, x));
    outside = outside ? arith::OrIOp::create(k.builder, k.loc, outside, beyond)
                            .getResult()
                      : beyond;
  }
  if (op.getMode() == ResizeMode::Nearest)
    return {{clamp(toIndex(roundNearest(x)), dim)}, {Value()}};
  return op.getAntialias() ? getAntialiased(dim, x) : getInterpolation(dim, x);
}

/// Where only the run knows whether a dim is resized at all, neighbours of
/// weight 0 are none: infinities beside a copied element do not change it.
Value ResizeLowering::weigh(int64_t dim, Value x, Value weight) {
  Value product = k.mulNum(x, weight);
  if (getStaticScale(dim))
    return product;
  Value isNone = arith::CmpFOp::create(
      k.builder, k.loc, arith::CmpFPredicate::OEQ, weight, num(0));
  return k.select(isNone, num(0), product);
}

/// The same as below, divided by the sum of the weights, as a loop.
Value ResizeLowering::fold(ArrayRef<Taps> taps, size_t dim,
                           SmallVector<Value> &position) {
  const Stretched &kernel = *taps[dim].stretched;
  SmallVector<Value> sums = k.fold(
      {{k.index(0), kernel.count}}, ValueRange{num(0), num(0)},
      [&](ValueRange indices, ValueRange sums) {
        Value tap = k.add(indices[0], kernel.start);
        Value place = k.add(kernel.first, tap);
        Value distance = k.mulNum(
            k.subNum(k.toNumber(tap, f64), kernel.fraction), kernel.scale);
        Value weight = getStretchedWeight(dim, distance, place);
        position.push_back(clamp(place, dim));
        Value x = interpolate(taps, dim + 1, position);
        position.pop_back();
        return SmallVector<Value>{k.addNum(sums[0], weigh(dim, x, weight)),
                                  k.addNum(sums[1], weight)};
      });
  return k.divNum(sums[0], sums[1]);
}

/// The weighted sum over the taps of all dims from `dim` on.
Value ResizeLowering::interpolate(ArrayRef<Taps> taps, size_t dim,
                                  SmallVector<Value> &position) {
  if (dim == taps.size()) {
    Type declared =
        cast<RankedTensorType>(op.getInput().getType()).getElementType();
    Value x = k.load(k.get(op.getInput()), position);
    if (op.getMode() == ResizeMode::Nearest)
      return x;
    ElementBuilder b = k.elements();
    return buildCast(b, x, declared, f64);
  }
  if (taps[dim].stretched)
    return fold(taps, dim, position);
  Value sum;
  for (auto [at, weight] :
       llvm::zip_equal(taps[dim].positions, taps[dim].weights)) {
    position.push_back(at);
    Value x = interpolate(taps, dim + 1, position);
    position.pop_back();
    if (weight)
      x = weigh(dim, x, weight);
    sum = sum ? k.addNum(sum, x) : x;
  }
  return sum;
}

LogicalResult ResizeLowering::run() {
  Value output = k.getOutput(op.getResult());
  Type declared =
      cast<RankedTensorType>(op.getInput().getType()).getElementType();
  for (size_t i = 0; i < inSizes.size(); ++i)
    scales.push_back(getScale(i));
  k.forEach(outSizes, [&](ValueRange out) {
    outside = Value();
    SmallVector<Taps> taps;
    for (auto [dim, index] : llvm::enumerate(out))
      taps.push_back(getTaps(dim, index));
    SmallVector<Value> position;
    Value value = interpolate(taps, 0, position);
    Type type = getSignlessType(declared);
    if (op.getMode() != ResizeMode::Nearest) {
      // Integers are rounded as a float is.
      if (isa<IntegerType>(declared))
        value = math::RoundEvenOp::create(k.builder, k.loc, value);
      ElementBuilder b = k.elements();
      value = buildCast(b, value, f64, declared);
    }
    if (outside)
      value = k.select(outside,
                       k.number(type, op.getExtrapolation().convertToDouble()),
                       value);
    k.store(value, output, out);
  });
  return success();
}

FamilyResult adze::graph::lowerResize(Operation *op, KernelLowering &k) {
  if (auto resize = dyn_cast<ResizeOp>(op))
    return ResizeLowering(resize, k).run();
  return std::nullopt;
}
