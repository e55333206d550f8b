// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// graph-winograd: computes 3x3 convolutions by Winograd's algorithm, if fewer
// multiplications outweigh the cost of the transforms.
#include "Dialect/Graph/IR/Winograd.h"
#include "Dialect/Graph/IR/Graph.h"
#include "Dialect/Graph/IR/Shape.h"
#include "Dialect/Graph/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace adze::graph {
#define GEN_PASS_DEF_WINOGRADPASS
#include "Dialect/Graph/Transforms/Passes.h.inc"
} // namespace adze::graph

using namespace mlir;
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

std::optional<WinogradSizes> getSizes(ConvOp op) {
  Dims input = getDims(op.getInput()), filter = getDims(op.getFilter()),
       result = getDims(op.getResult());
  auto isOne = [](int64_t value) { return value == 1; };
  auto type = cast<RankedTensorType>(op.getInput().getType());
  if (op.getLayout() != Layout::NHWC || input.size() != 4 ||
      op.getGroup() != 1 || !type.getElementType().isF32() ||
      !llvm::all_of(op.getStrides(), isOne) ||
      !llvm::all_of(op.getDilations(), isOne) ||
      !llvm::all_of(op.getPads(), [](int64_t pad) { return pad >= 0; }) ||
      getConstant(filter[2]) != Winograd::taps ||
      getConstant(filter[3]) != Winograd::taps ||
      !isConstantValue(op.getFilter()))
    return std::nullopt;
  return getWinogradSizes(result, filter[1]);
}

class WinogradPass final
    : public adze::graph::impl::WinogradPassBase<WinogradPass> {
public:
  using WinogradPassBase::WinogradPassBase;

  void runOnOperation() override {
    SmallVector<ConvOp> convs;
    getOperation().walk([&](ConvOp op) { convs.push_back(op); });
    for (ConvOp op : convs) {
      std::optional<WinogradSizes> sizes = getSizes(op);
      int64_t tile = sizes ? chooseTile(*sizes) : 0;
      if (tile == 0)
        continue;
      rewrite(op, Winograd(tile));
      ++(tile == 2 ? numSmall : numLarge);
    }
  }

private:
  int64_t chooseTile(const WinogradSizes &sizes) {
    if (forced >= 0)
      return forced;
    // The plans and costs are those of CPUs.
    if (adze::tile::findCudaTarget(getOperation()))
      return 0;
    int64_t best = 0;
    double cost = 0.9 * getDirectCost(sizes); // only if the advantage is clear
    auto target = adze::tile::getCpuTarget(getOperation());
    for (int64_t tile : {2, 4}) {
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

  /// Transforms the filter [O, C, 3, 3] to [products, C, O]: `G g G^T`, as one
  /// matmul. With `keepsTaps`, the untransformed taps follow.
  static Value transformFilter(OpBuilder &b, Location loc, Value filter,
                               const Winograd &winograd, bool keepsTaps) {
    MLIRContext *context = b.getContext();
    auto shape = cast<RankedTensorType>(filter.getType()).getShape();
    int64_t outputs = shape[0], inputs = shape[1], size = winograd.size;
    int64_t products = size * size;
    SmallVector<float> matrix; // [taps * taps][products]
    for (int64_t tap = 0; tap < Winograd::window; ++tap)
      for (int64_t i = 0; i < products; ++i)
        matrix.push_back(
            float(winograd.filter[i / size][tap / Winograd::taps] *
                  winograd.filter[i % size][tap % Winograd::taps]));
    auto matrixType = makeStatic({Winograd::window, products}, context);
    Value both = ConstantOp::create(
        b, loc, DenseElementsAttr::get(matrixType, ArrayRef<float>(matrix)));
    Value flat = ReshapeOp::create(
        b, loc, makeStatic({outputs * inputs, Winograd::window}, context),
        filter);
    Value product = MatmulOp::create(
        b, loc, makeStatic({outputs * inputs, products}, context), flat, both,
        /*transpose_a=*/false, /*transpose_b=*/false);
    auto lastFirst = [&](Value matrices, int64_t count) -> Value {
      Value split = ReshapeOp::create(
          b, loc, makeStatic({outputs, inputs, count}, context), matrices);
      return TransposeOp::create(b, loc, split, ArrayRef<int64_t>{2, 1, 0});
    };
    Value result = lastFirst(product, products);
    if (!keepsTaps)
      return result;
    return ConcatOp::create(
        b, loc,
        makeStatic({products + Winograd::window, inputs, outputs}, context),
        ValueRange{result, lastFirst(filter, Winograd::window)}, /*axis=*/0);
  }

  void rewrite(ConvOp op, const Winograd &winograd) {
    OpBuilder b(op);
    Location loc = op.getLoc();
    // The number of patches is dynamic.
    Dims sizes = getDims(op.getResult());
    bool keepsTaps = !getConstant(sizes[1]) || !getConstant(sizes[2]);
    Value weights =
        transformFilter(b, loc, op.getFilter(), winograd, keepsTaps);
    Value result =
        WinogradConvOp::create(b, loc, op.getResult().getType(), op.getInput(),
                               weights, winograd.tile, op.getPads());
    if (op.getBias())
      result =
          AddOp::create(b, loc, op.getResult().getType(), result, op.getBias());
    op.getResult().replaceAllUsesWith(result);
    op.erase();
  }
};

} // namespace
