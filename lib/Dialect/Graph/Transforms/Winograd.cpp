// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// graph-winograd: computes 3x3 convolutions by Winograd's algorithm, if fewer
// multiplications outweigh the cost of the transforms.
#include "Dialect/Graph/IR/Winograd.h"
#include "Dialect/Graph/IR/Graph.h"
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

std::optional<WinogradSizes> getSizes(ConvOp op, tile::CpuTargetAttr target) {
  Dims filter = getDims(op.getFilter());
  auto isOne = [](int64_t value) { return value == 1; };
  if (op.getLayout() != Layout::NHWC || getRank(op.getInput()) != 4 ||
      op.getGroup() != 1 ||
      getElement(op.getFilter()) != getElement(op.getInput()) ||
      !llvm::all_of(op.getStrides(), isOne) ||
      !llvm::all_of(op.getDilations(), isOne) ||
      !llvm::all_of(op.getPads(), [](int64_t pad) { return pad >= 0; }) ||
      getConstant(filter[2]) != Winograd::taps ||
      getConstant(filter[3]) != Winograd::taps ||
      !isConstantValue(op.getFilter()))
    return std::nullopt;
  return getWinogradSizes(op.getInput(), op.getResult(), target);
}

class WinogradPass final
    : public adze::graph::impl::WinogradPassBase<WinogradPass> {
public:
  using WinogradPassBase::WinogradPassBase;

  void runOnOperation() override {
    // The plans and costs are those of CPUs.
    if (forced < 0 && tile::findCudaTarget(getOperation()))
      return;
    tile::CpuTargetAttr target = tile::getCpuTarget(getOperation());
    SmallVector<ConvOp> convs;
    getOperation().walk([&](ConvOp op) { convs.push_back(op); });
    for (ConvOp op : convs) {
      std::optional<WinogradSizes> sizes = getSizes(op, target);
      int64_t tile = sizes ? chooseTile(*sizes, target) : 0;
      if (tile == 0)
        continue;
      rewrite(op, Winograd(tile));
      ++(tile == 2 ? numSmall : numLarge);
    }
  }

private:
  /// Returns the tile, or 0 for direct convolution. Transformed filters of
  /// narrow elements are rounded, which the factors of tiles of 4 would
  /// magnify.
  int64_t chooseTile(const WinogradSizes &sizes, tile::CpuTargetAttr target) {
    SmallVector<int64_t> tiles{2};
    if (sizes.filterBytes == sizeof(float))
      tiles.push_back(4);
    if (forced >= 0)
      return llvm::is_contained(tiles, forced) ? int64_t(forced) : 0;
    int64_t best = 0;
    double cost = 0.9 * getDirectCost(sizes); // only if the advantage is clear
    for (int64_t tile : tiles) {
      double own = planWinograd(sizes, tile, target).cost;
      if (own < cost) {
        best = tile;
        cost = own;
      }
    }
    return best;
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
