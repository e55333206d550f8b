// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// graph-simplify-algebra: simplifies arithmetic. Results are bitwise equal,
// except for powers that become products (which round as products do), sums of
// sums and reordered reductions (which add in another order) and the sign of 0
// in products over one element.
#include "Dialect/Graph/IR/Factors.h"
#include "Dialect/Graph/Transforms/Passes.h"
#include "Simplification.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "llvm/ADT/SmallBitVector.h"
#include <cmath>

namespace adze::graph {
#define GEN_PASS_DEF_SIMPLIFYALGEBRAPASS
#include "Dialect/Graph/Transforms/Passes.h.inc"
} // namespace adze::graph

using namespace mlir;
using namespace adze::graph;

namespace {

/// Returns true if `value` has the shape of the result of `op`, whatever
/// `other` is.
bool isResultShaped(Operation *op, Value value, Value other) {
  if (value.getType() != op->getResult(0).getType())
    return false;
  return areKnown(value) || llvm::all_of(getDims(other), [](AffineExpr dim) {
           return getConstant(dim) == 1;
         });
}

bool isFloat(Value value) { return isa<FloatType>(getElement(value)); }
bool isBool(Value value) { return getElement(value).isInteger(1); }

/// Returns true if every element of the constant is the neutral element. For
/// sums of floats this is -0, as -0 + 0 is 0.
bool isNeutral(Operation *op, Value constant) {
  if (isBool(constant)) {
    std::optional<bool> truth = getSplatBool(constant);
    return truth && (isa<AndOp>(op) ? *truth : isa<OrOp, XorOp>(op) && !*truth);
  }
  std::optional<double> number = getSplatNumber(constant);
  if (!number)
    return false;
  bool zero = *number == 0.0, negative = std::signbit(*number);
  if (isa<AddOp>(op))
    return zero && (!isFloat(constant) || negative);
  if (isa<SubOp>(op))
    return zero && !negative;
  if (isa<BitwiseOrOp, BitwiseXorOp, ShiftLeftOp, ShiftRightOp>(op))
    return zero;
  return isa<MulOp, DivOp, PowOp>(op) && *number == 1.0;
}

/// x + 0, x * 1, x / 1, x ^ 1, x and true -> x.
template <typename OpT>
LogicalResult dropNeutralOperand(OpT op, PatternRewriter &rewriter) {
  unsigned places = op->template hasTrait<OpTrait::IsCommutative>() ? 2 : 1;
  for (unsigned i = 0; i < places; ++i) {
    Value x = op->getOperand(i), constant = op->getOperand(1 - i);
    if (!isNeutral(op, constant) || !isResultShaped(op, x, constant))
      continue;
    rewriter.replaceOp(op, x);
    return success();
  }
  return rewriter.notifyMatchFailure(op, "no operand is an identity element");
}

/// max(x, x), x and x -> x.
template <typename OpT>
LogicalResult dropEqualOperand(OpT op, PatternRewriter &rewriter) {
  if (op.getLhs() != op.getRhs())
    return rewriter.notifyMatchFailure(op, "the operands differ");
  rewriter.replaceOp(op, op.getLhs());
  return success();
}

/// f(f(x)) -> f(x).
template <typename OpT>
LogicalResult dropRepetition(OpT op, PatternRewriter &rewriter) {
  if (!op.getInput().template getDefiningOp<OpT>())
    return rewriter.notifyMatchFailure(
        op, "the operand is not the result of the same op");
  rewriter.replaceOp(op, op.getInput());
  return success();
}

/// f(f(x)) -> x.
template <typename OpT>
LogicalResult dropInverse(OpT op, PatternRewriter &rewriter) {
  auto inner = op.getInput().template getDefiningOp<OpT>();
  if (!inner)
    return rewriter.notifyMatchFailure(
        op, "the operand is not the result of the same op");
  rewriter.replaceOp(op, inner.getInput());
  return success();
}

/// min(min(x, a), b) -> min(x, min(a, b)) for constants; likewise for max.
template <typename OpT>
LogicalResult mergeBounds(OpT op, PatternRewriter &rewriter) {
  double outer = 0, inside = 0;
  Value clipped = matchWithSplat<OpT>(op.getResult(), outer);
  Value x = clipped ? matchWithSplat<OpT>(clipped, inside) : Value();
  // Large integers are not exact as doubles.
  if (!x || !isFloat(x) || std::isnan(outer) || std::isnan(inside) ||
      x.getType() != op.getType() || !areKnown(x))
    return rewriter.notifyMatchFailure(
        op, "the operand is not bounded by the same op");
  bool least = std::is_same_v<OpT, MinimumOp>;
  bool keepsOuter = least ? outer <= inside : outer >= inside;
  Operation *bound = keepsOuter ? op.getOperation() : clipped.getDefiningOp();
  Value constant =
      bound->getOperand(getSplatNumber(bound->getOperand(1)) ? 1 : 0);
  rewriter.replaceOpWithNewOp<OpT>(op, x, constant);
  return success();
}

/// x ^ 2 -> x * x, x ^ 3 -> x * x * x, x ^ -1 -> 1 / x.
LogicalResult multiplySmallPower(PowOp op, PatternRewriter &rewriter) {
  Value x = op.getLhs();
  std::optional<double> power = getSplatNumber(op.getRhs());
  if (!power || !isResultShaped(op, x, op.getRhs()))
    return rewriter.notifyMatchFailure(op,
                                       "the exponent is not a splat constant");
  // A product in a narrow type would round more often than the power.
  bool wide = !isFloat(x) || getElement(x).getIntOrFloatBitWidth() >= 32;
  if (*power == -1.0 && isFloat(x)) {
    rewriter.replaceOpWithNewOp<ReciprocalOp>(op, x);
    return success();
  }
  if (*power != 2.0 && !(wide && (*power == 3.0 || *power == 4.0)))
    return rewriter.notifyMatchFailure(op, "the exponent is not 2, 3, 4 or -1");
  Value square = MulOp::create(rewriter, op.getLoc(), x, x);
  if (*power == 2.0)
    rewriter.replaceOp(op, square);
  else
    rewriter.replaceOpWithNewOp<MulOp>(op, square, *power == 3.0 ? x : square);
  return success();
}

/// x ^ 0.5 -> sqrt(x), x ^ -0.5 -> 1 / sqrt(x), except for two values: the
/// power of -inf is that of inf, and the power of -0 is that of 0.
LogicalResult takeRoot(PowOp op, PatternRewriter &rewriter) {
  Value x = op.getLhs();
  std::optional<double> power = getSplatNumber(op.getRhs());
  auto type = cast<RankedTensorType>(x.getType());
  if (!power || std::abs(*power) != 0.5 || x.getType() != op.getType() ||
      !(type.getElementType().isF32() || type.getElementType().isF64()))
    return rewriter.notifyMatchFailure(op, "the exponent is not 0.5 or -0.5");
  Location loc = op.getLoc();
  auto infinity = [&](bool negative) {
    auto element = cast<FloatType>(type.getElementType());
    auto number = llvm::APFloat::getInf(element.getFloatSemantics(), negative);
    return ConstantOp::create(
        rewriter, loc,
        DenseElementsAttr::get(RankedTensorType::get({}, element), number));
  };
  Value isLeast = EqualOp::create(rewriter, loc, x, infinity(true));
  Value from = SelectOp::create(rewriter, loc, isLeast, infinity(false), x);
  Value root =
      AbsOp::create(rewriter, loc, SqrtOp::create(rewriter, loc, from));
  if (*power < 0)
    root = ReciprocalOp::create(rewriter, loc, root);
  rewriter.replaceOp(op, root);
  return success();
}

/// x / c -> x * (1 / c) if it is exact: c is a power of two.
LogicalResult multiplyByReciprocal(DivOp op, PatternRewriter &rewriter) {
  auto type = cast<RankedTensorType>(op.getRhs().getType());
  std::optional<double> divisor = getSplatNumber(op.getRhs());
  if (!divisor || !isFloat(op.getRhs()) || !type.hasStaticShape())
    return rewriter.notifyMatchFailure(op,
                                       "the divisor is not a splat constant");
  int exponent = 0;
  double mantissa = std::frexp(*divisor, &exponent);
  // The limit is half of the range of the narrowest type, so that neither side
  // is subnormal.
  if (std::abs(mantissa) != 0.5 || std::abs(exponent) > 12)
    return rewriter.notifyMatchFailure(op, "the reciprocal is not exact");
  auto element = cast<FloatType>(type.getElementType());
  llvm::APFloat factor(1.0 / *divisor);
  bool lost = false;
  factor.convert(element.getFloatSemantics(),
                 llvm::APFloat::rmNearestTiesToEven, &lost);
  auto constant = ConstantOp::create(rewriter, op.getLoc(),
                                     DenseElementsAttr::get(type, factor));
  rewriter.replaceOpWithNewOp<MulOp>(op, op.getLhs(), constant);
  return success();
}

/// Returns true if `type` holds all values of `from`.
bool holdsAll(Type type, Type from) {
  auto isPlain = [](Type t) {
    return t.isF16() || t.isBF16() || t.isF32() || t.isF64() ||
           (t.isInteger() &&
            (t.isInteger(1) || t.getIntOrFloatBitWidth() >= 8));
  };
  if (!isPlain(type) || !isPlain(from))
    return false;
  if (type == from || from.isInteger(1))
    return true;
  if (type.isInteger(1))
    return false;
  unsigned width = from.getIntOrFloatBitWidth();
  if (auto f = dyn_cast<FloatType>(type)) {
    auto g = dyn_cast<FloatType>(from);
    if (!g) // a sign, and as many bits as the mantissa
      return width - !from.isUnsignedInteger() <= f.getFPMantissaWidth();
    return f.isF64() || (f.isF32() && !g.isF64());
  }
  if (isa<FloatType>(from))
    return false;
  bool wider = type.getIntOrFloatBitWidth() > width;
  if (from.isUnsignedInteger())
    return wider;
  return wider && !type.isUnsignedInteger();
}

/// cast(cast(x)) -> cast(x) if the first cast is lossless.
LogicalResult joinCasts(CastOp op, PatternRewriter &rewriter) {
  auto inner = op.getInput().getDefiningOp<CastOp>();
  if (!inner)
    return rewriter.notifyMatchFailure(
        op, "the operand is not the result of a cast");
  Type from = getElement(inner.getInput()), over = getElement(inner),
       to = getElement(op.getResult());
  // Out of range, integers wrap and floats do not.
  bool wraps = isa<IntegerType>(from) && isa<FloatType>(over) &&
               isa<IntegerType>(to) && !to.isInteger(1) && !holdsAll(to, from);
  if (!holdsAll(over, from) || wraps)
    return rewriter.notifyMatchFailure(op, "the first cast is not lossless");
  rewriter.modifyOpInPlace(
      op, [&] { op.getInputMutable().assign(inner.getInput()); });
  return success();
}

/// Folds selections with a constant condition, or between equal values.
LogicalResult foldDecided(SelectOp op, PatternRewriter &rewriter) {
  if (Value chosen = getDecided(op)) {
    rewriter.replaceOp(op, chosen);
    return success();
  }
  auto negation = op.getCondition().getDefiningOp<NotOp>();
  if (!negation)
    return rewriter.notifyMatchFailure(
        op, "the condition is neither constant nor negated");
  rewriter.replaceOpWithNewOp<SelectOp>(op, negation.getInput(), op.getRhs(),
                                        op.getLhs());
  return success();
}

/// A reduction over dims of size 1 becomes a view.
template <typename OpT>
LogicalResult viewUnitDims(OpT op, PatternRewriter &rewriter) {
  Dims dims = getDims(op.getInput());
  auto isOne = [&](int64_t axis) { return getConstant(dims[axis]) == 1; };
  if (!llvm::all_of(op.getAxes(), isOne) || !areKnown(op.getInput()))
    return rewriter.notifyMatchFailure(op, "a reduced dim is not 1");
  rewriter.replaceOpWithNewOp<ReshapeOp>(op, op.getType(), op.getInput());
  return success();
}

/// Returns the dims of the innermost input that two reductions reduce together.
SmallVector<int64_t> joinAxes(ArrayRef<int64_t> inner, ArrayRef<int64_t> outer,
                              int64_t rank, bool keepdims) {
  llvm::SmallBitVector reduced(rank);
  for (int64_t axis : inner)
    reduced.set(axis);
  SmallVector<int64_t> left; // dim of the inner result -> dim of the input
  for (int64_t d = 0; d < rank; ++d)
    if (keepdims || !reduced.test(d))
      left.push_back(d);
  for (int64_t axis : outer)
    reduced.set(left[axis]);
  return SmallVector<int64_t>(reduced.set_bits_begin(), reduced.set_bits_end());
}

/// sum(sum(x)) over other dims -> one sum; likewise for mean, max, min and
/// prod.
template <typename OpT>
LogicalResult joinReductions(OpT op, PatternRewriter &rewriter) {
  auto inner = op.getInput().template getDefiningOp<OpT>();
  if (!inner || !inner->hasOneUse() || !areKnown(op.getResult()) ||
      op.getAxes().empty() || inner.getAxes().empty())
    return rewriter.notifyMatchFailure(
        op, "the operand is not a single-use reduction of the same kind");
  // Narrow floats are rounded between the two.
  if (isFloat(op.getInput()) &&
      getElement(op.getInput()).getIntOrFloatBitWidth() < 32)
    return rewriter.notifyMatchFailure(op, "the inner result is rounded");
  if (std::is_same_v<OpT, ReduceMeanOp> && !isFloat(op.getInput()))
    return rewriter.notifyMatchFailure(op, "the inner result is rounded");
  SmallVector<int64_t> axes =
      joinAxes(inner.getAxes(), op.getAxes(), getRank(inner.getInput()),
               inner.getKeepdims());
  bool keepdims = op.getKeepdims() && inner.getKeepdims();
  Value joined =
      OpT::create(rewriter, op.getLoc(), inner.getInput(), axes, keepdims);
  if (joined.getType() != op.getType())
    joined = ReshapeOp::create(rewriter, op.getLoc(), op.getType(), joined);
  rewriter.replaceOp(op, joined);
  return success();
}

/// A softmax whose only user is a weighted sum of its elements.
struct WeighedSoftmax {
  SoftmaxOp softmax;
  Value numbers; // of the rank of the softmax, or less
};

/// Returns the softmax of f32 or f64 along `axis`, if it has no other use.
SoftmaxOp getOwnSoftmax(Value value, int64_t axis) {
  auto softmax = value.getDefiningOp<SoftmaxOp>();
  return softmax && softmax->hasOneUse() && areKnown(value) &&
                 int64_t(softmax.getAxis()) == axis &&
                 getElement(value).getIntOrFloatBitWidth() >= 32
             ? softmax
             : SoftmaxOp();
}

/// Matches a product with one column of numbers.
WeighedSoftmax getWeighed(MatmulOp op, PatternRewriter &rewriter) {
  Dims column = getDims(op.getRhs());
  auto softmax = getOwnSoftmax(op.getLhs(), getRank(op.getLhs()) - 1);
  if (!softmax || op.getTransposeA() || column.size() != 2 ||
      getConstant(column[op.getTransposeB() ? 0 : 1]) != 1)
    return {};
  AffineExpr size = column[op.getTransposeB() ? 1 : 0];
  return {softmax, ReshapeOp::create(rewriter, op.getLoc(),
                                     makeType(getElement(op.getRhs()), {size}),
                                     op.getRhs())};
}

/// Matches a convolution of single elements to one channel.
WeighedSoftmax getWeighed(ConvOp op, PatternRewriter &) {
  Dims filter = getDims(op.getFilter());
  auto softmax = getOwnSoftmax(op.getInput(), 1);
  auto isOne = [](AffineExpr size) { return getConstant(size) == 1; };
  auto isNone = [](int64_t pad) { return pad == 0; };
  if (!softmax || op.getLayout() != Layout::NCHW || op.getGroup() != 1 ||
      !isOne(filter[0]) ||
      !llvm::all_of(ArrayRef(filter).drop_front(2), isOne) ||
      !llvm::all_of(op.getPads(), isNone) ||
      !llvm::all_of(op.getStrides(), [](int64_t step) { return step == 1; }))
    return {};
  return {softmax, op.getFilter()};
}

/// Matches the sum of a product.
WeighedSoftmax getWeighed(ReduceSumOp op, PatternRewriter &) {
  auto product = op.getInput().getDefiningOp<MulOp>();
  if (!product || !product->hasOneUse() || op.getAxes().size() != 1)
    return {};
  for (unsigned i : {0u, 1u})
    if (auto softmax = getOwnSoftmax(product->getOperand(i), op.getAxes()[0]);
        softmax && softmax.getType() == product.getType())
      return {softmax, product->getOperand(1 - i)};
  return {};
}

/// sum(softmax(x) * w) -> sum(e * w) / sum(e) with e = exp(x - max(x)): both
/// sums of the same elements are one kernel, which stores no softmax.
template <typename OpT>
LogicalResult sumWeighed(OpT op, PatternRewriter &rewriter) {
  auto [softmax, numbers] = getWeighed(op, rewriter);
  if (!softmax)
    return rewriter.notifyMatchFailure(op, "the op does not reduce a softmax");
  Location loc = rewriter.getFusedLoc({softmax.getLoc(), op.getLoc()});
  Value x = softmax.getInput();
  int64_t axis = softmax.getAxis(), rank = getRank(x);
  // x may be before a transpose.
  auto transpose = x.getDefiningOp<TransposeOp>();
  if (transpose) {
    Dims dims(rank - getRank(numbers), rewriter.getAffineConstantExpr(1));
    dims.append(getDims(numbers));
    SmallVector<int64_t> inverse(rank);
    for (auto [dim, source] : llvm::enumerate(transpose.getPerm()))
      inverse[source] = dim;
    numbers = ReshapeOp::create(rewriter, loc,
                                makeType(getElement(numbers), dims), numbers);
    numbers = TransposeOp::create(rewriter, loc, numbers, inverse);
    x = transpose.getInput();
    axis = transpose.getPerm()[axis];
  }
  Value most = ReduceMaxOp::create(rewriter, loc, x, axis, /*keepdims=*/true);
  Value shifted = SubOp::create(rewriter, loc, x, most);
  Value e = ExpOp::create(rewriter, loc, shifted);
  Value weighed = MulOp::create(rewriter, loc, e, numbers);
  Value all = ReduceSumOp::create(rewriter, loc, e, axis, /*keepdims=*/true);
  Value part =
      ReduceSumOp::create(rewriter, loc, weighed, axis, /*keepdims=*/true);
  Value sum = DivOp::create(rewriter, loc, part, all);
  if (transpose)
    sum = TransposeOp::create(rewriter, loc, sum, transpose.getPerm());
  if constexpr (std::is_same_v<OpT, ConvOp>)
    if (Value bias = op.getBias())
      sum = AddOp::create(
          rewriter, loc, sum,
          ReshapeOp::create(rewriter, loc,
                            RankedTensorType::get({}, getElement(bias)), bias));
  if (sum.getType() != op.getType())
    sum = ReshapeOp::create(rewriter, loc, op.getType(), sum);
  rewriter.replaceOp(op, sum);
  return success();
}

/// A product over one element is an outer product (up to the sign of 0), as for
/// angles of positions and frequencies.
LogicalResult multiplyOuter(MatmulOp op, PatternRewriter &rewriter) {
  Value factors[2] = {op.getLhs(), op.getRhs()};
  Dims rows = getDims(factors[0]);
  bool isOuter =
      getConstant(rows[rows.size() - (op.getTransposeA() ? 2 : 1)]) == 1;
  Type element = getElement(op.getResult());
  if (!isOuter || !isFloat(op.getResult()) ||
      getElement(factors[0]) != element || getElement(factors[1]) != element)
    return rewriter.notifyMatchFailure(
        op, "the contracted dim is not 1, or element types differ");
  bool areTransposed[2] = {op.getTransposeA(), op.getTransposeB()};
  for (unsigned i : {0u, 1u})
    if (areTransposed[i] && !areKnown(factors[i]))
      return rewriter.notifyMatchFailure(
          op, "a transposed operand has unknown dims");
  for (unsigned i : {0u, 1u}) {
    if (!areTransposed[i])
      continue;
    Dims dims = getDims(factors[i]);
    std::swap(dims.end()[-1], dims.end()[-2]); // one of them is 1
    factors[i] = ReshapeOp::create(rewriter, op.getLoc(),
                                   makeType(element, dims), factors[i]);
  }
  rewriter.replaceOpWithNewOp<MulOp>(op, op.getType(), factors[0], factors[1]);
  return success();
}

/// A product with one column becomes a weighted sum of each row, which fuses
/// the ops before and after it, and uses all lanes.
LogicalResult sumColumn(MatmulOp op, PatternRewriter &rewriter) {
  Value rows = op.getLhs(), column = op.getRhs();
  Type element = getElement(op.getResult());
  Dims dims = getDims(column);
  if (getConstant(dims[dims.size() - (op.getTransposeB() ? 2 : 1)]) != 1 ||
      op.getTransposeA())
    return rewriter.notifyMatchFailure(
        op, "expected one column and an operand that is not transposed");
  if (!(element.isF32() || element.isF64()) || getElement(rows) != element ||
      getElement(column) != element)
    return rewriter.notifyMatchFailure(
        op, "the products are rounded before they are summed");
  if (!areKnown(rows) || !areKnown(column) ||
      !areEqual(getDims(rows).back(),
                dims[dims.size() - (op.getTransposeB() ? 1 : 2)]))
    return rewriter.notifyMatchFailure(op,
                                       "the dims of an operand are unknown");
  if (!op.getTransposeB()) {
    std::swap(dims.end()[-1], dims.end()[-2]);
    column = ReshapeOp::create(rewriter, op.getLoc(), makeType(element, dims),
                               column);
  }
  Value products = MulOp::create(rewriter, op.getLoc(), rows, column);
  int64_t last = getRank(products) - 1;
  Value sum = ReduceSumOp::create(rewriter, op.getLoc(), products, last,
                                  /*keepdims=*/true);
  if (sum.getType() != op.getType())
    sum = ReshapeOp::create(rewriter, op.getLoc(), op.getType(), sum);
  rewriter.replaceOp(op, sum);
  return success();
}

/// transpose(reduce(reshape(transpose(x)))) -> reduce(reshape(x)), if the
/// reshape only splits dims and the transposes cancel, as for the squares of a
/// complex spectrum with its frames last.
LogicalResult reduceInOrder(TransposeOp op, PatternRewriter &rewriter) {
  auto reduce = op.getInput().getDefiningOp<ReduceOpInterface>();
  auto view =
      reduce ? reduce.getInput().getDefiningOp<ReshapeOp>() : ReshapeOp();
  auto first =
      view ? view.getInput().getDefiningOp<TransposeOp>() : TransposeOp();
  if (!first || !reduce->hasOneUse() || !view->hasOneUse() ||
      reduce->getNumOperands() != 1 || view.getShape() ||
      reduce.getAxes().empty())
    return rewriter.notifyMatchFailure(
        op, "the operand does not reduce a view of a transpose");
  Dims dims = getDims(view);
  auto factors = getFactors(getDims(first), dims);
  if (!factors || llvm::any_of(*factors, [&](const Factor &factor) {
        return !areEqual(factor.size, dims[factor.after]);
      }))
    return rewriter.notifyMatchFailure(op, "the reshape does not only split");
  // The dims of the view in the order of x, and those that are not reduced.
  SmallVector<int64_t> places(dims.size(), 0), kept, axes, remaining;
  for (const Factor &factor : *factors)
    places[factor.after] = first.getPerm()[factor.before];
  auto order = llvm::to_vector(llvm::seq<int64_t>(0, dims.size()));
  llvm::sort(order, [&](int64_t lhs, int64_t rhs) {
    return std::pair(places[lhs], lhs) < std::pair(places[rhs], rhs);
  });
  for (int64_t dim = 0, rank = dims.size(); dim < rank; ++dim)
    if (reduce.getKeepdims() || !llvm::is_contained(reduce.getAxes(), dim))
      kept.push_back(dim);
  for (auto [at, dim] : llvm::enumerate(order)) {
    if (llvm::is_contained(reduce.getAxes(), dim))
      axes.push_back(at);
    if (llvm::is_contained(kept, dim))
      remaining.push_back(dim);
  }
  if (!llvm::equal(remaining, llvm::map_range(op.getPerm(), [&](int64_t dim) {
                     return kept[dim];
                   })))
    return rewriter.notifyMatchFailure(op, "the transposes do not cancel");
  Dims ordered =
      llvm::map_to_vector<8>(order, [&](int64_t dim) { return dims[dim]; });
  Value source =
      ReshapeOp::create(rewriter, view.getLoc(),
                        makeType(getElement(view), ordered), first.getInput());
  Operation *result = rewriter.clone(*reduce);
  result->setOperand(0, source);
  result->setAttr("axes", rewriter.getDenseI64ArrayAttr(axes));
  result->getResult(0).setType(op.getType());
  rewriter.replaceOp(op, result);
  return success();
}

class SimplifyAlgebraPass final
    : public adze::graph::impl::SimplifyAlgebraPassBase<SimplifyAlgebraPass> {
public:
  using SimplifyAlgebraPassBase::SimplifyAlgebraPassBase;

  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    addAlgebraIdentities(patterns, simplified);
    addWindowSimplifications(patterns, simplified);
    add<AddOp, SubOp, MulOp, DivOp, PowOp, AndOp, OrOp, XorOp, BitwiseOrOp,
        BitwiseXorOp, ShiftLeftOp, ShiftRightOp>(
        patterns, [](auto op, auto &r) { return dropNeutralOperand(op, r); });
    add<MinimumOp, MaximumOp, AndOp, OrOp, BitwiseAndOp, BitwiseOrOp>(
        patterns, [](auto op, auto &r) { return dropEqualOperand(op, r); });
    add<AbsOp, ReluOp, SignOp>(
        patterns, [](auto op, auto &r) { return dropRepetition(op, r); });
    add<NegOp, NotOp, BitwiseNotOp>(
        patterns, [](auto op, auto &r) { return dropInverse(op, r); });
    add<MinimumOp, MaximumOp>(
        patterns, [](auto op, auto &r) { return mergeBounds(op, r); });
    add<ReduceSumOp, ReduceMeanOp, ReduceMaxOp, ReduceMinOp, ReduceProdOp>(
        patterns, [](auto op, auto &r) { return viewUnitDims(op, r); });
    add<ReduceSumOp, ReduceMeanOp, ReduceMaxOp, ReduceMinOp, ReduceProdOp>(
        patterns, [](auto op, auto &r) { return joinReductions(op, r); });
    add<TransposeOp>(patterns, reduceInOrder);
    add<PowOp>(patterns, multiplySmallPower);
    add<PowOp>(patterns, takeRoot);
    add<DivOp>(patterns, multiplyByReciprocal);
    add<CastOp>(patterns, joinCasts);
    add<SelectOp>(patterns, foldDecided);
    add<MatmulOp>(patterns, multiplyOuter);
    add<MatmulOp>(patterns, sumColumn);
    add<MatmulOp, ConvOp, ReduceSumOp>(
        patterns, [](auto op, auto &r) { return sumWeighed(op, r); });
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }

private:
  template <typename... OpTs, typename RewriteT>
  void add(RewritePatternSet &patterns, RewriteT rewrite) {
    addSimplifications<OpTs...>(patterns, simplified, rewrite);
  }
};

} // namespace
