// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Data movement with data-dependent shapes, starts, pads or axes.
#include "DataShapes.h"
#include "Sizes.h"

using namespace adze;
using namespace adze::importer;
using mlir::AffineExpr;
using mlir::Value;

/// Returns the length of a vector, which must be known, or -1 after an error.
static int64_t getLength(Binder &b, Value vector) {
  auto length = b.hasFailed()
                    ? std::nullopt
                    : graph::getConstant(graph::product(
                          b.builder.getContext(), graph::getDims(vector)));
  if (length && *length <= int64_t(Binder::kMostDims))
    return *length;
  b.failLength(length ? *length : -1);
  return -1;
}

//===----------------------------------------------------------------------===//
// reshape, squeeze, unsqueeze
//===----------------------------------------------------------------------===//

/// Returns the product of `dims` divided by that of `others`. Zeros of both
/// cancel, as in reshapeDims.
static Value divideSizes(Sizes &s, Value dims, Value others) {
  Value zero = s.number(0), one = s.number(1);
  auto countZeros = [&](Value sizes) {
    return s.sum(s.select(s.equal(sizes, zero), one, zero));
  };
  auto multiply = [&](Value sizes) {
    return s.product(s.select(s.equal(sizes, zero), one, sizes));
  };
  Value isNone = s.less(countZeros(others), countZeros(dims));
  Value rest = s.div(multiply(dims), s.max(multiply(others), one));
  return s.select(isNone, zero, rest);
}

Value adze::importer::reshapeByData(Binder &b, Value x, Value shape,
                                    bool allowZero) {
  Sizes s(b);
  int64_t length = getLength(b, shape), rank = b.getRank(x);
  if (length < 0)
    return {};
  Value given = s.toVector(shape), dims = s.shape(x);
  if (!allowZero) {
    // A zero stands for the dim of the input at this position.
    Value copied = b.slice(dims, 0, 0, b.expr(std::min(length, rank)));
    if (length > rank)
      copied = s.concat({copied, s.splat(length - rank, 0)});
    given = s.select(s.equal(given, s.number(0)), copied, given);
  }
  Value isFree = s.equal(given, s.number(-1));
  if (allowZero) {
    Value isNone = s.equal(given, s.number(0)),
          no = b.create<graph::NotOp>(isNone);
    b.check(s.either(s.all(no), s.all(b.create<graph::NotOp>(isFree))),
            "expected no -1 together with a size of 0");
  }
  Value others = s.select(isFree, s.number(1), given);
  Value sizes = s.select(isFree, divideSizes(s, dims, others), given);
  Dims result = b.getSizes(sizes);
  return b.hasFailed() ? Value() : b.reshape(x, result);
}

/// Returns `x` with the `count` dims for which `kept` is 1; the others have
/// size 1.
static Value keepDims(Binder &b, Value x, Value kept, int64_t count) {
  Sizes s(b);
  b.check(s.equal(s.sum(kept), s.number(count)),
          "expected " + std::to_string(count) + " dims to be left");
  Value places = b.createAs<graph::NonZeroOp>(
      graph::makeType(b.builder.getI64Type(), {b.expr(1), b.expr(count)}),
      kept);
  Value dims = s.shape(x);
  Value sizes = b.create<graph::GatherOp>(
      {dims, b.reshape(places, b.expr(count))}, b.attr("axis", int64_t(0)));
  b.check(s.equal(s.product(sizes), s.product(dims)),
          "expected dims of size 1 to leave out");
  Dims result = b.getSizes(sizes);
  return b.hasFailed() ? Value() : b.reshape(x, result);
}

Value adze::importer::squeezeUnits(Binder &b, Value x, int64_t count) {
  Sizes s(b);
  Value isUnit = s.equal(s.shape(x), s.number(1));
  return keepDims(b, x, s.select(isUnit, s.number(0), s.number(1)), count);
}

Value adze::importer::squeezeByData(Binder &b, Value x, Value axes) {
  Sizes s(b);
  int64_t count = getLength(b, axes), rank = b.getRank(x);
  if (count < 0)
    return {};
  if (count > rank) {
    (void)b.fail("expected at most " + llvm::Twine(rank) + " axes, but got " +
                 llvm::Twine(count));
    return {};
  }
  Value kept = s.spread(s.splat(count, 0), s.normalizeAxes(axes, rank),
                        s.splat(rank, 1));
  return keepDims(b, x, kept, rank - count);
}

Value adze::importer::unsqueezeByData(Binder &b, Value x, Value axes) {
  Sizes s(b);
  int64_t count = getLength(b, axes), rank = b.getRank(x);
  if (count < 0)
    return {};
  int64_t all = rank + count;
  Value isNew =
      s.spread(s.splat(count, 1), s.normalizeAxes(axes, all), s.splat(all, 0));
  // The number of new dims before a position is subtracted from it.
  Value before = b.create<graph::CumsumOp>(
      isNew, {b.attr("axis", int64_t(0)), b.attr("exclusive", true)});
  llvm::SmallVector<int64_t> numbers =
      llvm::to_vector(llvm::seq<int64_t>(0, all));
  Value from = s.sub(s.vector(numbers), before);
  // There is one more dim, so that a scalar has one to gather from.
  Value dims = s.concat({s.shape(x), s.splat(1, 1)});
  Value old =
      b.create<graph::GatherOp>({dims, from}, b.attr("axis", int64_t(0)));
  Value sizes = s.select(s.equal(isNew, s.number(1)), s.number(1), old);
  Dims result = b.getSizes(sizes);
  return b.hasFailed() ? Value() : b.reshape(x, result);
}

//===----------------------------------------------------------------------===//
// slice, split
//===----------------------------------------------------------------------===//

namespace {
/// The starts, steps and sizes of all dims (vectors).
struct Ranges {
  Value begin, step, size;
};
} // namespace

/// Implements the rules of ONNX: indices from the end, and clamping, for both
/// directions.
static Ranges clampRanges(Sizes &s, Binder &b, Value dims, Value starts,
                          Value ends, Value steps) {
  Value zero = s.number(0), one = s.number(1);
  Value backwards = s.less(steps, zero);
  auto fromFront = [&](Value place) {
    return s.select(s.less(place, zero), s.add(place, dims), place);
  };
  // With a negative step the range is [-1, dim - 1], else [0, dim]; the start
  // is inside.
  Value low = s.select(backwards, s.number(-1), zero);
  Value high = s.select(backwards, s.sub(dims, one), dims);
  Value begin = s.min(s.max(fromFront(starts), zero), high);
  Value end = s.min(s.max(fromFront(ends), low), high);
  Value distance = s.select(backwards, s.sub(begin, end), s.sub(end, begin));
  // A step larger than all dims is replaced by this one, which cannot overflow.
  Value huge = s.number(int64_t(1) << 40);
  Value step = s.max(s.min(steps, huge), s.number(-(int64_t(1) << 40)));
  Value length = s.max(b.create<graph::AbsOp>(step), one);
  Value count = s.div(s.sub(s.add(distance, length), one), length);
  Value size = s.max(count, zero);
  Value isEmpty = s.equal(size, zero);
  return {s.select(isEmpty, zero, begin), step, size};
}

Value adze::importer::sliceByData(Binder &b, Value x, Value starts, Value ends,
                                  Value axes, Value steps) {
  Sizes s(b);
  int64_t rank = b.getRank(x);
  if (b.hasFailed())
    return {};
  // The number of steps may also be unknown.
  Value places =
      axes ? s.normalizeAxes(axes, rank) : s.iota(s.toVector(starts));
  if (!places)
    return {};
  AffineExpr count = graph::getDims(places)[0];
  if (!axes && count &&
      !b.assumeNonNegative(graph::subExprs(b.expr(rank), count))) {
    (void)b.fail("expected at most a start for each dim");
    return {};
  }
  Value dims = s.shape(x);
  Value allStarts = s.spread(s.toVector(starts), places, s.splat(rank, 0));
  Value allEnds = s.spread(s.toVector(ends), places, dims);
  Value allSteps = s.splat(rank, 1);
  if (steps)
    allSteps = s.spread(s.toVector(steps), places, allSteps);
  Value moves = s.equal(allSteps, s.number(0));
  b.check(s.all(b.create<graph::NotOp>(moves)), "expected steps other than 0");
  Ranges ranges = clampRanges(s, b, dims, allStarts, allEnds, allSteps);
  Dims sizes = b.getSizes(ranges.size);
  if (b.hasFailed())
    return {};
  if (auto known = graph::getConstantElements(allSteps))
    return b.createAs<graph::SliceOp>(
        graph::makeType(b.getElementType(x), sizes), {x, ranges.begin},
        {b.attr("starts", llvm::SmallVector<int64_t>(rank, 0)),
         b.attr("steps", *known)});
  // Dynamic steps require a gather along each dim.
  for (int64_t d = 0; d < rank; ++d) {
    Value indices = s.range(s.pickScalar(ranges.begin, d),
                            s.pickScalar(ranges.step, d), sizes[d]);
    x = b.create<graph::GatherOp>({x, indices}, b.attr("axis", d));
  }
  return x;
}

llvm::SmallVector<Value>
adze::importer::splitByData(Binder &b, Value x, Value sizes, int64_t axis) {
  Sizes s(b);
  sizes = s.toVector(sizes);
  Dims parts = b.getSizes(sizes), dims;
  if (b.hasFailed())
    return {};
  dims = graph::getDims(x);
  b.checkEqual(s.sum(sizes), s.pickScalar(s.shape(x), axis),
               "expected sizes that sum up to the dim");
  llvm::SmallVector<Value> results;
  AffineExpr start = b.expr(0);
  for (AffineExpr part : parts) {
    results.push_back(b.slice(x, axis, start, part));
    start = graph::addExprs(start, part);
  }
  return results;
}

//===----------------------------------------------------------------------===//
// pad
//===----------------------------------------------------------------------===//

/// Maps positions from -low on to positions in a dim of `size`.
static Value getPlaces(Sizes &s, Binder &b, Value at, Value size,
                       graph::PadMode mode) {
  Value zero = s.number(0), one = s.number(1), last = s.sub(size, one);
  switch (mode) {
  case graph::PadMode::Constant:
  case graph::PadMode::Edge:
    return s.max(s.min(at, last), zero);
  case graph::PadMode::Wrap:
    return b.create<graph::ModOp>({at, s.max(size, one)});
  case graph::PadMode::Reflect: {
    // With period 2 * (size - 1), the second half is reversed.
    Value period = s.max(s.mul(last, s.number(2)), one);
    Value rest = b.create<graph::ModOp>({at, period});
    return s.min(rest, s.sub(period, rest));
  }
  }
  llvm_unreachable("all modes are handled");
}

/// Checks that dims to which elements are added have elements to copy.
static void checkRepeated(Sizes &s, Binder &b, Value dims, Value low,
                          Value high) {
  Value zero = s.number(0);
  Value left = s.add(dims, s.add(s.min(low, zero), s.min(high, zero)));
  Value isPadded = s.less(zero, s.max(low, high));
  Value isRepeated =
      s.either(b.create<graph::NotOp>(isPadded), s.less(zero, left));
  b.check(s.all(isRepeated),
          "expected elements to pad with, but none are left");
}

Value adze::importer::padByData(Binder &b, Value x, Value pads, Value axes,
                                Value fill, graph::PadMode mode) {
  Sizes s(b);
  int64_t rank = b.getRank(x);
  if (b.hasFailed())
    return {};
  Value places = axes ? s.normalizeAxes(axes, rank)
                      : s.vector(llvm::to_vector(llvm::seq<int64_t>(0, rank)));
  Value all = s.toVector(pads), none = s.splat(rank, 0), dims = s.shape(x);
  if (!all || !places)
    return {};
  // There are as many pads before and after as there are axes.
  AffineExpr count = graph::getDims(places)[0];
  all = b.refine(all, graph::mulExprs(count, b.expr(2)));
  Value after = s.add(s.iota(places), s.pickScalar(s.shape(places), 0));
  if (b.hasFailed())
    return {};
  Value low = s.spread(b.slice(all, 0, 0, count), places, none);
  Value high = s.spread(
      b.create<graph::GatherOp>({all, after}, b.attr("axis", int64_t(0))),
      places, none);
  Dims sizes = b.getSizes(s.add(s.add(dims, low), high));
  if (b.hasFailed())
    return {};
  if (mode != graph::PadMode::Constant)
    checkRepeated(s, b, dims, low, high);
  Value filling;
  if (fill)
    filling = b.reshape(b.cast(fill, b.getElementType(x)), {});
  else if (Binder::isString(x))
    filling = b.string("");
  else
    filling = b.cast(b.scalar(b.builder.getI64Type(), 0), b.getElementType(x));
  auto lows = graph::getPartialElements(low);
  for (int64_t d = 0; d < rank && !b.hasFailed(); ++d) {
    if (lows && graph::getConstant((*lows)[d]) == 0 &&
        graph::areEqual(sizes[d], graph::getDims(x)[d]))
      continue;
    Value size = s.pickScalar(dims, d);
    Value first = s.sub(s.number(0), s.pickScalar(low, d));
    Value at = s.range(first, s.number(1), sizes[d]);
    x = b.create<graph::GatherOp>({x, getPlaces(s, b, at, size, mode)},
                                  b.attr("axis", d));
    if (mode != graph::PadMode::Constant)
      continue;
    Value outside = s.either(s.less(at, s.number(0)),
                             b.create<graph::GreaterEqualOp>({at, size}));
    x = s.select(b.alongAxis(outside, d, rank), filling, x);
  }
  return x;
}
