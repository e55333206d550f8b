// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// top_k of few elements for GPUs: the threads of a block hold a row, and select
// its elements one after the other. Elements are compared by keys, integers in
// the order of their values, in which NaN is the greatest and zeros are equal;
// of equal elements, the one with the lower index comes first.
#include "Dialect/Graph/IR/Reduced.h"
#include "Families.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace adze;
using namespace adze::graph;

namespace {

enum Axis { Row = 0, Lane = 1 };

class Selection {
public:
  Selection(KernelEmitter &e, TopKOp op)
      : e(e), op(op), b(e.builder()), loc(e.loc()),
        element(getSignlessType(getElementTypeOrSelf(op.getInput()))) {}

  LogicalResult run();

private:
  /// A key and an index for each row.
  struct Selected {
    Value key, place;
  };

  Value makeKeys(Value elements);
  Value getValue(Value key);
  Selected findNext(Selected last);
  LogicalResult store(Selected selected, Value slot);
  /// Negative numbers have the reverse order of their bits. Its own inverse.
  Value flip(Value bits, ArrayRef<int> axes);
  Value number(int64_t value, ArrayRef<int> axes) {
    return e.constant(b.getI32IntegerAttr(value), axes);
  }
  Value spread(Value kept) { return e.broadcast({kept, {Row}}, all); }
  Value compare(arith::CmpIPredicate predicate, Value x, Value y) {
    return arith::CmpIOp::create(b, loc, predicate, x, y);
  }

  KernelEmitter &e;
  TopKOp op;
  OpBuilder &b;
  Location loc;
  Type element;
  const Axes all{Row, Lane};
  Value keys, places; // of the elements of the rows
  Value row;
};

} // namespace

Value Selection::flip(Value bits, ArrayRef<int> axes) {
  constexpr int64_t signBit = 31;
  Value sign = arith::ShRSIOp::create(b, loc, bits, number(signBit, axes));
  return arith::XOrIOp::create(
      b, loc, bits,
      arith::AndIOp::create(b, loc, sign, number(INT32_MAX, axes)));
}

Value Selection::makeKeys(Value elements) {
  Type i32 = b.getI32Type();
  Value key = elements;
  if (isa<FloatType>(element)) {
    // -0.0 + 0.0 is 0.0.
    Value x = arith::AddFOp::create(b, loc, elements,
                                    e.constant(b.getF32FloatAttr(0.0), all));
    Value bits = arith::BitcastOp::create(b, loc, e.tileType(all, i32), x);
    Value isNan =
        arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNO, x, x);
    key = arith::SelectOp::create(b, loc, isNan, number(INT32_MAX, all),
                                  flip(bits, all));
  }
  return op.getLargest()
             ? key
             : arith::XOrIOp::create(b, loc, key, number(-1, all)).getResult();
}

Value Selection::getValue(Value key) {
  Axes axes{Row};
  if (!op.getLargest())
    key = arith::XOrIOp::create(b, loc, key, number(-1, axes));
  if (!isa<FloatType>(element))
    return key;
  Type f32 = b.getF32Type();
  return arith::BitcastOp::create(b, loc, e.tileType(axes, f32),
                                  flip(key, axes));
}

/// Returns the first element of each row after the last one that was selected.
Selection::Selected Selection::findNext(Selected last) {
  using P = arith::CmpIPredicate;
  Value key = spread(last.key), place = spread(last.place);
  Value isNext = arith::OrIOp::create(
      b, loc, compare(P::slt, keys, key),
      arith::AndIOp::create(b, loc, compare(P::eq, keys, key),
                            compare(P::sgt, places, place)));
  Type i32 = b.getI32Type();
  auto reduce = [&](Combiner combiner, Value x) {
    return e.reduce(combiner, i32, {x, all}, Lane).value;
  };
  Value most =
      reduce(Combiner::Max, arith::SelectOp::create(b, loc, isNext, keys,
                                                    number(INT32_MIN, all)));
  Value isMost =
      arith::AndIOp::create(b, loc, isNext, compare(P::eq, keys, spread(most)));
  return {most, reduce(Combiner::Min,
                       arith::SelectOp::create(b, loc, isMost, places,
                                               number(INT32_MAX, all)))};
}

LogicalResult Selection::store(Selected selected, Value slot) {
  DimRanges ranges{{row, -1, 1, unsigned(op.getAxis())}, {slot, Row, 1, 1}};
  if (op.getAxis() == 0)
    ranges.erase(ranges.begin());
  for (auto [i, output] : llvm::enumerate(e.getOutputs())) {
    Value tile = selected.place;
    if (output == op.getValues())
      tile = getValue(selected.key);
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
  bool isFloat = element.isF32() || element.isF16() || element.isBF16();
  if (op.getAxis() + 1 != dims.size() || length < 1 || op.getK() ||
      length > getLongestTileRow(e.getSource()))
    return e.fail("the rows do not fit a tile");
  if (count < 1 || count > mostSelected)
    return e.fail("so many elements are selected that sorting is faster");
  if (!isFloat && !getElementTypeOrSelf(op.getInput()).isSignlessInteger(32))
    return e.fail("no key of 32 bits has the order of the elements");
  Value rows = e.size(product(op.getContext(), ArrayRef(dims).drop_back()));
  if (!rows)
    return failure();
  e.setAxis(Row, e.index(1));
  e.setAxis(Lane, e.index(length));
  row = e.programIds({rows})[0];
  DimRanges ranges{{row, -1, 1, unsigned(op.getAxis())},
                   {e.index(0), Lane, 1, 1}};
  if (op.getAxis() == 0)
    ranges.erase(ranges.begin());
  auto loaded = e.emit(op.getInput(), ranges);
  if (failed(loaded))
    return failure();
  Type wide = isFloat ? b.getF32Type() : element;
  keys = makeKeys(e.broadcast(e.convert(*loaded, wide), all));
  places = e.broadcast(e.emitPositions(Lane, b.getI32Type()), all);
  // The first selection is before the loop, where the elements are loaded.
  Selected first = findNext({number(INT32_MAX, {Row}), number(-1, {Row})});
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

LogicalResult adze::emitTopK(KernelEmitter &e, TopKOp op, Tiling tiling) {
  if (!e.gpu)
    return e.fail("top_k has a tile form for GPUs only");
  if (tiling != Tiling::Flat)
    return e.fail("a selection has a flat tiling only");
  return Selection(e, op).run();
}
