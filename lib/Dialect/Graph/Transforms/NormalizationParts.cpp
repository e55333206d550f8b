// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Canonicalizes the parts of normalisations: means written as sums, reductions
// whose dims a reshape adds back, and batch normalisation without constants.
#include "NormalizationParts.h"
#include "Matching.h"

using namespace mlir;
using namespace adze::graph;

namespace {

/// sum(x) / n -> mean(x), if n is the number of reduced elements; likewise for
/// x^2.
template <typename OpT>
class MeanFromSum final : public OpRewritePattern<OpT> {
public:
  using OpRewritePattern<OpT>::OpRewritePattern;

  LogicalResult matchAndRewrite(OpT op,
                                PatternRewriter &rewriter) const override {
    double factor = 1.0;
    Value scaled = matchScaled(op.getResult(), factor);
    Operation *reduction = scaled ? scaled.getDefiningOp() : nullptr;
    if (!isa_and_nonnull<ReduceSumOp, ReduceSumSquareOp>(reduction) ||
        !isa<FloatType>(getElement(scaled)) || scaled.getType() != op.getType())
      return rewriter.notifyMatchFailure(op, "the op is not a scaled sum");
    auto sum = cast<ReduceOpInterface>(reduction);
    Value x = sum.getInput();
    Dims dims = getDims(x), reduced;
    for (int64_t axis : sum.getAxes())
      reduced.push_back(dims[axis]);
    auto count = getConstant(product(op.getContext(), reduced));
    if (!count || *count < 1 || std::abs(factor * double(*count) - 1.0) > 1e-6)
      return rewriter.notifyMatchFailure(
          op, "the scale is not the reciprocal of the number of elements");
    if (isa<ReduceSumSquareOp>(reduction))
      x = MulOp::create(rewriter, reduction->getLoc(), x, x);
    rewriter.replaceOpWithNewOp<ReduceMeanOp>(op, op.getType(), x,
                                              sum.getAxes(), sum.getKeepdims());
    return success();
  }
};

/// Returns y of b - y or b + (-y), and b.
std::pair<Value, Value> matchSubtrahend(Value value) {
  if (auto sub = value.getDefiningOp<SubOp>())
    return {sub.getRhs(), sub.getLhs()};
  auto add = value.getDefiningOp<AddOp>();
  for (unsigned i : {0u, 1u})
    if (add)
      if (auto neg = add->getOperand(i).getDefiningOp<NegOp>())
        return {neg.getInput(), add->getOperand(1 - i)};
  return {};
}

/// x * m + (b - mean(x) * m) -> (x - mean(x)) * m + b, as batch normalisation
/// without constants is written.
class CentreFactor final : public OpRewritePattern<AddOp> {
public:
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(AddOp op,
                                PatternRewriter &rewriter) const override {
    for (unsigned i : {0u, 1u}) {
      auto product = op->getOperand(i).getDefiningOp<MulOp>();
      auto [subtrahend, rest] = matchSubtrahend(op->getOperand(1 - i));
      if (!product || !subtrahend || product.getType() != op.getType())
        continue;
      for (unsigned k : {0u, 1u}) {
        Value x = product->getOperand(k), m = product->getOperand(1 - k);
        Value mean = matchOther<MulOp>(subtrahend, m);
        auto reduce =
            mean ? mean.getDefiningOp<ReduceMeanOp>() : ReduceMeanOp();
        if (!reduce || reduce.getInput() != x || !reduce.getKeepdims() ||
            x.getType() != op.getType())
          continue;
        Value centred = SubOp::create(rewriter, op.getLoc(), x, mean);
        Value scaled = MulOp::create(rewriter, op.getLoc(), centred, m);
        rewriter.replaceOpWithNewOp<AddOp>(op, op.getType(), scaled, rest);
        return success();
      }
    }
    return rewriter.notifyMatchFailure(
        op, "the op is not a sum of a product and the product of its mean");
  }
};

/// A reduction whose dims a reshape adds back as 1 keeps them.
template <typename ReduceT>
class KeepDims final : public OpRewritePattern<ReshapeOp> {
public:
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ReshapeOp op,
                                PatternRewriter &rewriter) const override {
    auto reduce = op.getInput().getDefiningOp<ReduceT>();
    if (!reduce || reduce.getKeepdims() || !reduce->hasOneUse())
      return rewriter.notifyMatchFailure(
          op, "the operand is not a reduction that drops its dims");
    Dims dims = getDims(reduce.getInput());
    for (int64_t axis : reduce.getAxes())
      dims[axis] = rewriter.getAffineConstantExpr(1);
    if (!areEqual(dims, getDims(op.getResult())))
      return rewriter.notifyMatchFailure(
          op, "the dims added are not the reduced ones");
    rewriter.replaceOpWithNewOp<ReduceT>(op, op.getType(), reduce.getInput(),
                                         reduce.getAxes(), /*keepdims=*/true);
    return success();
  }
};

} // namespace

void adze::graph::populateNormalizationParts(RewritePatternSet &patterns) {
  patterns
      .add<CentreFactor, MeanFromSum<MulOp>, MeanFromSum<DivOp>,
           KeepDims<ReduceSumOp>, KeepDims<ReduceMeanOp>, KeepDims<ReduceMaxOp>,
           KeepDims<ReduceMinOp>, KeepDims<ReduceProdOp>, KeepDims<ReduceL1Op>,
           KeepDims<ReduceL2Op>, KeepDims<ReduceSumSquareOp>,
           KeepDims<ReduceLogSumExpOp>>(patterns.getContext());
}
