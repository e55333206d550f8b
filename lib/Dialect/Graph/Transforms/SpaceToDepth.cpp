// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// graph-space-to-depth: converts convolutions with few channels to ones with
// more channels.
#include "Dialect/Graph/IR/Graph.h"
#include "Dialect/Graph/IR/Precision.h"
#include "Dialect/Graph/Transforms/Passes.h"
#include "Dialect/Tile/IR/Units.h"
#include "Matching.h"

namespace adze::graph {
#define GEN_PASS_DEF_SPACETODEPTHPASS
#include "Dialect/Graph/Transforms/Passes.h.inc"
} // namespace adze::graph

using namespace mlir;
using namespace adze;
using namespace adze::graph;

namespace {

/// The sizes of a 2-D convolution, and of the one that it becomes.
struct Blocks {
  int64_t outputs, channels, padded; ///< `padded`: channels of a pixel
  std::array<int64_t, 2> sizes, kernel, steps, low, high;
  std::array<int64_t, 2> blocks, taps; ///< of the input and the filter
  /// True if the taps of a row become channels of one pixel, too.
  bool joinsTaps = false;

  int64_t depth() const { return padded * steps[0] * steps[1]; }
};

std::optional<SmallVector<int64_t>> getSizes(ArrayRef<AffineExpr> dims) {
  SmallVector<int64_t> sizes;
  for (AffineExpr dim : dims) {
    auto size = getConstant(dim);
    if (!size)
      return std::nullopt;
    sizes.push_back(*size);
  }
  return sizes;
}

/// Returns the sizes if the convolution has so few channels that a matrix unit
/// cannot copy its pixels (on GPUs, their bytes are a multiple of 16), or would
/// mostly multiply padding (on CPUs).
std::optional<Blocks> matchBlocks(ConvOp op, adze::tile::TargetUnitAttr unit) {
  constexpr int64_t granuleBytes = 16, most = 64;
  int64_t granule = granuleBytes / adze::tile::getElementBytes(unit);
  if (op.getLayout() != Layout::NCHW || op.getGroup() != 1 ||
      getRank(op.getInput()) != 4 ||
      llvm::any_of(op.getDilations(), [](int64_t d) { return d != 1; }))
    return std::nullopt;
  auto input = getSizes(ArrayRef(getDims(op.getInput())).drop_front(1)),
       filter = getSizes(getDims(op.getFilter())),
       result = getSizes(ArrayRef(getDims(op.getResult())).drop_front(2));
  if (!input || !filter || !result || (*input)[0] % granule == 0)
    return std::nullopt;
  Blocks blocks;
  blocks.outputs = (*filter)[0];
  blocks.channels = (*filter)[1];
  blocks.padded = blocks.channels;
  for (unsigned d : {0, 1}) {
    blocks.sizes[d] = (*input)[d + 1];
    blocks.kernel[d] = (*filter)[d + 2];
    blocks.steps[d] = op.getStrides()[d];
    blocks.taps[d] = llvm::divideCeil(blocks.kernel[d], blocks.steps[d]);
    blocks.blocks[d] = (*result)[d] - 1 + blocks.taps[d];
    blocks.low[d] = op.getPads()[d];
    blocks.high[d] =
        blocks.blocks[d] * blocks.steps[d] - blocks.sizes[d] - blocks.low[d];
  }
  while (blocks.depth() % granule != 0)
    ++blocks.padded;
  // On CPUs the input is rearranged for it, which pays off for many products
  // only, and with a smaller contracted size the unit would multiply padding.
  int64_t depth = unit.getShape()[2], row = blocks.depth() * blocks.taps[1];
  if (!adze::tile::findCudaTarget(op)) {
    blocks.joinsTaps = blocks.taps[1] > 1 && row <= most;
    if (2 * blocks.channels >= depth ||
        2 * (blocks.joinsTaps ? row : blocks.depth()) < depth ||
        blocks.channels * blocks.kernel[0] * blocks.kernel[1] < 2 * depth)
      return std::nullopt;
  }
  bool isPatches = blocks.taps[0] == 1 && blocks.taps[1] == 1;
  if (blocks.depth() > most && !isPatches)
    return std::nullopt;
  return blocks;
}

/// Returns the matrix unit of the targets for these elements, or null; for
/// bytes, that of unsigned by signed ones.
adze::tile::TargetUnitAttr findMatrixUnit(Operation *op, Type element) {
  Builder b(op->getContext());
  Type lhs = element, rhs = element, sum = b.getF32Type();
  if (element.isInteger(8)) {
    lhs = b.getIntegerType(8, /*isSigned=*/false);
    rhs = b.getIntegerType(8, /*isSigned=*/true);
    sum = b.getIntegerType(32, /*isSigned=*/true);
  }
  adze::tile::TargetUnitAttr unit;
  for (Attribute target : adze::tile::getTargets(op)) {
    if (auto gpu = dyn_cast<adze::tile::CudaTargetAttr>(target))
      unit = gpu.findUnit(lhs, rhs, sum);
    else
      unit =
          cast<adze::tile::CpuTargetAttr>(target).findMatrixUnit(lhs, rhs, sum);
    if (!unit)
      break;
  }
  return unit;
}

class SpaceToDepthPass final
    : public adze::graph::impl::SpaceToDepthPassBase<SpaceToDepthPass> {
public:
  using SpaceToDepthPassBase::SpaceToDepthPassBase;

  void runOnOperation() override {
    SmallVector<std::pair<ConvOp, Blocks>> convolutions;
    getOperation().walk([&](ConvOp op) {
      Type element = getPrecision(op).value_or(getElement(op.getFilter()));
      auto unit = findMatrixUnit(op, element);
      Type input = getElement(op.getInput()),
           filter = getElement(op.getFilter());
      bool isMultiplied =
          filter.isInteger(8) ? input.isUnsignedInteger(8) : input == filter;
      if (!unit || !isMultiplied)
        return;
      if (auto blocks = matchBlocks(op, unit))
        convolutions.push_back({op, *blocks});
    });
    for (auto &[op, blocks] : convolutions) {
      rewrite(op, blocks);
      ++rewritten;
    }
  }

private:
  Value transpose(OpBuilder &b, Location loc, Value x, ArrayRef<int64_t> perm) {
    Dims from = getDims(x), dims;
    for (int64_t dim : perm)
      dims.push_back(from[dim]);
    return TransposeOp::create(b, loc, makeType(getElement(x), dims), x, perm);
  }

  /// Pads a tensor [first, channels, height, width] to whole blocks of pixels.
  Value pad(OpBuilder &b, Location loc, Value x, const Blocks &blocks,
            ArrayRef<int64_t> low, ArrayRef<int64_t> high) {
    SmallVector<int64_t> lows{0, 0, low[0], low[1]},
        highs{0, blocks.padded - blocks.channels, high[0], high[1]};
    if (llvm::all_of(lows, [](int64_t n) { return n == 0; }) &&
        llvm::all_of(highs, [](int64_t n) { return n == 0; }))
      return x;
    Dims dims = getDims(x);
    for (unsigned d = 1; d < 4; ++d)
      dims[d] = dims[d] + (lows[d] + highs[d]);
    return PadOp::create(b, loc, makeType(getElement(x), dims), x, Value(),
                         lows, highs, PadMode::Constant);
  }

  /// Splits height and width into blocks: six dims.
  Value split(OpBuilder &b, Location loc, Value x, ArrayRef<int64_t> numBlocks,
              ArrayRef<int64_t> steps) {
    Dims dims = getDims(x);
    SmallVector<AffineExpr> apart{dims[0], dims[1]};
    for (unsigned d : {0, 1})
      for (int64_t size : {numBlocks[d], steps[d]})
        apart.push_back(getAffineConstantExpr(size, b.getContext()));
    return ReshapeOp::create(b, loc, makeType(getElement(x), apart), x);
  }

  /// Transposes padded images to [image, block, block, line, pixel, channel].
  /// `byLines`: in two steps. Channels are adjacent after the first one, so
  /// that the second one moves lines of blocks as a whole, which is faster on
  /// CPUs than moving elements of six dims; on GPUs, it is another launch.
  Value moveBlocks(OpBuilder &b, Location loc, Value x, const Blocks &blocks,
                   bool byLines) {
    if (!byLines) {
      x = split(b, loc, x, blocks.blocks, blocks.steps);
      return transpose(b, loc, x, {0, 2, 4, 3, 5, 1});
    }
    x = transpose(b, loc, x, {0, 2, 3, 1});
    SmallVector<AffineExpr> lines{getDims(x)[0]};
    for (int64_t size : {blocks.blocks[0], blocks.steps[0], blocks.blocks[1],
                         blocks.steps[1] * blocks.padded})
      lines.push_back(getAffineConstantExpr(size, b.getContext()));
    x = ReshapeOp::create(b, loc, makeType(getElement(x), lines), x);
    return transpose(b, loc, x, {0, 1, 3, 2, 4});
  }

  /// Adds the channels of the pixels that a window covers to the right to
  /// pixels of [image, line, pixel, channel].
  Value joinPixels(OpBuilder &b, Location loc, Value x, int64_t taps) {
    Dims dims = getDims(x);
    dims[2] = dims[2] - (taps - 1);
    SmallVector<Value> parts;
    for (int64_t tap = 0; tap < taps; ++tap) {
      int64_t starts[] = {0, 0, tap, 0}, steps[] = {1, 1, 1, 1};
      parts.push_back(SliceOp::create(b, loc, makeType(getElement(x), dims), x,
                                      ArrayRef(starts), steps));
    }
    return ConcatOp::create(b, loc, parts, /*axis=*/3);
  }

  void rewrite(ConvOp op, const Blocks &blocks) {
    OpBuilder b(op);
    Location loc = op.getLoc();
    auto constant = [&](int64_t size) {
      return getAffineConstantExpr(size, b.getContext());
    };
    Value x = pad(b, loc, op.getInput(), blocks, blocks.low, blocks.high);
    x = moveBlocks(b, loc, x, blocks, !adze::tile::findCudaTarget(op));
    SmallVector<AffineExpr> inputDims{getDims(x)[0], constant(blocks.blocks[0]),
                                      constant(blocks.blocks[1]),
                                      constant(blocks.depth())};
    x = ReshapeOp::create(b, loc, makeType(getElement(x), inputDims), x);
    int64_t joined = blocks.joinsTaps ? blocks.taps[1] : 1;
    if (joined > 1)
      x = joinPixels(b, loc, x, joined);

    std::array<int64_t, 2> more;
    for (unsigned d : {0, 1})
      more[d] = blocks.taps[d] * blocks.steps[d] - blocks.kernel[d];
    Value w = pad(b, loc, op.getFilter(), blocks, {0, 0}, more);
    w = split(b, loc, w, blocks.taps, blocks.steps);
    w = transpose(b, loc, w,
                  joined > 1 ? ArrayRef<int64_t>{0, 4, 3, 5, 1, 2}
                             : ArrayRef<int64_t>{0, 3, 5, 1, 2, 4});
    SmallVector<AffineExpr> filterDims{
        constant(blocks.outputs), constant(blocks.depth() * joined),
        constant(blocks.taps[0]), constant(blocks.taps[1] / joined)};
    w = ReshapeOp::create(b, loc, makeType(getElement(w), filterDims), w);

    auto made = cast<ConvOp>(b.clone(*op));
    Dims dims = getDims(op.getResult());
    made->setOperand(0, x);
    made->setOperand(1, w);
    made.setStrides({1, 1});
    made.setPads({0, 0, 0, 0});
    made.setLayout(Layout::NHWC);
    made.getResult().setType(makeType(getElement(op.getResult()),
                                      {dims[0], dims[2], dims[3], dims[1]}));
    op.replaceAllUsesWith(transpose(b, loc, made.getResult(), {0, 3, 1, 2}));
    op.erase();
  }
};

} // namespace

int64_t adze::graph::getShallowChannels(ConvOp op, Type element) {
  auto unit = findMatrixUnit(op, element);
  auto blocks = unit ? matchBlocks(op, unit) : std::nullopt;
  return blocks ? blocks->padded : 0;
}
