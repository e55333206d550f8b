// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Kernels that read a whole row before they write a part of it: softmax and
// normalisations. The row is one tile dim of its exact size.
#include "Dialect/Graph/IR/Reduced.h"
#include "Dialect/Graph/IR/Weights.h"
#include "FewRows.h"
#include "RowMath.h"

using namespace mlir;
using namespace adze;
using namespace adze::graph;

/// Tiles the rows. For rows of the last dims, a tile is a block of rows by the
/// whole row; for rows of an inner dim, it is the whole row by a block of the
/// later dims. With `inLines`, the first dim of the rows is not merged with the
/// others.
static FailureOr<Rows> tileRows(KernelEmitter &e, Value result, unsigned first,
                                unsigned end, Tiling tiling,
                                bool inLines = false) {
  constexpr int64_t elements = 4096;
  Dims dims = getDims(result);
  MLIRContext *context = result.getContext();
  auto count = [&](unsigned begin, unsigned end) {
    return product(context,
                   ArrayRef<AffineExpr>(dims).slice(begin, end - begin));
  };
  Rows rows{
      result,           first, end, {}, 0, {}, {}, count(first + inLines, end),
      count(first, end)};
  int64_t length = getKnown(rows.length);
  bool whole =
      !inLines && length >= 1 && length <= getLongestTileRow(e.getSource());
  bool inner = end < dims.size();
  if (!inner && first == 0) {
    (void)e.fail("there is a single row, and no dim to block");
    return failure();
  }
  rows.reduced = inner ? 0 : 1;
  rows.chunked = !whole;
  rows.inner = inner;
  Value rowLength = e.index(whole ? length : 1);
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
    unsigned split = tiling == Tiling::Flat ? begin : end - 1;
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
  addDims(
      0, first, inner ? -1 : 0,
      tiling == Tiling::Row || (e.gpu && !whole)
          ? 1
          : chooseRowsAtOnce(e.getKnownRows(count(0, first)), length, whole));
  if (inLines) {
    rows.linePart = parts.size();
    parts.push_back({first, first + 1, e.index(1), -1});
  }
  rows.rowPart = parts.size();
  parts.push_back({first + inLines, end, rowLength, rows.reduced});
  if (inner)
    addDims(end, dims.size(), 1,
            std::clamp<int64_t>(elements / (whole ? length : 128), 64, 256));
  rows.axes = rows.kept;
  rows.axes.push_back(rows.reduced);
  llvm::sort(rows.axes);
  SmallVector<Value> counts;
  for (const Part &part : llvm::reverse(parts)) {
    Value size = e.size(count(part.begin, part.end));
    if (!size)
      return failure();
    bool isLine = rows.linePart && &part == &parts[*rows.linePart];
    counts.push_back(isLine || &part == &parts[rows.rowPart]
                         ? e.index(1)
                         : e.ceilDiv(size, part.block));
  }
  counts.front() = countForVersion(e, counts.front());
  if (!counts.front())
    return failure();
  SmallVector<Value> ids = e.programIds(counts);
  std::reverse(ids.begin(), ids.end());
  for (auto [part, id] : llvm::zip(parts, ids))
    rows.ranges.push_back(
        {e.mul(id, part.block), part.axis, 1, part.end - part.begin});
  return rows;
}

static Value emitSoftmax(RowMath &m, Value x, bool logarithm) {
  OpBuilder &b = m.b;
  // The maximum may ignore a NaN, which then propagates through the sum.
  Value most = m.reduce(Combiner::Max, x, /*nnan=*/true);
  Value shifted = arith::SubFOp::create(b, m.loc, x, m.spread(most));
  Value power = math::ExpOp::create(b, m.loc, shifted, isWeight);
  Value sum = m.reduce(Combiner::Add, power);
  if (logarithm) {
    Value log = math::LogOp::create(b, m.loc, sum);
    return arith::SubFOp::create(b, m.loc, shifted, m.spread(log));
  }
  Value inverse = arith::DivFOp::create(b, m.loc, m.number(1.0), sum);
  return arith::MulFOp::create(b, m.loc, power, m.spread(inverse));
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

/// Returns true if an operand has one number for each position of the first dim
/// of the rows, [first, end), and several elements have it.
static bool hasLines(Operation *op, unsigned first, unsigned end) {
  Dims dims = getDims(op->getResult(0));
  if (getKnown(product(op->getContext(),
                       ArrayRef(dims).slice(first + 1, end - first - 1))) == 1)
    return false;
  return llvm::any_of(op->getOperands().drop_front(), [&](Value operand) {
    Dims own = getDims(operand);
    int64_t at = int64_t(first) - (int64_t(dims.size()) - int64_t(own.size()));
    return at >= 0 && getKnown(own[at]) != 1 &&
           getKnown(product(op->getContext(),
                            ArrayRef(own).drop_front(at + 1))) == 1;
  });
}

LogicalResult adze::emitRows(KernelEmitter &e, Operation *op, Tiling tiling) {
  if (tiling == Tiling::Points)
    return e.fail("a row kernel has no elementwise tiling");
  Value result = op->getResult(0), input = op->getOperand(0);
  unsigned first, end = getDims(result).size();
  if (auto axis = op->getAttrOfType<IntegerAttr>("axis"))
    first = axis.getInt();
  else
    return e.fail("no axis");
  if (isa<SoftmaxOp, LogSoftmaxOp>(op))
    end = first + 1;
  bool inLines = end == getDims(result).size() && hasLines(op, first, end);
  auto rows = tileRows(e, result, first, end, tiling, inLines);
  if (failed(rows))
    return failure();
  Type element = getSignlessType(getElementTypeOrSelf(result));
  Type type = getAccumulatorType(element);
  RowMath m(e, *rows, type);
  if (rows->chunked)
    return emitChunkedRows(m, op);
  auto loaded = e.emit(input, rows->ranges);
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
  e.define(result, rows->ranges, e.convert({*y, rows->axes}, element));
  return e.storeOutputs(result, rows->ranges);
}

FailureOr<Emitted> KernelEmitter::emitRowReduction(ReduceOpInterface op,
                                                   ArrayRef<DimRange> ranges) {
  if (!rows)
    return fail("a reduction cannot be a producer");
  Value input = op.getInput(), result = op->getResult(0);
  Key wanted = getKey(result, ranges), own = getKey(rows->result, rows->ranges);
  llvm::erase_if(own, [&](const auto &part) {
    return std::get<3>(part) >= rows->first && std::get<3>(part) < rows->end;
  });
  if (!op.getKeepdims())
    for (auto &part : own)
      if (std::get<3>(part) >= rows->end)
        std::get<3>(part) -= rows->end - rows->first;
  if (!areEqual(getDims(input), getDims(rows->result)) || wanted != own)
    return fail("a reduction is over rows other than the kernel's");
  auto tile = emit(input, rows->ranges);
  if (failed(tile))
    return failure();
  Type element = getSignlessType(getElementTypeOrSelf(input));
  Value x = broadcast(convert(*tile, getAccumulatorType(element)), rows->axes);
  Value count = op.needsCount() ? arith::ConstantIntOp::create(
                                      b, location, getKnown(rows->length), 64)
                                      .getResult()
                                : Value();
  return convert(
      {reduceRows(*this, op, x, rows->axes, rows->reduced, count), rows->kept},
      getSignlessType(getElementTypeOrSelf(result)));
}

/// Returns the ranges of an output: elements of the rows, or one value for each
/// row.
static FailureOr<DimRanges> getOutputRanges(KernelEmitter &e, const Rows &rows,
                                            Value output) {
  unsigned all = getDims(rows.result).size(), rank = getDims(output).size(),
           numReduced = rows.end - rows.first;
  if (rank != all && rank + numReduced != all)
    return e.fail("an output has the dims of neither rows nor their elements");
  // The output has no reduced dims, or dims of size 1 in their range.
  SmallVector<int64_t> dims;
  for (unsigned dim = 0; dim < rank; ++dim)
    dims.push_back(rank == all || dim < rows.first ? dim : dim + numReduced);
  return e.mapRanges(rows.ranges, rows.result, output, dims);
}

LogicalResult adze::emitReducedRows(KernelEmitter &e, ReduceOpInterface op,
                                    Tiling tiling) {
  if (tiling == Tiling::Points)
    return e.fail("a row kernel has no elementwise tiling");
  Value input = op.getInput();
  auto rows =
      tileRows(e, input, op.getAxes().front(), op.getAxes().back() + 1, tiling);
  if (failed(rows))
    return failure();
  if (rows->chunked)
    return e.fail("the rows do not fit a tile");
  e.setRows(&*rows);
  for (auto [i, output] : llvm::enumerate(e.getOutputs())) {
    auto where = getOutputRanges(e, *rows, output);
    if (failed(where))
      return failure();
    auto tile = e.emit(output, *where);
    if (failed(tile))
      return failure();
    for (int axis : tile->axes)
      if (llvm::none_of(*where,
                        [&](auto &range) { return range.axis == axis; }))
        return e.fail("a tile axis runs along a unit dim");
    if (failed(e.storeOutput(*tile, i, *where)))
      return failure();
  }
  e.setRows(nullptr);
  return success();
}
