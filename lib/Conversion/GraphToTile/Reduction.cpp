// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Reductions over any dims. The last dim of the input runs along the lanes: if
// it is kept, the reduced dims are loops that carry a tile; if not, each tile
// is reduced along it.
#include "Families.h"
#include "TileElementBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace adze;
using namespace adze::graph;

namespace {

enum Axis { Row = 0, Lane = 1 };

/// One dim (or dims taken as one) of the input.
struct Part {
  unsigned begin, end;
  bool reduced;
  AffineExpr size;
  Value block; // null: one place
  int axis = -1;
  Value offset;

  Place place() const { return {offset, axis, 1, end - begin}; }
};

class Reduction {
public:
  Reduction(KernelEmitter &e, ReduceOpInterface op)
      : e(e), op(op), dims(getDims(op.getInput())),
        graphType(getElementTypeOrSelf(op.getInput())),
        accType(getAccumulatorType(getSignlessType(graphType))) {
    combineType = accType == getSignlessType(graphType) ? graphType : accType;
  }

  LogicalResult cutParts(Cut cut);
  LogicalResult run();

private:
  bool isReduced(unsigned dim) const {
    return llvm::is_contained(op.getAxes(), int64_t(dim));
  }
  LogicalResult setBlocks();
  LogicalResult setPrograms();
  FailureOr<KernelEmitter::Carried> loopParts(unsigned part,
                                              ValueRange carried);
  FailureOr<Value> prepare();
  Places getResultPlaces();
  FailureOr<Value> finish(Value combined);

  KernelEmitter &e;
  mutable ReduceOpInterface op;
  Dims dims;
  Type graphType, accType, combineType;
  SmallVector<Part> parts;
  Axes axes; // of the accumulator
};

} // namespace

/// Dims of one kind that follow each other are one part, if `Flat`.
LogicalResult Reduction::cutParts(Cut cut) {
  for (unsigned dim = 0; dim < dims.size(); ++dim) {
    bool reduced = isReduced(dim);
    if (cut == Cut::Flat && !parts.empty() && parts.back().reduced == reduced) {
      parts.back().end = dim + 1;
      parts.back().size = mulExprs(parts.back().size, dims[dim]);
    } else {
      parts.push_back({dim, dim + 1, reduced, dims[dim], {}, -1, {}});
    }
  }
  if (parts.empty() || !llvm::any_of(parts, [](Part &p) { return p.reduced; }))
    return e.fail("a reduction over no dim");
  return setBlocks();
}

LogicalResult Reduction::setBlocks() {
  constexpr int64_t maxLength = 16384, elements = 4096;
  Part &last = parts.back();
  int64_t size = getKnown(last.size);
  last.axis = Lane;
  if (!last.reduced) {
    last.block = e.param("BLOCK_N", chooseLanes(size, 256));
    e.setAxis(Lane, last.block);
    axes = {Lane};
    return success();
  }
  // Chunks must end where the row ends: what lies behind is not neutral.
  int64_t chunk = size < 1 ? 0 : largestDivisor(size, maxLength);
  if (chunk < 1 || chunk < std::min<int64_t>(size, 16))
    return e.fail("a row of a length that is not known or cannot be cut");
  last.block = e.index(chunk);
  e.setAxis(Lane, last.block);
  for (Part &part : llvm::reverse(parts))
    if (!part.reduced) {
      part.axis = Row;
      part.block = e.param(
          "ROWS", chooseBlock(getKnown(part.size),
                              std::clamp<int64_t>(elements / chunk, 1, 16)));
      e.setAxis(Row, part.block);
      axes = {Row};
      return success();
    }
  if (!op.getKeepdims())
    return e.fail("a reduction to a scalar");
  e.setAxis(Row, e.index(1));
  axes = {Row};
  return success();
}

LogicalResult Reduction::setPrograms() {
  SmallVector<Value> counts;
  SmallVector<Part *> kept;
  for (Part &part : llvm::reverse(parts)) {
    Value size = e.size(part.size);
    if (!size)
      return failure();
    if (part.reduced)
      continue;
    counts.push_back(part.block ? e.ceilDiv(size, part.block) : size);
    kept.push_back(&part);
  }
  SmallVector<Value> ids = e.programIds(counts);
  for (auto [part, id] : llvm::zip(kept, ids))
    part->offset = part->block ? e.mul(id, part->block) : id;
  return success();
}

/// The prepared tile at the current place, reduced along the lanes if need be.
FailureOr<Value> Reduction::prepare() {
  Places places;
  for (const Part &part : parts)
    places.push_back(part.place());
  auto x = e.emit(op.getInput(), places);
  if (failed(x))
    return failure();
  Axes tileAxes(axes);
  bool reducesLanes = parts.back().reduced;
  if (reducesLanes)
    tileAxes.push_back(Lane);
  Value tile = e.broadcast(e.convert(*x, accType), tileAxes);
  TileElementBuilder builder(e, tileAxes);
  tile = op.buildPrepare(builder, tile);
  if (!reducesLanes)
    return tile;
  return e.reduce(op.getCombiner(), combineType, {tile, tileAxes}, Lane).value;
}

FailureOr<KernelEmitter::Carried> Reduction::loopParts(unsigned index,
                                                       ValueRange carried) {
  if (index == parts.size()) {
    auto tile = prepare();
    if (failed(tile))
      return failure();
    TileElementBuilder builder(e, axes);
    return KernelEmitter::Carried{buildCombine(builder, op.getCombiner(),
                                               combineType, carried[0], *tile)};
  }
  Part &part = parts[index];
  if (!part.reduced)
    return loopParts(index + 1, carried);
  Value step = part.block ? part.block : e.index(1);
  return e.loop(e.size(part.size), step, carried,
                [&](Value iv, ValueRange inner) {
                  part.offset = iv;
                  return loopParts(index + 1, inner);
                });
}

Places Reduction::getResultPlaces() {
  Places places;
  bool rowPlaced =
      llvm::any_of(parts, [](Part &p) { return !p.reduced && p.axis >= 0; });
  for (const Part &part : parts) {
    if (!part.reduced) {
      places.push_back(part.place());
      continue;
    }
    if (!op.getKeepdims())
      continue;
    for (unsigned dim = part.begin; dim < part.end; ++dim) {
      places.push_back({e.index(0), rowPlaced ? -1 : int(Row), 1, 1});
      rowPlaced = true;
    }
  }
  return places;
}

FailureOr<Value> Reduction::finish(Value combined) {
  TileElementBuilder builder(e, axes);
  Value count;
  if (op.needsCount()) {
    Value number = e.index(1);
    for (const Part &part : parts)
      if (part.reduced)
        number = e.mul(number, e.size(part.size));
    OpBuilder &b = e.builder();
    Value integer =
        arith::IndexCastOp::create(b, e.loc(), b.getI64Type(), number);
    TileElementBuilder scalar(e, {});
    Value converted = buildCast(scalar, integer, b.getI64Type(), combineType);
    count = e.broadcast({converted, {}}, axes);
  }
  return op.buildFinish(builder, combined, count);
}

LogicalResult Reduction::run() {
  if (op.subtractsMax())
    return e.fail("a reduction in two passes");
  if (failed(setPrograms()))
    return failure();
  Value init = e.constant(getNeutral(op.getCombiner(), combineType), axes);
  auto combined = loopParts(0, init);
  if (failed(combined))
    return failure();
  auto result = finish((*combined)[0]);
  if (failed(result))
    return failure();
  Value value = op->getResult(0);
  Places places = getResultPlaces();
  Type element = getSignlessType(getElementTypeOrSelf(value));
  e.define(value, places, e.convert({*result, axes}, element));
  return e.storeOutputs(value, places);
}

LogicalResult adze::emitReduction(KernelEmitter &e, ReduceOpInterface op,
                                  Cut cut) {
  if (cut != Cut::Flat && cut != Cut::Dims)
    return e.fail("no other cut of a reduction");
  Reduction reduction(e, op);
  if (failed(reduction.cutParts(cut)))
    return failure();
  return reduction.run();
}
