// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
#include "Dialect/Graph/IR/ResizeMath.h"
#include "Dialect/Graph/IR/Shape.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include <cmath>

using namespace mlir;
using namespace adze::graph;

bool adze::graph::isCopied(ResizeOp op, int64_t dim) {
  if (op.getCoordinates() == CoordinateMode::TfCropAndResize) {
    ArrayRef<double> roi = *op.getRoi();
    if (roi[dim] != 0.0 || roi[dim + roi.size() / 2] != 1.0)
      return false;
  }
  if (op.getScales() && (*op.getScales())[dim] != 1.0)
    return false;
  return areEqual(getDims(op.getInput())[dim], getDims(op.getResult())[dim]);
}

/// Returns true if element i of a dim resized by an integral factor is element
/// i floordiv factor of the input. The centre of an element is never halfway
/// between two elements.
static bool picksRepeated(ResizeOp op) {
  if (op.getMode() != ResizeMode::Nearest)
    return false;
  switch (op.getCoordinates()) {
  case CoordinateMode::Asymmetric:
    return op.getNearestMode() == NearestMode::Floor;
  case CoordinateMode::HalfPixel:
  case CoordinateMode::PytorchHalfPixel:
    return op.getNearestMode() == NearestMode::RoundPreferFloor ||
           op.getNearestMode() == NearestMode::RoundPreferCeil;
  default:
    return false;
  }
}

std::optional<int64_t> adze::graph::getRepeats(ResizeOp op, int64_t dim) {
  AffineExpr ratio = picksRepeated(op)
                         ? divideExactly(getDims(op.getResult())[dim],
                                         getDims(op.getInput())[dim])
                         : AffineExpr();
  auto factor = ratio ? getConstant(ratio) : std::nullopt;
  if (factor && op.getScales() && (*op.getScales())[dim] != double(*factor))
    return std::nullopt;
  return factor;
}

std::optional<double> adze::graph::getStaticScale(ResizeOp op, int64_t dim) {
  if (op.getScales())
    return (*op.getScales())[dim];
  auto in = getConstant(getDims(op.getInput())[dim]),
       out = getConstant(getDims(op.getResult())[dim]);
  if (!in || !out || *in == 0)
    return std::nullopt;
  return double(*out) / double(*in);
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

ResizeMath::ResizeMath(ResizeOp op, int64_t dim, ElementBuilder &builder,
                       Value inSize, Value outSize)
    : op(op), dim(dim), e(builder), inSize(inSize), outSize(outSize),
      in(toNumber(inSize)), out(toNumber(outSize)) {
  scale = op.getScales() ? num((*op.getScales())[dim]) : div(out, in);
}

Value ResizeMath::num(double value) {
  return e.number(e.builder.getF64Type(), value);
}
Value ResizeMath::index(int64_t value) {
  return e.constant(e.builder.getIndexAttr(value));
}
Value ResizeMath::toNumber(Value index) {
  Type i64 = e.builder.getI64Type();
  Value integer = arith::IndexCastOp::create(e.builder, e.loc,
                                             e.typeLike(i64, index), index);
  return buildCast(e, integer, i64, e.builder.getF64Type());
}
Value ResizeMath::toIndex(Value number) {
  Value integer =
      buildCast(e, number, e.builder.getF64Type(), e.builder.getI64Type());
  return arith::IndexCastOp::create(
      e.builder, e.loc, e.typeLike(e.builder.getIndexType(), integer), integer);
}
Value ResizeMath::add(Value lhs, Value rhs) {
  if (isa<FloatType>(getElementTypeOrSelf(lhs)))
    return arith::AddFOp::create(e.builder, e.loc, lhs, rhs);
  return arith::AddIOp::create(e.builder, e.loc, lhs, rhs);
}
Value ResizeMath::sub(Value lhs, Value rhs) {
  if (isa<FloatType>(getElementTypeOrSelf(lhs)))
    return arith::SubFOp::create(e.builder, e.loc, lhs, rhs);
  return arith::SubIOp::create(e.builder, e.loc, lhs, rhs);
}
Value ResizeMath::mul(Value lhs, Value rhs) {
  return arith::MulFOp::create(e.builder, e.loc, lhs, rhs);
}
Value ResizeMath::div(Value lhs, Value rhs) {
  return arith::DivFOp::create(e.builder, e.loc, lhs, rhs);
}
Value ResizeMath::isLess(Value lhs, Value rhs) {
  return arith::CmpFOp::create(e.builder, e.loc, arith::CmpFPredicate::OLT, lhs,
                               rhs);
}
Value ResizeMath::select(Value condition, Value lhs, Value rhs) {
  return arith::SelectOp::create(e.builder, e.loc, condition, lhs, rhs);
}
Value ResizeMath::floor(Value x) {
  return math::FloorOp::create(e.builder, e.loc, x);
}
Value ResizeMath::ceil(Value x) {
  return math::CeilOp::create(e.builder, e.loc, x);
}

/// Clamps to the nearest valid position. The order of operations lets range
/// analysis prove both bounds.
Value ResizeMath::clamp(Value position) {
  Value low = arith::MaxSIOp::create(e.builder, e.loc, position, index(0));
  return arith::MinSIOp::create(e.builder, e.loc, low, sub(inSize, index(1)));
}

/// With `exclude_outside`, positions outside of the input have weight 0.
Value ResizeMath::orNoneOutside(Value weight, Value position) {
  if (!op.getExcludeOutside())
    return weight;
  Value inside = arith::CmpIOp::create(
      e.builder, e.loc, arith::CmpIPredicate::ult, position, inSize);
  return select(inside, weight, num(0));
}

//===----------------------------------------------------------------------===//
// Coordinates
//===----------------------------------------------------------------------===//

Value ResizeMath::getCoordinate(Value position) {
  Value x = toNumber(position);
  // With given scales, ONNX uses the size before it is rounded down.
  Value size = op.getScales() ? mul(in, scale) : out;
  Value half = num(0.5), one = num(1);
  auto halfPixel = [&] { return sub(div(add(x, half), scale), half); };
  // A size of 1 would cause a division by 0.
  auto guarded = [&](Value value, Value otherwise) {
    return select(isLess(one, size), value, otherwise);
  };
  Value steps = select(isLess(one, size), sub(size, one), one);
  switch (op.getCoordinates()) {
  case CoordinateMode::HalfPixel:
    return halfPixel();
  case CoordinateMode::HalfPixelSymmetric: {
    // The centre of the input is mapped to that of the (rounded) output.
    Value adjustment = div(out, mul(scale, in));
    Value center = div(in, num(2));
    Value offset = mul(center, sub(one, adjustment));
    return add(offset, halfPixel());
  }
  case CoordinateMode::PytorchHalfPixel:
    return guarded(halfPixel(), num(0));
  case CoordinateMode::AlignCorners:
    return guarded(div(mul(x, sub(in, one)), steps), num(0));
  case CoordinateMode::Asymmetric:
    return div(x, scale);
  case CoordinateMode::TfHalfPixelForNN:
    return div(add(x, half), scale);
  case CoordinateMode::TfCropAndResize: {
    ArrayRef<double> roi = *op.getRoi();
    double start = roi[dim], end = roi[dim + roi.size() / 2];
    Value last = sub(in, one);
    Value step = div(mul(num(end - start), last), steps);
    Value moving = add(mul(num(start), last), mul(x, step));
    Value middle = mul(num(0.5 * (start + end)), last);
    return guarded(moving, middle);
  }
  }
  llvm_unreachable("all modes are handled");
}

Value ResizeMath::isOutside(Value coordinate) {
  Value last = sub(in, num(1));
  return arith::OrIOp::create(e.builder, e.loc, isLess(coordinate, num(0)),
                              isLess(last, coordinate));
}

//===----------------------------------------------------------------------===//
// Neighbours
//===----------------------------------------------------------------------===//

Value ResizeMath::roundNearest(Value x) {
  switch (op.getNearestMode()) {
  case NearestMode::RoundPreferFloor:
    return ceil(sub(x, num(0.5)));
  case NearestMode::RoundPreferCeil:
    return floor(add(x, num(0.5)));
  case NearestMode::Floor:
    return floor(x);
  case NearestMode::Ceil:
    return ceil(x);
  }
  llvm_unreachable("all modes are handled");
}

/// Returns Keys' kernel with coefficient a, which is 0 from distance 2 on.
Value ResizeMath::getCubicWeight(Value distance) {
  double a = op.getCubicCoeff().convertToDouble();
  Value d = math::AbsFOp::create(e.builder, e.loc, distance);
  auto polynomial = [&](double c3, double c2, double c1, double c0) {
    Value y = add(mul(num(c3), d), num(c2));
    y = add(mul(y, d), num(c1));
    return add(mul(y, d), num(c0));
  };
  Value near = polynomial(a + 2, -(a + 3), 0, 1);
  Value far = polynomial(a, -5 * a, 8 * a, -4 * a);
  Value tail = select(isLess(d, num(2)), far, num(0));
  return select(isLess(num(1), d), tail, near);
}

/// Divides by the sum of the weights.
void ResizeMath::normalize(MutableArrayRef<ResizeTap> taps) {
  Value sum = taps.front().weight;
  for (const ResizeTap &tap : taps.drop_front())
    sum = add(sum, tap.weight);
  for (ResizeTap &tap : taps)
    tap.weight = div(tap.weight, sum);
}

/// Returns two (linear) or four (cubic) taps.
SmallVector<ResizeTap> ResizeMath::getInterpolation(Value x) {
  bool cubic = op.getMode() == ResizeMode::Cubic;
  Value base = floor(x);
  Value fraction = sub(x, base), first = toIndex(base);
  SmallVector<ResizeTap> taps;
  for (int64_t t = cubic ? -1 : 0; t <= (cubic ? 2 : 1); ++t) {
    Value position = add(first, index(t));
    Value weight;
    if (cubic)
      weight = getCubicWeight(sub(fraction, num(t)));
    else
      weight = t == 0 ? sub(num(1), fraction) : fraction;
    taps.push_back({clamp(position), orNoneOutside(weight, position)});
  }
  if (op.getExcludeOutside())
    normalize(taps);
  return taps;
}

/// Returns the weight of a tap at a distance in elements of the output.
Value ResizeMath::getWeight(Value distance, Value position) {
  Value weight;
  if (op.getMode() == ResizeMode::Cubic) {
    weight = getCubicWeight(distance);
  } else {
    Value magnitude = math::AbsFOp::create(e.builder, e.loc, distance);
    Value line = sub(num(1), magnitude);
    weight = select(isLess(line, num(0)), num(0), line);
  }
  return orNoneOutside(weight, position);
}

/// Returns the extent of the kernel to the left, in elements of the output.
static double getReach(ResizeOp op) {
  return op.getMode() == ResizeMode::Cubic ? -2 : -1;
}

/// Returns the taps of the kernel stretched over as many elements as one
/// element of the output covers. Positions are relative to the left, so that
/// the fraction is in (0, 1].
SmallVector<ResizeTap> ResizeMath::getAntialiased(Value x, double known) {
  double scale = std::min(known, 1.0);
  Value base = sub(ceil(x), num(1));
  Value fraction = sub(x, base), first = toIndex(base);
  int64_t start = int64_t(std::floor(getReach(op) / scale)) + 1;
  SmallVector<ResizeTap> taps;
  for (int64_t t = start; t < 2 - start; ++t) {
    Value position = add(first, index(t));
    Value distance = mul(sub(num(t), fraction), num(scale));
    taps.push_back({clamp(position), getWeight(distance, position)});
  }
  normalize(taps);
  return taps;
}

SmallVector<ResizeTap> ResizeMath::getTaps(Value x) {
  if (op.getMode() == ResizeMode::Nearest)
    return {{clamp(toIndex(roundNearest(x))), Value()}};
  if (!op.getAntialias())
    return getInterpolation(x);
  auto known = getStaticScale(op, dim);
  return known ? getAntialiased(x, *known) : SmallVector<ResizeTap>();
}

ResizeMath::Stretched ResizeMath::getStretched(Value x) {
  Value base = sub(ceil(x), num(1)), one = num(1);
  Value most = select(isLess(scale, one), scale, one);
  Value start = add(toIndex(floor(div(num(getReach(op)), most))), index(1));
  Value half = sub(index(1), start);
  return {toIndex(base), sub(x, base), most, start, add(half, half)};
}

ResizeTap ResizeMath::getStretchedTap(const Stretched &kernel, Value offset) {
  Value position = add(kernel.first, offset);
  Value distance = mul(sub(toNumber(offset), kernel.fraction), kernel.scale);
  return {clamp(position), getWeight(distance, position)};
}
