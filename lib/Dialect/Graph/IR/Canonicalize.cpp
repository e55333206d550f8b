// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Canonicalisation of chains of data movement.
#include "Dialect/Graph/IR/Factors.h"
#include "Dialect/Graph/IR/Graph.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace adze::graph;

namespace {

/// reshape(reshape(x)) -> reshape(x).
class ReshapeOfReshape final : public OpRewritePattern<ReshapeOp> {
public:
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ReshapeOp op,
                                PatternRewriter &rewriter) const override {
    auto inner = op.getInput().getDefiningOp<ReshapeOp>();
    if (!inner)
      return rewriter.notifyMatchFailure(
          op, "the operand is not the result of a reshape");
    rewriter.modifyOpInPlace(
        op, [&] { op.getInputMutable().assign(inner.getInput()); });
    return success();
  }
};

/// A slice after a reshape of its operand.
struct SliceOfView {
  Dims view, part; // dims before and after the slice
  Dims starts;
  SmallVector<int64_t> steps;

  void add(AffineExpr whole, AffineExpr size, AffineExpr start, int64_t step) {
    view.push_back(whole);
    part.push_back(size);
    starts.push_back(start);
    steps.push_back(step);
  }
};

/// Returns the slice whose result has the dims `to` up to dims of 1, if the
/// reshape of the slice keeps sliced dims separate from others: unchanged, as
/// the outer one of the dims that they are split into, or as dims of 1.
std::optional<SliceOfView> sliceView(SliceOp slice, ArrayRef<AffineExpr> to) {
  Dims whole = getDims(slice.getInput()), from = getDims(slice.getResult());
  auto factors = getFactors(from, to);
  if (!factors)
    return std::nullopt;
  SliceOfView result;
  Dims starts = slice.getStartExprs();
  AffineExpr zero = getAffineConstantExpr(0, slice.getContext());
  size_t next = 0; // dim of x
  auto addUnits = [&](size_t end) {
    for (; next < end; ++next)
      if (getConstant(from[next]) == 1 && getConstant(whole[next]) != 1)
        result.add(whole[next], from[next], starts[next],
                   slice.getSteps()[next]);
  };
  auto isCut = [&](size_t dim) {
    return slice.getSteps()[dim] != 1 || !areEqual(whole[dim], from[dim]);
  };
  for (size_t i = 0, end; i < factors->size(); i = end) {
    size_t dim = (*factors)[i].before, out = (*factors)[i].after;
    for (end = i + 1; end < factors->size() && (*factors)[end].after == out;)
      ++end;
    size_t last = (*factors)[end - 1].before;
    if (dim >= next)
      addUnits(dim);
    for (size_t k = dim; k <= last; ++k)
      if (isCut(k) && (k != last || dim != last))
        return std::nullopt; // merged with others
    bool isOuter = i == 0 || (*factors)[i - 1].before != dim;
    next = last + 1;
    if (!isCut(dim) || !isOuter) {
      result.add(to[out], to[out], zero, 1);
      continue;
    }
    AffineExpr start = starts[dim];
    if (areEqual(to[out], from[dim])) {
      result.add(whole[dim], to[out], start, slice.getSteps()[dim]);
      continue;
    }
    // The outer dim counts these parts.
    AffineExpr size = divideExactly(from[dim], to[out]);
    AffineExpr full = divideExactly(whole[dim], size),
               first = divideExactly(start, size);
    if (!full || !first || slice.getSteps()[dim] != 1)
      return std::nullopt; // the slice begins inside of a part
    result.add(full, to[out], first, 1);
  }
  addUnits(from.size());
  return result;
}

/// reshape(slice(x)) -> slice(reshape(x)): a reshape of x moves nothing, and
/// the slice becomes an offset in its users.
class ReshapeOfSlice final : public OpRewritePattern<ReshapeOp> {
public:
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ReshapeOp op,
                                PatternRewriter &rewriter) const override {
    auto slice = op.getInput().getDefiningOp<SliceOp>();
    if (!slice || !slice->hasOneUse() || slice.getBegin() || op.getShape() ||
        slice.getInput().getDefiningOp<TransposeOp>())
      return rewriter.notifyMatchFailure(
          op, "the operand is not a single-use slice with static starts");
    auto result = sliceView(slice, getDims(op.getResult()));
    Dims whole = getDims(slice.getInput());
    if (!result)
      return rewriter.notifyMatchFailure(op, "the reshape merges sliced dims");
    auto withoutOnes = [](Dims dims) {
      llvm::erase_if(dims,
                     [](AffineExpr dim) { return getConstant(dim) == 1; });
      return dims;
    };
    if (areEqual(withoutOnes(whole), withoutOnes(result->view)))
      return rewriter.notifyMatchFailure(op,
                                         "the reshape changes unit dims only");
    Type element = cast<RankedTensorType>(op.getType()).getElementType();
    Value view =
        ReshapeOp::create(rewriter, op.getLoc(),
                          makeType(element, result->view), slice.getInput());
    Value part =
        SliceOp::create(rewriter, op.getLoc(), makeType(element, result->part),
                        view, result->starts, result->steps);
    if (part.getType() != op.getType())
      part = ReshapeOp::create(rewriter, op.getLoc(), op.getType(), part);
    rewriter.replaceOp(op, part);
    return success();
  }
};

/// transpose(transpose(x)) -> transpose(x).
class TransposeOfTranspose final : public OpRewritePattern<TransposeOp> {
public:
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(TransposeOp op,
                                PatternRewriter &rewriter) const override {
    auto inner = op.getInput().getDefiningOp<TransposeOp>();
    if (!inner)
      return rewriter.notifyMatchFailure(
          op, "the operand is not the result of a transpose");
    SmallVector<int64_t> perm;
    for (int64_t d : op.getPerm())
      perm.push_back(inner.getPerm()[d]);
    rewriter.replaceOpWithNewOp<TransposeOp>(op, op.getType(), inner.getInput(),
                                             perm);
    return success();
  }
};

/// A transpose that keeps the order of all dims except those of size 1 moves
/// nothing, and becomes a reshape.
class TransposeOfUnitDims final : public OpRewritePattern<TransposeOp> {
public:
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(TransposeOp op,
                                PatternRewriter &rewriter) const override {
    Dims dims = getDims(op.getInput());
    SmallVector<int64_t> moved;
    for (int64_t d : op.getPerm())
      if (getConstant(dims[d]) != 1)
        moved.push_back(d);
    if (!llvm::is_sorted(moved))
      return rewriter.notifyMatchFailure(
          op, "the transpose changes the order of elements");
    // A reshape infers no dims, so all must be known.
    if (!llvm::all_of(dims, [](AffineExpr dim) { return bool(dim); }))
      return rewriter.notifyMatchFailure(
          op, "expected dims that are known expressions");
    rewriter.replaceOpWithNewOp<ReshapeOp>(op, op.getType(), op.getInput());
    return success();
  }
};

/// transpose(reshape(transpose(x))) that keeps the order of all elements ->
/// reshape(x), as for tokens that become a channels-last image.
class TransposeOfReshape final : public OpRewritePattern<TransposeOp> {
public:
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(TransposeOp op,
                                PatternRewriter &rewriter) const override {
    auto reshape = op.getInput().getDefiningOp<ReshapeOp>();
    auto first = reshape ? reshape.getInput().getDefiningOp<TransposeOp>()
                         : TransposeOp();
    if (!first || reshape.getShape())
      return rewriter.notifyMatchFailure(
          op, "the operand is not a reshaped transpose");
    Dims before = getDims(first.getResult()), after = getDims(op.getInput());
    auto factors = getFactors(before, after);
    if (!factors)
      return rewriter.notifyMatchFailure(
          op, "the dims of the reshape do not factor");
    // The factors in the order of x, and of the result.
    SmallVector<size_t> places(op.getPerm().size());
    for (auto [place, dim] : llvm::enumerate(op.getPerm()))
      places[dim] = place;
    using Place = std::pair<size_t, size_t>; // dim, index of the factor
    SmallVector<Place> from, to;
    for (auto [i, factor] : llvm::enumerate(*factors)) {
      if (getConstant(factor.size) == 1)
        continue;
      from.push_back({first.getPerm()[factor.before], i});
      to.push_back({places[factor.after], i});
    }
    llvm::sort(from);
    llvm::sort(to);
    auto sameFactor = [](Place x, Place y) { return x.second == y.second; };
    if (!std::equal(from.begin(), from.end(), to.begin(), sameFactor))
      return rewriter.notifyMatchFailure(
          op, "the transpose changes the order of elements");
    rewriter.replaceOpWithNewOp<ReshapeOp>(op, op.getType(), first.getInput());
    return success();
  }
};

/// slice(slice(x)) -> slice(x).
class SliceOfSlice final : public OpRewritePattern<SliceOp> {
public:
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(SliceOp op,
                                PatternRewriter &rewriter) const override {
    auto inner = op.getInput().getDefiningOp<SliceOp>();
    if (!inner || op.getBegin() || inner.getBegin())
      return rewriter.notifyMatchFailure(
          op, "the operand is not a slice with static starts");
    Dims starts;
    SmallVector<int64_t> steps;
    for (auto [start, step, innerStart, innerStep] :
         llvm::zip_equal(op.getStartExprs(), op.getSteps(),
                         inner.getStartExprs(), inner.getSteps())) {
      AffineExpr factor = rewriter.getAffineConstantExpr(innerStep);
      starts.push_back(addExprs(innerStart, mulExprs(start, factor)));
      steps.push_back(step * innerStep);
      if (!starts.back())
        return rewriter.notifyMatchFailure(
            op, "a start is not an expression of symbols");
    }
    rewriter.replaceOpWithNewOp<SliceOp>(op, op.getType(), inner.getInput(),
                                         starts, steps);
    return success();
  }
};

/// Returns true if `next` begins where `slice` ends along `axis`.
bool isNextSlice(SliceOp slice, SliceOp next, size_t axis) {
  auto isUnit = [](int64_t step) { return step == 1; };
  Dims dims = getDims(slice.getResult()), others = getDims(next.getResult());
  Dims starts = slice.getStartExprs(), nextStarts = next.getStartExprs();
  if (slice.getInput() != next.getInput() ||
      !llvm::all_of(slice.getSteps(), isUnit) ||
      !llvm::all_of(next.getSteps(), isUnit))
    return false;
  for (size_t dim = 0; dim < dims.size(); ++dim)
    if (dim == axis
            ? !areEqual(nextStarts[dim], addExprs(starts[dim], dims[dim]))
            : !areEqual(nextStarts[dim], starts[dim]) ||
                  !areEqual(dims[dim], others[dim]))
      return false;
  return true;
}

/// concat(x[0:4], x[4:8], y) -> concat(x[0:8], y).
class ConcatOfSlices final : public OpRewritePattern<ConcatOp> {
public:
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ConcatOp op,
                                PatternRewriter &rewriter) const override {
    size_t axis = op.getAxis();
    SmallVector<Value> pieces(op.getInputs());
    for (size_t i = 1; i < pieces.size();) {
      auto slice = pieces[i - 1].getDefiningOp<SliceOp>();
      auto next = pieces[i].getDefiningOp<SliceOp>();
      if (!slice || !next || !isNextSlice(slice, next, axis)) {
        ++i;
        continue;
      }
      auto type = cast<RankedTensorType>(slice.getType());
      Dims dims = getDims(type);
      dims[axis] = addExprs(dims[axis], getDims(next.getResult())[axis]);
      pieces[i - 1] = rewriter.createOrFold<SliceOp>(
          op.getLoc(), makeType(type.getElementType(), dims), slice.getInput(),
          slice.getStartExprs(), slice.getSteps());
      pieces.erase(pieces.begin() + i);
    }
    if (pieces.size() == op.getInputs().size())
      return rewriter.notifyMatchFailure(op,
                                         "no adjacent slices of one tensor");
    rewriter.modifyOpInPlace(op, [&] { op.getInputsMutable().assign(pieces); });
    return success();
  }
};

} // namespace

void ConcatOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                           MLIRContext *context) {
  patterns.add<ConcatOfSlices>(context);
}

void ReshapeOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                            MLIRContext *context) {
  patterns.add<ReshapeOfReshape, ReshapeOfSlice>(context);
}

void TransposeOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                              MLIRContext *context) {
  patterns.add<TransposeOfTranspose, TransposeOfUnitDims, TransposeOfReshape>(
      context);
}

void SliceOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                          MLIRContext *context) {
  patterns.add<SliceOfSlice>(context);
}
