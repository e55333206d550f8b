// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Resize: for each element of the output, its position in the input, dim by
// dim, and the weighted taps. Coordinates are computed in f64.
#include "Dialect/Graph/IR/ResizeMath.h"
#include "KernelLowering.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace adze::graph;

namespace {

class ResizeLowering {
public:
  ResizeLowering(ResizeOp op, KernelLowering &k)
      : op(op), k(k), elements(k.elements()), f64(k.builder.getF64Type()) {}

  LogicalResult run();

private:
  /// One dim of an element of the output; without `math` it is copied.
  struct Dim {
    std::optional<ResizeMath> math;
    SmallVector<ResizeTap> taps; // empty with antialiasing
    ResizeMath::Stretched stretched = {};
  };
  Dim getDim(int64_t dim, ResizeMath *math, Value out);
  Value weigh(int64_t dim, Value x, Value weight);
  Value interpolate(MutableArrayRef<Dim> dims, size_t dim,
                    SmallVector<Value> &position);
  Value fold(MutableArrayRef<Dim> dims, size_t dim,
             SmallVector<Value> &position);

  ResizeOp op;
  KernelLowering &k;
  ElementBuilder elements;
  Type f64;
  /// True if the coordinate is outside of the input (tf_crop_and_resize).
  Value outside;
};

} // namespace

ResizeLowering::Dim ResizeLowering::getDim(int64_t dim, ResizeMath *math,
                                           Value out) {
  if (!math)
    return {std::nullopt, {{out, Value()}}};
  Value x = math->getCoordinate(out);
  if (op.getCoordinates() == CoordinateMode::TfCropAndResize) {
    Value beyond = math->isOutside(x);
    outside = outside ? arith::OrIOp::create(k.builder, k.loc, outside, beyond)
                            .getResult()
                      : beyond;
  }
  Dim result{*math, math->getTaps(x)};
  if (result.taps.empty())
    result.stretched = math->getStretched(x);
  return result;
}

/// If it is dynamic whether a dim is resized at all, taps of weight 0 are
/// ignored, so that infinities next to a copied element do not affect it.
Value ResizeLowering::weigh(int64_t dim, Value x, Value weight) {
  Value product = k.mulNum(x, weight);
  if (getStaticScale(op, dim))
    return product;
  Value none = k.number(f64, 0);
  Value isNone = arith::CmpFOp::create(k.builder, k.loc,
                                       arith::CmpFPredicate::OEQ, weight, none);
  return k.select(isNone, none, product);
}

/// Emits the weighted sum as a loop, divided by the sum of the weights.
Value ResizeLowering::fold(MutableArrayRef<Dim> dims, size_t dim,
                           SmallVector<Value> &position) {
  Dim &self = dims[dim];
  Value none = k.number(f64, 0);
  SmallVector<Value> sums = k.fold(
      {{k.index(0), self.stretched.count}}, ValueRange{none, none},
      [&](ValueRange indices, ValueRange sums) {
        ResizeTap tap = self.math->getStretchedTap(
            self.stretched, k.add(indices[0], self.stretched.start));
        position.push_back(tap.position);
        Value x = interpolate(dims, dim + 1, position);
        position.pop_back();
        return SmallVector<Value>{k.addNum(sums[0], weigh(dim, x, tap.weight)),
                                  k.addNum(sums[1], tap.weight)};
      });
  return k.divNum(sums[0], sums[1]);
}

/// Emits the weighted sum over the taps of all dims from `dim` on.
Value ResizeLowering::interpolate(MutableArrayRef<Dim> dims, size_t dim,
                                  SmallVector<Value> &position) {
  if (dim == dims.size()) {
    Type declared =
        cast<RankedTensorType>(op.getInput().getType()).getElementType();
    Value x = k.load(k.get(op.getInput()), position);
    if (op.getMode() == ResizeMode::Nearest)
      return x;
    return buildCast(elements, x, declared, f64);
  }
  if (dims[dim].taps.empty())
    return fold(dims, dim, position);
  Value sum;
  for (const ResizeTap &tap : dims[dim].taps) {
    position.push_back(tap.position);
    Value x = interpolate(dims, dim + 1, position);
    position.pop_back();
    if (tap.weight)
      x = weigh(dim, x, tap.weight);
    sum = sum ? k.addNum(sum, x) : x;
  }
  return sum;
}

LogicalResult ResizeLowering::run() {
  Value output = k.getOutput(op.getResult());
  Type declared =
      cast<RankedTensorType>(op.getInput().getType()).getElementType();
  SmallVector<Value> inSizes = k.getSizes(op.getInput()),
                     outSizes = k.getSizes(op.getResult());
  SmallVector<std::optional<ResizeMath>> maths;
  for (auto [dim, in, out] : llvm::enumerate(inSizes, outSizes)) {
    maths.emplace_back();
    if (!isCopied(op, dim))
      maths.back().emplace(op, dim, elements, in, out);
  }
  k.forEach(outSizes, [&](ValueRange out) {
    outside = Value();
    SmallVector<Dim> dims;
    for (auto [dim, index] : llvm::enumerate(out))
      dims.push_back(getDim(dim, maths[dim] ? &*maths[dim] : nullptr, index));
    SmallVector<Value> position;
    Value value = interpolate(dims, 0, position);
    Type type = getSignlessType(declared);
    if (op.getMode() != ResizeMode::Nearest) {
      // Integers are rounded like floats.
      if (isa<IntegerType>(declared))
        value = math::RoundEvenOp::create(k.builder, k.loc, value);
      value = buildCast(elements, value, f64, declared);
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
