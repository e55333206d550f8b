// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Scatters of single elements for GPUs: a program stores a block of the updates
// in row-major order, or combines them with the elements of the result.
#include "Dialect/Graph/IR/Checks.h"
#include "Dialect/Graph/IR/Insertions.h"
#include "Dialect/Tile/IR/Faults.h"
#include "Families.h"
#include "Lookups.h"
#include "TileElementBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace adze;
using namespace adze::graph;

namespace {

class ElementScatter {
public:
  ElementScatter(KernelEmitter &e, Operation *op)
      : e(e), op(op), data(op->getOperand(0)), indices(op->getOperand(1)),
        updates(op->getOperand(2)), b(e.builder()), loc(e.loc()) {}

  LogicalResult run();

private:
  enum Axis { Own = 0 };

  /// Adjacent dims, other than the scattered one, that are merged. The indices
  /// are broadcast along all of them or along none.
  struct Merged {
    AffineExpr updates, data;
    bool isScattered, isBroadcast;
  };
  SmallVector<Merged> joinDims(ScatterElementsOp scatter);
  void choosePositions();
  MaybeValue pick(Value positions, Value extent, int64_t column);
  MaybeValue place(ScatterElementsOp scatter);
  MaybeValue place(ScatterNDOp scatter);

  Value flat(Value memory) {
    int64_t rank = cast<MemRefType>(memory.getType()).getRank();
    return mergeDims(e, memory, 0, rank);
  }
  Value spread(Value size) {
    return e.broadcast(
        {b.createOrFold<arith::IndexCastOp>(loc, type, size), {}}, {Own});
  }
  Value number(int64_t value) {
    return e.constant(b.getIntegerAttr(type, value), {Own});
  }
  template <typename OpT>
  Value make(Value x, Value y) {
    return OpT::create(b, loc, x, y);
  }
  /// Returns `outer * size + inner`; null is 0.
  MaybeValue append(Value outer, AffineExpr size, Value inner) {
    if (!outer)
      return inner;
    if (getConstant(size) != 1) {
      Value factor = e.size(size);
      if (!factor)
        return failure();
      outer = make<arith::MulIOp>(outer, spread(factor));
    }
    return inner ? make<arith::AddIOp>(outer, inner) : outer;
  }

  KernelEmitter &e;
  Operation *op;
  Value data, indices, updates;
  OpBuilder &b;
  Location loc;
  Type type;               // of positions
  Value positions, inside; // of the updates of the block
};

} // namespace

/// Returns the dims of the updates; adjacent ones are merged where the elements
/// that they select are adjacent, too.
SmallVector<ElementScatter::Merged>
ElementScatter::joinDims(ScatterElementsOp scatter) {
  SmallVector<Merged> all;
  for (auto [dim, sizes] : llvm::enumerate(llvm::zip_equal(
           getDims(updates), getDims(data), getDims(indices)))) {
    auto [own, whole, index] = sizes;
    Merged next{own, whole, dim == scatter.getAxis(),
                getConstant(own) != 1 && getConstant(index) == 1};
    Merged *last = all.empty() ? nullptr : &all.back();
    if (last && !last->isScattered && !next.isScattered &&
        last->isBroadcast == next.isBroadcast && areEqual(own, whole)) {
      last->updates = mulExprs(last->updates, own);
      last->data = mulExprs(last->data, whole);
    } else {
      all.push_back(next);
    }
  }
  return all;
}

/// Chooses the type of positions. Dynamic sizes may need 64 bits.
void ElementScatter::choosePositions() {
  bool isSmall = llvm::all_of(op->getOperands(), [&](Value tensor) {
    auto count = getConstant(product(op->getContext(), getDims(tensor)));
    return count && *count < INT32_MAX;
  });
  type = b.getIntegerType(isSmall ? 32 : 64);
}

/// Returns the positions in [0, extent) that the indices at these positions of
/// the index tensor select.
MaybeValue ElementScatter::pick(Value at, Value extent, int64_t column) {
  Value memory = e.getMemory(indices);
  if (!memory)
    return e.fail("the indices of a scatter are computed in its kernel");
  Type element = cast<MemRefType>(memory.getType()).getElementType();
  Value index = tile::GatherOp::create(
      b, loc, e.tileType({Own}, element), flat(memory), ValueRange(), at,
      /*static_offsets=*/ArrayRef<int64_t>{0}, /*along=*/0,
      /*dims=*/ArrayRef<int64_t>{-1}, /*strides=*/nullptr, /*pad=*/nullptr);
  Emitted selected = countFromEnd(e, {index, {Own}}, extent);
  if (std::optional<int64_t> fault = getFault(op, column)) {
    Value checked = arith::SelectOp::create(
        b, loc, inside, selected.value, e.broadcast({e.index(0), {}}, {Own}));
    tile::CheckOp::create(b, loc, checked, extent, *fault);
  }
  Value position = clampPositions(e, op, selected, extent).value;
  return arith::IndexCastOp::create(b, loc, e.tileType({Own}, type), position)
      .getResult();
}

/// Returns the positions in the result: those of the updates, but for the
/// scattered dim.
MaybeValue ElementScatter::place(ScatterElementsOp scatter) {
  SmallVector<Merged> dims = joinDims(scatter);
  SmallVector<Value> coordinates(dims.size());
  Value rest = positions;
  for (size_t i = dims.size(); i-- > 0;) {
    Value size = e.size(dims[i].updates);
    if (!size)
      return failure();
    coordinates[i] = i > 0 ? make<arith::RemUIOp>(rest, spread(size)) : rest;
    if (i > 0)
      rest = make<arith::DivUIOp>(rest, spread(size));
  }
  Value at;
  for (auto [dim, coordinate] : llvm::zip_equal(dims, coordinates)) {
    if (dim.isBroadcast)
      continue;
    auto next = append(at, dim.updates, coordinate);
    if (failed(next))
      return failure();
    at = *next;
  }
  auto index = pick(at ? at : number(0), e.size(data, scatter.getAxis()), 0);
  if (failed(index))
    return failure();
  Value to;
  for (auto [dim, coordinate] : llvm::zip_equal(dims, coordinates)) {
    auto next = append(to, dim.data, dim.isScattered ? *index : coordinate);
    if (failed(next))
      return failure();
    to = *next;
  }
  return to;
}

/// Returns the positions in the result: in the slice that the index tuple
/// selects, that in the slice of the updates.
MaybeValue ElementScatter::place(ScatterNDOp scatter) {
  Dims whole = getDims(data), picked = getDims(indices);
  auto count = getConstant(picked.back());
  if (!count)
    return e.fail("index tuples have a dynamic length");
  AffineExpr each =
      product(op->getContext(), ArrayRef<AffineExpr>(whole).drop_front(*count));
  Value tuple = positions, inSlice;
  if (getConstant(each) != 1) {
    Value size = e.size(each);
    if (!size)
      return failure();
    inSlice = make<arith::RemUIOp>(positions, spread(size));
    tuple = make<arith::DivUIOp>(positions, spread(size));
  }
  Value first = make<arith::MulIOp>(tuple, number(*count)), to;
  for (int64_t i = 0; i < *count; ++i) {
    auto index =
        pick(make<arith::AddIOp>(first, number(i)), e.size(whole[i]), i);
    auto next = failed(index) ? index : append(to, whole[i], *index);
    if (failed(next))
      return failure();
    to = *next;
  }
  return append(to, each, inSlice);
}

LogicalResult ElementScatter::run() {
  constexpr int64_t blockSize = 1024;
  if (!mayReorderUpdates(op))
    return e.fail("updates are combined in their order");
  auto elements = dyn_cast<ScatterElementsOp>(op);
  Dims dims = getDims(updates);
  Value length = e.size(product(op->getContext(), dims));
  if (!length)
    return failure();
  Value block = e.index(blockSize);
  e.setAxis(Own, block);
  Value start = e.mul(e.programIds({e.ceilDiv(length, block)})[0], block);
  auto loaded = e.emit(updates, {{start, Own, 1, unsigned(dims.size())}});
  if (failed(loaded))
    return failure();
  choosePositions();
  inside = e.emitInside(Own, start, length).value;
  positions =
      make<arith::AddIOp>(spread(start), e.emitPositions(Own, type).value);
  auto to = elements ? place(elements) : place(cast<ScatterNDOp>(op));
  if (failed(to))
    return failure();
  Value memory = flat(e.getOutputMemory(0));
  Type stored = cast<MemRefType>(memory.getType()).getElementType();
  Value tile = e.broadcast(*loaded, {Own});
  if (getElementTypeOrSelf(tile).isInteger(1))
    tile = arith::ExtUIOp::create(b, loc, e.tileType({Own}, stored), tile);
  // Updates beyond the last one are dropped.
  Value places = arith::SelectOp::create(
      b, loc, inside, *to, number(llvm::maxIntN(type.getIntOrFloatBitWidth())));
  tile::ReduceKindAttr kind; // null: the updates replace elements
  if (auto combiner = getCombiner(op))
    kind = tile::ReduceKindAttr::get(
        b.getContext(), getReduceKind(*combiner, getElementTypeOrSelf(data)));
  tile::ScatterOp::create(b, loc, tile, memory, ValueRange(), places,
                          /*static_offsets=*/ArrayRef<int64_t>{0}, /*along=*/0,
                          /*dims=*/ArrayRef<int64_t>{-1}, kind);
  return success();
}

LogicalResult adze::emitElementScatter(KernelEmitter &e, Operation *op) {
  if (!e.gpu)
    return e.fail("the indices of a scatter select single elements");
  return ElementScatter(e, op).run();
}
