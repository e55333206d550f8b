// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Convolutions for a unit that multiplies matrices. A program copies the part
// of the input that its windows see, with padding, as one patch. In that, what
// a tap reads for all pixels of all lines is a matrix whose rows are equally
// far apart: the pixels between lines are computed as well, and not stored.
#include "Convolution.h"
#include "Dialect/Graph/IR/ConvChain.h"
#include "Dialect/Graph/IR/Precision.h"

using namespace mlir;
using namespace adze;
using namespace adze::graph;

namespace {

class PatchEmitter {
public:
  PatchEmitter(KernelEmitter &e, const ConvShape &conv)
      : e(e), conv(conv), op(conv.op), width(getKnown(conv.result[2])),
        height(getKnown(conv.result[1])), pitch(width + getReach(op, 1) - 1),
        group(getPackedGroup(e, op.getFilter())) {}

  LogicalResult run();

private:
  void cut();
  LogicalResult copyPatch(), multiply(), store();

  KernelEmitter &e;
  const ConvShape &conv;
  ConvOp op;
  int64_t width, height, pitch; // pixels from line to line of the patch
  PackedGroup group;            // of the filter
  int64_t lines = 1, outputs = 0, inputs = 0;
  Value image, line, channel; // where the program is
  Value patch, sums;          // [1, lines, pitch, channels]
};

} // namespace

/// Lines and channels of a program. A patch has lines that the next one has as
/// well, and serves all channels of the block.
void PatchEmitter::cut() {
  constexpr int64_t usualRows = 128, usualOutputs = 64, panel = 32;
  int64_t most = std::clamp<int64_t>(usualRows / pitch, 1, height);
  lines = llvm::divideCeil(height, llvm::divideCeil(height, most));
  int64_t all = getKnown(conv.result.back());
  int64_t padded = llvm::alignTo(all, all <= panel / 2 ? panel / 2 : panel);
  outputs = padded % usualOutputs == 0 ? usualOutputs
                                       : std::min<int64_t>(padded, panel);
  inputs = llvm::alignTo(conv.groupInputs, group.depth);
}

/// Copies the input with its padding, and with zeros behind the channels up to
/// what the unit multiplies at once. Behind the last line is room for what the
/// last windows of pixels between lines see.
LogicalResult PatchEmitter::copyPatch() {
  Value rows = e.index(lines + getReach(op, 0) - 1);
  e.setAxis(Line, rows);
  e.setAxis(M, e.index(pitch));
  e.setAxis(K, e.index(inputs));
  Type element = getSignlessType(getElementTypeOrSelf(op.getInput()));
  patch = e.scratch({e.index(1), e.index(lines + getReach(op, 0)),
                     e.index(pitch), e.index(inputs)},
                    element);
  return e.phase([&]() -> LogicalResult {
    Place channels{e.index(0), K, 1, 1};
    auto tile = e.emit(op.getInput(),
                       {point(image),
                        {e.sub(line, e.index(op.getPads()[0])), Line, 1, 1},
                        {e.index(-op.getPads()[1]), M, 1, 1},
                        channels});
    if (failed(tile))
      return failure();
    return e.store(*tile, patch,
                   {point(e.index(0)),
                    {e.index(0), Line, 1, 1},
                    {e.index(0), M, 1, 1},
                    channels});
  });
}

/// Sums over taps and channels, of pixels between lines, too.
LogicalResult PatchEmitter::multiply() {
  constexpr int64_t mostDepth = 512;
  Value depth = e.index(
      group.depth * chooseBlock(inputs / group.depth, mostDepth / group.depth));
  e.setAxis(M, e.index(lines * pitch));
  e.setAxis(K, depth);
  e.setAxis(N, e.index(outputs));
  Type type =
      getAccumulatorType(getSignlessType(getElementTypeOrSelf(op.getResult())));
  sums = e.scratch(
      {e.index(1), e.index(lines), e.index(pitch), e.index(outputs)}, type);
  e.setMemory(op.getInput(), patch);
  using Carried = KernelEmitter::Carried;
  return e.phase([&]() -> LogicalResult {
    Value zero =
        e.constant(cast<TypedAttr>(e.builder().getZeroAttr(type)), {M, N});
    auto addTap = [&](Value y, Value x, Value acc) {
      Value from = e.add(e.mul(y, e.index(op.getDilations()[0] * pitch)),
                         e.mul(x, e.index(op.getDilations()[1])));
      return accumulate(
          e, e.index(inputs), depth, acc, op.getInput(), op.getFilter(),
          [&](Value c) { return Places{{from, M, 1, 3}, {c, K, 1, 1}}; },
          [&](Value c) {
            return Places{{channel, N, 1, 1}, {c, K, 1, 1}, point(y), point(x)};
          },
          getPrecision(op));
    };
    auto total = e.loop(
        e.index(getKnown(conv.kernel(0))), e.index(1), zero,
        [&](Value y, ValueRange outer) {
          return e.loop(e.index(getKnown(conv.kernel(1))), e.index(1), outer,
                        [&](Value x, ValueRange inner) -> FailureOr<Carried> {
                          auto sum = addTap(y, x, inner[0]);
                          if (failed(sum))
                            return failure();
                          return Carried{*sum};
                        });
        });
    if (failed(total))
      return failure();
    return e.store({(*total)[0], {M, N}}, sums,
                   {{e.index(0), M, 1, 3}, {e.index(0), N, 1, 1}});
  });
}

/// The pixels of lines, with bias and epilogue.
LogicalResult PatchEmitter::store() {
  e.setAxis(Line, e.index(lines));
  e.setAxis(M, e.index(width));
  e.setAxis(N, e.index(outputs));
  return e.phase([&]() -> LogicalResult {
    auto sum = e.load(sums, {point(e.index(0)),
                             {e.index(0), Line, 1, 1},
                             {e.index(0), M, 1, 1},
                             {e.index(0), N, 1, 1}});
    if (failed(sum))
      return failure();
    return finishConv(e, op.getResult(), op.getBias(), sum->value, sum->axes,
                      {point(image),
                       {line, Line, 1, 1},
                       {e.index(0), M, 1, 1},
                       {channel, N, 1, 1}});
  });
}

LogicalResult PatchEmitter::run() {
  cut();
  e.pack(op.getFilter(), getFilterMap(op.getContext(), conv.filter.size(),
                                      std::min<int64_t>(outputs, 32),
                                      /*inputsFirst=*/false, group));
  Value images = e.size(conv.result[0]), channels = e.size(conv.result.back());
  if (!images || !channels)
    return failure();
  // Neighbouring programs multiply by the same channels.
  SmallVector<Value> ids =
      e.programIds({e.index(llvm::divideCeil(height, lines)), images,
                    e.ceilDiv(channels, e.index(outputs))});
  line = e.mul(ids[0], e.index(lines));
  image = ids[1];
  channel = e.mul(ids[2], e.index(outputs));
  return success(succeeded(copyPatch()) && succeeded(multiply()) &&
                 succeeded(store()));
}

bool adze::takesPatches(KernelEmitter &e, const ConvShape &conv) {
  ConvOp op = conv.op;
  if (e.gpu || conv.spatial != 2 || conv.groups != 1 || !conv.isStatic() ||
      conv.hasPlanes() || getKnown(conv.result[1]) < 1 ||
      getKnown(conv.result[2]) < 1 || op.getLayout() != Layout::NHWC ||
      !e.isPackable(op.getFilter()) ||
      llvm::any_of(op.getStrides(), [](int64_t s) { return s != 1; }) ||
      getKnown(conv.kernel(0)) * getKnown(conv.kernel(1)) == 1)
    return false;
  // As for any product: half of the unit's depth, and most of its columns.
  PackedGroup group = getPackedGroup(e, op.getFilter());
  constexpr int64_t fewOutputs = 8;
  return group.depth > group.size && 2 * conv.groupInputs >= group.depth &&
         conv.groupInputs % group.size == 0 && conv.groupOutputs > fewOutputs;
}

LogicalResult adze::emitPatchConv(KernelEmitter &e, const ConvShape &conv) {
  return PatchEmitter(e, conv).run();
}
