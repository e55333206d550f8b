// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// graph-recognize-activations: replaces products that compute an activation by
// one op. A product is decomposed into a number and factors, so that the order
// of multiplications does not matter.
#include "Dialect/Graph/Transforms/Passes.h"
#include "Matching.h"
#include "Refusals.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace adze::graph {
#define GEN_PASS_DEF_RECOGNIZEACTIVATIONSPASS
#include "Dialect/Graph/Transforms/Passes.h.inc"
} // namespace adze::graph

using namespace mlir;
using namespace adze::graph;

namespace {

/// The product number * factors[0] * factors[1] ..
struct Product {
  double number = 1.0;
  SmallVector<Value, 4> factors;
};

/// The sum number + terms[0] + terms[1] ..
struct Sum {
  double number = 0.0;
  SmallVector<Value, 4> terms;
};

constexpr unsigned maxDepth = 8;

/// Decomposes values without other uses; with `x`, it decomposes known
/// functions of `x`, but not `x` itself.
void takeApart(Value value, Product &product, Value x, bool isRoot,
               unsigned depth = 0) {
  bool whole =
      depth > maxDepth || value == x || !(x || isRoot || value.hasOneUse());
  double factor = 1.0;
  if (std::optional<double> number = getSplatNumber(value)) {
    product.number *= *number;
  } else if (Value scaled = whole ? Value() : matchScaled(value, factor)) {
    product.number *= factor;
    takeApart(scaled, product, x, false, depth + 1);
  } else if (auto neg = value.getDefiningOp<NegOp>(); neg && !whole) {
    product.number = -product.number;
    takeApart(neg.getInput(), product, x, false, depth + 1);
  } else if (auto mul = value.getDefiningOp<MulOp>(); mul && !whole) {
    takeApart(mul.getLhs(), product, x, false, depth + 1);
    takeApart(mul.getRhs(), product, x, false, depth + 1);
  } else {
    product.factors.push_back(value);
  }
}

Product getProduct(Value value, Value x = {}) {
  Product product;
  takeApart(value, product, x, /*isRoot=*/true);
  return product;
}

Sum getSum(Value value) {
  Sum sum;
  auto sub = value.getDefiningOp<SubOp>();
  if (auto number = sub ? getSplatNumber(sub.getRhs()) : std::nullopt) {
    sum.number = -*number;
    sum.terms.push_back(sub.getLhs());
    return sum;
  }
  auto add = value.getDefiningOp<AddOp>();
  if (!add) {
    sum.terms.push_back(value);
    return sum;
  }
  for (Value operand : add->getOperands()) {
    if (std::optional<double> number = getSplatNumber(operand))
      sum.number += *number;
    else
      sum.terms.push_back(operand);
  }
  return sum;
}

/// Compares a constant that was rounded to `type`, the type of the op.
bool isNear(double number, double expected, Type type) {
  double slack = type.isBF16() ? 0x1p-7 : 1e-3;
  return std::abs(number - expected) <= slack * std::abs(expected);
}

/// Matches number * x ^ n, in any form.
bool isPower(Value value, Value x, int64_t power, double &number) {
  Product product = getProduct(value, x);
  int64_t found = 0;
  for (Value factor : product.factors) {
    auto op = factor.getDefiningOp<PowOp>();
    std::optional<double> exponent =
        op && op.getLhs() == x ? getSplatNumber(op.getRhs()) : std::nullopt;
    if (factor != x && !exponent)
      return false;
    found += exponent ? int64_t(*exponent) : 1;
    if (exponent && *exponent != double(int64_t(*exponent)))
      return false;
  }
  number = product.number;
  return found == power;
}

/// Matches erf(x / sqrt(2)), with a sign of +1 or -1 inside.
bool isErfOf(Value value, Value x, double sign) {
  auto erf = value.getDefiningOp<ErfOp>();
  double number = 0;
  return erf && isPower(erf.getInput(), x, 1, number) &&
         isNear(number, sign * 0.70710678, getElement(x));
}

/// Matches sqrt(2 / pi) * (x + 0.044715 x^3), times `times`, in any
/// factorization.
bool isTanhArgument(Value value, Value x, double times) {
  constexpr double cubic = 0.044715;
  double root = times * 0.79788456;
  Product product = getProduct(value, x);
  // This is root * (x + cubic x^3), or root * x * (1 + cubic x^2).
  bool factored = product.factors.size() == 2;
  if (product.factors.size() != 1 && !factored)
    return false;
  Type type = getElement(x);
  auto fits = [&](double line, double cube) {
    return isNear(product.number * line, root, type) &&
           isNear(cube / line, cubic, type);
  };
  for (unsigned i = 0; i < product.factors.size(); ++i) {
    Sum sum = getSum(product.factors[i]);
    double line = 0, cube = 0;
    if (factored && product.factors[1 - i] == x && sum.number != 0.0 &&
        sum.terms.size() == 1 && isPower(sum.terms[0], x, 2, cube) &&
        fits(sum.number, cube))
      return true;
    if (!factored && sum.number == 0.0 && sum.terms.size() == 2)
      for (unsigned k : {0u, 1u})
        if (isPower(sum.terms[k], x, 1, line) &&
            isPower(sum.terms[1 - k], x, 3, cube) && fits(line, cube))
          return true;
  }
  return false;
}

/// Matches min(max(x, 0), high), in either order, and returns x.
Value matchClipped(Value value, double &high) {
  double low = 0;
  Value inner = matchWithSplat<MinimumOp>(value, high), x;
  if (inner) {
    if (auto relu = inner.getDefiningOp<ReluOp>())
      x = relu.getInput();
    else
      x = matchWithSplat<MaximumOp>(inner, low);
  } else if (auto relu = value.getDefiningOp<ReluOp>()) {
    x = matchWithSplat<MinimumOp>(relu.getInput(), high);
  } else if ((inner = matchWithSplat<MaximumOp>(value, low))) {
    x = matchWithSplat<MinimumOp>(inner, high);
  }
  return low == 0.0 ? x : Value();
}

/// Matches min(max(x + 3, 0), 6).
bool isClippedSum(Value value, Value x) {
  double high = 0;
  Value sum = matchClipped(value, high);
  if (!sum || high != 6.0)
    return false;
  Sum terms = getSum(sum);
  return terms.number == 3.0 && terms.terms.size() == 1 && terms.terms[0] == x;
}

bool isSixthSigmoid(Value value, Value x) {
  auto op = value.getDefiningOp<HardSigmoidOp>();
  return op && op.getInput() == x &&
         isNear(op.getAlpha().convertToDouble(), 1.0 / 6, getElement(x)) &&
         op.getBeta().convertToDouble() == 0.5;
}

/// Matches log(1 + e^x).
bool isSoftplusOf(Value value, Value x) {
  if (auto op = value.getDefiningOp<SoftplusOp>())
    return op.getInput() == x;
  auto log = value.getDefiningOp<LogOp>();
  if (!log)
    return false;
  Sum sum = getSum(log.getInput());
  auto exp =
      sum.terms.size() == 1 ? sum.terms[0].getDefiningOp<ExpOp>() : ExpOp();
  return exp && sum.number == 1.0 && exp.getInput() == x;
}

/// Matches -x, and returns x.
Value matchNegated(Value value) {
  if (auto neg = value.getDefiningOp<NegOp>())
    return neg.getInput();
  if (auto sub = value.getDefiningOp<SubOp>())
    return getSplatNumber(sub.getLhs()) == 0.0 ? sub.getRhs() : Value();
  double factor = 0;
  Value x = matchScaled(value, factor);
  return x && factor == -1.0 ? x : Value();
}

/// Matches 1 + e^-x, and returns x. If x is a product with a negative number,
/// creates the product with its absolute value.
Value matchOnePlusExp(OpBuilder &b, Value value) {
  Sum sum = getSum(value);
  if (sum.number != 1.0 || sum.terms.size() != 1)
    return {};
  auto exp = sum.terms[0].getDefiningOp<ExpOp>();
  if (!exp)
    return {};
  if (Value x = matchNegated(exp.getInput()))
    return x;
  double factor = 0;
  Value x = matchScaled(exp.getInput(), factor);
  if (!x || !(factor < 0) || x.getType() != exp.getType())
    return {};
  Type element = getElement(x);
  auto amount = DenseElementsAttr::get(RankedTensorType::get({}, element),
                                       b.getFloatAttr(element, -factor));
  return MulOp::create(b, exp.getLoc(), x,
                       ConstantOp::create(b, exp.getLoc(), amount));
}

/// Returns x * (1 + sign * inner) / 2 as an op x * P(x), where P ranges from 0
/// to 1. The inner functions are odd, so the sign may be that of their
/// argument.
Value matchHalf(OpBuilder &b, Location loc, Value x, Value inner, double sign) {
  double number = 0;
  if (isErfOf(inner, x, sign))
    return GeluOp::create(b, loc, x,
                          GeluModeAttr::get(b.getContext(), GeluMode::None));
  auto tanh = inner.getDefiningOp<TanhOp>();
  if (tanh && isTanhArgument(tanh.getInput(), x, sign))
    return GeluOp::create(b, loc, x,
                          GeluModeAttr::get(b.getContext(), GeluMode::Tanh));
  if (tanh && isPower(tanh.getInput(), x, 1, number) && number == sign * 0.5)
    return SiluOp::create(b, loc, x);
  return {};
}

/// Matches c * (1 + sign * term), and returns the term.
Value matchOnePlus(Value value, double &number, double &sign) {
  Sum sum = getSum(value);
  double slope = 1.0, outside = 1.0;
  if (auto sub = value.getDefiningOp<SubOp>())
    if (auto from = getSplatNumber(sub.getLhs())) {
      sum = {*from, {sub.getRhs()}};
      outside = -1.0;
    }
  if (sum.terms.size() != 1 || sum.number == 0.0)
    return {};
  Value term = sum.terms[0];
  if (Value inner = matchScaled(term, slope))
    term = inner;
  else
    slope = 1.0;
  slope *= outside;
  number = sum.number;
  sign = slope < 0 == sum.number < 0 ? 1.0 : -1.0;
  return std::abs(sum.number) == std::abs(slope) ? term : Value();
}

/// Matches a product of x and a function of x, or such a product by a number.
template <typename OpT>
class ProductOfInput final : public OpRewritePattern<OpT> {
public:
  ProductOfInput(MLIRContext *context, Pass::Statistic &count)
      : OpRewritePattern<OpT>(context), count(count) {}

  LogicalResult matchAndRewrite(OpT op,
                                PatternRewriter &rewriter) const override {
    if (!isa<FloatType>(getElement(op.getResult())))
      return rewriter.notifyMatchFailure(op,
                                         "expected elements of a float type");
    Product product = getProduct(op.getResult());
    if (product.factors.size() != 2)
      return rewriter.notifyMatchFailure(op,
                                         "expected a product of two factors");
    FirstFailure failure;
    for (unsigned i : {0u, 1u})
      if (rewrite(op, product.factors[i], product.factors[1 - i],
                  product.number, rewriter, failure)) {
        ++count;
        return success();
      }
    return failure.report(rewriter, op, /*near=*/1,
                          "the product is not an activation");
  }

private:
  static bool rewrite(OpT op, Value x, Value other, double number,
                      PatternRewriter &rewriter, FirstFailure &failure) {
    if (x.getType() != op.getType())
      return false;
    double slope = 0, sign = 1;
    Type type = getElement(x);
    if (Value inner = matchOnePlus(other, slope, sign);
        inner && isa_and_nonnull<ErfOp, TanhOp>(inner.getDefiningOp())) {
      bool isHalf = isNear(number * slope, 0.5, type);
      Value y =
          isHalf ? matchHalf(rewriter, op.getLoc(), x, inner, sign) : Value();
      if (y) {
        rewriter.replaceOp(op, y);
        return true;
      }
      failure.set(1, isHalf ? "the argument of erf or tanh is not the factor"
                            : "expected a factor of 0.5 on 1 + erf or tanh");
    }
    auto sigmoid = other.getDefiningOp<SigmoidOp>();
    if (sigmoid && sigmoid.getInput() == x && number == 1.0) {
      rewriter.replaceOpWithNewOp<SiluOp>(op, x);
      return true;
    }
    if (sigmoid && number == 1.0 &&
        isTanhArgument(sigmoid.getInput(), x, 2.0)) {
      rewriter.replaceOpWithNewOp<GeluOp>(
          op, x, GeluModeAttr::get(op.getContext(), GeluMode::Tanh));
      return true;
    }
    if (sigmoid && sigmoid.getInput() == x)
      failure.set(1, "expected no constant factor on x * sigmoid(x)");
    if ((isSixthSigmoid(other, x) && number == 1.0) ||
        (isClippedSum(other, x) && isNear(number, 1.0 / 6, type))) {
      rewriter.replaceOpWithNewOp<HardSwishOp>(op, x);
      return true;
    }
    auto tanh = other.getDefiningOp<TanhOp>();
    if (tanh && number == 1.0 && isSoftplusOf(tanh.getInput(), x)) {
      rewriter.replaceOpWithNewOp<MishOp>(op, x);
      return true;
    }
    return false;
  }

  Pass::Statistic &count;
};

/// Matches h + h * inner with h = x / 2: x * (1 + inner) / 2 expanded.
class SumOfProducts final : public OpRewritePattern<AddOp> {
public:
  SumOfProducts(MLIRContext *context, Pass::Statistic &count)
      : OpRewritePattern(context), count(count) {}

  LogicalResult matchAndRewrite(AddOp op,
                                PatternRewriter &rewriter) const override {
    for (unsigned i : {0u, 1u}) {
      double half = 0;
      Value whole = op->getOperand(i), x = matchScaled(whole, half);
      auto product = op->getOperand(1 - i).getDefiningOp<MulOp>();
      if (!x || half != 0.5 || !product || x.getType() != op.getType())
        continue;
      Value inner = matchOther<MulOp>(product.getResult(), whole);
      Value y =
          inner ? matchHalf(rewriter, op.getLoc(), x, inner, 1.0) : Value();
      if (!y)
        continue;
      rewriter.replaceOp(op, y);
      ++count;
      return success();
    }
    return rewriter.notifyMatchFailure(op,
                                       "the sum is not an expanded activation");
  }

private:
  Pass::Statistic &count;
};

/// min(max(a x + b, 0), 1) -> hard_sigmoid(x), also with the bound h and a
/// factor 1 / h.
template <typename OpT>
class ClippedLine final : public OpRewritePattern<OpT> {
public:
  ClippedLine(MLIRContext *context, Pass::Statistic &count)
      : OpRewritePattern<OpT>(context), count(count) {}

  LogicalResult matchAndRewrite(OpT op,
                                PatternRewriter &rewriter) const override {
    double factor = 1.0, high = 0, alpha = 1.0;
    Value clipped = op.getResult();
    if (isa<MulOp, DivOp>(op))
      clipped = matchScaled(clipped, factor);
    Value line = clipped ? matchClipped(clipped, high) : Value();
    if (!line || !isa<FloatType>(getElement(line)) ||
        std::abs(high * factor - 1.0) > 1e-6)
      return rewriter.notifyMatchFailure(op,
                                         "the value is not clipped to [0, 1]");
    Sum sum = getSum(line);
    if (sum.terms.size() != 1 || sum.number == 0.0)
      return rewriter.notifyMatchFailure(
          op, "the clipped value is not a linear function of one value");
    Value x = sum.terms[0];
    if (Value scaled = matchScaled(x, alpha))
      x = scaled;
    else
      alpha = 1.0;
    if (x.getType() != op.getType())
      return rewriter.notifyMatchFailure(op, "the argument is broadcast");
    rewriter.replaceOpWithNewOp<HardSigmoidOp>(
        op, op.getType(), x, rewriter.getF64FloatAttr(alpha * factor),
        rewriter.getF64FloatAttr(sum.number * factor));
    ++count;
    return success();
  }

private:
  Pass::Statistic &count;
};

/// 1 / (1 + e^-x) -> sigmoid(x), x / (1 + e^-x) -> silu(x), y / (1 + e^-x) -> y
/// * sigmoid(x).
class QuotientByExp final : public OpRewritePattern<DivOp> {
public:
  QuotientByExp(MLIRContext *context, Pass::Statistic &count)
      : OpRewritePattern(context), count(count) {}

  LogicalResult matchAndRewrite(DivOp op,
                                PatternRewriter &rewriter) const override {
    if (op.getRhs().getType() != op.getType())
      return rewriter.notifyMatchFailure(op, "the divisor is broadcast");
    Value x = matchOnePlusExp(rewriter, op.getRhs());
    if (!x)
      return rewriter.notifyMatchFailure(op, "the divisor is not 1 + e^-x");
    if (op.getLhs() == x)
      rewriter.replaceOpWithNewOp<SiluOp>(op, x);
    else if (getSplatNumber(op.getLhs()) == 1.0)
      rewriter.replaceOpWithNewOp<SigmoidOp>(op, x);
    else
      rewriter.replaceOpWithNewOp<MulOp>(
          op, op.getLhs(), SigmoidOp::create(rewriter, op.getLoc(), x));
    ++count;
    return success();
  }

private:
  Pass::Statistic &count;
};

class ReciprocalOfExp final : public OpRewritePattern<ReciprocalOp> {
public:
  ReciprocalOfExp(MLIRContext *context, Pass::Statistic &count)
      : OpRewritePattern(context), count(count) {}

  LogicalResult matchAndRewrite(ReciprocalOp op,
                                PatternRewriter &rewriter) const override {
    Value x = matchOnePlusExp(rewriter, op.getInput());
    if (!x)
      return rewriter.notifyMatchFailure(op, "the operand is not 1 + e^-x");
    rewriter.replaceOpWithNewOp<SigmoidOp>(op, x);
    ++count;
    return success();
  }

private:
  Pass::Statistic &count;
};

class RecognizeActivationsPass final
    : public adze::graph::impl::RecognizeActivationsPassBase<
          RecognizeActivationsPass> {
public:
  using RecognizeActivationsPassBase::RecognizeActivationsPassBase;

  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<ProductOfInput<MulOp>, ProductOfInput<DivOp>, SumOfProducts,
                 ClippedLine<MulOp>, ClippedLine<DivOp>, ClippedLine<MinimumOp>,
                 ClippedLine<MaximumOp>, ClippedLine<ReluOp>, QuotientByExp,
                 ReciprocalOfExp>(&getContext(), recognized);
    NearMisses misses;
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns),
                                     misses.getConfig())))
      signalPassFailure();
    misses.report(getOperation());
  }
};

} // namespace
