// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// graph-fold-batch-norm: batch normalisation at inference is x * s + t with
// constants s and t. It is folded into the weights of an adjacent linear op, or
// lowered to a multiply-add.
#include "Dialect/Graph/Transforms/Passes.h"
#include "Fusion.h"
#include "LinearFolds.h"
#include "Refusals.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace adze::graph {
#define GEN_PASS_DEF_FOLDBATCHNORMPASS
#include "Dialect/Graph/Transforms/Passes.h.inc"
} // namespace adze::graph

using namespace mlir;
using namespace adze::graph;

namespace {

/// x * scale + shift of a batch normalisation, with one element for each
/// channel.
struct Affine {
  Value scale, shift;
};

Affine getAffine(OpBuilder &builder, BatchNormOp norm) {
  Location loc = norm.getLoc();
  auto type = cast<RankedTensorType>(norm.getVariance().getType());
  auto scalar = RankedTensorType::get({}, type.getElementType());
  Value epsilon = ConstantOp::create(
      builder, loc,
      DenseElementsAttr::get(
          scalar, builder.getFloatAttr(type.getElementType(),
                                       norm.getEpsilon().convertToDouble())));
  Value variance = AddOp::create(builder, loc, norm.getVariance(), epsilon);
  Value deviation = SqrtOp::create(builder, loc, variance);
  Value scale = DivOp::create(builder, loc, norm.getScale(), deviation);
  Value centre = MulOp::create(builder, loc, norm.getMean(), scale);
  return {scale, SubOp::create(builder, loc, norm.getBias(), centre)};
}

bool hasConstantStatistics(BatchNormOp norm) {
  return isConstant(norm.getScale()) && isConstant(norm.getBias()) &&
         isConstant(norm.getMean()) && isConstant(norm.getVariance());
}

/// Returns bias * scale + shift, or the shift without a bias.
Value scaleBias(OpBuilder &builder, Value bias, const Affine &affine) {
  if (!bias)
    return affine.shift;
  Location loc = bias.getLoc();
  Value scaled = MulOp::create(builder, loc, bias, affine.scale);
  return AddOp::create(builder, loc, scaled, affine.shift);
}

/// batch_norm(conv(x, w, b)) -> conv(x, w * s, b * s + t).
class FoldIntoConvBefore final : public OpRewritePattern<BatchNormOp> {
public:
  FoldIntoConvBefore(MLIRContext *context, Pass::Statistic &folded)
      : OpRewritePattern(context, /*benefit=*/3), folded(folded) {}

  LogicalResult matchAndRewrite(BatchNormOp norm,
                                PatternRewriter &rewriter) const override {
    auto conv = norm.getInput().getDefiningOp<ConvOp>();
    if (!conv || !conv->hasOneUse() || !isConstant(conv.getFilter()) ||
        !hasConstantStatistics(norm) ||
        norm.getAxis() != uint64_t(getChannelAxis(conv)))
      return rewriter.notifyMatchFailure(
          norm, "the input is not a convolution with a constant filter");
    Affine affine = getAffine(rewriter, norm);
    int64_t rank = cast<RankedTensorType>(conv.getFilter().getType()).getRank();
    Value filter =
        MulOp::create(rewriter, conv.getLoc(), conv.getFilter(),
                      alongAxis(rewriter, affine.scale, /*axis=*/0, rank));
    Value bias = scaleBias(rewriter, conv.getBias(), affine);
    Operation *fused = rewriter.clone(*conv);
    fused->setLoc(rewriter.getFusedLoc({conv.getLoc(), norm.getLoc()}));
    auto newConv = cast<ConvOp>(fused);
    newConv.getFilterMutable().assign(filter);
    newConv.getBiasMutable().assign(bias);
    rewriter.replaceOp(norm, fused);
    ++folded;
    return success();
  }

private:
  Pass::Statistic &folded;
};

/// batch_norm(conv_transpose(x, w, b)) -> conv_transpose(x, w * s, b * s + t).
class FoldIntoTransposeBefore final : public OpRewritePattern<BatchNormOp> {
public:
  FoldIntoTransposeBefore(MLIRContext *context, Pass::Statistic &folded)
      : OpRewritePattern(context, /*benefit=*/3), folded(folded) {}

  LogicalResult matchAndRewrite(BatchNormOp norm,
                                PatternRewriter &rewriter) const override {
    auto conv = norm.getInput().getDefiningOp<ConvTransposeOp>();
    if (!conv || !conv->hasOneUse() || !isConstant(conv.getFilter()) ||
        !hasConstantStatistics(norm) ||
        norm.getAxis() != uint64_t(getChannelAxis(conv)))
      return rewriter.notifyMatchFailure(
          norm,
          "the input is not a transposed convolution with a constant filter");
    Affine affine = getAffine(rewriter, norm);
    Value filter = scaleSecond(rewriter, conv.getLoc(), conv.getFilter(),
                               affine.scale, conv.getGroup());
    Value bias = scaleBias(rewriter, conv.getBias(), affine);
    auto fused = cast<ConvTransposeOp>(rewriter.clone(*conv));
    fused->setLoc(rewriter.getFusedLoc({conv.getLoc(), norm.getLoc()}));
    fused.getFilterMutable().assign(filter);
    fused.getBiasMutable().assign(bias);
    rewriter.replaceOp(norm, fused);
    ++folded;
    return success();
  }

private:
  Pass::Statistic &folded;
};

/// batch_norm(matmul(x, w)) over the last dim -> matmul(x, w * s) + t, and over
/// the one before with a constant left operand.
class FoldIntoMatmulBefore final : public OpRewritePattern<BatchNormOp> {
public:
  FoldIntoMatmulBefore(MLIRContext *context, Pass::Statistic &folded)
      : OpRewritePattern(context, /*benefit=*/3), folded(folded) {}

  LogicalResult matchAndRewrite(BatchNormOp norm,
                                PatternRewriter &rewriter) const override {
    Value input = norm.getInput(), bias;
    if (auto add = input.getDefiningOp<AddOp>();
        add && add->hasOneUse() && isConstant(add.getRhs())) {
      input = add.getLhs();
      bias = add.getRhs();
    }
    auto matmul = input.getDefiningOp<MatmulOp>();
    if (!matmul || !matmul->hasOneUse() || !hasConstantStatistics(norm) ||
        matmul.getType() != norm.getType())
      return rewriter.notifyMatchFailure(
          norm,
          "the input is not a matmul, or the statistics are not constant");
    for (const ProductWeight &weight : getProductWeights(matmul))
      if (apply(norm, matmul, weight, bias, rewriter)) {
        ++folded;
        return success();
      }
    return rewriter.notifyMatchFailure(
        norm, "the normalised axis is not a dim of a constant weight");
  }

private:
  static bool apply(BatchNormOp norm, MatmulOp matmul,
                    const ProductWeight &place, Value bias,
                    PatternRewriter &rewriter) {
    Value weight = matmul->getOperand(place.operand);
    int64_t rank = cast<RankedTensorType>(norm.getType()).getRank();
    AffineExpr channels = getDims(norm.getResult())[place.axis];
    if (int64_t(norm.getAxis()) != place.axis || !isConstant(weight) ||
        (bias && !isChannelVector(bias, place.axis, rank, channels)))
      return false;
    if (bias)
      bias = getChannelVector(rewriter, bias, place.axis, rank, channels);
    Affine affine = getAffine(rewriter, norm);
    rewriter.replaceOp(norm, scaleProduct(rewriter, norm.getLoc(), matmul,
                                          place, affine.scale,
                                          scaleBias(rewriter, bias, affine)));
    return true;
  }

  Pass::Statistic &folded;
};

/// batch_norm(transpose(matmul(x, w))) -> transpose(batch_norm(matmul(x, w))),
/// where it can be folded into the constant w.
class MoveBeforeTranspose final : public OpRewritePattern<BatchNormOp> {
public:
  explicit MoveBeforeTranspose(MLIRContext *context)
      : OpRewritePattern(context, /*benefit=*/3) {}

  LogicalResult matchAndRewrite(BatchNormOp norm,
                                PatternRewriter &rewriter) const override {
    auto [transpose, matmul] = getTransposedProduct(norm.getInput());
    if (!matmul || !hasConstantStatistics(norm))
      return rewriter.notifyMatchFailure(
          norm, "the input is not a transposed matmul, or the statistics are "
                "not constant");
    int64_t axis = transpose.getPerm()[norm.getAxis()];
    bool folds = llvm::any_of(
        getProductWeights(matmul), [&, matmul = matmul](ProductWeight weight) {
          return weight.axis == axis &&
                 isConstant(matmul->getOperand(weight.operand));
        });
    if (!folds)
      return rewriter.notifyMatchFailure(
          norm, "the normalised axis is not a dim of a constant weight");
    auto moved = cast<BatchNormOp>(rewriter.clone(*norm));
    moved.getInputMutable().assign(transpose.getInput());
    moved.setAxis(axis);
    moved.getResult().setType(
        cast<RankedTensorType>(transpose.getInput().getType()));
    rewriter.replaceOpWithNewOp<TransposeOp>(
        norm, norm.getType(), moved.getResult(), transpose.getPerm());
    return success();
  }
};

/// Returns the normalisation of dim `axis` whose only user is a linear op with
/// this weight, if it can be folded into the weight, or null.
static BatchNormOp getNormBefore(Value input, Value weight, int64_t axis) {
  auto norm = input.getDefiningOp<BatchNormOp>();
  bool folds = norm && norm->hasOneUse() && hasConstantStatistics(norm) &&
               isConstant(weight) && int64_t(norm.getAxis()) == axis;
  return folds ? norm : BatchNormOp();
}

/// conv(batch_norm(x), w, b) -> conv(x, w * s, b + sum(w * t)), without
/// padding, as the padding is 0 after the normalisation, not before it.
class FoldIntoConvAfter final : public OpRewritePattern<ConvOp> {
public:
  FoldIntoConvAfter(MLIRContext *context, Pass::Statistic &folded)
      : OpRewritePattern(context, /*benefit=*/2), folded(folded) {}

  LogicalResult matchAndRewrite(ConvOp conv,
                                PatternRewriter &rewriter) const override {
    auto norm =
        getNormBefore(conv.getInput(), conv.getFilter(), getChannelAxis(conv));
    if (!norm ||
        llvm::any_of(conv.getPads(), [](int64_t pad) { return pad != 0; }))
      return rewriter.notifyMatchFailure(
          conv, "the input is not a normalisation that can be folded");
    Location loc = conv.getLoc();
    Affine affine = getAffine(rewriter, norm);
    Value filter = conv.getFilter();
    int64_t rank = cast<RankedTensorType>(filter.getType()).getRank();
    Value scaled =
        scaleSecond(rewriter, loc, filter, affine.scale, conv.getGroup());
    Value shifted =
        scaleSecond(rewriter, loc, filter, affine.shift, conv.getGroup());
    SmallVector<int64_t> axes = llvm::to_vector(llvm::seq<int64_t>(1, rank));
    Value bias = ReduceSumOp::create(rewriter, loc, shifted, axes,
                                     /*keepdims=*/false);
    if (conv.getBias())
      bias = AddOp::create(rewriter, loc, conv.getBias(), bias);
    rewriter.modifyOpInPlace(conv, [&] {
      conv.getInputMutable().assign(norm.getInput());
      conv.getFilterMutable().assign(scaled);
      conv.getBiasMutable().assign(bias);
      conv->setLoc(rewriter.getFusedLoc({norm.getLoc(), loc}));
    });
    ++folded;
    return success();
  }

private:
  Pass::Statistic &folded;
};

/// conv_transpose(batch_norm(x), w, b) -> conv_transpose(x, w * s, b) + c,
/// where c is the transposed convolution of the shifts of one image, which
/// differs at the border. If the kernel that computes x can fuse the
/// normalisation, it is free there, and c would not be.
class FoldIntoTransposeAfter final : public OpRewritePattern<ConvTransposeOp> {
public:
  FoldIntoTransposeAfter(MLIRContext *context, Pass::Statistic &folded)
      : OpRewritePattern(context, /*benefit=*/2), folded(folded) {}

  LogicalResult matchAndRewrite(ConvTransposeOp conv,
                                PatternRewriter &rewriter) const override {
    auto norm =
        getNormBefore(conv.getInput(), conv.getFilter(), getChannelAxis(conv));
    if (!norm)
      return rewriter.notifyMatchFailure(
          conv, "the input is not a normalisation that can be folded");
    Operation *source = norm.getInput().getDefiningOp();
    if (source && (hasEpilogue(source) || isPointwise(source)))
      return nearMiss(
          rewriter, conv,
          "the normalisation is fused into the kernel of its producer");
    Dims image = getDims(norm.getInput()), result = getDims(conv.getResult());
    image[0] = result[0] = rewriter.getAffineConstantExpr(1);
    auto elements = getConstant(product(getContext(), image)),
         added = getConstant(product(getContext(), result));
    if (!elements || !added)
      return nearMiss(rewriter, conv, "the image has a dynamic size");
    // A separate launch would read and write x.
    if (*added > 2 * *elements)
      return nearMiss(rewriter, conv,
                      "the shifts have more elements than twice the input");
    Location loc = conv.getLoc();
    Affine affine = getAffine(rewriter, norm);
    int64_t rank = image.size(), axis = norm.getAxis();
    Value filter = conv.getFilter();
    Value scaled = MulOp::create(rewriter, loc, filter,
                                 alongAxis(rewriter, affine.scale, 0, rank));
    Type element = getElementTypeOrSelf(filter);
    Value shifts =
        BroadcastToOp::create(rewriter, loc, makeType(element, image),
                              alongAxis(rewriter, affine.shift, axis, rank));
    auto shifted = cast<ConvTransposeOp>(rewriter.clone(*conv));
    shifted.getInputMutable().assign(shifts);
    shifted.getBiasMutable().clear();
    shifted.getResult().setType(makeType(element, result));
    auto sum = cast<ConvTransposeOp>(rewriter.clone(*conv));
    sum.getInputMutable().assign(norm.getInput());
    sum.getFilterMutable().assign(scaled);
    sum->setLoc(rewriter.getFusedLoc({norm.getLoc(), loc}));
    rewriter.replaceOpWithNewOp<AddOp>(conv, sum.getResult(),
                                       shifted.getResult());
    ++folded;
    return success();
  }

private:
  Pass::Statistic &folded;
};

/// matmul(batch_norm(x), w) over the last dim -> matmul(x, w * s) + t w.
class FoldIntoMatmulAfter final : public OpRewritePattern<MatmulOp> {
public:
  FoldIntoMatmulAfter(MLIRContext *context, Pass::Statistic &folded)
      : OpRewritePattern(context, /*benefit=*/2), folded(folded) {}

  LogicalResult matchAndRewrite(MatmulOp matmul,
                                PatternRewriter &rewriter) const override {
    Value lhs = matmul.getLhs(), weight = matmul.getRhs();
    auto type = cast<RankedTensorType>(weight.getType());
    int64_t last = cast<RankedTensorType>(lhs.getType()).getRank() - 1;
    auto norm = getNormBefore(lhs, weight, last);
    if (!norm || type.getRank() != 2 || matmul.getTransposeA())
      return rewriter.notifyMatchFailure(
          matmul, "the input is not a normalisation that can be folded");
    Location loc = matmul.getLoc();
    Affine affine = getAffine(rewriter, norm);
    int64_t depth = matmul.getTransposeB() ? 1 : 0;
    Value scaled = MulOp::create(rewriter, loc, weight,
                                 alongAxis(rewriter, affine.scale, depth, 2));
    Value shifted = MulOp::create(rewriter, loc, weight,
                                  alongAxis(rewriter, affine.shift, depth, 2));
    Value bias =
        ReduceSumOp::create(rewriter, loc, shifted, ArrayRef<int64_t>{depth},
                            /*keepdims=*/false);
    auto product = cast<MatmulOp>(rewriter.clone(*matmul));
    product.getLhsMutable().assign(norm.getInput());
    product.getRhsMutable().assign(scaled);
    product->setLoc(rewriter.getFusedLoc({norm.getLoc(), loc}));
    rewriter.replaceOpWithNewOp<AddOp>(matmul, product.getResult(), bias);
    ++folded;
    return success();
  }

private:
  Pass::Statistic &folded;
};

/// Lowers the remaining ones to x * s + t.
class LowerToMultiplyAdd final : public OpRewritePattern<BatchNormOp> {
public:
  LowerToMultiplyAdd(MLIRContext *context, Pass::Statistic &lowered)
      : OpRewritePattern(context, /*benefit=*/1), lowered(lowered) {}

  LogicalResult matchAndRewrite(BatchNormOp norm,
                                PatternRewriter &rewriter) const override {
    Location loc = norm.getLoc();
    Affine affine = getAffine(rewriter, norm);
    // The result has the size of the input, even if dims are dynamic.
    auto spread = [&](Value vector) -> Value {
      Dims input = getDims(norm.getInput());
      int64_t axis = norm.getAxis();
      Dims dims(input.size(), getAffineConstantExpr(1, getContext()));
      dims[axis] = input[axis];
      Type element = getElementTypeOrSelf(vector);
      return ReshapeOp::create(rewriter, loc, makeType(element, dims), vector);
    };
    Value scaled =
        MulOp::create(rewriter, loc, norm.getInput(), spread(affine.scale));
    rewriter.replaceOpWithNewOp<AddOp>(norm, scaled, spread(affine.shift));
    ++lowered;
    return success();
  }

private:
  Pass::Statistic &lowered;
};

class FoldBatchNormPass final
    : public adze::graph::impl::FoldBatchNormPassBase<FoldBatchNormPass> {
public:
  using FoldBatchNormPassBase::FoldBatchNormPassBase;

  void runOnOperation() override {
    MLIRContext *context = &getContext();
    // All are folded before any is lowered, as lowered ones do not fold.
    RewritePatternSet fold(context), lower(context);
    fold.add<FoldIntoConvBefore, FoldIntoTransposeBefore, FoldIntoMatmulBefore,
             FoldIntoConvAfter, FoldIntoTransposeAfter, FoldIntoMatmulAfter>(
        context, folded);
    fold.add<MoveBeforeTranspose>(context);
    addScaleFolds(fold, folded);
    addSumFolds(fold, folded);
    lower.add<LowerToMultiplyAdd>(context, lowered);
    NearMisses misses;
    if (failed(applyPatternsGreedily(getOperation(), std::move(fold),
                                     misses.getConfig())) ||
        failed(applyPatternsGreedily(getOperation(), std::move(lower))))
      signalPassFailure();
    misses.report(getOperation());
  }
};

} // namespace
