// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Ops that return an operand, a part of it or a constant: patterns of both
// simplifying passes.
#include "Simplification.h"

using namespace mlir;
using namespace adze::graph;

static bool isOne(AffineExpr dim) { return getConstant(dim) == 1; }
static bool isInteger(Value value) {
  return isa<IntegerType>(getElement(value));
}

/// Replaces the op by `x`, if it has the shape of the result.
static LogicalResult replaceBy(Operation *op, Value x,
                               PatternRewriter &rewriter) {
  if (x.getType() != op->getResult(0).getType() || !areKnown(x))
    return rewriter.notifyMatchFailure(
        op, "the replacement has another type or unknown dims");
  rewriter.replaceOp(op, x);
  return success();
}

/// Replaces the result by a splat constant.
static LogicalResult replaceByNumber(Operation *op, Attribute number,
                                     PatternRewriter &rewriter) {
  Value result = op->getResult(0);
  if (!areKnown(result))
    return rewriter.notifyMatchFailure(op, "the result has unknown dims");
  auto scalar = RankedTensorType::get({}, getElement(result));
  Value constant = ConstantOp::create(rewriter, op->getLoc(),
                                      DenseElementsAttr::get(scalar, number));
  rewriter.replaceOpWithNewOp<BroadcastToOp>(op, result.getType(), constant);
  return success();
}

//===----------------------------------------------------------------------===//
// Movement
//===----------------------------------------------------------------------===//

/// Removes the reversal of dims of size 1.
static LogicalResult dropReversal(ReverseOp op, PatternRewriter &rewriter) {
  Dims dims = getDims(op.getInput());
  if (!llvm::all_of(op.getAxes(), [&](int64_t d) { return isOne(dims[d]); }))
    return rewriter.notifyMatchFailure(op, "a reversed dim is not 1");
  return replaceBy(op, op.getInput(), rewriter);
}

/// Removes a resize to the same sizes: dims of scale 1 are copied.
static LogicalResult dropResize(ResizeOp op, PatternRewriter &rewriter) {
  auto scales = op.getScales();
  bool keeps =
      !scales || llvm::all_of(*scales, [](double s) { return s == 1; });
  if (!keeps || op.getCoordinates() == CoordinateMode::TfCropAndResize ||
      !areEqual(getDims(op.getInput()), getDims(op.getResult())))
    return rewriter.notifyMatchFailure(op, "the resize changes the size");
  return replaceBy(op, op.getInput(), rewriter);
}

/// Rewrites pooling over windows of one element to a strided slice.
template <typename OpT>
static LogicalResult sliceByPool(OpT op, PatternRewriter &rewriter) {
  auto isUnit = [](int64_t size) { return size == 1; };
  auto isNone = [](int64_t pad) { return pad == 0; };
  if (!llvm::all_of(op.getKernel(), isUnit) ||
      !llvm::all_of(op.getPads(), isNone) || !areKnown(op.getResult()))
    return rewriter.notifyMatchFailure(op, "it combines elements");
  size_t rank = getRank(op.getInput());
  size_t first = op.getLayout() == Layout::NCHW ? 2 : 1;
  SmallVector<int64_t> starts(rank, 0), steps(rank, 1);
  llvm::copy(op.getStrides(), steps.begin() + first);
  rewriter.replaceOpWithNewOp<SliceOp>(op, op.getType(), op.getInput(), starts,
                                       steps);
  return success();
}

/// Removes the sum of one element.
template <typename OpT>
static LogicalResult dropScan(OpT op, PatternRewriter &rewriter) {
  if (op.getExclusive() || !isOne(getDims(op.getInput())[op.getAxis()]))
    return rewriter.notifyMatchFailure(op, "it combines elements");
  return replaceBy(op, op.getInput(), rewriter);
}

/// Folds the index of the only element to 0.
template <typename OpT>
static LogicalResult foldOnlyIndex(OpT op, PatternRewriter &rewriter) {
  if (!isOne(getDims(op.getInput())[op.getAxis()]))
    return rewriter.notifyMatchFailure(op, "the dim is not 1");
  return replaceByNumber(op, rewriter.getI64IntegerAttr(0), rewriter);
}

/// Removes empty parts that are stored in a tensor.
template <typename OpT>
static LogicalResult dropScatter(OpT op, PatternRewriter &rewriter) {
  auto isNone = [](AffineExpr dim) { return getConstant(dim) == 0; };
  if (!llvm::any_of(getDims(op.getUpdates()), isNone))
    return rewriter.notifyMatchFailure(op, "the updates are not empty");
  return replaceBy(op, op.getData(), rewriter);
}

/// Removes the insertion of a part that covers the whole tensor.
static LogicalResult dropInsertion(InsertSliceOp op,
                                   PatternRewriter &rewriter) {
  Value source = op.getSources().front();
  if (op.getSources().size() != 1 ||
      !areEqual(getDims(source), getDims(op.getDest())))
    return rewriter.notifyMatchFailure(
        op, "the source does not replace the whole tensor");
  return replaceBy(op, source, rewriter);
}

/// Folds a triangle that is everything, or nothing.
static LogicalResult decideTriangle(TriluOp op, PatternRewriter &rewriter) {
  Dims dims = getDims(op.getInput());
  auto rows = getConstant(dims[dims.size() - 2]),
       columns = getConstant(dims.back());
  if (!rows || !columns)
    return rewriter.notifyMatchFailure(op, "the matrix has a dynamic size");
  // Differences of positions range from 1 - rows to columns - 1.
  int64_t least = 1 - *rows, most = *columns - 1, k = op.getK();
  if (op.getUpper() ? k <= least : k >= most)
    return replaceBy(op, op.getInput(), rewriter);
  if (op.getUpper() ? k > most : k < least)
    return replaceByNumber(op, rewriter.getZeroAttr(getElement(op.getInput())),
                           rewriter);
  return rewriter.notifyMatchFailure(
      op, "the triangle is neither empty nor everything");
}

void adze::graph::addMovementIdentities(RewritePatternSet &patterns,
                                        Pass::Statistic &count) {
  addSimplifications<ReverseOp>(patterns, count, dropReversal);
  addSimplifications<ResizeOp>(patterns, count, dropResize);
  addSimplifications<MaxPoolOp>(patterns, count, sliceByPool<MaxPoolOp>);
  addSimplifications<AvgPoolOp>(patterns, count, sliceByPool<AvgPoolOp>);
  addSimplifications<CumsumOp>(patterns, count, dropScan<CumsumOp>);
  addSimplifications<CumprodOp>(patterns, count, dropScan<CumprodOp>);
  addSimplifications<ArgMaxOp>(patterns, count, foldOnlyIndex<ArgMaxOp>);
  addSimplifications<ArgMinOp>(patterns, count, foldOnlyIndex<ArgMinOp>);
  addSimplifications<ScatterElementsOp>(patterns, count,
                                        dropScatter<ScatterElementsOp>);
  addSimplifications<ScatterNDOp>(patterns, count, dropScatter<ScatterNDOp>);
  addSimplifications<InsertSliceOp>(patterns, count, dropInsertion);
  addSimplifications<TriluOp>(patterns, count, decideTriangle);
}

//===----------------------------------------------------------------------===//
// Algebra
//===----------------------------------------------------------------------===//

/// Folds x - x, x xor x and x < x, which do not hold for any number. For
/// floats, only comparisons that are false for NaN fold.
template <typename OpT>
static LogicalResult decideEqualOperands(OpT op, PatternRewriter &rewriter) {
  if (op.getLhs() != op.getRhs())
    return rewriter.notifyMatchFailure(op, "the operands differ");
  constexpr bool isFalse =
      std::is_same_v<OpT, LessOp> || std::is_same_v<OpT, GreaterOp>;
  constexpr bool isTrue = std::is_same_v<OpT, EqualOp> ||
                          std::is_same_v<OpT, LessEqualOp> ||
                          std::is_same_v<OpT, GreaterEqualOp>;
  if (!isFalse && !isInteger(op.getLhs()))
    return rewriter.notifyMatchFailure(op,
                                       "the comparison may be false for NaN");
  if (isTrue)
    return replaceByNumber(op, rewriter.getBoolAttr(true), rewriter);
  return replaceByNumber(op, rewriter.getZeroAttr(getElement(op.getResult())),
                         rewriter);
}

/// Folds x * 0, x and false, x or true, x ^ 0, for integers.
template <typename OpT>
static LogicalResult decideByOperand(OpT op, PatternRewriter &rewriter) {
  constexpr bool isPower = std::is_same_v<OpT, PowOp>;
  Type type = getElement(op.getResult());
  for (unsigned i : {1u, 0u}) {
    Value constant = op->getOperand(i);
    if (type.isInteger(1)) {
      std::optional<bool> truth = getSplatBool(constant);
      if (truth && *truth == std::is_same_v<OpT, OrOp>)
        return replaceByNumber(op, rewriter.getBoolAttr(*truth), rewriter);
    } else if (isPower) {
      if (i == 1 && isa<FloatType>(type) && getSplatNumber(constant) == 0.0)
        return replaceByNumber(op, rewriter.getFloatAttr(type, 1.0), rewriter);
    } else if (isa<IntegerType>(type) && getSplatNumber(constant) == 0.0) {
      return replaceByNumber(op, rewriter.getZeroAttr(type), rewriter);
    }
  }
  return rewriter.notifyMatchFailure(
      op, "the constant does not determine the result");
}

/// Folds max(x, -inf) and min(x, inf).
template <typename OpT>
static LogicalResult dropNoBound(OpT op, PatternRewriter &rewriter) {
  double bound = 0.0;
  Value x = matchWithSplat<OpT>(op.getResult(), bound);
  bool negative = std::is_same_v<OpT, MaximumOp>;
  if (!x || isInteger(x) || !std::isinf(bound) ||
      std::signbit(bound) != negative)
    return rewriter.notifyMatchFailure(
        op, "the bound is not an infinity without effect");
  return replaceBy(op, x, rewriter);
}

/// x + (-y) -> x - y, x - (-y) -> x + y.
template <typename OpT, typename OtherT>
static LogicalResult dropSign(OpT op, PatternRewriter &rewriter) {
  for (unsigned i : {1u, 0u}) {
    auto neg = op->getOperand(i).template getDefiningOp<NegOp>();
    if (!neg || (i == 0 && std::is_same_v<OpT, SubOp>))
      continue;
    rewriter.replaceOpWithNewOp<OtherT>(op, op.getType(), op->getOperand(1 - i),
                                        neg.getInput());
    return success();
  }
  return rewriter.notifyMatchFailure(op, "no operand is a negation");
}

/// |-x| -> |x|, and for values that are not negative: |relu(x)|, relu(|x|).
template <typename OpT>
static LogicalResult dropSignOfAmount(OpT op, PatternRewriter &rewriter) {
  Operation *inner = op.getInput().getDefiningOp();
  if (auto neg = dyn_cast_or_null<NegOp>(inner);
      neg && std::is_same_v<OpT, AbsOp>) {
    rewriter.modifyOpInPlace(
        op, [&] { op.getInputMutable().assign(neg.getInput()); });
    return success();
  }
  // The least signed integer has no absolute value. relu(-0) may be -0.
  bool isAmount = std::is_same_v<OpT, AbsOp>
                      ? isa_and_nonnull<SigmoidOp, ExpOp>(inner)
                      : isa_and_nonnull<AbsOp, SigmoidOp, ExpOp>(inner) &&
                            !isInteger(op.getInput());
  if (!isAmount)
    return rewriter.notifyMatchFailure(op, "the operand may be negative");
  rewriter.replaceOp(op, op.getInput());
  return success();
}

/// Removes rounding of integral values.
template <typename OpT>
static LogicalResult dropRounding(OpT op, PatternRewriter &rewriter) {
  Operation *inner = op.getInput().getDefiningOp();
  auto cast = dyn_cast_or_null<CastOp>(inner);
  if (!isa_and_nonnull<FloorOp, CeilOp, RoundOp>(inner) &&
      !(cast && isInteger(cast.getInput())))
    return rewriter.notifyMatchFailure(op, "the operand may have a fraction");
  rewriter.replaceOp(op, op.getInput());
  return success();
}

/// Merges nested bitcasts.
static LogicalResult joinBitcasts(BitcastOp op, PatternRewriter &rewriter) {
  Value x = op.getInput();
  if (x.getType() == op.getType())
    return replaceBy(op, x, rewriter);
  auto inner = x.getDefiningOp<BitcastOp>();
  if (!inner)
    return rewriter.notifyMatchFailure(
        op, "the operand is not the result of a bitcast");
  rewriter.modifyOpInPlace(
      op, [&] { op.getInputMutable().assign(inner.getInput()); });
  return success();
}

/// c ? true : false -> c.
static LogicalResult dropBoolSelect(SelectOp op, PatternRewriter &rewriter) {
  if (getSplatBool(op.getLhs()) != true || getSplatBool(op.getRhs()) != false)
    return rewriter.notifyMatchFailure(op, "the values are not true and false");
  return replaceBy(op, op.getCondition(), rewriter);
}

/// not(x < y) -> x >= y for integers.
static LogicalResult invertComparison(NotOp op, PatternRewriter &rewriter) {
  Operation *inner = op.getInput().getDefiningOp();
  if (!isa_and_nonnull<LessOp, LessEqualOp, GreaterOp, GreaterEqualOp>(inner) ||
      !isInteger(inner->getOperand(0)))
    return rewriter.notifyMatchFailure(
        op, "the operand is not a comparison of integers");
  auto turn = [&](auto *to) {
    using OpT = std::remove_pointer_t<decltype(to)>;
    rewriter.replaceOpWithNewOp<OpT>(op, op.getType(), inner->getOperand(0),
                                     inner->getOperand(1));
  };
  if (isa<LessOp>(inner))
    turn(static_cast<GreaterEqualOp *>(nullptr));
  else if (isa<LessEqualOp>(inner))
    turn(static_cast<GreaterOp *>(nullptr));
  else if (isa<GreaterOp>(inner))
    turn(static_cast<LessEqualOp *>(nullptr));
  else
    turn(static_cast<LessOp *>(nullptr));
  return success();
}

/// Rewrites a reduction of single elements to |x| or x * x.
template <typename OpT, typename ElementT>
static LogicalResult viewUnitDims(OpT op, PatternRewriter &rewriter) {
  Dims dims = getDims(op.getInput());
  if (!llvm::all_of(op.getAxes(), [&](int64_t d) { return isOne(dims[d]); }) ||
      !areKnown(op.getInput()))
    return rewriter.notifyMatchFailure(op, "it combines elements");
  Value x = op.getInput();
  if constexpr (std::is_same_v<ElementT, MulOp>)
    x = MulOp::create(rewriter, op.getLoc(), x, x);
  else
    x = ElementT::create(rewriter, op.getLoc(), x);
  rewriter.replaceOpWithNewOp<ReshapeOp>(op, op.getType(), x);
  return success();
}

void adze::graph::addAlgebraIdentities(RewritePatternSet &patterns,
                                       Pass::Statistic &count) {
  addSimplifications<SubOp, XorOp, BitwiseXorOp, EqualOp, LessOp, LessEqualOp,
                     GreaterOp, GreaterEqualOp>(
      patterns, count,
      [](auto op, auto &r) { return decideEqualOperands(op, r); });
  addSimplifications<MulOp, AndOp, OrOp, BitwiseAndOp, PowOp>(
      patterns, count, [](auto op, auto &r) { return decideByOperand(op, r); });
  addSimplifications<MaximumOp, MinimumOp>(
      patterns, count, [](auto op, auto &r) { return dropNoBound(op, r); });
  addSimplifications<AddOp>(patterns, count, dropSign<AddOp, SubOp>);
  addSimplifications<SubOp>(patterns, count, dropSign<SubOp, AddOp>);
  addSimplifications<AbsOp, ReluOp>(patterns, count, [](auto op, auto &r) {
    return dropSignOfAmount(op, r);
  });
  addSimplifications<FloorOp, CeilOp, RoundOp>(
      patterns, count, [](auto op, auto &r) { return dropRounding(op, r); });
  addSimplifications<BitcastOp>(patterns, count, joinBitcasts);
  addSimplifications<SelectOp>(patterns, count, dropBoolSelect);
  addSimplifications<NotOp>(patterns, count, invertComparison);
  addSimplifications<ReduceL1Op>(patterns, count,
                                 viewUnitDims<ReduceL1Op, AbsOp>);
  addSimplifications<ReduceSumSquareOp>(patterns, count,
                                        viewUnitDims<ReduceSumSquareOp, MulOp>);
  addSimplifications<ReduceLogSumOp>(patterns, count,
                                     viewUnitDims<ReduceLogSumOp, LogOp>);
}
