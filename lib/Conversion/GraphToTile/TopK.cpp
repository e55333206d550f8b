// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// top_k for GPUs. The threads of a block hold a row and select few elements one
// after the other, or many programs rank the elements of a row. Elements are
// compared by keys, integers in the order of their values, in which NaN is the
// greatest and zeros are equal; of equal elements, the one with the lower index
// comes first.
#include "Dialect/Graph/IR/Reduced.h"
#include "Families.h"
#include "SelectionKeys.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace adze;
using namespace adze::graph;

//===----------------------------------------------------------------------===//
// One after the other
//===----------------------------------------------------------------------===//

namespace {

enum Axis { Row = 0, Lane = 1 };

/// The threads of a block hold a row, and select its elements one after the
/// other.
class Selection {
public:
  Selection(KernelEmitter &e, TopKOp op)
      : e(e), op(op), keyOf(e, op), b(e.builder()), loc(e.loc()) {}

  LogicalResult run();

private:
  /// A key and an index for each row.
  struct Selected {
    Value key, place;
  };

  Selected findNext(Selected last);
  LogicalResult store(Selected selected, Value slot);
  Value index(int64_t value, ArrayRef<int> axes) {
    return e.constant(b.getI32IntegerAttr(value), axes);
  }
  Value spread(Value kept) { return e.broadcast({kept, {Row}}, all); }

  KernelEmitter &e;
  TopKOp op;
  SelectionKeys keyOf;
  OpBuilder &b;
  Location loc;
  const Axes all{Row, Lane};
  Value keys, places; // of the elements of the rows
  Value row;
};

} // namespace

/// Returns the first element of each row after the last one that was selected.
Selection::Selected Selection::findNext(Selected last) {
  using P = arith::CmpIPredicate;
  Value key = spread(last.key), place = spread(last.place);
  Value isNext = arith::OrIOp::create(
      b, loc, keyOf.compare(P::slt, keys, key),
      arith::AndIOp::create(b, loc, keyOf.compare(P::eq, keys, key),
                            keyOf.compare(P::sgt, places, place)));
  auto reduce = [&](Combiner combiner, Value x) {
    return e.reduce(combiner, getElementTypeOrSelf(x), {x, all}, Lane).value;
  };
  Value most =
      reduce(Combiner::Max,
             arith::SelectOp::create(b, loc, isNext, keys,
                                     keyOf.number(keyOf.getLeast(), all)));
  Value isMost = arith::AndIOp::create(
      b, loc, isNext, keyOf.compare(P::eq, keys, spread(most)));
  return {most, reduce(Combiner::Min,
                       arith::SelectOp::create(b, loc, isMost, places,
                                               index(INT32_MAX, all)))};
}

LogicalResult Selection::store(Selected selected, Value slot) {
  DimRanges ranges = rowRanges(row, op.getAxis(), {{slot, Row, 1, 1}});
  for (auto [i, output] : llvm::enumerate(e.getOutputs())) {
    Value tile = selected.place;
    if (output == op.getValues())
      tile = keyOf.getElements(selected.key, {Row});
    else if (output != op.getIndices())
      return e.fail("a selection has no epilogue");
    Type type = getSignlessType(getElementTypeOrSelf(output));
    if (failed(e.store({e.convert({tile, {Row}}, type).value, {Row}},
                       e.getOutputMemory(i), ranges)))
      return failure();
  }
  return success();
}

LogicalResult Selection::run() {
  Dims dims = getDims(op.getInput());
  int64_t length = getKnown(dims.back()),
          count = getKnown(getDims(op.getValues()).back());
  Value rows = e.size(product(op.getContext(), ArrayRef(dims).drop_back()));
  if (!rows)
    return failure();
  e.setAxis(Row, e.index(1));
  e.setAxis(Lane, e.index(length));
  row = e.programIds({rows})[0];
  auto loaded = e.emit(
      op.getInput(), rowRanges(row, op.getAxis(), {{e.index(0), Lane, 1, 1}}));
  if (failed(loaded))
    return failure();
  keys = keyOf.make({e.broadcast(*loaded, all), all});
  places = e.broadcast(e.emitPositions(Lane, b.getI32Type()), all);
  // The first selection is before the loop, where the elements are loaded.
  Selected first =
      findNext({keyOf.number(keyOf.getMost(), {Row}), index(-1, {Row})});
  if (failed(store(first, e.index(0))))
    return failure();
  if (count == 1)
    return success();
  auto done = e.loop(
      e.index(count - 1), e.index(1), {first.key, first.place},
      [&](Value i, ValueRange last) -> FailureOr<KernelEmitter::Carried> {
        Selected next = findNext({last[0], last[1]});
        if (failed(store(next, e.add(i, e.index(1)))))
          return failure();
        return KernelEmitter::Carried{next.key, next.place};
      });
  return LogicalResult(done);
}

//===----------------------------------------------------------------------===//
// By rank
//===----------------------------------------------------------------------===//

namespace {

/// Each program ranks a block of the elements of a row: it counts the elements
/// that come before each, and stores it there.
class Ranking {
public:
  Ranking(KernelEmitter &e, TopKOp op)
      : e(e), op(op), keyOf(e, op), b(e.builder()), loc(e.loc()) {}

  LogicalResult run();

private:
  enum Axis { Ranked = 0, Other = 1 };

  DimRanges at(Value offset, int axis);
  MaybeValue loadKeys(Value offset, int axis);
  FailureOr<Value> countInBlock();
  FailureOr<Value> count(arith::CmpIPredicate isBefore, Value begin, Value end,
                         Value counts);
  LogicalResult store(Value ranks);
  Value spread(Value tile, int axis) {
    return e.broadcast({tile, {axis}}, all);
  }
  Value toNumber(Value isTrue) {
    return e.convert({isTrue, all}, b.getI32Type()).value;
  }

  KernelEmitter &e;
  TopKOp op;
  SelectionKeys keyOf;
  OpBuilder &b;
  Location loc;
  const Axes all{Ranked, Other};
  Value row, column;   // of the other dims
  Value length;        // of a row
  Value start, ranked; // of the ranked elements: the first one, and the keys
  Value first;         // of the block of other elements with the first ranked
};

} // namespace

/// Returns the ranges of the elements from `offset` on along the axis of the
/// selection.
DimRanges Ranking::at(Value offset, int axis) {
  unsigned after = getDims(op.getInput()).size() - op.getAxis() - 1;
  DimRanges ranges{{offset, axis, 1, 1}};
  if (after)
    ranges.push_back({column, -1, 1, after});
  return rowRanges(row, op.getAxis(), ranges);
}

MaybeValue Ranking::loadKeys(Value offset, int axis) {
  auto elements = e.emit(op.getInput(), at(offset, axis));
  if (failed(elements))
    return failure();
  return keyOf.make({e.broadcast(*elements, {axis}), {axis}});
}

/// Returns the counts for the block of elements from `first` on, which may hold
/// ranked ones.
FailureOr<Value> Ranking::countInBlock() {
  using P = arith::CmpIPredicate;
  auto keys = loadKeys(first, Other);
  if (failed(keys))
    return failure();
  Type i32 = b.getI32Type();
  Value other = spread(*keys, Other), mine = spread(ranked, Ranked);
  Value distance = arith::IndexCastOp::create(b, loc, i32, e.sub(start, first));
  Value place =
      arith::AddIOp::create(b, loc, e.broadcast({distance, {}}, {Ranked}),
                            e.emitPositions(Ranked, i32).value);
  Value isEarlier =
      keyOf.compare(P::slt, spread(e.emitPositions(Other, i32).value, Other),
                    spread(place, Ranked));
  Value inside = spread(e.emitInside(Other, first, length).value, Other);
  Value isGreater =
      arith::AndIOp::create(b, loc, keyOf.compare(P::sgt, other, mine), inside);
  // Of equal elements, the one with the lower index comes first.
  Value isEqual = arith::AndIOp::create(
      b, loc, keyOf.compare(P::eq, other, mine), isEarlier);
  return toNumber(arith::OrIOp::create(b, loc, isGreater, isEqual));
}

/// Adds the elements in [begin, end) whose keys hold for the predicate.
FailureOr<Value> Ranking::count(arith::CmpIPredicate isBefore, Value begin,
                                Value end, Value counts) {
  auto done = e.loop(
      e.max(e.sub(end, begin), e.index(0)), e.getAxisSize(Other), counts,
      [&](Value i, ValueRange last) -> FailureOr<KernelEmitter::Carried> {
        Value offset = e.add(begin, i);
        auto keys = loadKeys(offset, Other);
        if (failed(keys))
          return failure();
        // No key is below the least one. Earlier blocks are whole.
        Value least = keyOf.number(keyOf.getLeast(), {Other});
        Value valid = arith::SelectOp::create(
            b, loc, e.emitInside(Other, offset, end).value, *keys, least);
        Value holds = keyOf.compare(isBefore, spread(valid, Other),
                                    spread(ranked, Ranked));
        return KernelEmitter::Carried{
            arith::AddIOp::create(b, loc, last[0], toNumber(holds))};
      });
  if (failed(done))
    return failure();
  return done->front();
}

/// Stores the ranked elements, and their indices, to their ranks.
LogicalResult Ranking::store(Value ranks) {
  Axes axes{Ranked};
  Value inside = e.emitInside(Ranked, start, length).value;
  // The memory of the results ends at k.
  Value places = arith::SelectOp::create(
      b, loc, inside, ranks, e.constant(b.getI32IntegerAttr(INT32_MAX), axes));
  return storeAt(e, op, at(start, Ranked), at(e.index(0), Ranked), places);
}

LogicalResult Ranking::run() {
  using P = arith::CmpIPredicate;
  // Threads have several ranked elements for each key that they compute.
  constexpr int64_t blockSize = 64, others = 256;
  Dims dims = getDims(op.getInput());
  ArrayRef<AffineExpr> sizes(dims);
  Value rows = e.size(product(op.getContext(), sizes.take_front(op.getAxis()))),
        columns = e.size(
            product(op.getContext(), sizes.drop_front(op.getAxis() + 1)));
  length = e.size(op.getInput(), op.getAxis());
  if (!rows || !columns || !length)
    return failure();
  Value block = e.index(blockSize), other = e.index(others);
  e.setAxis(Ranked, block);
  e.setAxis(Other, other);
  SmallVector<Value> ids =
      e.programIds({e.ceilDiv(length, block), columns, rows});
  start = e.mul(ids[0], block);
  first = e.mul(e.div(start, other), other);
  column = ids[1];
  row = ids[2];
  auto keys = loadKeys(start, Ranked);
  if (failed(keys))
    return failure();
  ranked = *keys;
  auto counts = countInBlock();
  if (succeeded(counts))
    counts = count(P::sge, e.index(0), first, *counts);
  if (succeeded(counts))
    counts = count(P::sgt, e.add(first, other), length, *counts);
  if (failed(counts))
    return failure();
  return store(
      e.reduce(Combiner::Add, b.getI32Type(), {*counts, all}, Other).value);
}

/// Returns true if the threads of a block hold a row, of which they select few
/// elements.
static bool selectsOneByOne(TopKOp op) {
  Dims dims = getDims(op.getInput());
  int64_t length = getKnown(dims.back()),
          count = getKnown(getDims(op.getValues()).back());
  return op.getAxis() + 1 == dims.size() && length >= 1 && !op.getK() &&
         length <= getLongestTileRow(op) && count >= 1 && count <= mostSelected;
}

LogicalResult adze::emitTopK(KernelEmitter &e, TopKOp op, Tiling tiling) {
  if (!e.gpu)
    return e.fail("top_k has a tile form for GPUs only");
  if (tiling != Tiling::Flat)
    return e.fail("a selection has a flat tiling only");
  if (!SelectionKeys::exist(getElementTypeOrSelf(op.getInput())))
    return e.fail("no integer keys have the order of the elements");
  if (!op.getSorted())
    return emitUnsortedTopK(e, op);
  return selectsOneByOne(op) ? Selection(e, op).run() : Ranking(e, op).run();
}
