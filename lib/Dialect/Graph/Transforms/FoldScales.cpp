// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Folds factors and summands of channels before or after convolutions and
// matmuls into their weights: those of lowered normalisations, and scales that
// exporters write.
#include "LinearFolds.h"

using namespace mlir;
using namespace adze::graph;

namespace {

/// Returns true for a constant, or a function of constants, whose only other
/// user is `reader`, so that a new constant replaces it.
bool isOwnConstant(Value value, Operation *reader) {
  return isConstant(value) &&
         llvm::all_of(value.getUsers(), [&](Operation *user) {
           return user == reader || (user->getNumResults() == 1 &&
                                     isConstant(user->getResult(0)));
         });
}

/// Converts a vector to the shape that a factor or summand of an op requires.
Value asFactorOrSummand(OpBuilder &builder, Operation *op, Value vector) {
  Location loc = op->getLoc();
  if (isa<SubOp>(op))
    return NegOp::create(builder, loc, vector);
  return isa<DivOp>(op) ? ReciprocalOp::create(builder, loc, vector).getResult()
                        : vector;
}

/// Returns true if the op multiplies by a factor, false for truncating
/// divisions.
bool isFactor(Operation *op) {
  return isa<MulOp>(op) ||
         (isa<DivOp>(op) &&
          isa<FloatType>(getElementTypeOrSelf(op->getResult(0))));
}

/// The number of operands that may be the value, as x - t is not t - x.
template <typename OpT>
unsigned countPlaces() {
  return std::is_same_v<OpT, DivOp> || std::is_same_v<OpT, SubOp> ? 1 : 2;
}

/// conv(x, w, b) * s -> conv(x, w * s, b * s); conv(x, w, b) + t -> conv(x, w,
/// b + t), for scales and shifts of channels that exporters write; likewise for
/// / s and - t.
template <typename OpT>
class FoldScaleIntoConv final : public OpRewritePattern<OpT> {
public:
  FoldScaleIntoConv(MLIRContext *context, Pass::Statistic &folded)
      : OpRewritePattern<OpT>(context), folded(folded) {}

  LogicalResult matchAndRewrite(OpT op,
                                PatternRewriter &rewriter) const override {
    if (isa<DivOp>(op) && !isFactor(op))
      return rewriter.notifyMatchFailure(op,
                                         "an integer quotient is truncated");
    for (unsigned i = 0; i < countPlaces<OpT>(); ++i) {
      auto conv = op->getOperand(i).template getDefiningOp<ConvOp>();
      if (!conv || !conv->hasOneUse() || !isConstant(conv.getFilter()) ||
          (conv.getBias() && !isConstant(conv.getBias())) ||
          conv.getType() != op.getType())
        continue;
      int64_t rank = cast<RankedTensorType>(op.getType()).getRank();
      int64_t axis = getChannelAxis(conv);
      Value vector = getChannelVector(rewriter, op->getOperand(1 - i), axis,
                                      rank, getDims(conv.getResult())[axis]);
      if (!vector)
        continue;
      apply(op, conv, asFactorOrSummand(rewriter, op, vector), rewriter);
      ++folded;
      return success();
    }
    return rewriter.notifyMatchFailure(
        op, "no operand is a convolution with constants");
  }

private:
  static void apply(OpT op, ConvOp conv, Value vector,
                    PatternRewriter &rewriter) {
    auto fused = cast<ConvOp>(rewriter.clone(*conv));
    fused->setLoc(rewriter.getFusedLoc({conv.getLoc(), op.getLoc()}));
    Value bias = conv.getBias();
    if (isa<MulOp, DivOp>(op)) {
      int64_t rank =
          cast<RankedTensorType>(conv.getFilter().getType()).getRank();
      fused.getFilterMutable().assign(
          MulOp::create(rewriter, conv.getLoc(), conv.getFilter(),
                        alongAxis(rewriter, vector, /*axis=*/0, rank)));
      bias =
          bias ? MulOp::create(rewriter, conv.getLoc(), bias, vector) : Value();
    } else {
      bias =
          bias ? AddOp::create(rewriter, conv.getLoc(), bias, vector) : vector;
    }
    if (bias)
      fused.getBiasMutable().assign(bias);
    // The ops that compute the weights precede them.
    fused->moveBefore(op);
    rewriter.replaceOp(op, fused);
  }

  Pass::Statistic &folded;
};

/// (matmul(x, w) + b) * s -> matmul(x, w * s) + b * s, likewise for / s, and
/// for numbers of the rows into a left operand.
template <typename OpT>
class FoldScaleIntoMatmul final : public OpRewritePattern<OpT> {
public:
  FoldScaleIntoMatmul(MLIRContext *context, Pass::Statistic &folded)
      : OpRewritePattern<OpT>(context), folded(folded) {}

  LogicalResult matchAndRewrite(OpT op,
                                PatternRewriter &rewriter) const override {
    if (!isFactor(op))
      return rewriter.notifyMatchFailure(
          op, "the op is not a multiplication or an exact division");
    for (unsigned i = 0; i < countPlaces<OpT>(); ++i) {
      Value sum = op->getOperand(i), bias;
      if (auto add = sum.template getDefiningOp<AddOp>();
          add && add->hasOneUse() && isConstant(add.getRhs())) {
        bias = add.getRhs();
        sum = add.getLhs();
      }
      auto matmul = sum.template getDefiningOp<MatmulOp>();
      if (!matmul || !matmul->hasOneUse() || matmul.getType() != op.getType())
        continue;
      for (const ProductWeight &weight : getProductWeights(matmul))
        if (apply(op, matmul, weight, bias, op->getOperand(1 - i), rewriter)) {
          ++folded;
          return success();
        }
    }
    return rewriter.notifyMatchFailure(
        op, "no operand is a product with constants");
  }

private:
  static bool apply(OpT op, MatmulOp matmul, const ProductWeight &place,
                    Value bias, Value scale, PatternRewriter &rewriter) {
    Value weight = matmul->getOperand(place.operand);
    int64_t rank = cast<RankedTensorType>(op.getType()).getRank();
    AffineExpr channels = getDims(op.getResult())[place.axis];
    if (!isOwnConstant(weight, matmul) ||
        !isChannelVector(scale, place.axis, rank, channels) ||
        (bias && !isChannelVector(bias, place.axis, rank, channels)))
      return false;
    Value vector = asFactorOrSummand(
        rewriter, op,
        getChannelVector(rewriter, scale, place.axis, rank, channels));
    if (bias)
      bias = MulOp::create(
          rewriter, op.getLoc(),
          getChannelVector(rewriter, bias, place.axis, rank, channels), vector);
    rewriter.replaceOp(
        op, scaleProduct(rewriter, op.getLoc(), matmul, place, vector, bias));
    return true;
  }

  Pass::Statistic &folded;
};

/// (matmul(x, w) + b) + t -> matmul(x, w) + (b + t), for columns.
class JoinSummands final : public OpRewritePattern<AddOp> {
public:
  JoinSummands(MLIRContext *context, Pass::Statistic &folded)
      : OpRewritePattern(context), folded(folded) {}

  LogicalResult matchAndRewrite(AddOp op,
                                PatternRewriter &rewriter) const override {
    auto inner = op.getLhs().getDefiningOp<AddOp>();
    auto matmul = inner ? inner.getLhs().getDefiningOp<MatmulOp>() : nullptr;
    if (!matmul || !inner->hasOneUse() || matmul.getType() != op.getType())
      return rewriter.notifyMatchFailure(
          op, "the op is not the second of two sums with a product");
    int64_t rank = cast<RankedTensorType>(op.getType()).getRank();
    AffineExpr columns = getDims(op.getResult()).back();
    if (!isChannelVector(inner.getRhs(), rank - 1, rank, columns) ||
        !isChannelVector(op.getRhs(), rank - 1, rank, columns))
      return rewriter.notifyMatchFailure(
          op, "a summand is not a constant per column");
    Location loc = rewriter.getFusedLoc({inner.getLoc(), op.getLoc()});
    Value sum = AddOp::create(rewriter, loc, inner.getRhs(), op.getRhs());
    auto joined = AddOp::create(rewriter, loc, matmul.getResult(), sum);
    rewriter.replaceOp(op, joined);
    ++folded;
    return success();
  }

private:
  Pass::Statistic &folded;
};

/// transpose(matmul(x, w) + b) * s -> transpose((matmul(x, w) + b) * s), where
/// s can be folded into the constants w and b.
template <typename OpT>
class MoveBeforeTranspose final : public OpRewritePattern<OpT> {
public:
  using OpRewritePattern<OpT>::OpRewritePattern;

  LogicalResult matchAndRewrite(OpT op,
                                PatternRewriter &rewriter) const override {
    if (!isFactor(op))
      return rewriter.notifyMatchFailure(
          op, "the op is not a multiplication or an exact division");
    for (unsigned i = 0; i < countPlaces<OpT>(); ++i) {
      auto [transpose, matmul] = getTransposedProduct(op->getOperand(i));
      if (!matmul || transpose.getType() != op.getType())
        continue;
      int64_t rank = cast<RankedTensorType>(op.getType()).getRank();
      Dims dims = getDims(op.getResult());
      for (const ProductWeight &weight : getProductWeights(matmul)) {
        int64_t axis = llvm::find(transpose.getPerm(), weight.axis) -
                       transpose.getPerm().begin();
        Value scale = op->getOperand(1 - i);
        if (!isOwnConstant(matmul->getOperand(weight.operand), matmul) ||
            !isChannelVector(scale, axis, rank, dims[axis]))
          continue;
        Value vector =
            getChannelVector(rewriter, scale, axis, rank, dims[axis]);
        auto scaled =
            OpT::create(rewriter, op.getLoc(), transpose.getInput(),
                        alongAxis(rewriter, vector, weight.axis, rank));
        rewriter.replaceOpWithNewOp<TransposeOp>(
            op, op.getType(), scaled.getResult(), transpose.getPerm());
        return success();
      }
    }
    return rewriter.notifyMatchFailure(op,
                                       "no operand is a transposed product");
  }
};

/// conv(x * s, w) -> conv(x, w * s), also transposed, and likewise for / s.
/// (Summands before a padded convolution cannot be folded.)
template <typename OpT>
class FoldScaleBefore final : public OpRewritePattern<OpT> {
public:
  FoldScaleBefore(MLIRContext *context, Pass::Statistic &folded)
      : OpRewritePattern<OpT>(context), folded(folded) {}

  LogicalResult matchAndRewrite(OpT op,
                                PatternRewriter &rewriter) const override {
    Value input = op->getOperand(0), weight = op->getOperand(1);
    Operation *scale = input.getDefiningOp();
    if (!scale || !isFactor(scale) || !scale->hasOneUse() ||
        !isOwnConstant(weight, op))
      return rewriter.notifyMatchFailure(
          op, "the operands are not a scaled value and a constant");
    int64_t rank = cast<RankedTensorType>(input.getType()).getRank();
    int64_t axis = getChannelAxis(op);
    for (unsigned i = 0; i < (isa<DivOp>(scale) ? 1u : 2u); ++i) {
      Value x = scale->getOperand(i);
      if (x.getType() != input.getType() || isConstant(x))
        continue;
      Value vector = getChannelVector(rewriter, scale->getOperand(1 - i), axis,
                                      rank, getDims(input)[axis]);
      if (!vector)
        continue;
      vector = asFactorOrSummand(rewriter, scale, vector);
      Value scaled = apply(op, vector, rewriter);
      rewriter.modifyOpInPlace(op, [&] {
        op->setOperand(0, x);
        op->setOperand(1, scaled);
        op->setLoc(rewriter.getFusedLoc({scale->getLoc(), op.getLoc()}));
      });
      ++folded;
      return success();
    }
    return rewriter.notifyMatchFailure(op, "the factors are not per channel");
  }

private:
  static Value apply(OpT op, Value vector, PatternRewriter &rewriter) {
    Value weight = op->getOperand(1);
    if constexpr (std::is_same_v<OpT, ConvOp>) {
      return scaleSecond(rewriter, op.getLoc(), weight, vector, op.getGroup());
    } else {
      // The filters are [inputs, outputs of a group, window..].
      int64_t rank = cast<RankedTensorType>(weight.getType()).getRank();
      return MulOp::create(rewriter, op.getLoc(), weight,
                           alongAxis(rewriter, vector, /*axis=*/0, rank));
    }
  }

  Pass::Statistic &folded;
};

/// matmul(x * s, w) -> matmul(x, w * s), and matmul(w, x * s) -> matmul(w * s,
/// x), if s has one element for each index of the contracted dim; likewise for
/// / s.
class FoldScaleBeforeMatmul final : public OpRewritePattern<MatmulOp> {
public:
  FoldScaleBeforeMatmul(MLIRContext *context, Pass::Statistic &folded)
      : OpRewritePattern(context), folded(folded) {}

  LogicalResult matchAndRewrite(MatmulOp matmul,
                                PatternRewriter &rewriter) const override {
    for (const ProductWeight &weight : getProductWeights(matmul))
      if (apply(matmul, weight, rewriter)) {
        ++folded;
        return success();
      }
    return rewriter.notifyMatchFailure(matmul,
                                       "no operand is scaled by constants");
  }

private:
  static bool apply(MatmulOp matmul, const ProductWeight &place,
                    PatternRewriter &rewriter) {
    Value weight = matmul->getOperand(place.operand),
          input = matmul->getOperand(1 - place.operand);
    Operation *scale = input.getDefiningOp();
    if (!scale || !isFactor(scale) || !scale->hasOneUse() ||
        !isOwnConstant(weight, matmul))
      return false;
    int64_t rank = cast<RankedTensorType>(input.getType()).getRank(),
            own = cast<RankedTensorType>(weight.getType()).getRank();
    AffineExpr depth = getDims(input)[place.inner];
    for (unsigned i = 0; i < (isa<DivOp>(scale) ? 1u : 2u); ++i) {
      Value x = scale->getOperand(i), factors = scale->getOperand(1 - i);
      if (x.getType() != input.getType() || isConstant(x) ||
          !isChannelVector(factors, place.inner, rank, depth))
        continue;
      Value vector = asFactorOrSummand(
          rewriter, scale,
          getChannelVector(rewriter, factors, place.inner, rank, depth));
      Value scaled =
          MulOp::create(rewriter, matmul.getLoc(), weight,
                        alongAxis(rewriter, vector, place.depth, own));
      rewriter.modifyOpInPlace(matmul, [&] {
        matmul->setOperand(1 - place.operand, x);
        matmul->setOperand(place.operand, scaled);
        matmul->setLoc(
            rewriter.getFusedLoc({scale->getLoc(), matmul.getLoc()}));
      });
      return true;
    }
    return false;
  }

  Pass::Statistic &folded;
};

/// conv(x + t, w, b) -> conv(x, w, b + sum(w * t)), without padding.
class FoldShiftBeforeConv final : public OpRewritePattern<ConvOp> {
public:
  FoldShiftBeforeConv(MLIRContext *context, Pass::Statistic &folded)
      : OpRewritePattern(context), folded(folded) {}

  LogicalResult matchAndRewrite(ConvOp conv,
                                PatternRewriter &rewriter) const override {
    Operation *sum = conv.getInput().getDefiningOp();
    if (!isa_and_nonnull<AddOp, SubOp>(sum) || !sum->hasOneUse() ||
        !isConstant(conv.getFilter()) ||
        (conv.getBias() && !isConstant(conv.getBias())) ||
        sum->getOperand(0).getType() != conv.getInput().getType() ||
        llvm::any_of(conv.getPads(), [](int64_t pad) { return pad != 0; }))
      return rewriter.notifyMatchFailure(
          conv, "the input is not a sum that can be folded");
    int64_t rank = cast<RankedTensorType>(conv.getInput().getType()).getRank();
    int64_t axis = getChannelAxis(conv);
    Value vector = getChannelVector(rewriter, sum->getOperand(1), axis, rank,
                                    getDims(conv.getInput())[axis]);
    if (!vector)
      return rewriter.notifyMatchFailure(conv,
                                         "the summands are not per channel");
    vector = asFactorOrSummand(rewriter, sum, vector);
    Location loc = conv.getLoc();
    Value shifted =
        scaleSecond(rewriter, loc, conv.getFilter(), vector, conv.getGroup());
    SmallVector<int64_t> axes = llvm::to_vector(llvm::seq<int64_t>(1, rank));
    Value bias =
        ReduceSumOp::create(rewriter, loc, shifted, axes, /*keepdims=*/false);
    if (conv.getBias())
      bias = AddOp::create(rewriter, loc, conv.getBias(), bias);
    rewriter.modifyOpInPlace(conv, [&] {
      conv.getInputMutable().assign(sum->getOperand(0));
      conv.getBiasMutable().assign(bias);
      conv->setLoc(rewriter.getFusedLoc({sum->getLoc(), loc}));
    });
    ++folded;
    return success();
  }

private:
  Pass::Statistic &folded;
};

/// matmul(x + t, w) -> matmul(x, w) + t w.
class FoldShiftBeforeMatmul final : public OpRewritePattern<MatmulOp> {
public:
  FoldShiftBeforeMatmul(MLIRContext *context, Pass::Statistic &folded)
      : OpRewritePattern(context), folded(folded) {}

  LogicalResult matchAndRewrite(MatmulOp op,
                                PatternRewriter &rewriter) const override {
    auto add = op.getLhs().getDefiningOp<AddOp>();
    Value weight = op.getRhs();
    auto type = cast<RankedTensorType>(weight.getType());
    if (!add || !add->hasOneUse() || !isConstant(weight) ||
        type.getRank() != 2 || op.getTransposeA() ||
        add.getLhs().getType() != add.getType())
      return rewriter.notifyMatchFailure(
          op, "the operands are not a sum and a constant matrix");
    int64_t rank = cast<RankedTensorType>(add.getType()).getRank();
    Value vector = getChannelVector(rewriter, add.getRhs(), rank - 1, rank,
                                    getDims(add.getResult()).back());
    if (!vector)
      return rewriter.notifyMatchFailure(op, "the summands are not per column");
    Location loc = op.getLoc();
    int64_t depth = op.getTransposeB() ? 1 : 0;
    Value shifted = MulOp::create(rewriter, loc, weight,
                                  alongAxis(rewriter, vector, depth, 2));
    Value bias =
        ReduceSumOp::create(rewriter, loc, shifted, ArrayRef<int64_t>{depth},
                            /*keepdims=*/false);
    auto product = cast<MatmulOp>(rewriter.clone(*op));
    product.getLhsMutable().assign(add.getLhs());
    product->setLoc(rewriter.getFusedLoc({add.getLoc(), loc}));
    rewriter.replaceOpWithNewOp<AddOp>(op, product.getResult(), bias);
    ++folded;
    return success();
  }

private:
  Pass::Statistic &folded;
};

} // namespace

void adze::graph::addScaleFolds(RewritePatternSet &patterns,
                                Pass::Statistic &folded) {
  patterns.add<FoldScaleIntoConv<MulOp>, FoldScaleIntoConv<AddOp>,
               FoldScaleIntoConv<DivOp>, FoldScaleIntoConv<SubOp>,
               FoldScaleIntoMatmul<MulOp>, FoldScaleIntoMatmul<DivOp>,
               FoldScaleBefore<ConvOp>, FoldScaleBefore<ConvTransposeOp>,
               FoldScaleBeforeMatmul, JoinSummands, FoldShiftBeforeMatmul,
               FoldShiftBeforeConv>(patterns.getContext(), folded);
  patterns.add<MoveBeforeTranspose<MulOp>, MoveBeforeTranspose<DivOp>>(
      patterns.getContext());
}
