// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Operators that are gathers or scatters by computed indices.
#include "../DataShapes.h"
#include "../IndexRange.h"
#include "../Limits.h"
#include "../OpTable.h"
#include "../Sizes.h"
#include "Arithmetic.h"
#include "Dialect/Graph/IR/Broadcast.h"
#include "Windows.h"

using namespace adze;
using namespace adze::importer;
using mlir::AffineExpr;
using mlir::LogicalResult;
using mlir::Value;

/// Element i of row b is element `length[b] - 1 - i` if that exists, else i.
static LogicalResult importReverseSequence(Binder &b) {
  Arithmetic a(b);
  Value x = b.operand(0);
  int64_t rank = b.getRank(x);
  int64_t time = b.getAxis("time_axis", 0, rank),
          batch = b.getAxis("batch_axis", 1, rank);
  if (b.hasFailed())
    return mlir::failure();
  if (time == batch || b.getRank(b.operand(1)) != 1)
    return b.fail("expected different time and batch axes, and 1-D "
                  "sequence_lens");
  if (mlir::failed(checkLengths(b, b.operand(1), graph::getDims(x)[time])))
    return mlir::failure();
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

/// Writes update i of batch b to `write_indices[b] + i` of the cache.
static LogicalResult importTensorScatter(Binder &b) {
  Arithmetic a(b);
  Value cache = b.operand(0), update = b.operand(1), start = b.operand(2);
  int64_t rank = b.getRank(cache), axis = b.getAxis("axis", -2, rank);
  llvm::StringRef mode = b.getString("mode", "linear");
  if (b.hasFailed())
    return mlir::failure();
  if (axis == 0 || (mode != "linear" && mode != "circular"))
    return b.fail("expected an axis after the batch, and mode linear or "
                  "circular");
  if (b.getRank(update) != rank)
    return b.fail("expected an update of " + llvm::Twine(rank) +
                  " dims, as the cache has, but got " +
                  llvm::Twine(b.getRank(update)));
  AffineExpr longest = graph::getDims(cache)[axis],
             length = graph::getDims(update)[axis];
  if (longest && length &&
      !b.assumeNonNegative(graph::subExprs(longest, length)))
    return b.fail("expected an update no longer than the cache");
  Value index = a.withTail(a.iota(update, axis), rank - 1 - axis);
  if (start && b.getRank(start) != 1)
    return b.fail("expected write_indices of one dim");
  if (start)
    start = b.refine(start, graph::getDims(cache)[0]);
  if (start)
    index = a.add(index,
                  a.withTail(b.cast(start, b.builder.getI64Type()), rank - 1));
  if (mode == "circular")
    index = a.mod(index, a.size(cache, axis));
  if (mlir::failed(checkIndices(b, index, graph::getDims(cache)[axis],
                                NegativeIndex::OutOfRange)))
    return mlir::failure();
  index = a.max(index, 0.0); // states that it is not from the end
  return b.done(b.create<graph::ScatterElementsOp>(
      {cache, b.broadcastTo(index, graph::getDims(update)), update},
      b.attr("axis", axis)));
}

/// Checks that targets are valid classes, or `ignored`, if that is present.
static LogicalResult checkTargets(Binder &b, Value targets, AffineExpr classes,
                                  std::optional<int64_t> ignored) {
  if (ignored) {
    // An ignored target is replaced by one in range.
    Sizes s(b);
    targets = b.cast(targets, b.builder.getI64Type());
    targets = b.create<graph::SelectOp>(
        {s.equal(targets, s.number(*ignored)), s.number(0), targets});
  }
  return checkIndices(b, targets, classes, NegativeIndex::OutOfRange);
}

/// The function body of ONNX gathers classes, so there has to be one.
static LogicalResult importLoss(Binder &b) {
  std::optional<int64_t> ignored;
  if (b.hasAttribute("ignore_index"))
    ignored = b.getInt("ignore_index", 0);
  if (b.getRank(b.operand(0)) < 2)
    return b.fail("expected scores of at least 2 dims, but got " +
                  llvm::Twine(b.getRank(b.operand(0))) + "-D");
  if (mlir::failed(checkTargets(b, b.operand(1),
                                graph::getDims(b.operand(0))[1], ignored)))
    return mlir::failure();
  return b.expand(b.getOperands());
}

/// Scatters each element to its position in `Indices` in a result of zeros;
/// indices refer to the whole input of the pooling op.
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
    for (auto [i, small, large] : llvm::enumerate(inner, to)) {
      bool mustBeSame = i < 2;
      if (mustBeSame ? graph::areDifferent(small, large)
                     : !b.assumeNonNegative(graph::subExprs(large, small)))
        return b.fail("expected an output_shape with the input's first two "
                      "dims and at least " +
                      graph::toString(inner) + ", but got " +
                      graph::toString(to));
      if (mustBeSame)
        b.assume(graph::equalitiesAttr, {small, large});
    }
  }
  // Indices refer to the smaller result, which is padded with 0.
  auto *context = b.builder.getContext();
  Value zeros = b.broadcastTo(a.like(x, 0), graph::product(context, inner));
  if (mlir::failed(checkIndices(b, indices, graph::product(context, inner),
                                NegativeIndex::OutOfRange)))
    return mlir::failure();
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

namespace {
/// Sums blocks where they overlap: for each pixel and tap, the block that has
/// the pixel there, if there is one. Dims are processed one after the other.
class Col2Im {
public:
  explicit Col2Im(Binder &b) : b(b), a(b), s(b) {}
  LogicalResult run();

private:
  LogicalResult readSizes();
  Value sumTaps(Value x, int64_t i);

  Binder &b;
  Arithmetic a;
  Sizes s;
  int64_t spatial = 0;
  llvm::SmallVector<int64_t> strides, dilations, pads;
  Value image, block, count; // of pixels, taps and blocks in each dim
  Dims pixels, taps, blocks;
};
} // namespace

LogicalResult Col2Im::readSizes() {
  auto rank = b.getDeclaredRank();
  image = s.toVector(b.operand(1));
  block = s.toVector(b.operand(2));
  if (!image || !block)
    return mlir::failure();
  auto length = graph::getConstant(graph::getDims(image)[0]);
  if (!length && !rank)
    return b.unsupported("expected an image of known rank");
  spatial = length ? *length : *rank - 2;
  if (spatial < 1 || spatial > 62)
    return b.fail("expected an image of 1 to 62 dims, but got " +
                  llvm::Twine(spatial));
  strides = b.getInts("strides", spatial, 1);
  dilations = b.getInts("dilations", spatial, 1);
  pads = b.getInts("pads", 2 * spatial, 0);
  if (llvm::any_of(strides, [](int64_t stride) { return stride < 1; }))
    return b.fail("expected strides of at least 1");
  image = b.withLength(image, spatial);
  block = b.withLength(block, spatial);
  llvm::SmallVector<int64_t> padded;
  for (int64_t i = 0; i < spatial; ++i)
    padded.push_back(pads[i] + pads[spatial + i]);
  Value reach = a.mul(a.sub(block, 1.0), s.vector(dilations));
  Value extent = a.sub(a.sub(a.add(image, s.vector(padded)), reach), 1.0);
  count = a.add(a.div(extent, s.vector(strides)), 1.0);
  b.check(s.all(a.lessEqual(s.number(0), extent)),
          "expected a block that fits into the image");
  pixels = b.getSizes(image);
  taps = b.getSizes(block);
  blocks = b.getSizes(count);
  return mlir::failure(b.hasFailed());
}

/// Maps [.., taps * blocks, ..] to [.., pixels, ..] in spatial dim i.
Value Col2Im::sumTaps(Value x, int64_t i) {
  Value number = s.pickScalar(count, i);
  Value pixel = a.range(pixels[i], s.pickScalar(image, i));
  Value tap = a.range(taps[i], s.pickScalar(block, i));
  Value place = a.sub(a.add(b.unsqueeze(pixel, {1}), double(pads[i])),
                      a.mul(tap, double(dilations[i]))); // [pixels, taps]
  Value at = a.div(place, double(strides[i]));
  Value fits =
      a.both(a.equal(a.mul(at, double(strides[i])), place),
             a.both(a.lessEqual(a.like(place, 0), place), a.less(at, number)));
  Value index = a.add(a.mul(tap, number), a.select(fits, at, 0.0));
  Value found = a.gather(x, index, 2 + i);
  Value mine = a.select(a.withTail(fits, spatial - 1 - i), found, 0.0);
  return a.sum(mine, {3 + i});
}

LogicalResult Col2Im::run() {
  Value x = b.operand(0);
  if (b.getRank(x) != 3)
    return b.fail("expected a 3-D input, but got " + llvm::Twine(b.getRank(x)) +
                  "-D");
  if (mlir::failed(readSizes()))
    return mlir::failure();
  mlir::MLIRContext *context = b.builder.getContext();
  Dims dims = graph::getDims(x);
  AffineExpr all = graph::product(context, taps);
  if (!all)
    return b.fail("expected a block of fewer elements");
  AffineExpr channels = graph::divideExactly(dims[1], all);
  if (!channels) {
    Value number = a.div(a.size(x, 1), s.product(block));
    Dims sizes = b.getSizes(b.reshape(number, b.expr(1)));
    if (b.hasFailed())
      return mlir::failure();
    channels = sizes[0];
  }
  Dims apart{dims[0], channels}, joined = apart;
  llvm::append_range(apart, taps);
  llvm::append_range(apart, blocks);
  llvm::SmallVector<int64_t> perm{0, 1};
  for (int64_t i = 0; i < spatial; ++i) {
    perm.append({2 + i, 2 + spatial + i});
    joined.push_back(graph::mulExprs(taps[i], blocks[i]));
  }
  x = b.reshape(b.transpose(b.reshape(x, apart), perm), joined);
  // A pixel of bools is true if one of its blocks is.
  mlir::Type type = b.getElementType(b.operand(0));
  if (type.isInteger(1))
    x = b.cast(x, b.builder.getI32Type());
  for (int64_t i = 0; i < spatial && !b.hasFailed(); ++i)
    x = sumTaps(x, i);
  return b.done(b.cast(x, type));
}

static LogicalResult importCol2Im(Binder &b) { return Col2Im(b).run(); }

void adze::importer::addIndexArithmeticOps(std::vector<OpRow> &rows) {
  rows.insert(rows.end(),
              {
                  {"Col2Im", 18, 3, importCol2Im, "", INT32_MAX, "",
                   /*takesContainers=*/false, /*refused=*/"string"},
                  {"MaxUnpool", 9, 2, importMaxUnpool, "shapes from data"},
                  {"NegativeLogLikelihoodLoss", 12, 2, importLoss},
                  {"ReverseSequence", 10, 2, importReverseSequence},
                  {"SoftmaxCrossEntropyLoss", 12, 2, importLoss},
                  {"TensorScatter", 24, 2, importTensorScatter},
              });
}
