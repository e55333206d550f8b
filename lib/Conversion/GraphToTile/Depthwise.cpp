// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Convolutions whose channels are the lanes of vectors: depthwise ones, and
// those of a few channels a group.
#include "Convolution.h"
#include "TileElementBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace adze;
using namespace adze::graph;

/// How many lines of the result a program takes at once; null: one. What it
/// loads serves all lines whose windows overlap there.
static Value chooseLines(KernelEmitter &e, const ConvShape &conv) {
  constexpr int64_t most = 4;
  if (conv.spatial < 2)
    return {};
  unsigned d = conv.spatial - 2;
  ConvOp op = conv.op;
  // Each tap has code of its own. Where the run finds the border, rows that
  // are taken one by one cost more.
  int64_t maxTaps = conv.groups > 1                           ? 9
                    : getKnown(conv.result[conv.spatial]) < 0 ? 81
                                                              : 25;
  int64_t taps = getKnown(conv.kernel(d));
  bool overlaps = op.getStrides()[d] == 1 && op.getDilations()[d] == 1 &&
                  taps > 1 && taps * getKnown(conv.kernel(d + 1)) <= maxTaps;
  int64_t height = getKnown(conv.result[d + 1]);
  if (!overlaps || (height >= 0 && height < most))
    return {};
  return e.param("LINES", chooseBlock(height, most));
}

bool adze::runsInLanes(const KernelEmitter &e, const ConvShape &conv) {
  constexpr int64_t lanes = 16, widest = 128;
  ConvOp op = conv.op;
  // Blocks that end with the channels need no masks, which take their time to
  // compile: each load has one.
  int64_t channels = getKnown(conv.result.back());
  if (channels > widest && channels % lanes != 0)
    return false;
  // Inputs are gathered where they lie: loads and shuffles of a CPU's vectors.
  return !e.gpu && conv.groups > 1 && conv.groupInputs <= conv.groupOutputs &&
         2 * conv.groupOutputs <= lanes && lanes % conv.groupOutputs == 0 &&
         isa<BlockArgument>(op.getInput());
}

/// The input that each channel multiplies by its `inner`-th weight: that one of
/// its group.
static FailureOr<Emitted> emitOfGroup(KernelEmitter &e, const ConvShape &conv,
                                      ArrayRef<Place> places, int64_t inner) {
  ConvOp op = conv.op;
  if (conv.isDepthwise()) {
    FailureOr<Emitted> x = e.emit(op.getInput(), places);
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
  Places inputs(places);
  Place &from = inputs.back();
  if (conv.groupInputs != conv.groupOutputs)
    from.offset = e.mul(e.div(from.offset, e.index(conv.groupOutputs)),
                        e.index(conv.groupInputs));
  return emitGathered(e, op.getInput(), inputs, inputs.size() - 1,
                      {picked, {N}}, {M, N});
}

namespace {
/// How the channels and pixels of a depthwise convolution are cut.
struct LaneProgram {
  ConvProgram program;
  Axes axes;
};
} // namespace

static FailureOr<LaneProgram> makeLaneProgram(KernelEmitter &e,
                                              const ConvShape &conv) {
  ConvOp op = conv.op;
  int64_t channels = getKnown(conv.result.back());
  // Pixels that are adjacent in memory take the lanes: one channel at a
  // time, in long runs. Few of them leave lanes to the channels.
  constexpr int64_t usualRun = 16, longRun = 512, usualRow = 256,
                    longestRow = 4096;
  AffineExpr width = conv.result[conv.spatial];
  bool planes = conv.hasPlanes();
  bool runs = planes && getKnown(width) >= usualRun;
  // Of unknown width a CPU finds the border of a row when it runs: once a row.
  bool finds = !e.gpu && getKnown(width) < 0;
  RowBlock row = chooseRowBlock(width,
                                runs    ? longRun
                                : finds ? unknownRun
                                        : usualRun,
                                runs && !e.gpu ? longestRow : usualRow);
  row.finds = finds;
  // Where groups have fewer inputs each step picks others: blocks of one step.
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
  // One channel at a time of what is stored channels last.
  bool stays = llvm::none_of(*op->getBlock(), [&](Operation &other) {
    return isa<TransposeOp>(other) && op->isBeforeInBlock(&other);
  });
  // Outputs of one place need the same inputs.
  bool inside = conv.groups == 1 || (runs ? stays : !e.gpu && !planes);
  auto program =
      makeProgram(e, conv.result, width, row, blockC, e.ceilDiv(count, blockC),
                  lines, /*channelsInside=*/inside);
  if (failed(program))
    return failure();
  result.program = *program;
  return result;
}

/// Places of [batch, spatial.., channel] where the channels are first.
static Places putChannelFirst(Places places) {
  std::rotate(places.begin() + 1, places.end() - 1, places.end());
  return places;
}

/// `acc` and the products of the window with input `inner` of the group.
static FailureOr<Value> sumWindow(KernelEmitter &e, const ConvShape &conv,
                                  const LaneProgram &cut, Value acc,
                                  function_ref<MaybeTile(Places)> emitInput,
                                  Value inner) {
  ConvOp op = conv.op;
  Place channel{cut.program.channel, N, 1, 1};
  Taps taps;
  auto next =
      loopWindow(e, conv, cut.program, taps, acc,
                 [&](ValueRange carried) -> FailureOr<KernelEmitter::Carried> {
                   auto x = emitInput(taps.input);
                   Places weight{channel, {inner, -1, 1, 1}};
                   for (Value tap : taps.filter)
                     weight.push_back({tap, -1, 1, 1});
                   auto w = e.emit(op.getFilter(), weight);
                   if (failed(x) || failed(w))
                     return failure();
                   return KernelEmitter::Carried{
                       multiplyAdd(e, *x, *w, carried[0], cut.axes)};
                 });
  if (failed(next))
    return failure();
  return (*next)[0];
}

/// Every input is read for one output at a time: its pixels are the lanes.
static FailureOr<Value> sumPlanes(KernelEmitter &e, const ConvShape &conv,
                                  const LaneProgram &cut, Value acc) {
  ConvOp op = conv.op;
  auto sum =
      e.loop(e.index(conv.groupInputs), e.index(1), acc,
             [&](Value inner,
                 ValueRange carried) -> FailureOr<KernelEmitter::Carried> {
               auto next = sumWindow(
                   e, conv, cut, carried[0],
                   [&](Places input) {
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

/// Every channel by itself, or with the few others of its group, one after the
/// other: a sum of products carried as a tile.
LogicalResult adze::emitDepthwise(KernelEmitter &e, const ConvShape &conv) {
  ConvOp op = conv.op;
  Type element = getSignlessType(getElementTypeOrSelf(op.getResult()));
  Type accType = getAccumulatorType(element);
  auto cut = makeLaneProgram(e, conv);
  if (failed(cut))
    return failure();
  if (conv.groups > 1)
    e.pack(op.getFilter(),
           getFilterMap(op.getContext(), conv.filter.size(), 0));
  FailureOr<Value> acc =
      e.constant(cast<TypedAttr>(e.builder().getZeroAttr(accType)), cut->axes);
  if (conv.groups == 1)
    acc = sumPlanes(e, conv, *cut, *acc);
  for (int64_t inner = 0; conv.groups > 1 && inner < conv.groupInputs;
       ++inner) {
    acc = sumWindow(
        e, conv, *cut, *acc,
        [&](Places input) {
          input.push_back({cut->program.channel, N, 1, 1});
          return emitOfGroup(e, conv, input, inner);
        },
        e.index(inner));
    if (failed(acc))
      break;
  }
  if (failed(acc))
    return failure();
  Places places = cut->program.places;
  if (op.getLayout() == Layout::NCHW)
    places = putChannelFirst(places);
  return finishConv(e, op.getResult(), op.getBias(), *acc, cut->axes, places);
}
