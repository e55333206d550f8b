// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Convolutions whose channels are the lanes of vectors: depthwise ones, and
// those with a few channels in each group.
#include "Convolution.h"
#include "Lookups.h"
#include "TileElementBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace adze;
using namespace adze::graph;

/// Returns the number of lines of the result in a program, or null for one.
/// Loads are shared by all lines whose windows overlap.
static Value chooseLines(KernelEmitter &e, const ConvShape &conv) {
  constexpr int64_t usual = 4, ofWide = 8, wideTaps = 25;
  if (conv.spatial < 2)
    return {};
  unsigned d = conv.spatial - 2;
  ConvOp op = conv.op;
  // Taps are unrolled. If the border is found at run time, processing rows one
  // by one costs more. On GPUs, an element loads all of its window otherwise.
  constexpr int64_t fewTaps = 9, manyTaps = 81;
  bool isDevice = e.gpu && conv.isDepthwise();
  int64_t maxTaps = isDevice                                  ? manyTaps
                    : conv.groups > 1                         ? fewTaps
                    : getKnown(conv.result[conv.spatial]) < 0 ? manyTaps
                                                              : wideTaps;
  int64_t height = getKnown(conv.kernel(d)),
          taps = height * getKnown(conv.kernel(d + 1));
  bool overlaps = op.getStrides()[d] == 1 && op.getDilations()[d] == 1 &&
                  height > 1 && taps <= maxTaps;
  int64_t most = isDevice && taps > wideTaps ? ofWide : usual,
          lines = getKnown(conv.result[d + 1]);
  if (!overlaps || (lines >= 0 && lines < usual))
    return {};
  return e.param("LINES", chooseBlock(lines, most));
}

bool adze::runsInLanes(const KernelEmitter &e, const ConvShape &conv) {
  constexpr int64_t lanes = 16, widest = 128;
  ConvOp op = conv.op;
  // Blocks that end at the last channel need no masks, which increase compile
  // time as each load has one.
  int64_t channels = getKnown(conv.result.back());
  if (channels > widest && channels % lanes != 0)
    return false;
  // On CPUs, inputs are gathered in place by loads and shuffles.
  return !e.gpu && conv.groups > 1 && conv.groupInputs <= conv.groupOutputs &&
         2 * conv.groupOutputs <= lanes && lanes % conv.groupOutputs == 0 &&
         isa<BlockArgument>(op.getInput());
}

/// Emits the input that each channel multiplies by its `inner`-th weight, which
/// belongs to the group of the channel.
static FailureOr<Emitted> emitOfGroup(KernelEmitter &e, const ConvShape &conv,
                                      ArrayRef<DimRange> ranges,
                                      int64_t inner) {
  ConvOp op = conv.op;
  if (conv.isDepthwise()) {
    FailureOr<Emitted> x = e.emit(op.getInput(), ranges);
    if (failed(x))
      return failure();
    TileElementBuilder elements(e, x->axes);
    Type from = getElementTypeOrSelf(op.getInput()),
         to = getElementTypeOrSelf(op.getResult());
    if (from != to)
      x->value = graph::buildCast(elements, x->value, from, to);
    return x;
  }
  OpBuilder &b = e.builder();
  auto splat = [&](int64_t value) {
    return e.broadcast({e.index(value), {}}, {N});
  };
  Value channel = e.emitPositions(N, b.getIndexType()).value;
  Value group =
      arith::DivUIOp::create(b, e.loc(), channel, splat(conv.groupOutputs));
  Value first =
      arith::MulIOp::create(b, e.loc(), group, splat(conv.groupInputs));
  Value picked = arith::AddIOp::create(b, e.loc(), first, splat(inner));
  DimRanges inputs(ranges);
  DimRange &from = inputs.back();
  if (conv.groupInputs != conv.groupOutputs)
    from.offset = e.mul(e.div(from.offset, e.index(conv.groupOutputs)),
                        e.index(conv.groupInputs));
  return emitGathered(e, e.getMemory(op.getInput()), inputs, inputs.size() - 1,
                      {picked, {N}}, {M, N});
}

namespace {
/// The blocks of channels and pixels of a depthwise convolution.
struct LaneProgram {
  ConvProgram program;
  Axes axes;
};
} // namespace

static FailureOr<LaneProgram> makeLaneProgram(KernelEmitter &e,
                                              const ConvShape &conv) {
  ConvOp op = conv.op;
  int64_t channels = getKnown(conv.result.back());
  // Pixels that are contiguous in memory are the lanes, for one channel at a
  // time, in long runs. If there are few pixels, the channels are the lanes.
  constexpr int64_t usualRun = 16, longRun = 512, usualRow = 256,
                    longestRow = 4096;
  AffineExpr width = conv.result[conv.spatial];
  bool planes = conv.hasPlanes();
  bool runs = planes && getKnown(width) >= usualRun;
  // With dynamic width, a CPU finds the border of a row at run time, once for
  // each row.
  bool finds = !e.gpu && getKnown(width) < 0;
  RowBlock row = chooseRowBlock(width,
                                runs    ? longRun
                                : finds ? unknownRun
                                        : usualRun,
                                runs && !e.gpu ? longestRow : usualRow);
  row.finds = finds;
  // If groups have fewer inputs, each step selects other inputs, so blocks have
  // one step.
  int64_t most = planes ? 8 : conv.groupInputs == conv.groupOutputs ? 128 : 32;
  Value blockC = runs || conv.groups == 1
                     ? e.index(1)
                     : e.param("BLOCK_N", chooseLanes(channels, most));
  LaneProgram result{{}, {M, N}};
  Value lines =
      runs || (conv.groups == 1 && finds) ? chooseLines(e, conv) : Value();
  if (lines) {
    e.setAxis(Line, lines);
    result.axes.push_back(Line);
  }
  e.setAxis(M, getSize(e, row));
  e.setAxis(N, blockC);
  Value count = e.size(conv.result.back());
  // A result that is stored channels-last is computed for one channel at a
  // time.
  bool stays = llvm::none_of(*op->getBlock(), [&](Operation &other) {
    return isa<TransposeOp>(other) && op->isBeforeInBlock(&other);
  });
  // All outputs at one position use the same inputs.
  bool inside = conv.groups == 1 || (runs ? stays : !e.gpu && !planes);
  auto program =
      makeProgram(e, conv.result, width, row, blockC, e.ceilDiv(count, blockC),
                  lines, /*channelsInside=*/inside);
  if (failed(program))
    return failure();
  result.program = *program;
  return result;
}

/// Returns the ranges of [batch, spatial.., channel] with the channel first.
static DimRanges putChannelFirst(DimRanges ranges) {
  std::rotate(ranges.begin() + 1, ranges.end() - 1, ranges.end());
  return ranges;
}

/// Emits `acc` plus the products of the window with input `inner` of the group.
static FailureOr<Value> sumWindow(KernelEmitter &e, const ConvShape &conv,
                                  const LaneProgram &tiling, Value acc,
                                  function_ref<MaybeTile(DimRanges)> emitInput,
                                  Value inner) {
  ConvOp op = conv.op;
  DimRange channel{tiling.program.channel, N, 1, 1};
  Taps taps;
  auto next =
      loopWindow(e, conv, tiling.program, taps, acc,
                 [&](ValueRange carried) -> FailureOr<KernelEmitter::Carried> {
                   auto x = emitInput(taps.input);
                   DimRanges weight{channel, {inner, -1, 1, 1}};
                   for (Value tap : taps.filter)
                     weight.push_back({tap, -1, 1, 1});
                   auto w = e.emit(op.getFilter(), weight);
                   if (failed(x) || failed(w))
                     return failure();
                   return KernelEmitter::Carried{
                       multiplyAdd(e, *x, *w, carried[0], tiling.axes)};
                 });
  if (failed(next))
    return failure();
  return (*next)[0];
}

/// Emits sums in which every input is used for one output at a time; lanes are
/// pixels.
static FailureOr<Value> sumPlanes(KernelEmitter &e, const ConvShape &conv,
                                  const LaneProgram &tiling, Value acc) {
  ConvOp op = conv.op;
  auto sum =
      e.loop(e.index(conv.groupInputs), e.index(1), acc,
             [&](Value inner,
                 ValueRange carried) -> FailureOr<KernelEmitter::Carried> {
               auto next = sumWindow(
                   e, conv, tiling, carried[0],
                   [&](DimRanges input) {
                     input.push_back({inner, -1, 1, 1});
                     if (op.getLayout() == Layout::NCHW)
                       input = putChannelFirst(input);
                     return e.emit(op.getInput(), input);
                   },
                   inner);
               if (failed(next))
                 return failure();
               return KernelEmitter::Carried{*next};
             });
  if (failed(sum))
    return failure();
  return (*sum)[0];
}

/// Emits each channel separately, or the few channels of a group one after the
/// other, with a sum of products carried as a tile.
LogicalResult adze::emitDepthwise(KernelEmitter &e, const ConvShape &conv) {
  ConvOp op = conv.op;
  Type element = getSignlessType(getElementTypeOrSelf(op.getResult()));
  Type accType = getAccumulatorType(element);
  auto tiling = makeLaneProgram(e, conv);
  if (failed(tiling))
    return failure();
  if (conv.groups > 1)
    e.pack(op.getFilter(),
           getFilterMap(op.getContext(), conv.filter.size(), 0));
  FailureOr<Value> acc = e.constant(
      cast<TypedAttr>(e.builder().getZeroAttr(accType)), tiling->axes);
  if (conv.groups == 1)
    acc = sumPlanes(e, conv, *tiling, *acc);
  for (int64_t inner = 0; conv.groups > 1 && inner < conv.groupInputs;
       ++inner) {
    acc = sumWindow(
        e, conv, *tiling, *acc,
        [&](DimRanges input) {
          input.push_back({tiling->program.channel, N, 1, 1});
          return emitOfGroup(e, conv, input, inner);
        },
        e.index(inner));
    if (failed(acc))
      break;
  }
  if (failed(acc))
    return failure();
  DimRanges ranges = tiling->program.ranges;
  if (op.getLayout() == Layout::NCHW)
    ranges = putChannelFirst(ranges);
  return finishConv(e, op.getResult(), op.getBias(), *acc, tiling->axes,
                    ranges);
}
