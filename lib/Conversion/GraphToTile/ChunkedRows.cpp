// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Rows that are longer than a tile, or of dynamic length. Each pass over a row
// processes whole chunks, which need no mask, and then smaller ones up to its
// end.
#include "Dialect/Graph/IR/Weights.h"
#include "FewRows.h"
#include "RowMath.h"
#include <cfloat>

using namespace mlir;
using namespace adze;
using namespace adze::graph;

namespace {

class ChunkedRows {
public:
  ChunkedRows(RowMath &m, Value input) : m(m), e(m.e), input(input) {}

  /// Maps a chunk of the input at these ranges.
  using Prepare =
      llvm::function_ref<FailureOr<Value>(Value x, const DimRanges &ranges)>;
  /// Returns the next carried values; `mask`, if set, marks the valid elements.
  using Body = llvm::function_ref<FailureOr<KernelEmitter::Carried>(
      Value x, DimRanges &ranges, Value mask, ValueRange carried)>;

  /// Combines the mapped elements of each row.
  FailureOr<Value> fold(Combiner combiner, Prepare prepare, bool nnan = false);
  /// Computes each element of the result from that of the input, and stores it.
  LogicalResult store(Value result, Prepare prepare);
  /// Returns true if elements of the result may be stored and read again:
  /// `result` is the only output of the kernel, and is stored as it is
  /// computed.
  bool canRewrite(Value result);
  LogicalResult rewrite(Value result, llvm::function_ref<Value(Value)> prepare);

  /// Returns loops over chunks of `chunk` elements and over the remainder. If
  /// lanes are along the row, the remainder is processed in single vectors, or
  /// by the threads of a GPU at once.
  SmallVector<RowWalk> walks(int64_t chunk) {
    if (m.rows.inner)
      return walkRow(e, m.rows.length, chunk, 1);
    if (!e.gpu)
      return walkRow(e, m.rows.length, chunk, std::max<int64_t>(16, chunk / 8));
    int64_t length = getKnown(m.rows.length),
            most = e.version.isFew() ? kShortChunk : deviceChunk,
            step = length < 0 ? most : std::min(length, most);
    return walkRow(e, m.rows.length, step, step);
  }
  SmallVector<RowWalk> walks() { return walks(m.rows.inner ? 8 : 32); }
  FailureOr<KernelEmitter::Carried> over(const RowWalk &walk, ValueRange init,
                                         Body body);
  using RangeBody = llvm::function_ref<FailureOr<KernelEmitter::Carried>(
      DimRanges &ranges, ValueRange carried)>;
  FailureOr<KernelEmitter::Carried> overRanges(const RowWalk &walk,
                                               ValueRange init, RangeBody body);
  /// Returns `tile`, with `other` in place of invalid elements.
  Value orElse(Value mask, Value tile, TypedAttr other);

private:
  Value combine(Combiner combiner, Value x, Value y, ArrayRef<int> axes,
                bool nnan);

  RowMath &m;
  KernelEmitter &e;
  Value input;
};

} // namespace

SmallVector<RowWalk> adze::walkRow(KernelEmitter &e, AffineExpr size,
                                   int64_t chunk, int64_t least) {
  return walkRow(e, size, e.param("BLOCK_N", chunk), e.index(least));
}

SmallVector<RowWalk> adze::walkRow(KernelEmitter &e, AffineExpr size,
                                   Value step, Value least) {
  Value length = e.size(size);
  // This is written as a product, as range analysis then knows that it is not
  // negative.
  Value whole = e.mul(e.div(length, step), step);
  Value rest = e.rem(length, step);
  SmallVector<RowWalk> result{{step, e.index(0), whole, {}}};
  bool isSingle = getConstantIntValue(least) == 1;
  if (getConstantIntValue(rest) != 0)
    result.push_back(
        {least, whole, rest, isSingle ? Value() : length, !isSingle});
  return result;
}

FailureOr<KernelEmitter::Carried>
ChunkedRows::overRanges(const RowWalk &walk, ValueRange init, RangeBody body) {
  e.setAxis(m.rows.reduced, walk.chunk);
  e.setTail(walk.isTail);
  DimRanges ranges = m.rows.ranges;
  auto overLine = [&](ValueRange carried) {
    return e.loop(walk.length, walk.chunk, carried,
                  [&](Value iv, ValueRange inner) {
                    DimRanges here = ranges;
                    here[m.rows.rowPart].offset = walk.range(e, iv);
                    return body(here, inner);
                  });
  };
  FailureOr<KernelEmitter::Carried> result = failure();
  if (auto line = m.rows.linePart)
    result = e.loop(e.size(m.rows.result, m.rows.first), e.index(1), init,
                    [&](Value iv, ValueRange carried) {
                      ranges[*line].offset = iv;
                      return overLine(carried);
                    });
  else
    result = overLine(init);
  e.setTail(false);
  return result;
}

FailureOr<KernelEmitter::Carried>
ChunkedRows::over(const RowWalk &walk, ValueRange init, Body body) {
  return overRanges(
      walk, init,
      [&](DimRanges &ranges,
          ValueRange carried) -> FailureOr<KernelEmitter::Carried> {
        auto loaded = e.emit(input, ranges);
        if (failed(loaded))
          return failure();
        Value x = e.broadcast(e.convert(*loaded, m.type), m.rows.axes);
        Value mask;
        if (walk.end)
          mask =
              e.broadcast(e.emitInside(m.rows.reduced,
                                       ranges[m.rows.rowPart].offset, walk.end),
                          m.rows.axes);
        return body(x, ranges, mask, carried);
      });
}

Value ChunkedRows::orElse(Value mask, Value tile, TypedAttr other) {
  if (!mask)
    return tile;
  return arith::SelectOp::create(m.b, m.loc, mask, tile,
                                 e.constant(other, m.rows.axes));
}

Value ChunkedRows::combine(Combiner combiner, Value x, Value y,
                           ArrayRef<int> axes, bool nnan) {
  if (nnan && combiner == Combiner::Max && isa<FloatType>(m.type)) {
    Value greater =
        arith::CmpFOp::create(m.b, m.loc, arith::CmpFPredicate::OGT, x, y);
    return arith::SelectOp::create(m.b, m.loc, greater, x, y);
  }
  TileElementBuilder builder(e, axes);
  return buildCombine(builder, combiner, m.type, x, y);
}

/// If lanes are along the row, each lane has an accumulator until the end of
/// the row.
FailureOr<Value> ChunkedRows::fold(Combiner combiner, Prepare prepare,
                                   bool nnan) {
  TypedAttr neutral = getNeutral(combiner, m.type);
  Value all;
  for (const RowWalk &walk : walks()) {
    e.setAxis(m.rows.reduced, walk.chunk); // carried values have its size
    Axes axes = m.rows.inner ? m.rows.kept : m.rows.axes;
    auto result =
        over(walk, e.constant(neutral, axes),
             [&](Value x, DimRanges &ranges, Value mask,
                 ValueRange carried) -> FailureOr<KernelEmitter::Carried> {
               auto y = prepare(x, ranges);
               if (failed(y))
                 return failure();
               Value kept = orElse(mask, *y, neutral);
               if (m.rows.inner)
                 kept = m.reduce(combiner, kept, nnan);
               return KernelEmitter::Carried{
                   combine(combiner, carried[0], kept, axes, nnan)};
             });
    if (failed(result))
      return failure();
    Value part = (*result)[0];
    if (!m.rows.inner)
      part = m.reduce(combiner, part, nnan);
    all = all ? combine(combiner, all, part, m.rows.kept, nnan) : part;
  }
  return all;
}

LogicalResult ChunkedRows::store(Value result, Prepare prepare) {
  Type element = getSignlessType(getElementTypeOrSelf(result));
  DimRanges before = m.rows.ranges;
  for (const RowWalk &walk : walks()) {
    auto stored =
        over(walk, {},
             [&](Value x, DimRanges &ranges, Value,
                 ValueRange) -> FailureOr<KernelEmitter::Carried> {
               m.rows.ranges = ranges;
               auto y = prepare(x, ranges);
               m.rows.ranges = before;
               if (failed(y))
                 return failure();
               e.define(result, ranges, e.convert({*y, m.rows.axes}, element));
               if (failed(e.storeOutputs(result, ranges)))
                 return failure();
               return KernelEmitter::Carried();
             });
    if (failed(stored))
      return failure();
  }
  return success();
}

bool ChunkedRows::canRewrite(Value result) {
  return e.getOutputs().size() == 1 && e.getOutputs()[0] == result &&
         e.getPartAxis(0) < 0 && getElementTypeOrSelf(result) == m.type;
}

LogicalResult ChunkedRows::rewrite(Value result,
                                   llvm::function_ref<Value(Value)> prepare) {
  Value memory = e.getOutputMemory(0);
  for (const RowWalk &walk : walks()) {
    auto stored =
        overRanges(walk, {},
                   [&](DimRanges &ranges,
                       ValueRange) -> FailureOr<KernelEmitter::Carried> {
                     auto x = e.load(memory, ranges);
                     if (failed(x))
                       return failure();
                     Value y = prepare(e.broadcast(*x, m.rows.axes));
                     if (failed(e.store({y, m.rows.axes}, memory, ranges)))
                       return failure();
                     return KernelEmitter::Carried();
                   });
    if (failed(stored))
      return failure();
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Softmax
//===----------------------------------------------------------------------===//

namespace {
/// The maximum of each row (or a number that replaces it), and the sum of the
/// exponentials of the differences to it.
struct RowSums {
  Value most, sum;
};
} // namespace

static Value getPower(RowMath &m, Value x, Value most) {
  Value shifted = arith::SubFOp::create(m.b, m.loc, x, m.spread(most));
  return math::ExpOp::create(m.b, m.loc, shifted, isWeight);
}

/// Computes both in one pass, so that a row that exceeds the caches is read
/// once. When a greater element is found, the partial sum is rescaled.
static FailureOr<RowSums> sumInOnePass(RowMath &m, ChunkedRows &rows) {
  constexpr int64_t chunk = 2048;
  OpBuilder &b = m.b;
  // This is not -infinity, as the difference of infinities is NaN.
  Value lowest = m.number(-FLT_MAX), zero = m.number(0.0);
  TypedAttr none = getNeutral(Combiner::Max, m.type);
  KernelEmitter::Carried sums{lowest, zero};
  for (const RowWalk &walk : rows.walks(chunk)) {
    auto next = rows.over(
        walk, sums,
        [&](Value x, DimRanges &, Value mask,
            ValueRange carried) -> FailureOr<KernelEmitter::Carried> {
          Value kept = rows.orElse(mask, x, none);
          Value own = m.reduce(Combiner::Max, kept, /*nnan=*/true);
          Value isGreater = arith::CmpFOp::create(
              b, m.loc, arith::CmpFPredicate::OGT, carried[0], own);
          Value most =
              arith::SelectOp::create(b, m.loc, isGreater, carried[0], own);
          Value below = arith::SubFOp::create(b, m.loc, carried[0], most);
          Value scale = math::ExpOp::create(b, m.loc, below, isWeight);
          Value sum = arith::MulFOp::create(b, m.loc, carried[1], scale);
          Value more = m.reduce(Combiner::Add, getPower(m, kept, most));
          return KernelEmitter::Carried{
              most, arith::AddFOp::create(b, m.loc, sum, more)};
        });
    if (failed(next))
      return failure();
    sums = *next;
  }
  return RowSums{sums[0], sums[1]};
}

/// Returns true if a row and its result exceed the second-level cache, or if
/// the threads of a GPU share it: they reduce each chunk at once.
static bool isBeyondCache(RowMath &m) {
  int64_t length = getKnown(m.rows.length);
  if (m.e.gpu && !m.rows.inner)
    return m.type.isF32();
  return length >= 0 && !m.rows.inner && m.type.isF32() &&
         length * 4 > m.e.target.getL2Bytes() / 2;
}

static LogicalResult emitSoftmax(RowMath &m, Value input, Value result,
                                 bool logarithm) {
  ChunkedRows rows(m, input);
  OpBuilder &b = m.b;
  bool beyondCache = isBeyondCache(m);
  bool rewrites = !logarithm && !beyondCache && rows.canRewrite(result);
  RowSums sums;
  if (beyondCache) {
    auto both = sumInOnePass(m, rows);
    if (failed(both))
      return failure();
    sums = *both;
  } else {
    auto most = rows.fold(
        Combiner::Max,
        [](Value x, const DimRanges &) { return FailureOr<Value>(x); },
        /*nnan=*/true);
    if (failed(most))
      return failure();
    auto sum = rows.fold(
        Combiner::Add,
        [&](Value x, const DimRanges &ranges) -> FailureOr<Value> {
          Value power = getPower(m, x, *most);
          // Expensive intermediate values are kept in the memory of the result.
          if (rewrites && failed(m.e.store({power, m.rows.axes},
                                           m.e.getOutputMemory(0), ranges)))
            return failure();
          return power;
        });
    if (failed(sum))
      return failure();
    sums = {*most, *sum};
  }
  Value last =
      logarithm
          ? Value(math::LogOp::create(b, m.loc, sums.sum))
          : Value(arith::DivFOp::create(b, m.loc, m.number(1.0), sums.sum));
  auto scale = [&](Value power) -> Value {
    return arith::MulFOp::create(b, m.loc, power, m.spread(last));
  };
  if (rewrites)
    return rows.rewrite(result, scale);
  return rows.store(
      result, [&](Value x, const DimRanges &) -> FailureOr<Value> {
        if (!logarithm)
          return scale(getPower(m, x, sums.most));
        Value shifted = arith::SubFOp::create(b, m.loc, x, m.spread(sums.most));
        return Value(arith::SubFOp::create(b, m.loc, shifted, m.spread(last)));
      });
}

//===----------------------------------------------------------------------===//
// Norms
//===----------------------------------------------------------------------===//

static LogicalResult emitNorm(RowMath &m, Value input, Value result,
                              Value scale, Value bias, double epsilon,
                              bool centre) {
  ChunkedRows rows(m, input);
  OpBuilder &b = m.b;
  Value mean;
  if (centre) {
    auto sum = rows.fold(Combiner::Add, [](Value x, const DimRanges &) {
      return FailureOr<Value>(x);
    });
    if (failed(sum))
      return failure();
    mean = m.divideByLength(*sum);
  }
  auto shift = [&](Value x) -> Value {
    return centre ? Value(arith::SubFOp::create(b, m.loc, x, m.spread(mean)))
                  : x;
  };
  auto squares = rows.fold(Combiner::Add, [&](Value x, const DimRanges &) {
    Value y = shift(x);
    return FailureOr<Value>(arith::MulFOp::create(b, m.loc, y, y));
  });
  if (failed(squares))
    return failure();
  Value inverse = m.inverseRoot(m.divideByLength(*squares), epsilon);
  return rows.store(
      result, [&](Value x, const DimRanges &) -> FailureOr<Value> {
        Value y = arith::MulFOp::create(b, m.loc, shift(x), m.spread(inverse));
        auto scaled = applyOperand<arith::MulFOp>(m, y, scale);
        if (failed(scaled))
          return failure();
        return applyOperand<arith::AddFOp>(m, *scaled, bias);
      });
}

LogicalResult adze::emitChunkedRows(RowMath &m, Operation *op) {
  Value input = op->getOperand(0), result = op->getResult(0);
  if (auto norm = dyn_cast<LayerNormOp>(op))
    return emitNorm(m, input, result, norm.getScale(), norm.getBias(),
                    norm.getEpsilon().convertToDouble(), true);
  if (auto norm = dyn_cast<RMSNormOp>(op))
    return emitNorm(m, input, result, norm.getScale(), {},
                    norm.getEpsilon().convertToDouble(), false);
  return emitSoftmax(m, input, result, isa<LogSoftmaxOp>(op));
}
