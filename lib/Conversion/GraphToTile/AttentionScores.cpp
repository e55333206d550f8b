// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The scores of attention: products of queries and keys, bias and masks.
#include "AttentionEmitter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace adze;
using namespace adze::graph;

/// Multiplies scores or weights by the scales of the keys from `first` on.
FailureOr<Value> AttentionEmitter::scale(Value tile, Value scales,
                                         DimRanges batch, Value first) {
  if (!scales)
    return tile;
  batch.push_back({first, axes.step, 1, 1});
  auto factors = e.emit(scales, batch);
  if (failed(factors))
    return failure();
  return arith::MulFOp::create(b, loc, tile,
                               e.broadcast(divide(*factors), scoreAxes))
      .getResult();
}

/// Emits the tile of the bias or mask for the scores of a step.
FailureOr<Emitted> AttentionEmitter::emitAtScores(Value operand, Value first) {
  Dims dims = getDims(operand), scores = op.getScoreDims();
  DimRanges ranges;
  for (auto [i, dim] : llvm::enumerate(dims)) {
    unsigned at = rank - dims.size() + i;
    if (getKnown(dim) == 1) {
      ranges.push_back({e.index(0), -1, 1, 1});
      continue;
    }
    if (!areEqual(dim, scores[at]))
      return e.fail("it is unknown whether a dim of a mask is broadcast");
    if (at + 1 == rank)
      ranges.push_back({first, axes.step, 1, 1});
    else
      ranges.push_back(getQueryRanges()[at]);
  }
  auto tile = e.emit(operand, ranges);
  return failed(tile) ? tile : divide(*tile);
}

/// Divides the keys of a step into those of the parts.
Emitted AttentionEmitter::divide(const Emitted &tile) {
  return axes.parts < 0 ? tile
                        : splitAxis(e, tile, axes.step, axes.parts, axes.keys);
}

/// Returns `offset` plus the position along an axis, as i32.
Value AttentionEmitter::position(int axis, Value offset, ArrayRef<int> on) {
  Emitted tile = e.emitPositions(axis, b.getI32Type());
  Value start = arith::IndexCastOp::create(b, loc, b.getI32Type(), offset);
  tile.value = arith::AddIOp::create(b, loc, tile.value,
                                     e.broadcast({start, {}}, tile.axes));
  return e.broadcast(tile, on);
}

/// Returns the positions of the keys from `first` on, as i32.
Value AttentionEmitter::keyPositions(Value first) {
  if (axes.parts < 0)
    return position(axes.keys, first, scoreAxes);
  Emitted part = e.emitPositions(axes.parts, b.getI32Type());
  Value start = arith::MulIOp::create(
      b, loc, part.value, e.constant(b.getI32IntegerAttr(keyBlock), part.axes));
  return arith::AddIOp::create(b, loc,
                               e.broadcast({start, part.axes}, scoreAxes),
                               position(axes.keys, first, scoreAxes));
}

/// Replaces the scores of masked keys by `fill`, and removes keys beyond the
/// last one.
Value AttentionEmitter::hideKeys(Value scores, Value first) {
  auto isBefore = [&](arith::CmpIPredicate predicate, Value end) -> Value {
    return arith::CmpIOp::create(b, loc, predicate, keyPositions(first), end);
  };
  auto everywhere = [&](Value index) {
    Value value = arith::IndexCastOp::create(b, loc, b.getI32Type(), index);
    return e.broadcast({value, {}}, scoreAxes);
  };
  // A program of several heads has one query. Unless it is one of few, there
  // are no others, and no key is masked.
  if (op.getCausal() != Causal::None && (heads == 1 || isFew())) {
    Value last = row;
    if (op.getCausal() == Causal::LowerRight)
      last = e.add(row, e.sub(keys, queries));
    Value lasts =
        heads == 1 ? position(axes.queries, last, scoreAxes) : everywhere(last);
    Value fill = number(getFill(), scoreAxes);
    scores = arith::SelectOp::create(
        b, loc, isBefore(arith::CmpIPredicate::sle, lasts), scores, fill);
  }
  auto count = getConstantIntValue(keys);
  auto block = e.getBinding("BLOCK_N");
  if (count && block && *count % *block == 0)
    return scores;
  Value inside =
      isFew() ? isBefore(arith::CmpIPredicate::slt, everywhere(keys))
              : e.broadcast(e.emitInside(axes.keys, first, keys), scoreAxes);
  Value none = number(-INFINITY, scoreAxes);
  return arith::SelectOp::create(b, loc, inside, scores, none);
}

/// Loads the keys or values from `first` on; their elements are along `axis`.
FailureOr<Emitted> AttentionEmitter::emitKeys(Value operand, DimRanges batch,
                                              Value first, int axis) {
  batch.push_back({first, axes.step, 1, 1});
  // Those that are read once come from memory, so the next block is prefetched.
  batch.back().ahead = keysAhead;
  batch.push_back({e.index(0), axis, 1, 1});
  Axes on = axes.on({axes.step, axis});
  auto tile = e.emitOn(operand, batch, on);
  if (failed(tile))
    return failure();
  return divide({*tile, on});
}

/// Emits the scores of the queries and the keys from `first` on.
FailureOr<Value> AttentionEmitter::emitScores(Value first) {
  auto loaded = emitKeys(key, keyBatch, first, axes.depth);
  if (failed(loaded))
    return failure();
  Emitted block = round(*loaded);
  bool keysAreRows = axes.keys < axes.queries;
  Value zero = isFew() ? Value() : number(0.0, scoreAxes);
  auto product = scale(keysAreRows ? createDot(block, query, zero, axes.depth)
                                   : createDot(query, block, zero, axes.depth),
                       keyScales, keyBatch, first);
  if (failed(product))
    return failure();
  Value s = *product;
  auto scaled = [&](Value x, double factor) -> Value {
    return arith::MulFOp::create(b, loc, x, number(factor, scoreAxes));
  };
  if (element != type && !scalesDifferences())
    s = scaled(s, getScale());
  if (double cap = getSoftcap(); cap > 0)
    s = scaled(math::TanhOp::create(b, loc, scaled(s, 1.0 / cap)), cap);
  if (op.getBias()) {
    auto bias = emitAtScores(op.getBias(), first);
    if (failed(bias))
      return failure();
    Value wide = e.broadcast(e.convert(*bias, type), scoreAxes);
    s = arith::AddFOp::create(b, loc, s, wide);
  }
  if (op.getMask()) {
    auto mask = emitAtScores(op.getMask(), first);
    if (failed(mask))
      return failure();
    Value fill = number(getFill(), scoreAxes);
    s = arith::SelectOp::create(b, loc, e.broadcast(*mask, scoreAxes), s, fill);
  }
  return hideKeys(s, first);
}
