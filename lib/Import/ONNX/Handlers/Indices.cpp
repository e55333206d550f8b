// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Operators that are look-ups or scatters by indices that are computed first.
#include "../DataShapes.h"
#include "../OpTable.h"
#include "../Sizes.h"
#include "Arithmetic.h"
#include "Windows.h"

using namespace adze;
using namespace adze::importer;
using mlir::AffineExpr;
using mlir::LogicalResult;
using mlir::Value;

/// Element i of row b is element `length[b] - 1 - i` while that is one.
static LogicalResult importReverseSequence(Binder &b) {
  Arithmetic a(b);
  Value x = b.operand(0);
  int64_t rank = b.getRank(x);
  int64_t time = b.getAxis("time_axis", 0, rank),
          batch = b.getAxis("batch_axis", 1, rank);
  if (b.hasFailed())
    return mlir::failure();
  if (time == batch || b.getRank(b.operand(1)) != 1)
    return b.fail("expected a time axis beside the batch axis, and 1-D "
                  "sequence_lens");
  Value step = a.withTail(a.iota(x, time), rank - 1 - time);
  Value length = a.withTail(b.cast(b.operand(1), b.builder.getI64Type()),
                            rank - 1 - batch);
  Value mirrored = a.sub(a.sub(length, 1), step);
  Value index = a.select(a.less(step, length), mirrored, step);
  if (!index)
    return mlir::failure();
  return b.done(b.create<graph::GatherElementsOp>(
      {x, b.broadcastTo(index, graph::getDims(x))}, b.attr("axis", time)));
}

/// Writes update i of batch b at `write_indices[b] + i` of the cache.
static LogicalResult importTensorScatter(Binder &b) {
  Arithmetic a(b);
  Value cache = b.operand(0), update = b.operand(1), start = b.operand(2);
  int64_t rank = b.getRank(cache), axis = b.getAxis("axis", -2, rank);
  llvm::StringRef mode = b.getString("mode", "linear");
  if (b.hasFailed())
    return mlir::failure();
  if (axis == 0 || (mode != "linear" && mode != "circular"))
    return b.fail("expected an axis behind the batch, and mode linear or "
                  "circular");
  Value index = a.withTail(a.iota(update, axis), rank - 1 - axis);
  if (start)
    index = a.add(index,
                  a.withTail(b.cast(start, b.builder.getI64Type()), rank - 1));
  if (mode == "circular")
    index = a.mod(index, a.size(cache, axis));
  if (!index)
    return mlir::failure();
  return b.done(b.create<graph::ScatterElementsOp>(
      {cache, b.broadcastTo(index, graph::getDims(update)), update},
      b.attr("axis", axis)));
}

/// Puts each element where `Indices` says in a result of zeros; indices go over
/// the whole result of the pooling's input size.
static LogicalResult importMaxUnpool(Binder &b) {
  Arithmetic a(b);
  Value x = b.operand(0), indices = b.operand(1);
  int64_t spatial = b.getRank(x) - 2;
  if (spatial < 1)
    return b.fail("expected an input of at least 3 dims");
  Window window;
  if (mlir::failed(getPoolWindow(b, spatial, window)) ||
      mlir::failed(addPads(b, x, window)))
    return mlir::failure();
  Dims from = graph::getDims(x), inner = from;
  for (int64_t i = 0; i < spatial; ++i) {
    if (!from[i + 2])
      return b.unsupported("expected dims that are known");
    AffineExpr gaps = graph::subExprs(from[i + 2], b.expr(1));
    inner[i + 2] = graph::addExprs(
        graph::mulExprs(gaps, b.expr(window.strides[i])),
        b.expr(window.kernel[i] - window.pads[i] - window.pads[spatial + i]));
  }
  Dims to = inner;
  Value shape = b.withLength(b.operand(2), spatial + 2);
  if (shape) {
    to = b.getSizes(shape);
    if (b.hasFailed())
      return mlir::failure();
    if (to.size() != inner.size())
      return b.fail("expected an output_shape of " + llvm::Twine(inner.size()) +
                    " dims, but got " + llvm::Twine(to.size()));
  }
  // Indices count in the smaller result; what the wanted one has more is 0.
  auto *context = b.builder.getContext();
  Value zeros = b.broadcastTo(a.like(x, 0), graph::product(context, inner));
  Value flat = b.create<graph::ScatterElementsOp>(
      {zeros, a.flatten(indices, 0, spatial + 2), a.flatten(x, 0, spatial + 2)},
      b.attr("axis", int64_t(0)));
  if (graph::areEqual(inner, to))
    return b.done(b.reshape(flat, to));
  llvm::SmallVector<int64_t> low(to.size(), 0), high;
  for (auto [small, large] : llvm::zip(inner, to)) {
    auto more = graph::getConstant(graph::subExprs(large, small));
    if (!more)
      break;
    high.push_back(*more);
  }
  if (high.size() != to.size()) {
    Sizes sizes(b);
    Value result = b.reshape(flat, inner);
    Value pads =
        sizes.concat({sizes.splat(to.size(), 0),
                      sizes.sub(sizes.toVector(shape), sizes.shape(result))});
    return b.done(
        padByData(b, result, pads, Value(), Value(), graph::PadMode::Constant));
  }
  return b.done(b.create<graph::PadOp>(
      b.reshape(flat, inner), {b.attr("low", low), b.attr("high", high)}));
}

/// Blocks summed where they overlap: a transposed convolution of each channel
/// whose filter k is 1 at tap k.
static LogicalResult importCol2Im(Binder &b) {
  Arithmetic a(b);
  Value x = b.operand(0);
  auto image = b.getConstantInts(1), block = b.getConstantInts(2);
  if (!image || !block)
    return mlir::failure();
  size_t spatial = image->size();
  if (b.getRank(x) != 3 || block->size() != spatial || spatial < 1)
    return b.fail("expected a 3-D input and a block of as many dims as the "
                  "image");
  auto strides = b.getInts("strides", spatial, 1);
  auto dilations = b.getInts("dilations", spatial, 1);
  auto pads = b.getInts("pads", 2 * spatial, 0);
  int64_t taps = 1;
  for (int64_t size : *block)
    taps *= size;
  Dims dims = graph::getDims(x);
  auto rows = graph::getConstant(dims[1]);
  if (taps < 1 || taps > 65536 || !rows || *rows % taps != 0 || *rows > 65536)
    return b.fail("expected rows that divide by the block's size, but got " +
                  graph::toString(dims));
  int64_t channels = *rows / taps;
  Dims apart{dims[0], dims[1]};
  llvm::SmallVector<int64_t> filter{*rows, 1}, padding;
  for (size_t i = 0; i < spatial; ++i) {
    int64_t reach = ((*block)[i] - 1) * dilations[i] + 1;
    int64_t free = (*image)[i] + pads[i] + pads[spatial + i] - reach;
    if (free < 0 || strides[i] < 1)
      return b.fail("expected a block that fits into the image");
    apart.push_back(b.expr(free / strides[i] + 1));
    padding.push_back(free % strides[i]);
    filter.push_back((*block)[i]);
  }
  // [taps, taps], 1 on the diagonal, once a channel.
  mlir::Type type = b.getElementType(x);
  Value eye =
      b.cast(a.equal(b.unsqueeze(a.iota(taps), {1}), a.iota(taps)), type);
  Value each =
      b.broadcastTo(eye, {b.expr(channels), b.expr(taps), b.expr(taps)});
  Value weights =
      b.reshape(each, graph::makeDims(b.builder.getContext(), filter));
  return b.done(b.create<graph::ConvTransposeOp>(
      {b.reshape(x, apart), weights},
      {b.attr("strides", strides), b.attr("pads", pads),
       b.attr("dilations", dilations), b.attr("output_padding", padding),
       b.attr("group", channels)}));
}

void adze::importer::addIndexArithmeticOps(std::vector<OpRow> &rows) {
  rows.insert(rows.end(),
              {
                  {"Col2Im", 18, 3, importCol2Im, "shapes from data"},
                  {"MaxUnpool", 9, 2, importMaxUnpool, "shapes from data"},
                  {"ReverseSequence", 10, 2, importReverseSequence},
                  {"TensorScatter", 24, 2, importTensorScatter},
              });
}
