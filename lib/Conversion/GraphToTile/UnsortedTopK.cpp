// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// top_k in the order of indices, for GPUs. A program finds the least key that
// is selected, bit by bit, and stores the elements with greater keys, and the
// first ones with this key, one after the other.
#include "Dialect/Graph/IR/Reduced.h"
#include "Families.h"
#include "SelectionKeys.h"
#include "TileElementBuilder.h"

using namespace mlir;
using namespace adze;
using namespace adze::graph;

namespace {

class ThresholdSelection {
public:
  ThresholdSelection(KernelEmitter &e, TopKOp op)
      : e(e), op(op), keyOf(e, op), b(e.builder()), loc(e.loc()) {}

  LogicalResult run();

private:
  enum Axis { Lane = 0 };
  using Carried = KernelEmitter::Carried;
  using Body = function_ref<FailureOr<Carried>(Value offset, Value keys,
                                               ValueRange carried)>;

  DimRanges at(Value offset) {
    return rowRanges(row, op.getAxis(), {{offset, Lane, 1, 1}});
  }
  MaybeValue loadKeys(Value offset);
  FailureOr<Carried> forChunks(ValueRange init, Body body);
  MaybeValue count(arith::CmpIPredicate predicate, Value bound);
  MaybeValue findThreshold();
  LogicalResult storeSelected(Value threshold);

  Value spread(Value tile) { return e.broadcast({tile, {}}, {Lane}); }
  Value number(int64_t value) {
    return e.constant(b.getI32IntegerAttr(value), {Lane});
  }
  Value toNumber(Value isTrue) {
    return e.convert({isTrue, {Lane}}, b.getI32Type()).value;
  }
  Value sum(Value tile) {
    return e.reduce(Combiner::Add, b.getI32Type(), {tile, {Lane}}, Lane).value;
  }
  template <typename OpT>
  Value make(Value x, Value y) {
    return OpT::create(b, loc, x, y);
  }

  KernelEmitter &e;
  TopKOp op;
  SelectionKeys keyOf;
  OpBuilder &b;
  Location loc;
  Value row, length, wanted; // wanted: the number of elements, a tile
  Value keys;                // of a whole row in registers, or null
};

} // namespace

/// Returns the keys from `offset` on; those out of bounds are the least one.
MaybeValue ThresholdSelection::loadKeys(Value offset) {
  auto elements = e.emit(op.getInput(), at(offset));
  if (failed(elements))
    return failure();
  Value made = keyOf.make({e.broadcast(*elements, {Lane}), {Lane}});
  return arith::SelectOp::create(b, loc,
                                 e.emitInside(Lane, offset, length).value, made,
                                 keyOf.number(keyOf.getLeast(), {Lane}))
      .getResult();
}

/// Emits the body for the row, or for each chunk of it.
FailureOr<KernelEmitter::Carried> ThresholdSelection::forChunks(ValueRange init,
                                                                Body body) {
  if (keys)
    return body(e.index(0), keys, init);
  return e.loop(length, e.getAxisSize(Lane), init,
                [&](Value offset, ValueRange carried) -> FailureOr<Carried> {
                  auto loaded = loadKeys(offset);
                  if (failed(loaded))
                    return failure();
                  return body(offset, *loaded, carried);
                });
}

/// Returns the number of keys for which the predicate holds.
MaybeValue ThresholdSelection::count(arith::CmpIPredicate predicate,
                                     Value bound) {
  auto counts =
      forChunks(number(0), [&](Value, Value keys, ValueRange carried) {
        Value holds = toNumber(keyOf.compare(predicate, keys, spread(bound)));
        return Carried{make<arith::AddIOp>(carried[0], holds)};
      });
  if (failed(counts))
    return failure();
  return sum(counts->front());
}

/// Returns the greatest key such that at least as many elements as are wanted
/// have this key or a greater one.
MaybeValue ThresholdSelection::findThreshold() {
  IntegerType type = keyOf.getType();
  int64_t bits = type.getWidth();
  auto found = e.loop(
      e.index(bits), e.index(1), toTile(e, keyOf.number(keyOf.getLeast(), {})),
      [&](Value i, ValueRange last) -> FailureOr<Carried> {
        Value place = arith::IndexCastOp::create(b, loc, type,
                                                 e.sub(e.index(bits - 1), i));
        Value bit = make<arith::ShLIOp>(keyOf.number(1, {}), place);
        Value next = make<arith::AddIOp>(last[0], toTile(e, bit));
        auto reached = count(arith::CmpIPredicate::sge, next);
        if (failed(reached))
          return failure();
        Value isEnough =
            keyOf.compare(arith::CmpIPredicate::sge, *reached, wanted);
        return Carried{
            arith::SelectOp::create(b, loc, isEnough, next, last[0])};
      });
  if (failed(found))
    return failure();
  return found->front();
}

/// Stores the elements whose keys are greater than the threshold, and the first
/// ones that have it.
LogicalResult ThresholdSelection::storeSelected(Value threshold) {
  using P = arith::CmpIPredicate;
  // A scan counts both: a chunk has fewer than 2^16 elements.
  constexpr int64_t half = 16, mask = 0xffff;
  auto greater = count(P::sgt, threshold);
  if (failed(greater))
    return failure();
  Value others = spread(make<arith::SubIOp>(wanted, *greater));
  auto scalar = [&](int64_t value) {
    return toTile(e, e.constant(b.getI32IntegerAttr(value), {}));
  };
  auto done = forChunks(
      {scalar(0), scalar(0)},
      [&](Value offset, Value keys, ValueRange before) -> FailureOr<Carried> {
        Value bound = spread(threshold);
        Value isGreater = keyOf.compare(P::sgt, keys, bound),
              isEqual = keyOf.compare(P::eq, keys, bound);
        Value counted = arith::SelectOp::create(
            b, loc, isGreater, number(int64_t(1) << half), toNumber(isEqual));
        Value earlier = tile::ScanOp::create(b, loc, tile::ReduceKind::add,
                                             counted, Lane, /*exclusive=*/true);
        Value numGreater = make<arith::AddIOp>(
            make<arith::ShRUIOp>(earlier, number(half)), spread(before[0]));
        Value numEqual = make<arith::AddIOp>(
            make<arith::AndIOp>(earlier, number(mask)), spread(before[1]));
        Value isSelected = make<arith::OrIOp>(
            isGreater, make<arith::AndIOp>(
                           isEqual, keyOf.compare(P::slt, numEqual, others)));
        Value places = make<arith::AddIOp>(
            numGreater, make<arith::MinSIOp>(numEqual, others));
        // Others are out of bounds of the results.
        places = arith::SelectOp::create(b, loc, isSelected, places,
                                         number(INT32_MAX));
        if (failed(storeAt(e, op, at(offset), at(e.index(0)), places)))
          return failure();
        Value all = sum(counted);
        return Carried{make<arith::AddIOp>(
                           before[0], make<arith::ShRUIOp>(all, scalar(half))),
                       make<arith::AddIOp>(
                           before[1], make<arith::AndIOp>(all, scalar(mask)))};
      });
  return LogicalResult(done);
}

LogicalResult ThresholdSelection::run() {
  Dims dims = getDims(op.getInput());
  if (op.getAxis() + 1 != dims.size())
    return e.fail("the selection is along another dim than the last one");
  Value rows =
      e.size(product(op.getContext(), ArrayRef<AffineExpr>(dims).drop_back()));
  length = e.size(dims.back());
  Value size = e.size(getDims(op.getValues()).back());
  if (!rows || !length || !size)
    return failure();
  int64_t known = getKnown(dims.back());
  bool isWhole = known >= 1 && known <= longestSelectedRow;
  e.setAxis(Lane, e.index(isWhole ? known : longestSelectedRow));
  row = e.programIds({rows})[0];
  wanted = toTile(e, arith::IndexCastOp::create(b, loc, b.getI32Type(), size));
  if (isWhole) {
    auto loaded = loadKeys(e.index(0));
    if (failed(loaded))
      return failure();
    keys = *loaded;
  }
  auto threshold = findThreshold();
  return failed(threshold) ? failure() : storeSelected(*threshold);
}

LogicalResult adze::emitUnsortedTopK(KernelEmitter &e, TopKOp op) {
  return ThresholdSelection(e, op).run();
}
