// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Convolutions for matrix units. A program copies the input of its windows,
// with padding, as one patch. The elements of the patch that a tap reads for
// all pixels of all lines are a matrix with a constant row stride: the pixels
// between lines are computed as well, but not stored. With strides, there is a
// patch for each phase.
#include "Convolution.h"
#include "Dialect/Graph/IR/ConvChain.h"
#include "Dialect/Graph/IR/Precision.h"

using namespace mlir;
using namespace adze;
using namespace adze::graph;

namespace {

/// The steps of windows along a dim of the image: pixels with equal remainders
/// modulo `stride` are a patch.
struct Steps {
  int64_t stride, dilation, pad;
  int64_t phases; ///< patches
  /// pixels of a patch that windows cover after their first one
  int64_t beyond;

  Steps(ConvOp op, unsigned dim)
      : stride(op.getStrides()[dim]), dilation(op.getDilations()[dim]),
        pad(op.getPads()[dim]), phases(std::min(stride, getReach(op, dim))),
        beyond((getReach(op, dim) - 1) / stride) {}
};

class PatchEmitter {
public:
  PatchEmitter(KernelEmitter &e, const ConvShape &conv)
      : e(e), conv(conv), op(conv.op), down(op, 0), across(op, 1),
        width(getKnown(conv.result[2])), height(getKnown(conv.result[1])),
        pitch(width + across.beyond),
        group(getPackedGroup(e, op.getFilter(), conv.groupInputs)) {}

  LogicalResult run();

private:
  void setTiling();
  LogicalResult copyPatches(), copyPatch(int64_t y, int64_t x), multiply(),
      store();
  Value findTap(Value y, Value x);

  KernelEmitter &e;
  const ConvShape &conv;
  ConvOp op;
  Steps down, across;
  int64_t width, height, pitch; // distance of lines of the patch, in pixels
  PackedGroup group;            // of the filter
  int64_t lines = 1, outputs = 0, inputs = 0;
  Value image, line, channel; // position of the program
  Value patch, sums;          // [patches, lines, pitch, channels]
};

} // namespace

/// Chooses the lines and channels of a program. The patches of consecutive
/// programs overlap in some lines, and a patch is used for all channels of the
/// block: for more of them if windows have one tap.
void PatchEmitter::setTiling() {
  constexpr int64_t usualRows = 128, usualOutputs = 64, mostOutputs = 256,
                    panel = 32;
  bool hasOneTap = getReach(op, 0) == 1 && getReach(op, 1) == 1;
  int64_t most = std::clamp<int64_t>(usualRows / pitch, 1, height);
  lines = llvm::divideCeil(height, llvm::divideCeil(height, most));
  int64_t all = getKnown(conv.result.back());
  int64_t padded = llvm::alignTo(all, all <= panel / 2 ? panel / 2 : panel);
  outputs = hasOneTap && padded % mostOutputs == 0 ? mostOutputs
            : padded % usualOutputs == 0 ? usualOutputs
                                         : std::min<int64_t>(padded, panel);
  inputs = llvm::alignTo(conv.groupInputs, group.depth);
}

/// Copies the input with its padding, and pads channels with zeros to the
/// contracted size of the unit. After the last line there is room for the last
/// windows of pixels between lines.
LogicalResult PatchEmitter::copyPatches() {
  e.setAxis(Line, e.index(lines + down.beyond));
  e.setAxis(M, e.index(pitch));
  e.setAxis(K, e.index(inputs));
  Type element = getSignlessType(getElementTypeOrSelf(op.getInput()));
  patch = e.scratch({e.index(down.phases * across.phases),
                     e.index(lines + down.beyond + 1), e.index(pitch),
                     e.index(inputs)},
                    element);
  for (int64_t y = 0; y < down.phases; ++y)
    for (int64_t x = 0; x < across.phases; ++x)
      if (failed(e.phase([&] { return copyPatch(y, x); })))
        return failure();
  return success();
}

/// Copies the patch of one phase.
LogicalResult PatchEmitter::copyPatch(int64_t y, int64_t x) {
  DimRange channels{e.index(0), K, 1, 1};
  Value first = e.add(e.mul(line, e.index(down.stride)), e.index(y - down.pad));
  auto tile =
      e.emit(op.getInput(), {point(image),
                             {first, Line, down.stride, 1},
                             {e.index(x - across.pad), M, across.stride, 1},
                             channels});
  if (failed(tile))
    return failure();
  return e.store(*tile, patch,
                 {point(e.index(y * across.phases + x)),
                  {e.index(0), Line, 1, 1},
                  {e.index(0), M, 1, 1},
                  channels});
}

/// Returns the row of the patches, viewed as one matrix, that a tap reads for
/// the first pixel.
Value PatchEmitter::findTap(Value y, Value x) {
  auto range = [&](Value tap, const Steps &steps) {
    Value at = e.mul(tap, e.index(steps.dilation)),
          stride = e.index(steps.stride);
    return std::pair(e.rem(at, stride), e.div(at, stride));
  };
  auto [phaseY, lineY] = range(y, down);
  auto [phaseX, pixelX] = range(x, across);
  Value phase = e.add(e.mul(phaseY, e.index(across.phases)), phaseX);
  Value start = e.mul(phase, e.index((lines + down.beyond + 1) * pitch));
  return e.add(start, e.add(e.mul(lineY, e.index(pitch)), pixelX));
}

/// Sums over taps and channels, including pixels between lines.
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
      Value from = findTap(y, x);
      return accumulate(
          e, e.index(inputs), depth, acc, op.getInput(), op.getFilter(),
          [&](Value c) { return DimRanges{{from, M, 1, 3}, {c, K, 1, 1}}; },
          [&](Value c) {
            return DimRanges{
                {channel, N, 1, 1}, {c, K, 1, 1}, point(y), point(x)};
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

/// Stores the pixels of lines, with bias and epilogue.
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
  setTiling();
  e.pack(op.getFilter(), getFilterMap(op.getContext(), conv.filter.size(),
                                      std::min<int64_t>(outputs, 32),
                                      /*inputsFirst=*/false, group));
  Value images = e.size(conv.result[0]), channels = e.size(conv.result.back());
  if (!images || !channels)
    return failure();
  // Adjacent programs multiply by the same channels.
  SmallVector<Value> ids =
      e.programIds({e.index(llvm::divideCeil(height, lines)), images,
                    e.ceilDiv(channels, e.index(outputs))});
  line = e.mul(ids[0], e.index(lines));
  image = ids[1];
  channel = e.mul(ids[2], e.index(outputs));
  return success(succeeded(copyPatches()) && succeeded(multiply()) &&
                 succeeded(store()));
}

/// Returns true if the elements that a tap reads for the pixels of a line fill
/// the rows of the unit: without patches there are no copies, and no pixels
/// between lines. With strides this requires one register, otherwise many.
static bool readsLines(const ConvShape &conv) {
  constexpr int64_t fewPixels = 8, longLine = 32;
  ConvOp op = conv.op;
  if (llvm::any_of(op.getStrides(), [](int64_t s) { return s != 1; }))
    return getKnown(conv.result[2]) > fewPixels;
  return getKnown(conv.result[2]) >= longLine && getReach(op, 1) == 1 &&
         llvm::all_of(op.getPads(), [](int64_t pad) { return pad == 0; });
}

bool adze::takesPatches(KernelEmitter &e, const ConvShape &conv) {
  ConvOp op = conv.op;
  if (e.gpu || conv.spatial != 2 || conv.groups != 1 || !conv.isStatic() ||
      conv.hasPlanes() || getKnown(conv.result[1]) < 1 ||
      getKnown(conv.result[2]) < 1 || op.getLayout() != Layout::NHWC ||
      !e.isPackable(op.getFilter()) || conv.isPointwise() || readsLines(conv))
    return false;
  // As for all products, padding is less than half of the columns of the unit.
  PackedGroup group = getPackedGroup(e, op.getFilter(), conv.groupInputs);
  constexpr int64_t fewOutputs = 8;
  return group.depth > group.size && conv.groupInputs % group.size == 0 &&
         conv.groupOutputs > fewOutputs;
}

LogicalResult adze::emitPatchConv(KernelEmitter &e, const ConvShape &conv) {
  return PatchEmitter(e, conv).run();
}
