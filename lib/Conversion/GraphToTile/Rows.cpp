// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Kernels that need a whole row before they can write any of it: softmax and
// normalisations. The row is one tile dim of its exact size.
#include "Families.h"
#include "TileElementBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace adze;
using namespace adze::graph;

namespace {

/// Where the reduced dims lie, and the blocks around them.
struct Rows {
  Value result;
  unsigned first, end; // the reduced dims
  Places places;
  int reduced; // its axis
  Axes axes, kept;
  AffineExpr length;
  Value chunk;          // set if the row is longer than a tile
  unsigned rowPart = 0; // the place of the row
};

/// Arithmetic on whole tiles and on tiles without the reduced axis.
class RowMath {
public:
  RowMath(KernelEmitter &e, Rows &rows, Type type)
      : e(e), rows(rows), type(type), b(e.builder()), loc(e.loc()) {}

  Value reduce(Combiner combiner, Value tile, bool nnan = false) {
    return e.reduce(combiner, type, {tile, rows.axes}, rows.reduced, nnan)
        .value;
  }
  Value spread(Value kept) { return e.broadcast({kept, rows.kept}, rows.axes); }
  Value number(double value) {
    return e.constant(b.getFloatAttr(type, value), rows.kept);
  }
  /// The mean of each row.
  Value mean(Value tile) { return divideByLength(reduce(Combiner::Add, tile)); }
  Value divideByLength(Value sum) {
    int64_t known = getKnown(rows.length);
    if (known > 0)
      return arith::DivFOp::create(b, loc, sum, number(double(known)));
    Value integer =
        arith::IndexCastOp::create(b, loc, b.getI64Type(), e.size(rows.length));
    Value count = arith::SIToFPOp::create(b, loc, type, integer);
    return arith::DivFOp::create(b, loc, sum,
                                 e.broadcast({count, {}}, rows.kept));
  }
  /// 1 / sqrt(x + epsilon)
  Value inverseRoot(Value x, double epsilon) {
    Value sum = arith::AddFOp::create(b, loc, x, number(epsilon));
    Value root = math::SqrtOp::create(b, loc, sum);
    return arith::DivFOp::create(b, loc, number(1.0), root);
  }

  KernelEmitter &e;
  Rows &rows;
  Type type;
  OpBuilder &b;
  Location loc;
};

} // namespace

/// Rows of the last dims: a block of rows by the whole row. Rows of an inner
/// dim: the whole row by a block of what lies behind.
static FailureOr<Rows> cutRows(KernelEmitter &e, Value result, unsigned first,
                               unsigned end, Cut cut) {
  constexpr int64_t elements = 4096, maxLength = 16384;
  Dims dims = getDims(result);
  MLIRContext *context = result.getContext();
  auto count = [&](unsigned begin, unsigned end) {
    return product(context,
                   ArrayRef<AffineExpr>(dims).slice(begin, end - begin));
  };
  Rows rows{result, first, end, {}, 0, {}, {}, count(first, end), {}};
  int64_t length = getKnown(rows.length);
  bool whole = length >= 1 && length <= maxLength;
  bool inner = end < dims.size();
  if (!inner && first == 0) {
    (void)e.fail("one row only, without a dim for blocks of rows");
    return failure();
  }
  rows.reduced = inner ? 0 : 1;
  if (!whole) {
    length = length < 0 ? 128 : chooseLanes(length, 2048);
    rows.chunk = e.param("BLOCK_N", length);
  }
  Value rowLength = whole ? e.index(length) : rows.chunk;
  e.setAxis(rows.reduced, rowLength);
  // Parts: outer dims, the row, inner dims.
  struct Part {
    unsigned begin, end;
    Value block;
    int axis;
  };
  SmallVector<Part> parts;
  auto addDims = [&](unsigned begin, unsigned end, int axis, int64_t target) {
    if (begin == end)
      return;
    unsigned split = cut == Cut::Flat ? begin : end - 1;
    for (unsigned dim = begin; dim < split; ++dim)
      parts.push_back({dim, dim + 1, e.index(1), -1});
    if (axis < 0) {
      parts.push_back({split, end, e.index(1), -1});
      return;
    }
    int64_t size = getKnown(count(split, end));
    Value block = target == 1
                      ? e.index(1)
                      : e.param(axis == 0 ? "ROWS" : "BLOCK_C",
                                (axis == 0 ? chooseBlock(size, target)
                                           : chooseLanes(size, target)));
    e.setAxis(axis, block);
    parts.push_back({split, end, block, axis});
    rows.kept.push_back(axis);
  };
  addDims(0, first, inner ? -1 : 0,
          cut == Cut::Row ? 1 : std::clamp<int64_t>(elements / length, 1, 16));
  rows.rowPart = parts.size();
  parts.push_back({first, end, rowLength, rows.reduced});
  if (inner)
    addDims(end, dims.size(), 1,
            std::clamp<int64_t>(elements / length, 64, 256));
  rows.axes = rows.kept;
  rows.axes.push_back(rows.reduced);
  llvm::sort(rows.axes);
  SmallVector<Value> counts;
  for (const Part &part : llvm::reverse(parts)) {
    Value size = e.size(count(part.begin, part.end));
    if (!size)
      return failure();
    counts.push_back(&part == &parts[rows.rowPart]
                         ? e.index(1)
                         : e.ceilDiv(size, part.block));
  }
  SmallVector<Value> ids = e.programIds(counts);
  std::reverse(ids.begin(), ids.end());
  for (auto [part, id] : llvm::zip(parts, ids))
    rows.places.push_back(
        {e.mul(id, part.block), part.axis, 1, part.end - part.begin});
  return rows;
}

static Value emitSoftmax(RowMath &m, Value x, bool logarithm) {
  OpBuilder &b = m.b;
  // A NaN that the greatest element leaves out comes back with the sum.
  Value most = m.reduce(Combiner::Max, x, /*nnan=*/true);
  Value shifted = arith::SubFOp::create(b, m.loc, x, m.spread(most));
  Value power = math::ExpOp::create(b, m.loc, shifted);
  Value sum = m.reduce(Combiner::Add, power);
  if (logarithm) {
    Value log = math::LogOp::create(b, m.loc, sum);
    return arith::SubFOp::create(b, m.loc, shifted, m.spread(log));
  }
  Value inverse = arith::DivFOp::create(b, m.loc, m.number(1.0), sum);
  return arith::MulFOp::create(b, m.loc, power, m.spread(inverse));
}

/// Multiplies or adds an operand that is broadcast to the rows.
template <typename OpT>
static FailureOr<Value> applyOperand(RowMath &m, Value tile, Value operand) {
  if (!operand)
    return tile;
  auto where =
      m.e.mapPlaces(m.rows.places, m.rows.result, operand,
                    KernelEmitter::alignRight(getDims(operand).size(),
                                              getDims(m.rows.result).size()));
  if (failed(where))
    return failure();
  auto other = m.e.emit(operand, *where);
  if (failed(other))
    return failure();
  Value wide = m.e.broadcast(m.e.convert(*other, m.type), m.rows.axes);
  return Value(OpT::create(m.b, m.loc, tile, wide));
}

static FailureOr<Value> emitLayerNorm(RowMath &m, LayerNormOp op, Value x) {
  OpBuilder &b = m.b;
  Value centred = arith::SubFOp::create(b, m.loc, x, m.spread(m.mean(x)));
  Value square = arith::MulFOp::create(b, m.loc, centred, centred);
  Value inverse =
      m.inverseRoot(m.mean(square), op.getEpsilon().convertToDouble());
  Value y = arith::MulFOp::create(b, m.loc, centred, m.spread(inverse));
  auto scaled = applyOperand<arith::MulFOp>(m, y, op.getScale());
  if (failed(scaled))
    return failure();
  return applyOperand<arith::AddFOp>(m, *scaled, op.getBias());
}

static FailureOr<Value> emitRMSNorm(RowMath &m, RMSNormOp op, Value x) {
  OpBuilder &b = m.b;
  Value square = arith::MulFOp::create(b, m.loc, x, x);
  Value inverse =
      m.inverseRoot(m.mean(square), op.getEpsilon().convertToDouble());
  Value y = arith::MulFOp::create(b, m.loc, x, m.spread(inverse));
  return applyOperand<arith::MulFOp>(m, y, op.getScale());
}

namespace {

/// Rows that are longer than a tile, or of a length known at run time only:
/// each pass over the row reads it again in chunks, the last of which is
/// masked.
class ChunkedRows {
public:
  ChunkedRows(RowMath &m, Value input) : m(m), e(m.e), input(input) {}

  using Prepare = llvm::function_ref<FailureOr<Value>(Value)>;

  /// Combines the prepared elements of each row.
  FailureOr<Value> fold(Combiner combiner, Prepare prepare, bool nnan = false) {
    TypedAttr neutral = getNeutral(combiner, m.type);
    Value init = e.constant(neutral, m.rows.kept);
    auto result = overChunks(
        init,
        [&](Value x, Places &, Value mask,
            ValueRange carried) -> FailureOr<KernelEmitter::Carried> {
          auto y = prepare(x);
          if (failed(y))
            return failure();
          Value kept = *y;
          if (mask) {
            Value other = e.constant(neutral, m.rows.axes);
            kept = arith::SelectOp::create(m.b, m.loc, mask, *y, other);
          }
          TileElementBuilder builder(e, m.rows.kept);
          return KernelEmitter::Carried{
              buildCombine(builder, combiner, m.type, carried[0],
                           m.reduce(combiner, kept, nnan))};
        });
    if (failed(result))
      return failure();
    return (*result)[0];
  }

  /// Computes each element of the result from that of the input and stores it.
  LogicalResult store(Value result, Prepare prepare) {
    Type element = getSignlessType(getElementTypeOrSelf(result));
    return LogicalResult(overChunks(
        {},
        [&](Value x, Places &places, Value,
            ValueRange) -> FailureOr<KernelEmitter::Carried> {
          m.rows.places = places;
          auto y = prepare(x);
          if (failed(y))
            return failure();
          e.define(result, places, e.convert({*y, m.rows.axes}, element));
          if (failed(e.storeOutputs(result, places)))
            return failure();
          return KernelEmitter::Carried();
        }));
  }

private:
  using Body = llvm::function_ref<FailureOr<KernelEmitter::Carried>(
      Value x, Places &places, Value mask, ValueRange carried)>;

  /// Whole chunks first, which need no mask, then what is left.
  FailureOr<KernelEmitter::Carried> overChunks(ValueRange init, Body body) {
    Value length = e.size(m.rows.length);
    Value rest = e.rem(length, m.rows.chunk);
    // Not length - rest: a product is seen to be no negative place.
    Value whole = e.mul(e.div(length, m.rows.chunk), m.rows.chunk);
    auto carried =
        e.loop(whole, m.rows.chunk, init, [&](Value iv, ValueRange inner) {
          return overChunk(iv, {}, inner, body);
        });
    if (failed(carried) || getConstantIntValue(rest) == 0)
      return carried;
    return e.loop(rest, m.rows.chunk, *carried,
                  [&](Value iv, ValueRange inner) {
                    return overChunk(e.add(whole, iv), length, inner, body);
                  });
  }

  /// The chunk at `from`; up to `end` if that is set.
  FailureOr<KernelEmitter::Carried> overChunk(Value from, Value end,
                                              ValueRange carried, Body body) {
    Places places = m.rows.places;
    places[m.rows.rowPart].offset = from;
    auto loaded = e.emit(input, places);
    if (failed(loaded))
      return failure();
    Value x = e.broadcast(e.convert(*loaded, m.type), m.rows.axes);
    Value mask;
    if (end)
      mask = e.broadcast(e.emitInside(m.rows.reduced, from, end), m.rows.axes);
    return body(x, places, mask, carried);
  }

  RowMath &m;
  KernelEmitter &e;
  Value input;
};

} // namespace

static LogicalResult emitChunkedSoftmax(RowMath &m, Value input, Value result,
                                        bool logarithm) {
  ChunkedRows rows(m, input);
  OpBuilder &b = m.b;
  auto most = rows.fold(
      Combiner::Max, [](Value x) { return FailureOr<Value>(x); },
      /*nnan=*/true);
  if (failed(most))
    return failure();
  auto shift = [&](Value x) -> Value {
    return arith::SubFOp::create(b, m.loc, x, m.spread(*most));
  };
  auto sum = rows.fold(Combiner::Add, [&](Value x) {
    return FailureOr<Value>(math::ExpOp::create(b, m.loc, shift(x)));
  });
  if (failed(sum))
    return failure();
  Value last =
      logarithm ? Value(math::LogOp::create(b, m.loc, *sum))
                : Value(arith::DivFOp::create(b, m.loc, m.number(1.0), *sum));
  return rows.store(result, [&](Value x) -> FailureOr<Value> {
    if (logarithm)
      return Value(arith::SubFOp::create(b, m.loc, shift(x), m.spread(last)));
    Value power = math::ExpOp::create(b, m.loc, shift(x));
    return Value(arith::MulFOp::create(b, m.loc, power, m.spread(last)));
  });
}

static LogicalResult emitChunkedNorm(RowMath &m, Value input, Value result,
                                     Value scale, Value bias, double epsilon,
                                     bool centre) {
  ChunkedRows rows(m, input);
  OpBuilder &b = m.b;
  Value mean;
  if (centre) {
    auto sum =
        rows.fold(Combiner::Add, [](Value x) { return FailureOr<Value>(x); });
    if (failed(sum))
      return failure();
    mean = m.divideByLength(*sum);
  }
  auto shift = [&](Value x) -> Value {
    return centre ? Value(arith::SubFOp::create(b, m.loc, x, m.spread(mean)))
                  : x;
  };
  auto squares = rows.fold(Combiner::Add, [&](Value x) {
    Value y = shift(x);
    return FailureOr<Value>(arith::MulFOp::create(b, m.loc, y, y));
  });
  if (failed(squares))
    return failure();
  Value inverse = m.inverseRoot(m.divideByLength(*squares), epsilon);
  return rows.store(result, [&](Value x) -> FailureOr<Value> {
    Value y = arith::MulFOp::create(b, m.loc, shift(x), m.spread(inverse));
    auto scaled = applyOperand<arith::MulFOp>(m, y, scale);
    if (failed(scaled))
      return failure();
    return applyOperand<arith::AddFOp>(m, *scaled, bias);
  });
}

static LogicalResult emitChunked(RowMath &m, Operation *op) {
  Value input = op->getOperand(0), result = op->getResult(0);
  if (auto norm = dyn_cast<LayerNormOp>(op))
    return emitChunkedNorm(m, input, result, norm.getScale(), norm.getBias(),
                           norm.getEpsilon().convertToDouble(), true);
  if (auto norm = dyn_cast<RMSNormOp>(op))
    return emitChunkedNorm(m, input, result, norm.getScale(), {},
                           norm.getEpsilon().convertToDouble(), false);
  return emitChunkedSoftmax(m, input, result, isa<LogSoftmaxOp>(op));
}

LogicalResult adze::emitRows(KernelEmitter &e, Operation *op, Cut cut) {
  if (cut == Cut::Points)
    return e.fail("a row is not computed element by element");
  Value result = op->getResult(0), input = op->getOperand(0);
  unsigned first, end = getDims(result).size();
  if (auto axis = op->getAttrOfType<IntegerAttr>("axis"))
    first = axis.getInt();
  else
    return e.fail("no axis");
  if (isa<SoftmaxOp, LogSoftmaxOp>(op))
    end = first + 1;
  auto rows = cutRows(e, result, first, end, cut);
  if (failed(rows))
    return failure();
  Type element = getSignlessType(getElementTypeOrSelf(result));
  Type type = getAccumulatorType(element);
  RowMath m(e, *rows, type);
  if (rows->chunk)
    return emitChunked(m, op);
  auto loaded = e.emit(input, rows->places);
  if (failed(loaded))
    return failure();
  Value x = e.broadcast(e.convert(*loaded, type), rows->axes);
  FailureOr<Value> y = failure();
  if (auto norm = dyn_cast<LayerNormOp>(op))
    y = emitLayerNorm(m, norm, x);
  else if (auto norm = dyn_cast<RMSNormOp>(op))
    y = emitRMSNorm(m, norm, x);
  else
    y = emitSoftmax(m, x, isa<LogSoftmaxOp>(op));
  if (failed(y))
    return failure();
  e.define(result, rows->places, e.convert({*y, rows->axes}, element));
  return e.storeOutputs(result, rows->places);
}
