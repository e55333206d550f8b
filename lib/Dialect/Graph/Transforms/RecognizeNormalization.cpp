// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// graph-recognize-normalization: replaces sums and quotients that compute
// softmax or a normalisation by one op, which becomes one kernel. Instance and
// group normalisation are layer normalisations of a view.
#include "ChannelsLastNorm.h"
#include "Dialect/Graph/Transforms/Passes.h"
#include "Matching.h"
#include "NormalizationParts.h"
#include "Refusals.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace adze::graph {
#define GEN_PASS_DEF_RECOGNIZENORMALIZATIONPASS
#include "Dialect/Graph/Transforms/Passes.h.inc"
} // namespace adze::graph

using namespace mlir;
using namespace adze::graph;

namespace {

/// The quotient factor * numerator / denominator, also written with a
/// reciprocal or as a power; the factor may be null.
struct Quotient {
  Value numerator, denominator, factor;
  bool isRoot = false; // the denominator is under a square root
};

/// Matches 1 / y: y, or y under a root.
bool matchInverse(Value value, Quotient &quotient) {
  if (auto root = value.getDefiningOp<SqrtOp>(); root && !quotient.isRoot) {
    quotient.isRoot = true; // of 1 / y
    return quotient.isRoot = matchInverse(root.getInput(), quotient);
  }
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
  if (power && !quotient.isRoot && getSplatNumber(power.getRhs()) == -0.5) {
    quotient.denominator = power.getLhs();
    quotient.isRoot = true;
    return true;
  }
  return false;
}

/// Returns the factors of a product without other uses, in both orders.
SmallVector<std::pair<Value, Value>, 2> splitProduct(Value value) {
  auto mul = value.getDefiningOp<MulOp>();
  if (!mul || !mul->hasOneUse())
    return {};
  return {{mul.getLhs(), mul.getRhs()}, {mul.getRhs(), mul.getLhs()}};
}

/// Adds (x * f) / y, and x / y, which is first.
void addNumerators(Quotient quotient, Value numerator,
                   SmallVectorImpl<Quotient> &found) {
  quotient.numerator = numerator;
  found.push_back(quotient);
  if (quotient.factor)
    return;
  for (auto [x, factor] : splitProduct(numerator)) {
    quotient.numerator = x;
    quotient.factor = factor;
    found.push_back(quotient);
  }
}

SmallVector<Quotient> matchQuotients(Operation *op) {
  SmallVector<Quotient> found;
  if (auto div = dyn_cast<DivOp>(op)) {
    Quotient quotient;
    quotient.denominator = div.getRhs();
    addNumerators(quotient, div.getLhs(), found);
    return found;
  }
  for (unsigned i : {0u, 1u}) {
    Quotient quotient;
    Value numerator = op->getOperand(i), inverse = op->getOperand(1 - i);
    if (matchInverse(inverse, quotient))
      addNumerators(quotient, numerator, found);
    for (auto [one, factor] : splitProduct(inverse))
      if (matchInverse(one, quotient)) { // x * (f / y)
        quotient.factor = factor;
        addNumerators(quotient, numerator, found);
      }
  }
  return found;
}

/// Returns the first of the dims, if these are the last ones.
std::optional<int64_t> getTrailing(ArrayRef<int64_t> axes, Value x) {
  int64_t rank = getRank(x), first = rank - int64_t(axes.size());
  return llvm::equal(axes, llvm::seq<int64_t>(first, rank))
             ? std::optional(first)
             : std::nullopt;
}

/// sqrt(mean(x^2) + epsilon) over some dims, which stay as 1.
struct Deviation {
  Value squared; // x
  SmallVector<int64_t> axes;
  double epsilon = 0;
  bool isCentred = false; // of x - mean(x), not of x
};

/// Matches mean(x^2) - mean(x)^2, possibly bounded below by 0, and returns the
/// mean of x^2.
ReduceMeanOp matchFastVariance(Value variance) {
  double least = 0.0;
  if (Value bounded = matchWithSplat<MaximumOp>(variance, least))
    variance = least <= 0.0 ? bounded : Value();
  else if (auto relu = variance.getDefiningOp<ReluOp>())
    variance = relu.getInput();
  auto sub = variance ? variance.getDefiningOp<SubOp>() : SubOp();
  Value mean = sub ? matchSquare(sub.getRhs()) : Value();
  auto first = mean ? mean.getDefiningOp<ReduceMeanOp>() : ReduceMeanOp(),
       second =
           sub ? sub.getLhs().getDefiningOp<ReduceMeanOp>() : ReduceMeanOp();
  bool fits = first && second && first.getAxes() == second.getAxes() &&
              first.getKeepdims() == second.getKeepdims() &&
              matchSquare(second.getInput()) == first.getInput();
  return fits ? second : ReduceMeanOp();
}

constexpr StringLiteral otherDims =
    "the mean is not over the last dims, or drops them";

std::optional<Deviation> matchDeviation(const Quotient &quotient,
                                        FirstFailure &failure) {
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
  auto mean = matchFastVariance(variance);
  result.isCentred = bool(mean);
  if (!mean)
    mean = variance.getDefiningOp<ReduceMeanOp>();
  result.squared = mean ? matchSquare(mean.getInput()) : Value();
  if (!result.squared) {
    failure.set(mean ? 1 : 0,
                "the operand of the square root is not a mean of squares");
    return std::nullopt;
  }
  if (mean.getAxes().empty() || !mean.getKeepdims()) {
    failure.set(2, otherDims);
    return std::nullopt;
  }
  llvm::append_range(result.axes, mean.getAxes());
  return result;
}

/// Matches x - mean(x) over these dims, and returns x.
Value matchCentred(Value value, ArrayRef<int64_t> axes) {
  auto sub = value.getDefiningOp<SubOp>();
  auto mean = sub ? sub.getRhs().getDefiningOp<ReduceMeanOp>() : ReduceMeanOp();
  if (!mean || mean.getInput() != sub.getLhs() || !mean.getKeepdims() ||
      mean.getAxes() != axes)
    return {};
  return sub.getLhs();
}

/// Returns true if `value` is the operand of the deviation, or the same x -
/// mean(x).
bool isOf(Value value, const Deviation &deviation) {
  Value x = matchCentred(value, deviation.axes);
  if (deviation.isCentred)
    return x && x == deviation.squared;
  return value == deviation.squared ||
         (x && x == matchCentred(deviation.squared, deviation.axes));
}

Value createLayerNorm(PatternRewriter &rewriter, Location loc, Value x,
                      Value scale, Value bias, int64_t axis, double epsilon) {
  return LayerNormOp::create(rewriter, loc, x.getType(), x, scale, bias,
                             rewriter.getI64IntegerAttr(axis),
                             rewriter.getF64FloatAttr(epsilon));
}

/// Creates the normalisation of groups of trailing channels, x = [batch, ..,
/// groups, channels of a group], or returns null for other dims.
Value createOfGroups(PatternRewriter &rewriter, Location loc, Value x,
                     const Deviation &deviation) {
  Dims dims = getDims(x);
  int64_t rank = dims.size();
  Type element = getElement(x);
  if (rank < 4 || llvm::is_contained(dims, AffineExpr()) ||
      !(element.isF32() || element.isF64()))
    return {};
  SmallVector<int64_t> axes = llvm::to_vector(llvm::seq<int64_t>(1, rank - 2));
  axes.push_back(rank - 1);
  auto groups = getConstant(dims[rank - 2]), each = getConstant(dims.back());
  if (deviation.axes != axes || !groups || !each || *groups < 1 || *each < 1)
    return {};
  Dims last(dims.begin(), dims.end() - 2);
  last.push_back(rewriter.getAffineConstantExpr(*groups * *each));
  Value elements = ReshapeOp::create(rewriter, loc, makeType(element, last), x);
  Value y = createChannelsLastNorm(rewriter, loc, elements, *groups,
                                   APFloat(deviation.epsilon));
  return ReshapeOp::create(rewriter, loc, x.getType(), y);
}

/// Match operands that depend on the normalised dims only, or on several of the
/// dims before them (the channels of an instance) only.
bool isPerElement(Value value, Value x, int64_t axis) {
  Dims dims = getDims(value), own = getDims(x);
  if (getElement(value) != getElement(x) || dims.size() > own.size())
    return false;
  bool varies[2] = {};
  for (size_t i = 0; i < dims.size(); ++i) {
    int64_t at = own.size() - dims.size() + i;
    if (getConstant(dims[i]) == 1)
      continue;
    if (!areEqual(dims[i], own[at]) || (at == 0 && axis != 0))
      return false;
    varies[at < axis] = true;
  }
  return !varies[0] || !varies[1];
}

/// (x - mean) / deviation -> layer_norm, x / deviation -> rms_norm.
template <typename OpT>
class NormFromQuotient final : public OpRewritePattern<OpT> {
public:
  NormFromQuotient(MLIRContext *context, Pass::Statistic &count)
      : OpRewritePattern<OpT>(context), count(count) {}

  LogicalResult matchAndRewrite(OpT op,
                                PatternRewriter &rewriter) const override {
    FirstFailure failure;
    for (const Quotient &quotient : matchQuotients(op)) {
      std::optional<Deviation> deviation = matchDeviation(quotient, failure);
      Value top = quotient.numerator, scale = quotient.factor;
      if (!deviation)
        continue;
      if (!isOf(top, *deviation)) {
        failure.set(3, "the dividend is not the squared value");
        continue;
      }
      if (top.getType() != op.getType()) {
        failure.set(4, "the dividend is broadcast");
        continue;
      }
      Value centred = matchCentred(top, deviation->axes);
      auto axis = getTrailing(deviation->axes, top);
      if (axis && scale && !isPerElement(scale, top, *axis)) {
        failure.set(5, "the scale has dims other than the normalised ones");
        continue;
      }
      Value y;
      if (!axis && centred)
        y = createOfGroups(rewriter, op.getLoc(), centred, *deviation);
      else if (axis && centred)
        y = createLayerNorm(rewriter, op.getLoc(), centred, scale, {}, *axis,
                            deviation->epsilon);
      else if (axis)
        y = RMSNormOp::create(rewriter, op.getLoc(), op.getType(), top, scale,
                              rewriter.getI64IntegerAttr(*axis),
                              rewriter.getF64FloatAttr(deviation->epsilon));
      if (!y) {
        failure.set(2, otherDims);
        continue;
      }
      if (!axis && scale)
        y = MulOp::create(rewriter, op.getLoc(), y, scale);
      rewriter.replaceOp(op, y);
      ++count;
      return success();
    }
    return failure.report(rewriter, op, /*near=*/1,
                          "the op does not divide by a standard deviation");
  }

private:
  Pass::Statistic &count;
};

/// e / sum(e) with e = exp(x - max(x)) along one dim -> softmax. Also without
/// the maximum if a product uses it; otherwise the exponentials and their sum
/// are fused with adjacent ops, and stay.
template <typename OpT>
class SoftmaxFromQuotient final : public OpRewritePattern<OpT> {
public:
  SoftmaxFromQuotient(MLIRContext *context, Pass::Statistic &count)
      : OpRewritePattern<OpT>(context), count(count) {}

  LogicalResult matchAndRewrite(OpT op,
                                PatternRewriter &rewriter) const override {
    FirstFailure failure;
    for (const Quotient &quotient : matchQuotients(op)) {
      auto sum = quotient.denominator.getDefiningOp<ReduceSumOp>();
      auto exp = quotient.numerator.getDefiningOp<ExpOp>();
      if (quotient.isRoot || quotient.factor || !sum || !exp ||
          sum.getInput() != quotient.numerator || exp.getType() != op.getType())
        continue;
      if (sum.getAxes().size() != 1 || !sum.getKeepdims()) {
        failure.set(1, "the sum is not over one dim of the dividend");
        continue;
      }
      Value x = matchWithoutMaximum(exp.getInput(), sum.getAxes());
      if (!x && !isWeight(op)) {
        failure.set(2, "no maximum is subtracted from the exponents");
        continue;
      }
      rewriter.replaceOpWithNewOp<SoftmaxOp>(
          op, op.getType(), x ? x : exp.getInput(),
          rewriter.getI64IntegerAttr(sum.getAxes()[0]));
      ++count;
      return success();
    }
    return failure.report(rewriter, op, /*near=*/1,
                          "the op does not divide by a sum of exponentials");
  }

private:
  Pass::Statistic &count;
};

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
    return rewriter.notifyMatchFailure(
        op, "no operand is a normalisation without a scale");
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
    return rewriter.notifyMatchFailure(
        op, "no operand is a normalisation without a bias");
  }
};

/// Creates one number for each channel as an operand that broadcasts: dims
/// `dims`, followed by as many 1 as there are later dims.
Value asOperand(PatternRewriter &rewriter, Value vector, Dims dims,
                int64_t after) {
  dims.append(after, rewriter.getAffineConstantExpr(1));
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
      return rewriter.notifyMatchFailure(op, "the channels are not dim 1");
    Dims channels{getDims(op.getScale())[0]};
    int64_t after = dims.size() - 2;
    rewriter.replaceOp(
        op, createLayerNorm(rewriter, op.getLoc(), op.getInput(),
                            asOperand(rewriter, op.getScale(), channels, after),
                            asOperand(rewriter, op.getBias(), channels, after),
                            2, op.getEpsilon().convertToDouble()));
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
      return rewriter.notifyMatchFailure(op,
                                         "the number of channels is dynamic");
    Location loc = op.getLoc();
    Dims parts = makeDims(op.getContext(), {groups, *channels / groups});
    Dims split{dims[0], parts[0], parts[1]};
    split.append(dims.begin() + 2, dims.end());
    int64_t after = dims.size() - 2;
    Value x = ReshapeOp::create(rewriter, loc,
                                makeType(getElement(op.getInput()), split),
                                op.getInput());
    Value y = createLayerNorm(rewriter, loc, x,
                              asOperand(rewriter, op.getScale(), parts, after),
                              asOperand(rewriter, op.getBias(), parts, after),
                              2, op.getEpsilon().convertToDouble());
    rewriter.replaceOpWithNewOp<ReshapeOp>(op, op.getType(), y);
    return success();
  }
};

/// Removes factors of 1 and summands of 0 of a normalisation.
class DropTrivialAffine final : public OpRewritePattern<LayerNormOp> {
public:
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(LayerNormOp op,
                                PatternRewriter &rewriter) const override {
    bool one = op.getScale() && getSplatNumber(op.getScale()) == 1.0,
         zero = op.getBias() && getSplatNumber(op.getBias()) == 0.0;
    if (!one && !zero)
      return rewriter.notifyMatchFailure(
          op, "neither the scale is 1 nor the bias 0");
    rewriter.replaceOp(op, createLayerNorm(rewriter, op.getLoc(), op.getInput(),
                                           one ? Value() : op.getScale(),
                                           zero ? Value() : op.getBias(),
                                           op.getAxis(),
                                           op.getEpsilon().convertToDouble()));
    return success();
  }
};

/// Returns numbers of the channels (dim 1) as [groups, channels / groups, 1..]
/// with rank `rank`, or null for others.
Value asGroups(PatternRewriter &rewriter, Value value, Value x,
               int64_t groups) {
  Dims dims = getDims(value), own = getDims(x);
  auto channels = getConstant(own[1]);
  int64_t rank = own.size(), before = rank - int64_t(dims.size());
  auto size = getConstant(product(value.getContext(), dims));
  if (before < 0 || !channels || size != channels || *channels % groups != 0 ||
      before > 1 || getConstant(dims[1 - before]) != channels)
    return {};
  return asOperand(rewriter, value,
                   makeDims(value.getContext(), {groups, *channels / groups}),
                   rank - 2);
}

/// view(layer_norm(x)) * s, of groups of channels -> the normalisation of a
/// view that keeps channels separate, with s; likewise for + b.
template <typename OpT>
class AffineAfterView final : public OpRewritePattern<OpT> {
public:
  using OpRewritePattern<OpT>::OpRewritePattern;

  LogicalResult matchAndRewrite(OpT op,
                                PatternRewriter &rewriter) const override {
    for (unsigned i : {0u, 1u}) {
      auto view = op->getOperand(i).template getDefiningOp<ReshapeOp>();
      auto norm = view ? view.getInput().template getDefiningOp<LayerNormOp>()
                       : nullptr;
      if (!norm || !view->hasOneUse() || !norm->hasOneUse() ||
          view.getType() != op.getType() || norm.getAxis() != 2 ||
          norm.getBias() || (isa<MulOp>(op) && norm.getScale()))
        continue;
      if (Value y = rewrite(norm, view, op->getOperand(1 - i), rewriter)) {
        rewriter.replaceOpWithNewOp<ReshapeOp>(op, op.getType(), y);
        return success();
      }
    }
    return rewriter.notifyMatchFailure(
        op, "no operand is a normalisation of groups");
  }

private:
  static Value rewrite(LayerNormOp norm, ReshapeOp view, Value operand,
                       PatternRewriter &rewriter) {
    Dims groups = getDims(norm.getInput()), dims = getDims(view.getResult());
    auto count = groups.size() > 2 ? getConstant(groups[1]) : std::nullopt;
    bool known = llvm::all_of(dims, [](AffineExpr dim) { return bool(dim); });
    if (!count || !known || dims.size() < 3 || !areEqual(groups[0], dims[0]))
      return {};
    auto channels = getConstant(dims[1]);
    if (!channels || *count < 1 || *channels % *count != 0)
      return {};
    Dims split{dims[0]};
    split.append(makeDims(norm.getContext(), {*count, *channels / *count}));
    split.append(dims.begin() + 2, dims.end());
    // An existing scale has the same shape, or the pattern fails.
    if (norm.getScale() && !areEqual(groups, split))
      return {};
    Value numbers = asGroups(rewriter, operand, view.getResult(), *count);
    if (!numbers)
      return {};
    Value x = norm.getInput();
    if (!areEqual(groups, split))
      x = ReshapeOp::create(rewriter, norm.getLoc(),
                            makeType(getElement(x), split), x);
    bool scales = isa<MulOp>(*view->user_begin());
    return createLayerNorm(
        rewriter, norm.getLoc(), x, scales ? numbers : norm.getScale(),
        scales ? Value() : numbers, 2, norm.getEpsilon().convertToDouble());
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
    patterns
        .add<ScaleIntoNorm, BiasIntoNorm, InstanceToLayerNorm, GroupToLayerNorm,
             DropTrivialAffine, AffineAfterView<MulOp>, AffineAfterView<AddOp>>(
            context);
    // The parts are canonicalized first, as without its mean a layer_norm would
    // become an rms_norm of differences.
    RewritePatternSet parts(context);
    populateNormalizationParts(parts);
    NearMisses misses;
    if (failed(applyPatternsGreedily(getOperation(), std::move(parts))) ||
        failed(applyPatternsGreedily(getOperation(), std::move(patterns),
                                     misses.getConfig())))
      signalPassFailure();
    misses.report(getOperation());
  }
};

} // namespace
