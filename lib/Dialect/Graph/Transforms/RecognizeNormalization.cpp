// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// graph-recognize-normalization: sums and quotients that spell softmax or a
// normalisation become one op, which is one kernel. Instance and group
// normalisation are layer normalisations of a view.
#include "Dialect/Graph/Transforms/Passes.h"
#include "Matching.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace adze::graph {
#define GEN_PASS_DEF_RECOGNIZENORMALIZATIONPASS
#include "Dialect/Graph/Transforms/Passes.h.inc"
} // namespace adze::graph

using namespace mlir;
using namespace adze::graph;

namespace {

/// numerator / denominator, also spelled with a reciprocal or as a power.
struct Quotient {
  Value numerator, denominator;
  bool isRoot = false; // the denominator's square root is meant
};

/// Takes 1 / y apart: y, or y under a root.
bool matchInverse(Value value, Quotient &quotient) {
  if (auto reciprocal = value.getDefiningOp<ReciprocalOp>()) {
    quotient.denominator = reciprocal.getInput();
    return true;
  }
  if (auto div = value.getDefiningOp<DivOp>();
      div && getSplatNumber(div.getLhs()) == 1.0) {
    quotient.denominator = div.getRhs();
    return true;
  }
  auto power = value.getDefiningOp<PowOp>();
  if (power && getSplatNumber(power.getRhs()) == -0.5) {
    quotient.denominator = power.getLhs();
    quotient.isRoot = true;
    return true;
  }
  return false;
}

SmallVector<Quotient, 2> matchQuotients(Operation *op) {
  SmallVector<Quotient, 2> found;
  if (auto div = dyn_cast<DivOp>(op)) {
    found.push_back({div.getLhs(), div.getRhs()});
    return found;
  }
  for (unsigned i : {0u, 1u}) {
    Quotient quotient;
    quotient.numerator = op->getOperand(i);
    if (matchInverse(op->getOperand(1 - i), quotient))
      found.push_back(quotient);
  }
  return found;
}

/// The first of the reduced dims, if these are the last ones and stay as 1.
template <typename OpT>
std::optional<int64_t> getTrailing(OpT op) {
  ArrayRef<int64_t> axes = op.getAxes();
  int64_t rank = getRank(op.getInput());
  if (axes.empty() || !op.getKeepdims() ||
      axes.front() != rank - int64_t(axes.size()))
    return std::nullopt;
  return llvm::equal(axes, llvm::seq<int64_t>(axes.front(), rank))
             ? std::optional(axes.front())
             : std::nullopt;
}

/// sqrt(mean(x^2) + epsilon) over the last dims.
struct Deviation {
  Value squared; // x
  int64_t axis = 0;
  double epsilon = 0;
};

std::optional<Deviation> matchDeviation(const Quotient &quotient) {
  Value variance = quotient.denominator;
  if (!quotient.isRoot) {
    auto root = variance.getDefiningOp<SqrtOp>();
    auto power = variance.getDefiningOp<PowOp>();
    if (root)
      variance = root.getInput();
    else if (power && getSplatNumber(power.getRhs()) == 0.5)
      variance = power.getLhs();
    else
      return std::nullopt;
  }
  Deviation result;
  if (Value x = matchWithSplat<AddOp>(variance, result.epsilon))
    variance = x;
  auto mean = variance.getDefiningOp<ReduceMeanOp>();
  auto axis = mean ? getTrailing(mean) : std::optional<int64_t>();
  if (!axis)
    return std::nullopt;
  result.axis = *axis;
  result.squared = matchSquare(mean.getInput());
  return result.squared ? std::optional(result) : std::nullopt;
}

/// x where value is x - mean(x) over the dims from `axis` on.
Value matchCentred(Value value, int64_t axis) {
  auto sub = value.getDefiningOp<SubOp>();
  auto mean = sub ? sub.getRhs().getDefiningOp<ReduceMeanOp>() : ReduceMeanOp();
  if (!mean || mean.getInput() != sub.getLhs() || getTrailing(mean) != axis)
    return {};
  return sub.getLhs();
}

/// Whether two values are x - mean(x) of one x, or the same.
bool areSame(Value one, Value other, int64_t axis) {
  if (one == other)
    return true;
  Value x = matchCentred(one, axis);
  return x && x == matchCentred(other, axis);
}

Value createLayerNorm(PatternRewriter &rewriter, Location loc, Value x,
                      Value scale, Value bias, int64_t axis, double epsilon) {
  return LayerNormOp::create(rewriter, loc, x.getType(), x, scale, bias,
                             rewriter.getI64IntegerAttr(axis),
                             rewriter.getF64FloatAttr(epsilon));
}

/// (x - mean) / deviation -> layer_norm, x / deviation -> rms_norm.
template <typename OpT>
class NormFromQuotient final : public OpRewritePattern<OpT> {
public:
  NormFromQuotient(MLIRContext *context, Pass::Statistic &count)
      : OpRewritePattern<OpT>(context), count(count) {}

  LogicalResult matchAndRewrite(OpT op,
                                PatternRewriter &rewriter) const override {
    for (const Quotient &quotient : matchQuotients(op)) {
      std::optional<Deviation> deviation = matchDeviation(quotient);
      Value top = quotient.numerator;
      if (!deviation || top.getType() != op.getType() ||
          !areSame(top, deviation->squared, deviation->axis))
        continue;
      Value centred = matchCentred(top, deviation->axis);
      Value y;
      if (centred)
        y = createLayerNorm(rewriter, op.getLoc(), centred, {}, {},
                            deviation->axis, deviation->epsilon);
      else
        y = RMSNormOp::create(rewriter, op.getLoc(), op.getType(), top, Value(),
                              rewriter.getI64IntegerAttr(deviation->axis),
                              rewriter.getF64FloatAttr(deviation->epsilon));
      rewriter.replaceOp(op, y);
      ++count;
      return success();
    }
    return rewriter.notifyMatchFailure(op, "no quotient by a deviation");
  }

private:
  Pass::Statistic &count;
};

/// e / sum(e) with e = exp(x - max(x)) along one dim -> softmax.
template <typename OpT>
class SoftmaxFromQuotient final : public OpRewritePattern<OpT> {
public:
  SoftmaxFromQuotient(MLIRContext *context, Pass::Statistic &count)
      : OpRewritePattern<OpT>(context), count(count) {}

  LogicalResult matchAndRewrite(OpT op,
                                PatternRewriter &rewriter) const override {
    for (const Quotient &quotient : matchQuotients(op)) {
      auto sum = quotient.denominator.getDefiningOp<ReduceSumOp>();
      auto exp = quotient.numerator.getDefiningOp<ExpOp>();
      auto sub = exp ? exp.getInput().getDefiningOp<SubOp>() : SubOp();
      auto max =
          sub ? sub.getRhs().getDefiningOp<ReduceMaxOp>() : ReduceMaxOp();
      if (quotient.isRoot || !sum || !max ||
          sum.getInput() != quotient.numerator ||
          max.getInput() != sub.getLhs() || sum.getAxes().size() != 1 ||
          sum.getAxes() != max.getAxes() || !sum.getKeepdims() ||
          !max.getKeepdims() || sub.getLhs().getType() != op.getType())
        continue;
      rewriter.replaceOpWithNewOp<SoftmaxOp>(
          op, op.getType(), sub.getLhs(),
          rewriter.getI64IntegerAttr(sum.getAxes()[0]));
      ++count;
      return success();
    }
    return rewriter.notifyMatchFailure(op, "no quotient by a sum of powers");
  }

private:
  Pass::Statistic &count;
};

/// Numbers of the normalised dims only.
bool isPerElement(Value value, Value x, int64_t axis) {
  Dims dims = getDims(value), own = getDims(x);
  if (getElement(value) != getElement(x) || dims.size() > own.size())
    return false;
  for (size_t i = 0; i < dims.size(); ++i) {
    size_t at = own.size() - dims.size() + i;
    bool one = getConstant(dims[i]) == 1;
    if (!one && (int64_t(at) < axis || !areEqual(dims[i], own[at])))
      return false;
  }
  return true;
}

/// norm(x) * s -> norm(x, s).
class ScaleIntoNorm final : public OpRewritePattern<MulOp> {
public:
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(MulOp op,
                                PatternRewriter &rewriter) const override {
    for (unsigned i : {0u, 1u}) {
      Operation *norm = op->getOperand(i).getDefiningOp();
      Value scale = op->getOperand(1 - i);
      if (!norm || !norm->hasOneUse() ||
          norm->getResult(0).getType() != op.getType())
        continue;
      if (auto layer = dyn_cast<LayerNormOp>(norm);
          layer && !layer.getScale() && !layer.getBias() &&
          isPerElement(scale, layer.getInput(), layer.getAxis())) {
        rewriter.replaceOp(
            op, createLayerNorm(rewriter, layer.getLoc(), layer.getInput(),
                                scale, {}, layer.getAxis(),
                                layer.getEpsilon().convertToDouble()));
        return success();
      }
      if (auto rms = dyn_cast<RMSNormOp>(norm);
          rms && !rms.getScale() &&
          isPerElement(scale, rms.getInput(), rms.getAxis())) {
        rewriter.replaceOpWithNewOp<RMSNormOp>(op, op.getType(), rms.getInput(),
                                               scale, rms.getAxisAttr(),
                                               rms.getEpsilonAttr());
        return success();
      }
    }
    return rewriter.notifyMatchFailure(op, "no normalisation without a scale");
  }
};

/// layer_norm(x) + b -> layer_norm(x, b).
class BiasIntoNorm final : public OpRewritePattern<AddOp> {
public:
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(AddOp op,
                                PatternRewriter &rewriter) const override {
    for (unsigned i : {0u, 1u}) {
      auto norm = op->getOperand(i).getDefiningOp<LayerNormOp>();
      Value bias = op->getOperand(1 - i);
      if (!norm || !norm->hasOneUse() || norm.getBias() ||
          norm.getType() != op.getType() ||
          !isPerElement(bias, norm.getInput(), norm.getAxis()))
        continue;
      rewriter.replaceOp(
          op, createLayerNorm(rewriter, norm.getLoc(), norm.getInput(),
                              norm.getScale(), bias, norm.getAxis(),
                              norm.getEpsilon().convertToDouble()));
      return success();
    }
    return rewriter.notifyMatchFailure(op, "no normalisation without a bias");
  }
};

/// One number a channel as an operand that broadcasts: dims `dims`, then as
/// many 1 as there are dims behind.
Value asOperand(PatternRewriter &rewriter, Value vector, Dims dims,
                int64_t behind) {
  dims.append(behind, rewriter.getAffineConstantExpr(1));
  return ReshapeOp::create(rewriter, vector.getLoc(),
                           makeType(getElement(vector), dims), vector);
}

class InstanceToLayerNorm final : public OpRewritePattern<InstanceNormOp> {
public:
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(InstanceNormOp op,
                                PatternRewriter &rewriter) const override {
    Dims dims = getDims(op.getInput());
    if (op.getAxis() != 1 || dims.size() < 3)
      return rewriter.notifyMatchFailure(op, "channels are not in front");
    Dims channels{getDims(op.getScale())[0]};
    int64_t behind = dims.size() - 2;
    rewriter.replaceOp(
        op,
        createLayerNorm(rewriter, op.getLoc(), op.getInput(),
                        asOperand(rewriter, op.getScale(), channels, behind),
                        asOperand(rewriter, op.getBias(), channels, behind), 2,
                        op.getEpsilon().convertToDouble()));
    return success();
  }
};

class GroupToLayerNorm final : public OpRewritePattern<GroupNormOp> {
public:
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(GroupNormOp op,
                                PatternRewriter &rewriter) const override {
    Dims dims = getDims(op.getInput());
    auto channels = getConstant(dims[1]);
    int64_t groups = op.getGroups();
    bool known = llvm::all_of(dims, [](AffineExpr dim) { return bool(dim); });
    if (!channels || !known || dims.size() < 3)
      return rewriter.notifyMatchFailure(op, "an unknown number of channels");
    Location loc = op.getLoc();
    Dims parts = makeDims(op.getContext(), {groups, *channels / groups});
    Dims split{dims[0], parts[0], parts[1]};
    split.append(dims.begin() + 2, dims.end());
    int64_t behind = dims.size() - 2;
    Value x = ReshapeOp::create(rewriter, loc,
                                makeType(getElement(op.getInput()), split),
                                op.getInput());
    Value y = createLayerNorm(rewriter, loc, x,
                              asOperand(rewriter, op.getScale(), parts, behind),
                              asOperand(rewriter, op.getBias(), parts, behind),
                              2, op.getEpsilon().convertToDouble());
    rewriter.replaceOpWithNewOp<ReshapeOp>(op, op.getType(), y);
    return success();
  }
};

class RecognizeNormalizationPass final
    : public adze::graph::impl::RecognizeNormalizationPassBase<
          RecognizeNormalizationPass> {
public:
  using RecognizeNormalizationPassBase::RecognizeNormalizationPassBase;

  void runOnOperation() override {
    MLIRContext *context = &getContext();
    RewritePatternSet patterns(context);
    patterns.add<NormFromQuotient<DivOp>, NormFromQuotient<MulOp>,
                 SoftmaxFromQuotient<DivOp>, SoftmaxFromQuotient<MulOp>>(
        context, recognized);
    patterns.add<ScaleIntoNorm, BiasIntoNorm, InstanceToLayerNorm,
                 GroupToLayerNorm>(context);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
