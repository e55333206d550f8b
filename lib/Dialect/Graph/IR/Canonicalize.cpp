// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Canonicalisation of chains of data movement.
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
      return rewriter.notifyMatchFailure(op, "not of a reshape");
    rewriter.modifyOpInPlace(
        op, [&] { op.getInputMutable().assign(inner.getInput()); });
    return success();
  }
};

/// reshape(slice(x)) that splits the dim which is cut -> slice(reshape(x)): a
/// reshape of all of x moves nothing, and the slice is an offset of its reader.
class ReshapeOfSlice final : public OpRewritePattern<ReshapeOp> {
public:
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ReshapeOp op,
                                PatternRewriter &rewriter) const override {
    auto slice = op.getInput().getDefiningOp<SliceOp>();
    if (!slice || !slice->hasOneUse() || slice.getBegin() || op.getShape())
      return rewriter.notifyMatchFailure(op, "not of a slice at a known place");
    Dims whole = getDims(slice.getInput()), from = getDims(slice.getResult()),
         to = getDims(op.getResult());
    size_t dim = 0, rank = from.size();
    while (dim < rank && areEqual(whole[dim], from[dim]))
      ++dim;
    ArrayRef<AffineExpr> all(whole), cut(from), parts(to);
    if (dim == rank || to.size() <= rank ||
        !areEqual(all.drop_front(dim + 1), cut.drop_front(dim + 1)) ||
        !areEqual(cut.take_front(dim), parts.take_front(dim)) ||
        !areEqual(cut.drop_front(dim + 1), parts.take_back(rank - dim - 1)) ||
        llvm::any_of(slice.getSteps(), [](int64_t step) { return step != 1; }))
      return rewriter.notifyMatchFailure(op, "splits no dim that is cut");
    ArrayRef<AffineExpr> inner = parts.slice(dim + 1, to.size() - rank);
    auto size = getConstant(product(op.getContext(), inner));
    auto full = getConstant(whole[dim]);
    int64_t start = slice.getStarts()[dim];
    if (!size || !full || *size == 0 || *full % *size || start % *size ||
        !getConstant(to[dim]))
      return rewriter.notifyMatchFailure(op, "the cut goes through a part");
    Dims split(to);
    split[dim] = rewriter.getAffineConstantExpr(*full / *size);
    auto type = cast<RankedTensorType>(op.getType());
    Value view = ReshapeOp::create(rewriter, op.getLoc(),
                                   makeType(type.getElementType(), split),
                                   slice.getInput());
    SmallVector<int64_t> starts(to.size(), 0), steps(to.size(), 1);
    starts[dim] = start / *size;
    rewriter.replaceOpWithNewOp<SliceOp>(op, type, view, starts, steps);
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
      return rewriter.notifyMatchFailure(op, "not of a transpose");
    SmallVector<int64_t> perm;
    for (int64_t d : op.getPerm())
      perm.push_back(inner.getPerm()[d]);
    rewriter.replaceOpWithNewOp<TransposeOp>(op, op.getType(), inner.getInput(),
                                             perm);
    return success();
  }
};

/// A transpose that keeps the order of all dims but those of size 1 moves
/// nothing: it is a reshape.
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
      return rewriter.notifyMatchFailure(op, "moves elements");
    // A reshape has no dims of its own to go by: all must be known.
    if (!llvm::all_of(dims, [](AffineExpr dim) { return bool(dim); }))
      return rewriter.notifyMatchFailure(op, "unknown dims");
    rewriter.replaceOpWithNewOp<ReshapeOp>(op, op.getType(), op.getInput());
    return success();
  }
};

/// A dim, or a part of one where a reshape splits it: which dim it is of before
/// and behind the reshape.
struct Factor {
  size_t before, behind;
};

/// The factors that a reshape keeps whole, in order; none if it cuts across
/// them. Dims of 1 are left out.
std::optional<SmallVector<Factor>> getFactors(ArrayRef<AffineExpr> before,
                                              ArrayRef<AffineExpr> behind) {
  SmallVector<Factor> factors;
  size_t i = 0, j = 0;
  // The next dims from `at` on that make `size` together: how many.
  auto count = [](ArrayRef<AffineExpr> dims, size_t at, AffineExpr size) {
    AffineExpr all = dims[at];
    size_t n = 1;
    for (; at + n < dims.size() && !areEqual(all, size); ++n)
      all = mulExprs(all, dims[at + n]);
    return areEqual(all, size) ? n : 0;
  };
  while (i < before.size() || j < behind.size()) {
    if (i < before.size() && getConstant(before[i]) == 1) {
      ++i;
    } else if (j < behind.size() && getConstant(behind[j]) == 1) {
      ++j;
    } else if (i == before.size() || j == behind.size()) {
      return std::nullopt;
    } else if (size_t n = count(behind, j, before[i])) {
      for (; n > 0; --n)
        factors.push_back({i, j++});
      ++i;
    } else if (size_t n = count(before, i, behind[j])) {
      for (; n > 0; --n)
        factors.push_back({i++, j});
      ++j;
    } else {
      return std::nullopt;
    }
  }
  return factors;
}

/// transpose(reshape(transpose(x))) that leaves all elements where they are in
/// memory -> reshape(x): tokens as an image, channels last.
class TransposeOfReshape final : public OpRewritePattern<TransposeOp> {
public:
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(TransposeOp op,
                                PatternRewriter &rewriter) const override {
    auto reshape = op.getInput().getDefiningOp<ReshapeOp>();
    auto first = reshape ? reshape.getInput().getDefiningOp<TransposeOp>()
                         : TransposeOp();
    if (!first || reshape.getShape())
      return rewriter.notifyMatchFailure(op, "not of a reshaped transpose");
    Dims before = getDims(first.getResult()), behind = getDims(op.getInput());
    if (llvm::is_contained(before, AffineExpr()) ||
        llvm::is_contained(behind, AffineExpr()))
      return rewriter.notifyMatchFailure(op, "unknown dims");
    auto factors = getFactors(before, behind);
    if (!factors)
      return rewriter.notifyMatchFailure(op, "a reshape across dims");
    // The factors as they lie in x, and in the result.
    SmallVector<size_t> places(op.getPerm().size());
    for (auto [place, dim] : llvm::enumerate(op.getPerm()))
      places[dim] = place;
    using Place = std::pair<size_t, size_t>; // dim, which factor
    SmallVector<Place> from, to;
    for (auto [i, factor] : llvm::enumerate(*factors)) {
      from.push_back({first.getPerm()[factor.before], i});
      to.push_back({places[factor.behind], i});
    }
    llvm::sort(from);
    llvm::sort(to);
    auto sameFactor = [](Place x, Place y) { return x.second == y.second; };
    if (!std::equal(from.begin(), from.end(), to.begin(), sameFactor))
      return rewriter.notifyMatchFailure(op, "moves elements");
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
      return rewriter.notifyMatchFailure(op, "not of a slice at known places");
    SmallVector<int64_t> starts, steps;
    for (auto [start, step, innerStart, innerStep] :
         llvm::zip_equal(op.getStarts(), op.getSteps(), inner.getStarts(),
                         inner.getSteps())) {
      starts.push_back(innerStart + start * innerStep);
      steps.push_back(step * innerStep);
    }
    rewriter.replaceOpWithNewOp<SliceOp>(op, op.getType(), inner.getInput(),
                                         starts, steps);
    return success();
  }
};

/// Whether `next` goes on where `slice` ends along `axis`.
bool isNextSlice(SliceOp slice, SliceOp next, size_t axis) {
  auto isUnit = [](int64_t step) { return step == 1; };
  Dims dims = getDims(slice.getResult()), others = getDims(next.getResult());
  if (slice.getInput() != next.getInput() || slice.getBegin() ||
      next.getBegin() || !llvm::all_of(slice.getSteps(), isUnit) ||
      !llvm::all_of(next.getSteps(), isUnit) || !getConstant(dims[axis]))
    return false;
  for (size_t dim = 0; dim < dims.size(); ++dim)
    if (dim == axis ? next.getStarts()[dim] !=
                          slice.getStarts()[dim] + *getConstant(dims[dim])
                    : next.getStarts()[dim] != slice.getStarts()[dim] ||
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
          slice.getStarts(), slice.getSteps());
      pieces.erase(pieces.begin() + i);
    }
    if (pieces.size() == op.getInputs().size())
      return rewriter.notifyMatchFailure(op, "no slices that go on");
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
