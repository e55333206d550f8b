// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Values that are not in memory: positions, and expressions of sizes.
#include "Families.h"
#include "TileElementBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace adze;
using namespace adze::graph;

/// Emits the position along one dim, as i64: the offset plus the steps along
/// the axis.
static Emitted emitPosition(KernelEmitter &e, const DimRange &range) {
  OpBuilder &b = e.builder();
  Type i64 = b.getI64Type();
  Value first = arith::IndexCastOp::create(b, e.loc(), i64, range.offset);
  if (range.axis < 0)
    return {first, {}};
  Emitted tile = e.emitPositions(range.axis, i64);
  if (range.stride != 1)
    tile.value = arith::MulIOp::create(
        b, e.loc(), tile.value,
        e.constant(b.getI64IntegerAttr(range.stride), tile.axes));
  tile.value = arith::AddIOp::create(b, e.loc(), tile.value,
                                     e.broadcast({first, {}}, tile.axes));
  return tile;
}

FailureOr<Emitted> KernelEmitter::emitRange(RangeOp op,
                                            ArrayRef<DimRange> ranges) {
  auto start = emit(op.getStart(), {}), delta = emit(op.getDelta(), {});
  if (failed(start) || failed(delta))
    return failure();
  Type graphType = getElementTypeOrSelf(op.getResult());
  Emitted position = emitPosition(*this, ranges[0]);
  TileElementBuilder builder(*this, position.axes);
  position.value =
      buildCast(builder, position.value, b.getI64Type(), graphType);
  if (matchPattern(start->value, m_Zero()) &&
      matchPattern(delta->value, m_One()))
    return position;
  Value first = broadcast(*start, position.axes),
        step = broadcast(*delta, position.axes);
  if (isa<FloatType>(graphType)) {
    step = arith::MulFOp::create(b, location, position.value, step);
    return Emitted{arith::AddFOp::create(b, location, first, step),
                   position.axes};
  }
  step = arith::MulIOp::create(b, location, position.value, step);
  return Emitted{arith::AddIOp::create(b, location, first, step),
                 position.axes};
}

FailureOr<Emitted> adze::emitOneOf(KernelEmitter &e,
                                   ArrayRef<AffineExpr> numbers,
                                   ArrayRef<DimRange> ranges) {
  OpBuilder &b = e.builder();
  Location loc = e.loc();
  Emitted position;
  if (!ranges.empty())
    position = emitPosition(e, ranges[0]);
  auto known =
      getConstantIntValue(ranges.empty() ? e.index(0) : ranges[0].offset);
  Value result;
  for (auto [i, expr] : llvm::enumerate(numbers)) {
    // With a constant position, one element suffices.
    if (position.axes.empty() && known && *known != int64_t(i))
      continue;
    Value extent = e.size(normalize(expr));
    if (!extent)
      return failure();
    Value number = e.broadcast(
        {arith::IndexCastOp::create(b, loc, b.getI64Type(), extent), {}},
        position.axes);
    if (result) {
      Value here = arith::CmpIOp::create(
          b, loc, arith::CmpIPredicate::eq, position.value,
          e.constant(b.getI64IntegerAttr(i), position.axes));
      number = arith::SelectOp::create(b, loc, here, number, result);
    }
    result = number;
  }
  if (!result)
    return e.fail("a constant index is out of bounds");
  return Emitted{result, position.axes};
}

/// Emits zeros on one side of a diagonal.
FailureOr<Emitted> KernelEmitter::emitTrilu(TriluOp op,
                                            ArrayRef<DimRange> ranges) {
  auto split = splitRanges(ranges, op.getResult());
  if (failed(split))
    return failure();
  auto input = emit(op.getInput(), *split);
  if (failed(input))
    return failure();
  Emitted row = emitPosition(*this, (*split)[split->size() - 2]),
          column = emitPosition(*this, split->back());
  llvm::SmallSetVector<int, 4> used;
  for (const Emitted *tile : {&*input, &row, &column})
    used.insert(tile->axes.begin(), tile->axes.end());
  Axes axes(used.begin(), used.end());
  llvm::sort(axes);
  Value distance = arith::SubIOp::create(b, location, broadcast(column, axes),
                                         broadcast(row, axes));
  Value kept = arith::CmpIOp::create(
      b, location,
      op.getUpper() ? arith::CmpIPredicate::sge : arith::CmpIPredicate::sle,
      distance, constant(b.getI64IntegerAttr(op.getK()), axes));
  Type type = getSignlessType(getElementTypeOrSelf(op.getResult()));
  Value zero = constant(cast<TypedAttr>(b.getZeroAttr(type)), axes);
  return Emitted{
      arith::SelectOp::create(b, location, kept, broadcast(*input, axes), zero),
      axes};
}
