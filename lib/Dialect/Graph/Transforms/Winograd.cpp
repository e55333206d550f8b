// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// graph-winograd: computes 3x3 convolutions by Winograd's algorithm, if fewer
// multiplications outweigh the cost of the transforms.
#include "Dialect/Graph/IR/Winograd.h"
#include "Dialect/Graph/IR/Graph.h"
#include "Dialect/Graph/IR/Precision.h"
#include "Dialect/Graph/IR/Shape.h"
#include "Dialect/Graph/Transforms/Passes.h"
#include "Matching.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace adze::graph {
#define GEN_PASS_DEF_WINOGRADPASS
#include "Dialect/Graph/Transforms/Passes.h.inc"
} // namespace adze::graph

using namespace mlir;
using namespace adze;
using namespace adze::graph;

namespace {

uint64_t countElements(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.hasStaticShape() ? tensor.getNumElements() : 0;
}

/// Returns true if the value is computed from constants only, none much smaller
/// than the result, so that it is evaluated at compile time.
bool isConstantValue(Value value, unsigned depth = 16) {
  Operation *op = value.getDefiningOp();
  if (!op || depth == 0)
    return false;
  if (isa<ConstantOp>(op))
    return true;
  uint64_t read = 0;
  for (Type type : op->getOperandTypes())
    read += countElements(type);
  return isa_and_nonnull<GraphDialect>(op->getDialect()) &&
         countElements(value.getType()) <= 2 * read && isMemoryEffectFree(op) &&
         llvm::all_of(op->getOperands(), [&](Value operand) {
           return isConstantValue(operand, depth - 1);
         });
}

/// Returns true for a channels-last convolution by windows of 3x3 elements.
bool isTransformable(ConvOp op) {
  Dims filter = getDims(op.getFilter());
  auto isOne = [](int64_t value) { return value == 1; };
  return op.getLayout() == Layout::NHWC && getRank(op.getInput()) == 4 &&
         op.getGroup() == 1 &&
         getElement(op.getFilter()) == getElement(op.getInput()) &&
         llvm::all_of(op.getStrides(), isOne) &&
         llvm::all_of(op.getDilations(), isOne) &&
         llvm::all_of(op.getPads(), [](int64_t pad) { return pad >= 0; }) &&
         getConstant(filter[2]) == Winograd::taps &&
         getConstant(filter[3]) == Winograd::taps;
}

/// Returns the estimated microseconds that a GPU saves if it transforms patches
/// and the filter, multiplies them, and transforms the products, fitted to 13
/// convolutions of f32 on an H200
/// (benchmarks/results/gpu-winograd-2026-11-30.md). Returns none if a size is
/// dynamic, except for the number of images, or if patches and products take
/// too much memory.
std::optional<double> getSavedTime(ConvOp op, int64_t tile,
                                   tile::CudaTargetAttr target) {
  constexpr double directRate = 30e6, productRate = 33e6, byteRate = 6e6,
                   launches = 9, ofDepth = 0.1 / 16, measuredOn = 132;
  constexpr int64_t someImages = 8, blockRows = 32, blockColumns = 32;
  constexpr double elementBytes = 4, mostBytes = 1 << 30;
  Dims result = getDims(op.getResult()), filter = getDims(op.getFilter());
  auto height = getConstant(result[1]), width = getConstant(result[2]),
       outputs = getConstant(filter[0]), inputs = getConstant(filter[1]);
  if (!height || !width || !outputs || !inputs)
    return std::nullopt;
  int64_t images = getConstant(result[0]).value_or(someImages),
          pixels = images * *height * *width,
          patches = images * llvm::divideCeil(*height, tile) *
                    llvm::divideCeil(*width, tile),
          places = (tile + 2) * (tile + 2), channels = *inputs + *outputs,
          filters = *inputs * *outputs;
  double moved = double(places * patches * channels) * elementBytes,
         bytes = double(pixels * channels +
                        filters * (Winograd::window + 2 * places)) *
                     elementBytes +
                 2 * moved;
  if (moved > mostBytes)
    return std::nullopt;
  double speed = double(target.getMultiprocessors()) / measuredOn;
  double direct =
      2.0 * double(pixels * filters * Winograd::window) / (directRate * speed) +
      double(*inputs * Winograd::window) * ofDepth;
  double products =
      2.0 * double(llvm::alignTo(patches, blockRows) * places * *inputs) *
      double(llvm::alignTo(*outputs, blockColumns)) / (productRate * speed);
  return direct - products - bytes / (byteRate * speed) - launches;
}

class WinogradPass final
    : public adze::graph::impl::WinogradPassBase<WinogradPass> {
public:
  using WinogradPassBase::WinogradPassBase;

  void runOnOperation() override {
    tile::CpuTargetAttr target = tile::getCpuTarget(getOperation());
    tile::CudaTargetAttr gpu = tile::findCudaTarget(getOperation());
    SmallVector<ConvOp> convs;
    getOperation().walk([&](ConvOp op) {
      if (isTransformable(op))
        convs.push_back(op);
    });
    for (ConvOp op : convs) {
      int64_t tile = gpu ? chooseTile(op, gpu) : chooseTile(op, target);
      if (tile == 0)
        continue;
      if (gpu)
        rewriteForGpu(op, tile);
      else
        rewrite(op, Winograd(tile));
      ++(tile == 2 ? numSmall : numLarge);
    }
  }

private:
  /// Returns the tile, or 0 for direct convolution. Transformed filters of
  /// narrow elements are rounded, which the factors of tiles of 4 would
  /// magnify.
  int64_t chooseTile(ConvOp op, tile::CpuTargetAttr target) {
    auto sizes = getWinogradSizes(op.getInput(), op.getResult(), target);
    if (!sizes || !isConstantValue(op.getFilter()))
      return 0;
    SmallVector<int64_t> tiles{2};
    if (sizes->filterBytes == sizeof(float))
      tiles.push_back(4);
    if (forced >= 0)
      return llvm::is_contained(tiles, forced) ? int64_t(forced) : 0;
    int64_t best = 0;
    double cost = 0.9 * getDirectCost(*sizes); // only if the advantage is clear
    for (int64_t tile : tiles) {
      double own = planWinograd(*sizes, tile, target).cost;
      if (own < cost) {
        best = tile;
        cost = own;
      }
    }
    return best;
  }

  /// Returns the tile, or 0 for direct convolution. Units of GPUs multiply
  /// narrow elements faster than these could be transformed.
  int64_t chooseTile(ConvOp op, tile::CudaTargetAttr target) {
    Dims size = getDims(op.getResult());
    if (!getElement(op.getFilter()).isF32() || getPrecision(op) ||
        getConstant(size[1]).value_or(0) < 1 ||
        getConstant(size[2]).value_or(0) < 1)
      return 0;
    if (forced >= 0)
      return Winograd::isTile(forced) ? int64_t(forced) : 0;
    // Tiles of 2 took longer in all measurements.
    constexpr int64_t tile = 4;
    constexpr double least = 2;
    return getSavedTime(op, tile, target).value_or(0) > least ? tile : 0;
  }

  /// Replaces the convolution by a product for each place of the patches.
  /// Kernels compute the filters in each run, as they are larger than those of
  /// the convolution.
  void rewriteForGpu(ConvOp op, int64_t tile) {
    OpBuilder b(op);
    Location loc = op.getLoc();
    Dims size = getDims(op.getResult());
    Value patches =
        WinogradInputOp::create(b, loc, op.getInput(), tile, op.getPads());
    Value filter = WinogradFilterOp::create(b, loc, op.getFilter(), tile);
    // The patches of all images are the rows of a product.
    Dims places = getDims(patches),
         rows{places.front(), places[1] * places[2] * places[3], places.back()};
    Value merged =
        ReshapeOp::create(b, loc, makeType(getElement(patches), rows), patches);
    Value products = MatmulOp::create(b, loc, merged, filter);
    places.back() = size.back();
    products = ReshapeOp::create(b, loc, makeType(getElement(products), places),
                                 products);
    Value result = WinogradOutputOp::create(
        b, loc, op.getResult().getType(), products, tile,
        ArrayRef<int64_t>{*getConstant(size[1]), *getConstant(size[2])});
    if (op.getBias())
      result =
          AddOp::create(b, loc, op.getResult().getType(), result, op.getBias());
    op.getResult().replaceAllUsesWith(result);
    op.erase();
  }

  static RankedTensorType makeStatic(ArrayRef<int64_t> shape,
                                     MLIRContext *context) {
    return RankedTensorType::get(shape, Float32Type::get(context));
  }

  /// Returns the matrix [products, window] that transforms a window, `G g G^T`.
  /// With `keepsTaps`, rows of the identity follow.
  static DenseElementsAttr getMatrix(Builder &b, const Winograd &winograd,
                                     bool keepsTaps) {
    int64_t size = winograd.size, products = size * size;
    int64_t rows = products + (keepsTaps ? Winograd::window : 0);
    SmallVector<float> matrix;
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t tap = 0; tap < Winograd::window; ++tap)
        matrix.push_back(
            i >= products
                ? float(i - products == tap)
                : float(winograd.filter[i / size][tap / Winograd::taps] *
                        winograd.filter[i % size][tap % Winograd::taps]));
    return DenseElementsAttr::get(
        makeStatic({rows, Winograd::window}, b.getContext()),
        ArrayRef<float>(matrix));
  }

  /// Multiplies the windows of the filter [O, C, 3, 3] by the matrix at compile
  /// time, by ops on constants. The result is [rows, C, O].
  static Value multiplyWindows(OpBuilder &b, Location loc, Value filter,
                               DenseElementsAttr matrix) {
    MLIRContext *context = b.getContext();
    auto shape = cast<RankedTensorType>(filter.getType()).getShape();
    int64_t outputs = shape[0], inputs = shape[1],
            rows = matrix.getType().getDimSize(0);
    Value both = ConstantOp::create(b, loc, matrix);
    Value flat = ReshapeOp::create(
        b, loc, makeStatic({outputs * inputs, Winograd::window}, context),
        filter);
    Value product =
        MatmulOp::create(b, loc, makeStatic({outputs * inputs, rows}, context),
                         flat, both, /*transpose_a=*/false,
                         /*transpose_b=*/true);
    Value split = ReshapeOp::create(
        b, loc, makeStatic({outputs, inputs, rows}, context), product);
    return TransposeOp::create(b, loc, split, ArrayRef<int64_t>{2, 1, 0});
  }

  /// Returns the transformed filter. The run time computes one that is larger
  /// than the constant. A filter that was rounded is transformed before.
  static Value transformFilter(OpBuilder &b, Location loc, Value filter,
                               DenseElementsAttr matrix) {
    Type element = getElement(filter), f32 = b.getF32Type();
    if (filter.getDefiningOp<ConstantOp>())
      return TransformFilterOp::create(b, loc, filter, matrix);
    Value wide = filter;
    auto rounded = filter.getDefiningOp<CastOp>();
    if (rounded && getElement(rounded.getInput()) == f32)
      wide = rounded.getInput();
    else if (element != f32)
      wide = CastOp::create(b, loc, makeType(f32, getDims(filter)), filter);
    Value result = multiplyWindows(b, loc, wide, matrix);
    if (element == f32)
      return result;
    return CastOp::create(b, loc, makeType(element, getDims(result)), result);
  }

  void rewrite(ConvOp op, const Winograd &winograd) {
    OpBuilder b(op);
    Location loc = op.getLoc();
    // The number of patches is dynamic.
    Dims sizes = getDims(op.getResult());
    bool keepsTaps = !getConstant(sizes[1]) || !getConstant(sizes[2]);
    Value weights = transformFilter(b, loc, op.getFilter(),
                                    getMatrix(b, winograd, keepsTaps));
    Value result = WinogradConvOp::create(b, loc, op.getResult().getType(),
                                          op.getInput(), weights, winograd.tile,
                                          op.getPads(), op.getWideResult());
    if (op.getBias())
      result =
          AddOp::create(b, loc, op.getResult().getType(), result, op.getBias());
    op.getResult().replaceAllUsesWith(result);
    op.erase();
  }
};

} // namespace
