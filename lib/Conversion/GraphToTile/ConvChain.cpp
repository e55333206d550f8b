// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// A chain of convolutions in one kernel. A program computes a band of rows of
// the last convolution, row by row. Of each intermediate image, it keeps the
// rows that the current window of the next convolution covers, with their
// padding, in scratch memory (line buffers; Alwani et al., Fused-Layer CNN
// Accelerators, MICRO 2016). So intermediate images that exceed the caches are
// not written to memory.
#include "Dialect/Graph/IR/ConvChain.h"
#include "Convolution.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace adze;
using namespace adze::graph;

using Carried = KernelEmitter::Carried;

namespace {
/// One convolution with its epilogue, and the rows of the result that are kept.
struct Stage {
  explicit Stage(ConvOp op) : conv(op) {}

  ConvShape conv;
  Value block;                 // of channels
  Value depthBlock;            // of summed input channels
  Value first;                 // row of the program
  Value value, memory;         // operand of the next stage, or null
  int64_t rows = 0;            // kept rows
  int64_t left = 0, width = 0; // padding before a row, and padded size of a row
};

class ConvChainEmitter {
public:
  ConvChainEmitter(KernelEmitter &e, ArrayRef<ConvOp> chain)
      : e(e), rows(planChain(chain).rows) {
    for (ConvOp op : chain)
      stages.emplace_back(op);
  }

  LogicalResult run();

private:
  void tiling(Stage &stage);
  void keepRows(Stage &stage, const ConvShape &next);
  void setAxes(const Stage &stage, Value channels);
  LogicalResult clearBorders(const Stage &stage);
  LogicalResult clearRow(const Stage &stage, Value at);
  LogicalResult keepRow(unsigned i, Value row);
  LogicalResult makeRow(unsigned i, Value row, Value at);
  LogicalResult makeBlock(unsigned i, Value row, Value at, Value channel);
  FailureOr<Value> sumWindow(unsigned i, const ConvProgram &program);

  KernelEmitter &e;
  int64_t rows; // of a band
  SmallVector<Stage> stages;
  Value image;
};
} // namespace

/// Chooses block sizes and the packing of the filter.
void ConvChainEmitter::tiling(Stage &stage) {
  ConvShape &conv = stage.conv;
  ConvOp op = conv.op;
  int64_t outputs = getKnown(conv.result.back()), panel = 0;
  if (conv.isDepthwise()) {
    stage.block = e.index(chooseLanes(outputs, 1024));
  } else {
    constexpr int64_t maxColumns = 256, maxDepth = 512;
    panel = outputs <= 16 ? 16 : 32;
    int64_t padded = llvm::alignTo(outputs, panel);
    stage.block =
        e.index(panel * largestDivisor(padded / panel, maxColumns / panel));
    stage.depthBlock = e.index(chooseBlock(conv.groupInputs, maxDepth));
  }
  e.pack(op.getFilter(),
         getFilterMap(op.getContext(), conv.filter.size(), panel));
}

/// Allocates memory for the rows that a window of the next convolution covers.
void ConvChainEmitter::keepRows(Stage &stage, const ConvShape &next) {
  ConvOp op = next.op;
  stage.value = op.getInput();
  stage.rows = getReach(op, 0);
  stage.left = op.getPads()[1];
  int64_t seen =
      (getKnown(next.result[2]) - 1) * op.getStrides()[1] + getReach(op, 1);
  stage.width = std::max(stage.left + getKnown(next.input[2]), seen);
  Type type = getSignlessType(getElementTypeOrSelf(stage.value));
  stage.memory = e.scratch({e.index(1), e.index(stage.rows),
                            e.index(stage.width), e.size(next.input.back())},
                           type);
}

void ConvChainEmitter::setAxes(const Stage &stage, Value channels) {
  e.setAxis(M, e.size(stage.conv.result[2]));
  if (stage.depthBlock)
    e.setAxis(K, stage.depthBlock);
  e.setAxis(N, channels);
}

/// Zeros the padding of the kept rows.
LogicalResult ConvChainEmitter::clearBorders(const Stage &stage) {
  Value channels = e.size(stage.conv.result.back());
  setAxes(stage, channels);
  Type type = cast<MemRefType>(stage.memory.getType()).getElementType();
  int64_t end = stage.left + getKnown(stage.conv.result[2]);
  auto clear = [&](Value row) -> LogicalResult {
    Axes axes{N};
    Value zero =
        e.constant(cast<TypedAttr>(e.builder().getZeroAttr(type)), axes);
    for (int64_t x = 0; x < stage.width; ++x)
      if ((x < stage.left || x >= end) &&
          failed(e.store({zero, axes}, stage.memory,
                         {point(e.index(0)),
                          point(row),
                          point(e.index(x)),
                          {e.index(0), N, 1, 1}})))
        return failure();
    return success();
  };
  return success(
      succeeded(e.loop(e.index(stage.rows), e.index(1), {},
                       [&](Value row, ValueRange) -> FailureOr<Carried> {
                         if (failed(e.phase([&] { return clear(row); })))
                           return failure();
                         return Carried{};
                       })));
}

/// Zeros a row outside of the image.
LogicalResult ConvChainEmitter::clearRow(const Stage &stage, Value at) {
  setAxes(stage, e.size(stage.conv.result.back()));
  Type type = cast<MemRefType>(stage.memory.getType()).getElementType();
  return e.phase([&] {
    Axes axes{M, N};
    Value zero =
        e.constant(cast<TypedAttr>(e.builder().getZeroAttr(type)), axes);
    return e.store({zero, axes}, stage.memory,
                   {point(e.index(0)),
                    point(at),
                    {e.index(stage.left), M, 1, 1},
                    {e.index(0), N, 1, 1}});
  });
}

/// Computes row `row` of stage i, which may be outside of the image, into its
/// buffer.
LogicalResult ConvChainEmitter::keepRow(unsigned i, Value row) {
  Stage &stage = stages[i];
  OpBuilder &b = e.builder();
  ConvOp next = stages[i + 1].conv.op;
  Value at = e.rem(e.add(row, e.index(next.getPads()[0])), e.index(stage.rows));
  int64_t height = getKnown(stage.conv.result[1]);
  Value last = e.index(height - 1);
  if (next.getPads()[0] == 0 &&
      (getKnown(stages[i + 1].conv.result[1]) - 1) * next.getStrides()[0] +
              getReach(next, 0) <=
          height)
    return makeRow(i, row, at);
  Value inside = e.max(e.min(row, last), e.index(0));
  Value isInside =
      arith::CmpIOp::create(b, e.loc(), arith::CmpIPredicate::eq, row, inside);
  auto choice =
      scf::IfOp::create(b, e.loc(), isInside, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(choice.thenYield());
  if (failed(makeRow(i, inside, at)))
    return failure();
  b.setInsertionPoint(choice.elseYield());
  return clearRow(stage, at);
}

/// Computes row `row` of stage i after those rows of the previous stage that it
/// needs and that are not in the buffer.
LogicalResult ConvChainEmitter::makeRow(unsigned i, Value row, Value at) {
  Stage &stage = stages[i];
  OpBuilder &b = e.builder();
  if (i > 0) {
    ConvOp op = stage.conv.op;
    int64_t reach = getReach(op, 0), stride = op.getStrides()[0];
    Value start = e.sub(e.mul(row, e.index(stride)), e.index(op.getPads()[0]));
    Value known = e.index(reach - stride);
    if (reach > stride) {
      Value isFirst = arith::CmpIOp::create(
          b, e.loc(), arith::CmpIPredicate::eq, row, stage.first);
      known = arith::SelectOp::create(b, e.loc(), isFirst, e.index(0), known);
    }
    Value next = e.add(start, known);
    auto made = e.loop(e.sub(e.index(reach), known), e.index(1), {},
                       [&](Value j, ValueRange) -> FailureOr<Carried> {
                         if (failed(keepRow(i - 1, e.add(next, j))))
                           return failure();
                         return Carried{};
                       });
    if (failed(made))
      return failure();
    e.setMemory(stages[i - 1].value, stages[i - 1].memory);
  }
  setAxes(stage, stage.block);
  return success(succeeded(e.loop(
      e.size(stage.conv.result.back()), stage.block, {},
      [&](Value channel, ValueRange) -> FailureOr<Carried> {
        if (failed(e.phase([&] { return makeBlock(i, row, at, channel); })))
          return failure();
        return Carried{};
      })));
}

/// Emits the sum over the window for a row of pixels.
FailureOr<Value> ConvChainEmitter::sumWindow(unsigned i,
                                             const ConvProgram &program) {
  Stage &stage = stages[i];
  const ConvShape &conv = stage.conv;
  ConvOp op = conv.op;
  Type type =
      getAccumulatorType(getSignlessType(getElementTypeOrSelf(op.getResult())));
  Value zero =
      e.constant(cast<TypedAttr>(e.builder().getZeroAttr(type)), {M, N});
  auto getFilter = [&](const Taps &taps, Value input, int axis) {
    DimRanges ranges{{program.channel, N, 1, 1}, {input, axis, 1, 1}};
    for (Value tap : taps.filter)
      ranges.push_back(point(tap));
    return ranges;
  };
  auto getInput = [&](const Taps &taps, DimRange channel) {
    DimRanges ranges = taps.input;
    ranges.push_back(channel);
    return ranges;
  };
  Taps taps;
  auto body = [&](ValueRange carried) -> FailureOr<Carried> {
    if (!conv.isDepthwise()) {
      auto sum = accumulate(
          e, e.size(conv.input.back()), stage.depthBlock, carried[0],
          op.getInput(), op.getFilter(),
          [&](Value c) { return getInput(taps, {c, K, 1, 1}); },
          [&](Value c) { return getFilter(taps, c, K); });
      if (failed(sum))
        return failure();
      return Carried{*sum};
    }
    auto x = e.emit(op.getInput(), getInput(taps, {program.channel, N, 1, 1}));
    auto w = e.emit(op.getFilter(), getFilter(taps, e.index(0), -1));
    if (failed(x) || failed(w))
      return failure();
    return Carried{multiplyAdd(e, *x, *w, carried[0], {M, N})};
  };
  FailureOr<Carried> sum;
  if (i == 0) {
    sum = loopWindow(e, conv, program, taps, zero, body);
  } else {
    // The operand is the kept rows and pixels with their padding.
    bool unrolled = conv.isDepthwise();
    auto getDim = [&](unsigned d) {
      return WindowDim{e.index(0),
                       {},
                       getKnown(conv.kernel(d)),
                       op.getDilations()[d],
                       /*inside=*/true};
    };
    Value start = e.mul(program.point[1], e.index(op.getStrides()[0]));
    Value rows = e.index(stages[i - 1].rows);
    sum = loopAllTaps(e, getDim(0), unrolled, zero,
                      [&](Value y, Value line, ValueRange outer) {
                        return loopAllTaps(
                            e, getDim(1), unrolled, outer,
                            [&](Value x, Value pixel, ValueRange inner) {
                              taps.filter = {y, x};
                              taps.input = {
                                  point(e.index(0)),
                                  point(e.rem(e.add(start, line), rows)),
                                  {pixel, M, op.getStrides()[1], 1}};
                              return body(inner);
                            });
                      });
  }
  if (failed(sum))
    return failure();
  return (*sum)[0];
}

/// Emits a block of channels of a row.
LogicalResult ConvChainEmitter::makeBlock(unsigned i, Value row, Value at,
                                          Value channel) {
  Stage &stage = stages[i];
  ConvOp op = stage.conv.op;
  ConvProgram program;
  program.point = {image, row};
  program.pixel = e.index(0);
  program.channel = channel;
  program.row = {getKnown(stage.conv.result[2]), /*whole=*/true};
  program.row.unrolls = stage.conv.isDepthwise() || stage.conv.groupInputs > 8;
  program.ranges = {
      point(image), point(row), {program.pixel, M, 1, 1}, {channel, N, 1, 1}};
  auto sum = sumWindow(i, program);
  if (failed(sum) || failed(defineConv(e, op.getResult(), op.getBias(), *sum,
                                       {M, N}, program.ranges)))
    return failure();
  if (!stage.memory)
    return e.storeOutputs(op.getResult(), program.ranges);
  auto value = e.emitOn(stage.value, program.ranges, {M, N});
  if (failed(value))
    return failure();
  return e.store({*value, {M, N}}, stage.memory,
                 {point(e.index(0)),
                  point(at),
                  {e.index(stage.left), M, 1, 1},
                  {channel, N, 1, 1}});
}

LogicalResult ConvChainEmitter::run() {
  Stage &last = stages.back();
  for (Stage &stage : stages)
    tiling(stage);
  Value height = e.size(last.conv.result[1]),
        images = e.size(last.conv.result[0]);
  if (!images)
    return failure();
  Value band = e.param("BAND", rows);
  SmallVector<Value> ids = e.programIds({e.ceilDiv(height, band), images});
  image = ids[1];
  last.first = e.mul(ids[0], band);
  for (unsigned i = stages.size() - 1; i-- > 0;) {
    Stage &stage = stages[i], &next = stages[i + 1];
    ConvOp op = next.conv.op;
    stage.first = e.max(e.sub(e.mul(next.first, e.index(op.getStrides()[0])),
                              e.index(op.getPads()[0])),
                        e.index(0));
    keepRows(stage, next.conv);
  }
  for (const Stage &stage : ArrayRef(stages).drop_back())
    if (stage.width > getKnown(stage.conv.result[2]) &&
        failed(clearBorders(stage)))
      return failure();
  Value count = e.min(band, e.sub(height, last.first));
  return success(succeeded(e.loop(
      count, e.index(1), {}, [&](Value i, ValueRange) -> FailureOr<Carried> {
        if (failed(makeRow(stages.size() - 1, e.add(last.first, i), {})))
          return failure();
        return Carried{};
      })));
}

LogicalResult adze::emitConvChain(KernelEmitter &e, ArrayRef<ConvOp> chain,
                                  Tiling tiling) {
  if (tiling != Tiling::Dims)
    return e.fail("a chain of convolutions has a tiling by dims only");
  return ConvChainEmitter(e, chain).run();
}
