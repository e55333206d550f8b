// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// non_zero for GPUs: each program counts the elements before its block that are
// not 0, and stores the coordinates of those in the block after theirs.
#include "Families.h"
#include "TileElementBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace adze;
using namespace adze::graph;

namespace {

class NonZeros {
public:
  NonZeros(KernelEmitter &e, NonZeroOp op)
      : e(e), op(op), dims(getDims(op.getInput())), b(e.builder()),
        loc(e.loc()) {}

  LogicalResult run();

private:
  enum Axis { Own = 0 };

  MaybeValue loadIsSet(Value offset);
  FailureOr<Value> countEarlier();
  FailureOr<Value> rank();
  LogicalResult store(Value places);
  Value toNumber(Value isTrue) {
    return e.convert({isTrue, {Own}}, b.getI32Type()).value;
  }
  Value number(Value index) {
    return e.broadcast(
        {arith::IndexCastOp::create(b, loc, b.getI64Type(), index), {}}, {Own});
  }

  KernelEmitter &e;
  NonZeroOp op;
  Dims dims;
  OpBuilder &b;
  Location loc;
  Value start, length; // of the block, of all elements
};

} // namespace

/// Returns a tile of bools: true for the elements of the block from `offset` on
/// that are not 0.
MaybeValue NonZeros::loadIsSet(Value offset) {
  auto elements =
      e.emit(op.getInput(), {{offset, Own, 1, unsigned(dims.size())}});
  if (failed(elements))
    return failure();
  TileElementBuilder builder(e, {Own});
  Value isSet = buildCast(builder, e.broadcast(*elements, {Own}),
                          getElementTypeOrSelf(op.getInput()), b.getI1Type());
  return arith::AndIOp::create(b, loc, isSet,
                               e.emitInside(Own, offset, length).value)
      .getResult();
}

/// Returns the number of elements before the block that are not 0.
FailureOr<Value> NonZeros::countEarlier() {
  auto counts = e.loop(
      start, e.getAxisSize(Own), e.constant(b.getI32IntegerAttr(0), {Own}),
      [&](Value offset, ValueRange last) -> FailureOr<KernelEmitter::Carried> {
        auto isSet = loadIsSet(offset);
        if (failed(isSet))
          return failure();
        return KernelEmitter::Carried{
            arith::AddIOp::create(b, loc, last[0], toNumber(*isSet))};
      });
  if (failed(counts))
    return failure();
  return e.reduce(Combiner::Add, b.getI32Type(), {counts->front(), {Own}}, Own)
      .value;
}

/// Returns the positions of the elements of the block in the result; those of
/// zeros are out of bounds.
FailureOr<Value> NonZeros::rank() {
  auto own = loadIsSet(start);
  auto earlier = countEarlier();
  if (failed(own) || failed(earlier))
    return failure();
  Value inBlock = tile::ScanOp::create(b, loc, tile::ReduceKind::add,
                                       toNumber(*own), Own, /*exclusive=*/true);
  Value places = arith::AddIOp::create(b, loc, inBlock,
                                       e.broadcast({*earlier, {}}, {Own}));
  return arith::SelectOp::create(
             b, loc, *own, places,
             e.constant(b.getI32IntegerAttr(INT32_MAX), {Own}))
      .getResult();
}

/// Stores the coordinates of the block's elements.
LogicalResult NonZeros::store(Value places) {
  Type i64 = b.getI64Type();
  Value rest = arith::AddIOp::create(b, loc, number(start),
                                     e.emitPositions(Own, i64).value);
  for (size_t dim = dims.size(); dim-- > 0;) {
    Value coordinate = rest;
    if (dim > 0) {
      Value size = number(e.size(op.getInput(), dim));
      coordinate = arith::RemUIOp::create(b, loc, rest, size);
      rest = arith::DivUIOp::create(b, loc, rest, size);
    }
    DimRanges ranges{point(e.index(dim)), {e.index(0), Own, 1, 1}};
    if (failed(
            e.store({coordinate, {Own}}, e.getOutputMemory(0), ranges, places)))
      return failure();
  }
  return success();
}

LogicalResult NonZeros::run() {
  constexpr int64_t blockSize = 2048;
  length = e.size(product(op.getContext(), dims));
  if (!length)
    return failure();
  Value block = e.index(blockSize);
  e.setAxis(Own, block);
  start = e.mul(e.programIds({e.ceilDiv(length, block)})[0], block);
  auto places = rank();
  return failed(places) ? failure() : store(*places);
}

LogicalResult adze::emitNonZero(KernelEmitter &e, NonZeroOp op, Tiling tiling) {
  if (!e.gpu)
    return e.fail("non_zero has a tile form for GPUs only");
  if (tiling != Tiling::Flat)
    return e.fail("non_zero has a flat tiling only");
  if (!llvm::equal(e.getOutputs(), op->getResults()))
    return e.fail("non_zero has no epilogue");
  return NonZeros(e, op).run();
}
