// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// select_boxes for GPUs: a program holds the scores of one class. It selects
// the box with the greatest one, drops those that overlap it, and so on.
#include "Dialect/Graph/IR/Reduced.h"
#include "Dialect/Graph/IR/RegionMath.h"
#include "Families.h"
#include "Lookups.h"
#include "SelectionKeys.h"
#include "TileElementBuilder.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace adze;
using namespace adze::graph;

namespace {

class BoxSelection {
public:
  BoxSelection(KernelEmitter &e, SelectBoxesOp op)
      : e(e), op(op), b(e.builder()), loc(e.loc()) {}

  LogicalResult run();

private:
  enum Axis { Own = 0 };
  using Carried = KernelEmitter::Carried;

  MaybeValue loadKeys();
  FailureOr<Box> loadBoxes(const DimRange &which);
  MaybeValue drop(Value keys, Value selected);
  FailureOr<Carried> select(Value step, ValueRange last);

  Value findGreatest(Value keys) {
    return e.reduce(Combiner::Max, b.getI64Type(), {keys, {Own}}, Own).value;
  }
  Value spread(Value scalar) { return e.broadcast({scalar, {}}, {Own}); }
  Value number(int64_t value, ArrayRef<int> axes) {
    return e.constant(b.getI64IntegerAttr(value), axes);
  }
  Value positions() { return e.emitPositions(Own, b.getI64Type()).value; }
  Value isEqual(Value x, Value y) {
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, x, y);
  }
  template <typename OpT>
  Value make(Value x, Value y) {
    return OpT::create(b, loc, x, y);
  }

  /// The key of a box is that of its score in the upper half, and its index in
  /// the lower one, inverted: of equal scores, the first one has the greatest
  /// key. Boxes that are not candidates have the least key.
  static constexpr int64_t halfBits = 32, indexMask = UINT32_MAX,
                           noCandidate = INT64_MIN;

  KernelEmitter &e;
  SelectBoxesOp op;
  OpBuilder &b;
  Location loc;
  Value batch, kind;
};

} // namespace

/// Returns the keys of the boxes.
MaybeValue BoxSelection::loadKeys() {
  auto scores = e.emit(op.getScores(),
                       {point(batch), point(kind), {e.index(0), Own, 1, 1}});
  if (failed(scores))
    return failure();
  SelectionKeys keyOf(e, b.getF32Type());
  Value tile = e.broadcast(*scores, {Own});
  Value upper = make<arith::ShLIOp>(
      arith::ExtSIOp::create(b, loc, e.tileType({Own}, b.getI64Type()),
                             keyOf.make({tile, {Own}})),
      number(halfBits, {Own}));
  Value lower = make<arith::SubIOp>(number(indexMask, {Own}), positions());
  Value isCandidate =
      arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OGT, tile,
                            e.constant(op.getScoreAttr(), {Own}));
  return arith::SelectOp::create(b, loc, isCandidate,
                                 make<arith::OrIOp>(upper, lower),
                                 number(noCandidate, {Own}))
      .getResult();
}

/// Returns one of the boxes, or all.
FailureOr<Box> BoxSelection::loadBoxes(const DimRange &which) {
  Axes axes;
  if (which.axis >= 0)
    axes.push_back(which.axis);
  Box box;
  for (auto [i, number] : llvm::enumerate(box)) {
    auto tile = e.emit(op.getBoxes(), {point(batch), point(e.index(i)), which});
    if (failed(tile))
      return failure();
    number = e.broadcast(*tile, axes);
  }
  return box;
}

/// Returns the keys without the selected box and those that overlap it.
MaybeValue BoxSelection::drop(Value keys, Value selected) {
  auto one = loadBoxes(
      point(arith::IndexCastOp::create(b, loc, b.getIndexType(), selected)));
  auto all = loadBoxes({e.index(0), Own, 1, 1});
  if (failed(one) || failed(all))
    return failure();
  for (Value &number : *one)
    number = spread(number);
  TileElementBuilder builder(e, {Own});
  Value isDropped = make<arith::OrIOp>(
      buildOverlap(builder, *all, *one, op.getOverlap().convertToDouble()),
      isEqual(positions(), spread(selected)));
  return arith::SelectOp::create(b, loc, isDropped, number(noCandidate, {Own}),
                                 keys)
      .getResult();
}

/// Stores the next box, and returns the remaining keys and the greatest one.
/// Without a candidate, -1 is stored and there is nothing to compare.
FailureOr<BoxSelection::Carried> BoxSelection::select(Value step,
                                                      ValueRange last) {
  Value greatest = tensor::ExtractOp::create(b, loc, last[1], ValueRange());
  Value isNone = isEqual(greatest, number(noCandidate, {}));
  Value index =
      make<arith::SubIOp>(number(indexMask, {}),
                          make<arith::AndIOp>(greatest, number(indexMask, {})));
  Value stored = arith::SelectOp::create(b, loc, isNone, number(-1, {}), index);
  if (failed(e.store({stored, {}}, e.getOutputMemory(0),
                     {point(batch), point(kind), point(step)})))
    return failure();
  auto branch = scf::IfOp::create(b, loc, last.getTypes(), isNone,
                                  /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  scf::YieldOp::create(b, loc, last);
  b.setInsertionPointToStart(branch.elseBlock());
  auto rest = drop(last[0], index);
  if (failed(rest))
    return failure();
  scf::YieldOp::create(b, loc, ValueRange{*rest, findGreatest(*rest)});
  return Carried{branch.getResult(0), branch.getResult(1)};
}

LogicalResult BoxSelection::run() {
  Dims dims = getDims(op.getScores());
  auto length = getConstant(dims[2]);
  if (!length || *length > longestSelectedRow)
    return e.fail("a program does not hold the scores of all boxes");
  Value batches = e.size(dims[0]), kinds = e.size(dims[1]),
        count = e.size(op.getResult(), 2);
  if (!batches || !kinds || !count)
    return failure();
  e.setAxis(Own, e.index(*length));
  SmallVector<Value> ids = e.programIds({kinds, batches});
  kind = ids[0];
  batch = ids[1];
  auto keys = loadKeys();
  if (failed(keys))
    return failure();
  return LogicalResult(
      e.loop(count, e.index(1), {*keys, findGreatest(*keys)},
             [&](Value step, ValueRange last) { return select(step, last); }));
}

LogicalResult adze::emitBoxSelection(KernelEmitter &e, SelectBoxesOp op) {
  if (!e.gpu)
    return e.fail("select_boxes has a tile form for GPUs only");
  if (!llvm::equal(e.getOutputs(), op->getResults()))
    return e.fail("select_boxes has no epilogue");
  return BoxSelection(e, op).run();
}
