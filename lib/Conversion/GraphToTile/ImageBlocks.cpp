// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Convolutions for GPUs: a program has a block of pixels of several image rows,
// whose windows are boxes of the input. Volumes are images at each depth.
#include "Convolution.h"
#include "Dialect/Graph/IR/Precision.h"
#include "Dialect/Tile/IR/Units.h"
#include "FewRows.h"

using namespace mlir;
using namespace adze;
using namespace adze::graph;

namespace {

/// Rows and columns of pixels, both merged, the contracted dim, and channels.
enum BlockAxis { Y = 0, X = 1, Pixel = 2, Input = 3, Output = 4 };

/// Emits the sums of the block and their ranges.
class BlockEmitter {
public:
  BlockEmitter(KernelEmitter &e, const ConvShape &conv)
      : e(e), conv(conv), op(conv.op) {}

  LogicalResult run() {
    if (failed(setUp()))
      return failure();
    auto sums = loopOverTaps();
    if (failed(sums))
      return failure();
    Value acc = reshape((*sums)[0], {blockY, blockX, blockO});
    DimRanges ranges;
    for (Value position : outer)
      ranges.push_back(point(position));
    ranges.append({{row, Y, 1, 1}, {column, X, 1, 1}, {channel, Output, 1, 1}});
    return finishConv(e, op.getResult(), op.getBias(), acc, {Y, X, Output},
                      ranges);
  }

private:
  LogicalResult setUp() {
    // Each target binds its own values; these are for lowerings without a
    // schedule.
    constexpr int64_t rows = 4, columns = 16, channels = 64, depth = 32;
    blockY = e.param("BLOCK_Y", rows);
    blockX = e.param("BLOCK_X", columns);
    blockO = e.param("BLOCK_N", channels, getColumns());
    blockC = e.param("BLOCK_C", depth);
    e.setAxis(Y, blockY);
    e.setAxis(X, blockX);
    e.setAxis(Pixel, e.mul(blockY, blockX));
    e.setAxis(Input, blockC);
    e.setAxis(Output, blockO);
    e.pack(op.getFilter(), packFilter(op, /*panel=*/0, PackedGroup()));
    SmallVector<Value> sizes;
    for (AffineExpr dim : conv.result) {
      sizes.push_back(e.size(dim));
      if (!sizes.back())
        return failure();
    }
    Value outputs = sizes.pop_back_val();
    Value across = e.ceilDiv(sizes.pop_back_val(), blockX),
          down = e.ceilDiv(sizes.pop_back_val(), blockY),
          programs = e.mul(across, down);
    for (Value size : sizes)
      programs = e.mul(programs, size);
    SmallVector<Value> ids =
        e.programIds({programs, e.ceilDiv(outputs, blockO)});
    column = e.mul(e.rem(ids[0], across), blockX);
    Value rest = e.div(ids[0], across);
    row = e.mul(e.rem(rest, down), blockY);
    rest = e.div(rest, down);
    for (Value size : llvm::reverse(ArrayRef(sizes).drop_front())) {
      outer.insert(outer.begin(), e.rem(rest, size));
      rest = e.div(rest, size);
    }
    outer.insert(outer.begin(), rest);
    channel = e.mul(ids[1], blockO);
    firstInput = getFirstInput();
    return success();
  }

  /// Returns the columns that a block may have: those that divide a band; none
  /// is any number.
  SmallVector<int64_t> getColumns() {
    constexpr int64_t least = 32;
    SmallVector<int64_t> columns;
    for (int64_t size = op.getBand().value_or(0);
         size >= least && size % 2 == 0; size /= 2)
      columns.push_back(size);
    return columns;
  }

  /// Returns the first channel that the block reads.
  Value getFirstInput() {
    int64_t band = op.getBand().value_or(0), outputs = conv.groupOutputs,
            inputs = getKnown(conv.input.back()) / conv.groups;
    if (band == 0)
      return e.index(0);
    Value number = e.div(channel, e.index(band));
    // One factor shows more of the alignment of the elements.
    if (band % outputs == 0)
      return e.mul(number, e.index(band / outputs * inputs));
    return e.mul(e.div(e.mul(number, e.index(band)), e.index(outputs)),
                 e.index(inputs));
  }

  Value reshape(Value tile, ArrayRef<Value> sizes) {
    SmallVector<int64_t> statics(sizes.size(), ShapedType::kDynamic);
    return tile::ReshapeOp::create(
        e.builder(), e.loc(),
        RankedTensorType::get(statics, getElementTypeOrSelf(tile.getType())),
        tile, sizes, statics);
  }

  /// Returns the first row or column of the window.
  Value start(Value at, unsigned dim) {
    return e.sub(e.mul(at, e.index(op.getStrides()[dim])),
                 e.index(op.getPads()[dim]));
  }

  FailureOr<KernelEmitter::Carried> loopOverTaps() {
    Type sum = getAccumulatorType(
        getSignlessType(getElementTypeOrSelf(op.getResult())));
    Value zero = e.constant(cast<TypedAttr>(e.builder().getZeroAttr(sum)),
                            {Pixel, Output});
    return loopOverTaps({}, zero);
  }

  /// Emits the loops over the dims of the window that follow `taps`.
  FailureOr<KernelEmitter::Carried> loopOverTaps(ArrayRef<Value> taps,
                                                 ValueRange carried) {
    if (taps.size() == conv.spatial)
      return loopOverInputs(taps, carried);
    return e.loop(e.index(getKnown(conv.kernel(taps.size()))), e.index(1),
                  carried, [&](Value tap, ValueRange inner) {
                    SmallVector<Value> extended(taps);
                    extended.push_back(tap);
                    return loopOverTaps(extended, inner);
                  });
  }

  /// Returns the axis of a spatial dim, or -1 for a single position.
  int getAxis(unsigned dim) const {
    return dim + 1 == conv.spatial ? X : dim + 2 == conv.spatial ? Y : -1;
  }

  /// Returns the positions of the input for a tap, except the channels.
  DimRanges getWindow(ArrayRef<Value> taps) {
    ArrayRef<int64_t> strides = op.getStrides(), dilations = op.getDilations();
    SmallVector<Value> positions(ArrayRef(outer).drop_front());
    positions.append({row, column});
    DimRanges window{point(outer.front())};
    for (auto [dim, tap] : llvm::enumerate(taps)) {
      Value at = e.add(start(positions[dim], dim),
                       e.mul(tap, e.index(dilations[dim])));
      window.push_back(
          {at, getAxis(dim), getAxis(dim) < 0 ? 1 : strides[dim], 1});
    }
    return window;
  }

  FailureOr<KernelEmitter::Carried> loopOverInputs(ArrayRef<Value> taps,
                                                   ValueRange carried) {
    return e.loop(
        e.index(conv.groupInputs), blockC, carried,
        [&](Value c, ValueRange acc) -> FailureOr<KernelEmitter::Carried> {
          DimRanges window = getWindow(taps);
          window.push_back({e.add(firstInput, c), Input, 1, 1});
          auto lhs = e.emitOn(op.getInput(), window, {Y, X, Input});
          if (failed(lhs))
            return failure();
          DimRanges filter{{channel, Output, 1, 1}, {c, Input, 1, 1}};
          for (Value tap : taps)
            filter.push_back(point(tap));
          auto rhs = e.emitOn(op.getFilter(), filter, {Input, Output});
          if (failed(rhs))
            return failure();
          Value pixels = reshape(*lhs, {e.getAxisSize(Pixel), blockC});
          tile::ProductAttr product = getCompute(
              op.getInput(), op.getFilter(),
              getElementTypeOrSelf(acc[0].getType()), getPrecision(op));
          return KernelEmitter::Carried{
              createDot(e, pixels, *rhs, acc[0], product)};
        });
  }

  KernelEmitter &e;
  const ConvShape &conv;
  ConvOp op;
  Value blockY, blockX, blockO, blockC;
  SmallVector<Value> outer; // the image, and the depth of a volume
  Value row, column, channel, firstInput;
};

} // namespace

/// Returns the matrix unit of the first GPU for a product or convolution, or
/// null.
static tile::TargetUnitAttr findMatrixUnit(Operation *op) {
  tile::CudaTargetAttr gpu = tile::findCudaTarget(op);
  if (!gpu)
    return {};
  Type sum = getAccumulatorType(
      getSignlessType(getElementTypeOrSelf(op->getResult(0))));
  tile::ProductAttr product =
      getProduct(op->getOperand(0), op->getOperand(1), sum, getPrecision(op));
  return gpu.findUnit(product.getLhs(), product.getRhs(), product.getAcc());
}

/// Returns the columns of a panel in the layout of the unit.
static int64_t getPanel(tile::TargetUnitAttr unit) {
  // Rows have 128 bytes, as the unit reads shorter ones more slowly.
  constexpr int64_t rowBytes = 128;
  return rowBytes / tile::getElementBytes(unit);
}

AffineMap adze::packFilter(ConvOp op, int64_t panel, PackedGroup group) {
  MLIRContext *context = op.getContext();
  unsigned rank = getDims(op.getFilter()).size();
  tile::TargetUnitAttr unit = findMatrixUnit(op);
  // Tensor maps have five dims, which are those of a volume without panels.
  constexpr unsigned mostDims = 5;
  if (unit)
    panel = rank < mostDims ? getPanel(unit) : 0;
  if (!unit || !tile::readsAlongDepth(unit))
    return getFilterMap(context, rank, panel, /*inputsFirst=*/false, group);
  // [outputs, window.., inputs]
  SmallVector<AffineExpr> exprs{getAffineDimExpr(0, context)};
  for (unsigned dim = 2; dim < rank; ++dim)
    exprs.push_back(getAffineDimExpr(dim, context));
  exprs.push_back(getAffineDimExpr(1, context));
  return AffineMap::get(rank, 0, exprs, context);
}

AffineMap adze::packMatrix(MatmulOp op, int64_t panel, PackedGroup group) {
  MLIRContext *context = op.getContext();
  unsigned rank = getDims(op.getRhs()).size();
  tile::TargetUnitAttr unit = findMatrixUnit(op);
  if (!unit || !tile::readsAlongDepth(unit))
    return getPanelMap(context, rank, op.getTransposeB(),
                       unit ? getPanel(unit) : panel, group);
  return packAlongDepth(op);
}

/// Returns true if images have so few pixels that lines of them are enough
/// programs, and blocks would have more padding.
static bool hasFewPixels(const ConvShape &conv) {
  constexpr int64_t enough = 512;
  int64_t pixels = getKnown(
      product(conv.op.getContext(), ArrayRef(conv.result).drop_back()));
  return pixels >= 0 && pixels < enough;
}

bool adze::takesImageBlocks(const ConvShape &conv) {
  // Copies to shared memory have pixels that are multiples of 16 bytes.
  constexpr int64_t granule = 16;
  tile::TargetUnitAttr unit = findMatrixUnit(conv.op);
  Type element = getElementTypeOrSelf(conv.op.getInput());
  bool byThreads = !unit && element.isF32() && tile::findCudaTarget(conv.op) &&
                   !hasFewPixels(conv);
  int64_t bytes = unit        ? tile::getElementBytes(unit)
                  : byThreads ? int64_t(sizeof(float))
                              : 0;
  return bytes && conv.spatial >= 2 &&
         (conv.groups == 1 || conv.op.getBand()) &&
         getKnown(conv.input.back()) * bytes % granule == 0 &&
         !conv.hasPlanes();
}

LogicalResult adze::emitImageBlocks(KernelEmitter &e, const ConvShape &conv) {
  return BlockEmitter(e, conv).run();
}
