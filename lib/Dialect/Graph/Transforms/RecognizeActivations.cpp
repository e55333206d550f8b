// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// graph-recognize-activations: products that spell an activation become one op.
// A product is taken apart into a number and factors, so that the order in
// which an exporter multiplies does not matter.
#include "Dialect/Graph/Transforms/Passes.h"
#include "Matching.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace adze::graph {
#define GEN_PASS_DEF_RECOGNIZEACTIVATIONSPASS
#include "Dialect/Graph/Transforms/Passes.h.inc"
} // namespace adze::graph

using namespace mlir;
using namespace adze::graph;

namespace {

/// number * factors[0] * factors[1] ..
struct Product {
  double number = 1.0;
  SmallVector<Value, 4> factors;
};

/// number + terms[0] + terms[1] ..
struct Sum {
  double number = 0.0;
  SmallVector<Value, 4> terms;
};

constexpr unsigned maxDepth = 8;

/// Takes apart what nobody else reads.
void takeApart(Value value, Product &product, bool isRoot, unsigned depth = 0) {
  bool whole = depth > maxDepth || !(isRoot || value.hasOneUse());
  double factor = 1.0;
  if (std::optional<double> number = getSplatNumber(value)) {
    product.number *= *number;
  } else if (Value x = whole ? Value() : matchScaled(value, factor)) {
    product.number *= factor;
    takeApart(x, product, false, depth + 1);
  } else if (auto mul = value.getDefiningOp<MulOp>(); mul && !whole) {
    takeApart(mul.getLhs(), product, false, depth + 1);
    takeApart(mul.getRhs(), product, false, depth + 1);
  } else {
    product.factors.push_back(value);
  }
}

Product getProduct(Value value) {
  Product product;
  takeApart(value, product, /*isRoot=*/true);
  return product;
}

Sum getSum(Value value) {
  Sum sum;
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

bool isNear(double number, double expected) {
  return std::abs(number - expected) <= 1e-3 * std::abs(expected);
}

/// number * x ^ n, in any spelling.
bool isPower(Value value, Value x, int64_t power, double &number) {
  Product product = getProduct(value);
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

/// erf(x / sqrt(2))
bool isErfOf(Value value, Value x) {
  auto erf = value.getDefiningOp<ErfOp>();
  double number = 0;
  return erf && isPower(erf.getInput(), x, 1, number) &&
         isNear(number, 0.70710678);
}

/// tanh(sqrt(2 / pi) * (x + 0.044715 x^3)), factored or not.
bool isTanhOf(Value value, Value x) {
  constexpr double root = 0.79788456, cubic = 0.044715;
  auto tanh = value.getDefiningOp<TanhOp>();
  if (!tanh)
    return false;
  Product product = getProduct(tanh.getInput());
  // root * (x + cubic x^3), or root * x * (1 + cubic x^2)
  bool factored = product.factors.size() == 2;
  if (!isNear(product.number, root) ||
      (product.factors.size() != 1 && !factored))
    return false;
  for (unsigned i = 0; i < product.factors.size(); ++i) {
    Sum sum = getSum(product.factors[i]);
    double number = 0;
    if (factored && product.factors[1 - i] == x && sum.number == 1.0 &&
        sum.terms.size() == 1 && isPower(sum.terms[0], x, 2, number) &&
        isNear(number, cubic))
      return true;
    if (!factored && sum.number == 0.0 && sum.terms.size() == 2)
      for (unsigned k : {0u, 1u})
        if (sum.terms[k] == x && isPower(sum.terms[1 - k], x, 3, number) &&
            isNear(number, cubic))
          return true;
  }
  return false;
}

/// min(max(x + 3, 0), 6)
bool isClippedSum(Value value, Value x) {
  double high = 0, low = 0;
  Value inner = matchWithSplat<MinimumOp>(value, high);
  Value sum;
  if (inner) {
    if (auto relu = inner.getDefiningOp<ReluOp>())
      sum = relu.getInput();
    else
      sum = matchWithSplat<MaximumOp>(inner, low);
  } else if ((inner = matchWithSplat<MaximumOp>(value, low))) {
    sum = matchWithSplat<MinimumOp>(inner, high);
  }
  if (!sum || low != 0.0 || high != 6.0)
    return false;
  Sum terms = getSum(sum);
  return terms.number == 3.0 && terms.terms.size() == 1 && terms.terms[0] == x;
}

bool isSixthSigmoid(Value value, Value x) {
  auto op = value.getDefiningOp<HardSigmoidOp>();
  return op && op.getInput() == x &&
         isNear(op.getAlpha().convertToDouble(), 1.0 / 6) &&
         op.getBeta().convertToDouble() == 0.5;
}

/// log(1 + e^x)
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

/// x where value is 1 + e^-x.
Value matchOnePlusExp(Value value) {
  Sum sum = getSum(value);
  if (sum.number != 1.0 || sum.terms.size() != 1)
    return {};
  auto exp = sum.terms[0].getDefiningOp<ExpOp>();
  auto neg = exp ? exp.getInput().getDefiningOp<NegOp>() : NegOp();
  return neg ? neg.getInput() : Value();
}

/// A product of x and something of x, or such a product by a number.
template <typename OpT>
class ProductOfInput final : public OpRewritePattern<OpT> {
public:
  ProductOfInput(MLIRContext *context, Pass::Statistic &count)
      : OpRewritePattern<OpT>(context), count(count) {}

  LogicalResult matchAndRewrite(OpT op,
                                PatternRewriter &rewriter) const override {
    if (!isa<FloatType>(getElement(op.getResult())))
      return rewriter.notifyMatchFailure(op, "integers");
    Product product = getProduct(op.getResult());
    if (product.factors.size() != 2)
      return rewriter.notifyMatchFailure(op, "not a product of two");
    for (unsigned i : {0u, 1u})
      if (rewrite(op, product.factors[i], product.factors[1 - i],
                  product.number, rewriter)) {
        ++count;
        return success();
      }
    return rewriter.notifyMatchFailure(op, "no activation");
  }

private:
  static bool rewrite(OpT op, Value x, Value other, double number,
                      PatternRewriter &rewriter) {
    if (x.getType() != op.getType())
      return false;
    Sum sum = getSum(other);
    bool onePlus = sum.number == 1.0 && sum.terms.size() == 1;
    for (GeluMode mode : {GeluMode::None, GeluMode::Tanh})
      if (onePlus && isNear(number, 0.5) &&
          (mode == GeluMode::Tanh ? isTanhOf(sum.terms[0], x)
                                  : isErfOf(sum.terms[0], x))) {
        rewriter.replaceOpWithNewOp<GeluOp>(
            op, x, GeluModeAttr::get(op.getContext(), mode));
        return true;
      }
    auto sigmoid = other.getDefiningOp<SigmoidOp>();
    if (sigmoid && sigmoid.getInput() == x && number == 1.0) {
      rewriter.replaceOpWithNewOp<SiluOp>(op, x);
      return true;
    }
    if ((isSixthSigmoid(other, x) && number == 1.0) ||
        (isClippedSum(other, x) && isNear(number, 1.0 / 6))) {
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

/// 1 / (1 + e^-x) -> sigmoid(x), x / (1 + e^-x) -> silu(x).
class QuotientByExp final : public OpRewritePattern<DivOp> {
public:
  QuotientByExp(MLIRContext *context, Pass::Statistic &count)
      : OpRewritePattern(context), count(count) {}

  LogicalResult matchAndRewrite(DivOp op,
                                PatternRewriter &rewriter) const override {
    Value x = matchOnePlusExp(op.getRhs());
    if (!x || x.getType() != op.getType())
      return rewriter.notifyMatchFailure(op, "not by 1 + e^-x");
    if (op.getLhs() == x)
      rewriter.replaceOpWithNewOp<SiluOp>(op, x);
    else if (getSplatNumber(op.getLhs()) == 1.0)
      rewriter.replaceOpWithNewOp<SigmoidOp>(op, x);
    else
      return rewriter.notifyMatchFailure(op, "of something else");
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
    Value x = matchOnePlusExp(op.getInput());
    if (!x)
      return rewriter.notifyMatchFailure(op, "not of 1 + e^-x");
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
    patterns.add<ProductOfInput<MulOp>, ProductOfInput<DivOp>, QuotientByExp,
                 ReciprocalOfExp>(&getContext(), recognized);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
