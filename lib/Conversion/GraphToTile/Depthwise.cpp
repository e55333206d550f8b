// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Convolutions whose channels are the lanes of vectors: depthwise ones, and
// those of a few channels a group.
#include "Convolution.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace adze;
using namespace adze::graph;

/// How many lines of the result a program takes at once; null: one. What it
/// loads serves all lines whose windows overlap there.
static Value chooseLines(KernelEmitter &e, const ConvShape &conv) {
  constexpr int64_t most = 4, maxTaps = 9;
  if (conv.spatial < 2)
    return {};
  unsigned d = conv.spatial - 2;
  ConvOp op = conv.op;
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
  return e.forCpu && conv.groups > 1 && conv.groupInputs <= conv.groupOutputs &&
         2 * conv.groupOutputs <= lanes && lanes % conv.groupOutputs == 0 &&
         isa<BlockArgument>(op.getInput());
}

/// The input that each channel multiplies by its `inner`-th weight: that one of
/// its group.
static FailureOr<Emitted> emitOfGroup(KernelEmitter &e, const ConvShape &conv,
                                      ArrayRef<Place> places, int64_t inner) {
  ConvOp op = conv.op;
  if (conv.isDepthwise())
    return e.emit(op.getInput(), places);
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
  // Pixels that lie side by side in memory take the lanes: one channel at a
  // time, in long runs. Few of them leave lanes to the channels.
  constexpr int64_t usualRun = 16, longRun = 512, usualRow = 256,
                    longestRow = 4096;
  AffineExpr width = conv.result[conv.spatial];
  bool isTransposed = op.getInput().getDefiningOp<TransposeOp>() != nullptr;
  bool runs = isTransposed && getKnown(width) >= usualRun;
  // Of unknown width a CPU finds the border of a row when it runs: once a row.
  bool finds = e.forCpu && getKnown(width) < 0;
  RowBlock row = chooseRowBlock(width,
                                runs    ? longRun
                                : finds ? unknownRun
                                        : usualRun,
                                runs && e.forCpu ? longestRow : usualRow);
  row.finds = finds;
  // Where groups have fewer inputs each step picks others: blocks of one step.
  int64_t most = isTransposed                            ? 8
                 : conv.groupInputs == conv.groupOutputs ? 128
                                                         : 32;
  Value blockC =
      runs ? e.index(1) : e.param("BLOCK_N", chooseLanes(channels, most));
  LaneProgram result{{}, {M, N}};
  Value lines = runs ? chooseLines(e, conv) : Value();
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
  auto program = makeProgram(
      e, conv.result, width, row, blockC, e.ceilDiv(count, blockC), lines,
      /*channelsInside=*/runs ? stays : e.forCpu && !isTransposed);
  if (failed(program))
    return failure();
  result.program = *program;
  return result;
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
  e.pack(op.getFilter(), getFilterMap(op.getContext(), conv.filter.size(), 0));
  Value acc =
      e.constant(cast<TypedAttr>(e.builder().getZeroAttr(accType)), cut->axes);
  Place channel{cut->program.channel, N, 1, 1};
  for (int64_t inner = 0; inner < conv.groupInputs; ++inner) {
    Taps taps;
    auto next = loopWindow(
        e, conv, cut->program, taps, acc,
        [&](ValueRange carried) -> FailureOr<KernelEmitter::Carried> {
          Places input = taps.input;
          input.push_back(channel);
          auto x = emitOfGroup(e, conv, input, inner);
          Places weight{channel, {e.index(inner), -1, 1, 1}};
          for (Value tap : taps.filter)
            weight.push_back({tap, -1, 1, 1});
          auto w = e.emit(op.getFilter(), weight);
          if (failed(x) || failed(w))
            return failure();
          return KernelEmitter::Carried{
              multiplyAdd(e, *x, *w, carried[0], cut->axes)};
        });
    if (failed(next))
      return failure();
    acc = (*next)[0];
  }
  return finishConv(e, op.getResult(), op.getBias(), acc, cut->axes,
                    cut->program.places);
}
