// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Padding of tensors by a constant, or by their own elements.
#include "Families.h"
#include "Lookups.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace adze;
using namespace adze::graph;

namespace {
/// Arithmetic on positions along a dim: one position, or those of an axis of
/// the tile.
class Positions {
public:
  Positions(KernelEmitter &e, Axes axes) : e(e), b(e.builder()), axes(axes) {}

  /// Returns the positions of a range, minus `low`.
  static std::pair<Positions, Value> of(KernelEmitter &e, const DimRange &range,
                                        int64_t low) {
    Value first = e.sub(range.offset, e.index(low));
    Positions self(e, range.axis < 0 ? Axes() : Axes{range.axis});
    if (range.axis < 0)
      return {self, first};
    Value own = e.emitPositions(range.axis, e.builder().getIndexType()).value;
    if (range.stride != 1)
      own = arith::MulIOp::create(self.b, e.loc(), own,
                                  self.all(e.index(range.stride)));
    return {self, self.add(own, self.all(first))};
  }

  const Axes &getAxes() const { return axes; }
  Value all(Value scalar) { return e.broadcast({scalar, {}}, axes); }
  Value number(int64_t value) { return all(e.index(value)); }
  Value add(Value x, Value y) {
    return arith::AddIOp::create(b, e.loc(), x, y);
  }
  Value sub(Value x, Value y) {
    return arith::SubIOp::create(b, e.loc(), x, y);
  }
  Value compare(arith::CmpIPredicate predicate, Value x, Value y) {
    return arith::CmpIOp::create(b, e.loc(), predicate, x, y);
  }
  Value select(Value condition, Value x, Value y) {
    return arith::SelectOp::create(b, e.loc(), condition, x, y);
  }
  Value modulo(Value x, Value period);
  Value clamp(Value x, Value last) {
    x = arith::MinSIOp::create(b, e.loc(), x, all(last));
    return arith::MaxSIOp::create(b, e.loc(), x, number(0));
  }

private:
  KernelEmitter &e;
  OpBuilder &b;
  Axes axes;
};
} // namespace

/// Computes x - period * floor(x / period). Tiles are computed in f64, which is
/// exact for all positions and has a vector division.
Value Positions::modulo(Value x, Value period) {
  if (axes.empty()) {
    Value rest = arith::RemSIOp::create(b, e.loc(), x, period);
    Value isNegative = compare(arith::CmpIPredicate::slt, rest, number(0));
    return select(isNegative, add(rest, period), rest);
  }
  auto as = [&](Value value, Type element) -> Value {
    return arith::IndexCastOp::create(b, e.loc(), e.tileType(axes, element),
                                      value);
  };
  Type integer = b.getI64Type(), wide = e.tileType(axes, b.getF64Type());
  auto toFloat = [&](Value value) -> Value {
    return arith::SIToFPOp::create(b, e.loc(), wide, as(value, integer));
  };
  Value turns =
      arith::DivFOp::create(b, e.loc(), toFloat(x), toFloat(all(period)));
  turns = math::FloorOp::create(b, e.loc(), turns);
  turns = arith::FPToSIOp::create(b, e.loc(), e.tileType(axes, integer), turns);
  return sub(x, arith::MulIOp::create(b, e.loc(), as(turns, b.getIndexType()),
                                      all(period)));
}

/// Returns the element of a dim of `extent` elements that replaces a position
/// out of bounds.
static Value bringInside(KernelEmitter &e, Positions &at, PadMode mode,
                         Value position, Value extent) {
  using P = arith::CmpIPredicate;
  Value last = e.sub(extent, e.index(1));
  if (mode == PadMode::Reflect) {
    Value period = e.max(e.add(last, last), e.index(1));
    position = at.modulo(position, period);
    position = at.select(at.compare(P::sgt, position, at.all(last)),
                         at.sub(at.all(period), position), position);
  } else if (mode == PadMode::Wrap) {
    position = at.modulo(position, e.max(extent, e.index(1)));
  }
  return at.clamp(position, last); // including those of the remainder
}

/// Returns the same if no position is further out of bounds than the dim is
/// long.
static Value bringOnceInside(KernelEmitter &e, Positions &at, PadMode mode,
                             Value position, Value extent) {
  using P = arith::CmpIPredicate;
  Value last = e.sub(extent, e.index(1));
  Value isBefore = at.compare(P::slt, position, at.number(0));
  Value isAfter = at.compare(P::sgt, position, at.all(last));
  Value low, high;
  if (mode == PadMode::Reflect) {
    low = at.sub(at.number(0), position);
    high = at.sub(at.add(at.all(last), at.all(last)), position);
  } else if (mode == PadMode::Wrap) {
    low = at.add(position, at.all(extent));
    high = at.sub(position, at.all(extent));
  }
  if (low)
    position = at.select(isBefore, low, at.select(isAfter, high, position));
  return at.clamp(position, last); // including those of the remainder
}

/// Emits padding by the elements of the tensor, which are gathered along axes.
static FailureOr<Emitted> emitRepeatingPad(KernelEmitter &e, PadOp op,
                                           DimRanges ranges) {
  int along = -1;
  Emitted positions;
  for (auto [dim, range] : llvm::enumerate(ranges)) {
    int64_t low = op.getLow()[dim], high = op.getHigh()[dim];
    if (low == 0 && high == 0)
      continue;
    Dims dims = getDims(op.getInput());
    Value extent = e.size(dims[dim]);
    if (!extent)
      return failure();
    int64_t reach = std::max(low, high), known = getKnown(dims[dim]);
    bool mayRepeat = op.getMode() != PadMode::Edge &&
                     reach > known - (op.getMode() == PadMode::Reflect);
    auto [at, position] = Positions::of(e, range, low);
    Value inside = (mayRepeat ? bringInside : bringOnceInside)(
        e, at, op.getMode(), position, extent);
    if (range.axis < 0) {
      range.offset = inside;
      continue;
    }
    if (along >= 0 || !isa<BlockArgument>(op.getInput()) ||
        getElementTypeOrSelf(op.getInput().getType()).isInteger(1))
      return e.fail("a tile extends into padding");
    along = dim;
    positions = {inside, at.getAxes()};
    range = {e.index(0), range.axis, 1, 1};
  }
  if (along < 0)
    return e.emit(op.getInput(), ranges);
  Axes axes;
  for (const DimRange &range : ranges)
    if (range.axis >= 0)
      axes.push_back(range.axis);
  llvm::sort(axes);
  return emitGathered(e, e.getMemory(op.getInput()), ranges, along, positions,
                      axes);
}

/// Emits padding by a constant. Loads stay in bounds by themselves (tiles) or
/// by clamping (scalars).
FailureOr<Emitted> KernelEmitter::emitPad(PadOp op, ArrayRef<DimRange> ranges) {
  SmallVector<unsigned> boundaries;
  for (unsigned dim = 0; dim < op.getLow().size(); ++dim)
    if (op.getLow()[dim] != 0 || op.getHigh()[dim] != 0)
      boundaries.append({dim, dim + 1});
  auto aligned = alignRanges(ranges, op.getResult(), boundaries);
  if (succeeded(aligned))
    aligned = splitRanges(*aligned, op.getResult(), /*keepsTiles=*/true);
  if (failed(aligned))
    return failure();
  if (op.getMode() != PadMode::Constant) {
    if (aligned->size() != op.getLow().size())
      return fail("a tile axis runs along several dims that cannot be merged");
    return emitRepeatingPad(*this, op, *aligned);
  }
  TypedAttr zero = cast<TypedAttr>(
      b.getZeroAttr(getSignlessType(getElementTypeOrSelf(op.getResult()))));
  Emitted filler{constant(zero, {}), {}};
  if (op.getValue()) {
    auto value = emit(op.getValue(), {});
    if (failed(value))
      return failure();
    filler = *value;
  }
  SmallVector<Emitted> conditions;
  unsigned dim = 0;
  for (DimRange &range : *aligned) {
    unsigned own = std::exchange(dim, dim + range.span);
    if (range.span != 1 || (op.getLow()[own] == 0 && op.getHigh()[own] == 0))
      continue;
    Value extent = size(op.getInput(), own);
    if (!extent)
      return failure();
    auto [at, position] = Positions::of(*this, range, op.getLow()[own]);
    conditions.push_back(
        {at.compare(arith::CmpIPredicate::ult, position, at.all(extent)),
         at.getAxes()});
    range.offset = sub(range.offset, index(op.getLow()[own]));
    if (range.axis < 0)
      range.offset = max(index(0), min(range.offset, sub(extent, index(1))));
  }
  auto tile = emit(op.getInput(), *aligned);
  if (failed(tile))
    return failure();
  Axes axes(tile->axes);
  for (const Emitted &condition : conditions)
    for (int axis : condition.axes)
      if (!llvm::is_contained(axes, axis))
        axes.push_back(axis);
  llvm::sort(axes);
  Value result = broadcast(*tile, axes), otherwise = broadcast(filler, axes);
  for (const Emitted &condition : conditions)
    result = arith::SelectOp::create(b, location, broadcast(condition, axes),
                                     result, otherwise);
  return Emitted{result, axes};
}
