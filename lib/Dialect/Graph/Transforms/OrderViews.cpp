// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// graph-order-views: canonicalizes the order of data movement before and after
// attention. Slices and reshapes that split dims move before transposes, and
// reshapes that merge dims move after: the transpose is then fused into the
// loads or stores of attention. Further patterns canonicalize products of one
// input and repeated heads.
#include "AttentionViews.h"
#include "Dialect/Graph/IR/Factors.h"
#include "Dialect/Graph/Transforms/Passes.h"
#include "Simplification.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace adze::graph {
#define GEN_PASS_DEF_ORDERVIEWSPASS
#include "Dialect/Graph/Transforms/Passes.h.inc"
} // namespace adze::graph

using namespace mlir;
using namespace adze::graph;

namespace {

constexpr unsigned maxViews = 8;

/// Returns true if all users, also through views, are one attention op.
bool leadsToAttention(Value value, unsigned depth = 0) {
  return depth < maxViews && !value.use_empty() &&
         llvm::all_of(
             value.getUsers(),
             [&](Operation *user) {
               return isa<AttentionOp>(user) ||
                      (isa<ReshapeOp, TransposeOp>(user) &&
                       leadsToAttention(user->getResult(0), depth + 1));
             });
}

bool comesFromAttention(Value value) {
  while (isa_and_nonnull<ReshapeOp, TransposeOp>(value.getDefiningOp()))
    value = value.getDefiningOp()->getOperand(0);
  return value.getDefiningOp<AttentionOp>() != nullptr;
}

/// Returns true if the dims merged after a transpose are batch dims, which
/// attention has separately. `dimOf` is the dim of the result that contains
/// each factor.
bool mergesBatch(int64_t rank, ArrayRef<int64_t> dimOf) {
  return llvm::all_of(ArrayRef<int64_t>{rank - 1, rank - 2}, [&](int64_t dim) {
    return llvm::count(dimOf, dim) <= 1;
  });
}

/// Splits `x` into `parts`, permutes them by `perm`, and merges them to `type`.
Value rearrange(PatternRewriter &b, Location loc, Value x,
                ArrayRef<AffineExpr> parts, ArrayRef<int64_t> perm, Type type) {
  if (!areEqual(getDims(x), parts))
    x = b.createOrFold<ReshapeOp>(loc, makeType(getElement(x), parts), x);
  if (!isIdentityPermutation(perm))
    x = b.createOrFold<TransposeOp>(loc, x, perm);
  if (x.getType() != type)
    x = b.createOrFold<ReshapeOp>(loc, type, x);
  return x;
}

/// reshape(transpose(x)) that splits dims -> merge(transpose(reshape(x))).
LogicalResult splitBefore(ReshapeOp op, PatternRewriter &rewriter) {
  auto transpose = op.getInput().getDefiningOp<TransposeOp>();
  if (!transpose || op.getShape() || !leadsToAttention(op.getResult()))
    return rewriter.notifyMatchFailure(op, "no transpose before attention");
  auto factors = getFactors(getDims(op.getInput()), getDims(op.getResult()));
  if (!factors)
    return rewriter.notifyMatchFailure(op, "the dims do not factor");
  // The factors in the order of x, and their positions in the result.
  auto order = llvm::to_vector(llvm::seq<int64_t>(0, factors->size()));
  llvm::sort(order, [&](int64_t i, int64_t k) {
    auto place = [&](int64_t factor) {
      return std::pair(transpose.getPerm()[(*factors)[factor].before], factor);
    };
    return place(i) < place(k);
  });
  Dims parts;
  SmallVector<int64_t> perm(order.size()), dimOf;
  for (auto [place, factor] : llvm::enumerate(order)) {
    parts.push_back((*factors)[factor].size);
    perm[factor] = place;
    dimOf.push_back((*factors)[factor].after);
  }
  if (areEqual(parts, getDims(transpose.getInput())) ||
      !mergesBatch(getRank(op), dimOf))
    return rewriter.notifyMatchFailure(op, "no batch dim is split");
  rewriter.replaceOp(op, rearrange(rewriter, op.getLoc(), transpose.getInput(),
                                   parts, perm, op.getType()));
  return success();
}

/// Returns the factors of the result of a reshape in the order of the transpose
/// after it, and the dim that then contains each.
std::pair<SmallVector<int64_t>, SmallVector<int64_t>>
getOrder(ArrayRef<int64_t> perm, ArrayRef<Factor> factors) {
  SmallVector<int64_t> order, dimOf;
  for (auto [place, dim] : llvm::enumerate(perm))
    for (auto [i, factor] : llvm::enumerate(factors))
      if (int64_t(factor.after) == dim) {
        order.push_back(i);
        dimOf.push_back(place);
      }
  return {order, dimOf};
}

/// transpose(reshape(x)) that merges dims -> reshape(transpose(x)) of the
/// parts.
LogicalResult mergeForAttention(TransposeOp op, PatternRewriter &rewriter) {
  auto reshape = op.getInput().getDefiningOp<ReshapeOp>();
  if (!reshape || reshape.getShape() || !leadsToAttention(op.getResult()))
    return rewriter.notifyMatchFailure(op, "no reshape before attention");
  Dims after = getDims(reshape.getResult());
  auto factors = getFactors(getDims(reshape.getInput()), after);
  if (!factors || factors->size() == after.size())
    return rewriter.notifyMatchFailure(op, "the reshape does not merge dims");
  Dims parts;
  for (const Factor &factor : *factors)
    parts.push_back(factor.size);
  auto [perm, dimOf] = getOrder(op.getPerm(), *factors);
  if (!mergesBatch(getRank(op), dimOf))
    return rewriter.notifyMatchFailure(op, "a merge of dims would remain");
  rewriter.replaceOp(op, rearrange(rewriter, op.getLoc(), reshape.getInput(),
                                   parts, perm, op.getType()));
  return success();
}

/// Rewrites the result of attention in the same way, if the reshape splits no
/// dims, which would otherwise stay between both.
LogicalResult mergeResult(TransposeOp op, PatternRewriter &rewriter) {
  auto reshape = op.getInput().getDefiningOp<ReshapeOp>();
  if (!reshape || reshape.getShape() || !comesFromAttention(reshape.getInput()))
    return rewriter.notifyMatchFailure(op, "no reshape after attention");
  Dims dims = getDims(reshape.getInput());
  auto factors = getFactors(dims, getDims(reshape.getResult()));
  if (!factors || llvm::any_of(*factors, [&](const Factor &factor) {
        return !areEqual(factor.size, dims[factor.before]);
      }))
    return rewriter.notifyMatchFailure(op, "the reshape splits dims");
  SmallVector<int64_t> perm; // dims of 1 that are first
  for (int64_t dim = 0, rank = dims.size(); dim < rank; ++dim)
    if (llvm::none_of(*factors, [&](const Factor &factor) {
          return int64_t(factor.before) == dim;
        }))
      perm.push_back(dim);
  for (int64_t factor : getOrder(op.getPerm(), *factors).first)
    perm.push_back((*factors)[factor].before);
  rewriter.replaceOp(op, rearrange(rewriter, op.getLoc(), reshape.getInput(),
                                   dims, perm, op.getType()));
  return success();
}

/// slice(transpose(x)) -> transpose(slice(x)).
LogicalResult sliceBeforeTranspose(SliceOp op, PatternRewriter &rewriter) {
  auto transpose = op.getInput().getDefiningOp<TransposeOp>();
  if (!transpose || op.getBegin() || !leadsToAttention(op.getResult()))
    return rewriter.notifyMatchFailure(op, "no transpose before attention");
  Dims dims = getDims(op.getResult()), own(dims.size());
  Dims begins = op.getStartExprs(), starts(dims.size());
  SmallVector<int64_t> steps(dims.size());
  for (auto [i, dim] : llvm::enumerate(transpose.getPerm())) {
    own[dim] = dims[i];
    starts[dim] = begins[i];
    steps[dim] = op.getSteps()[i];
  }
  if (llvm::is_contained(own, AffineExpr()))
    return rewriter.notifyMatchFailure(op, "a dim is unknown");
  Value slice = SliceOp::create(rewriter, op.getLoc(),
                                makeType(getElement(op.getResult()), own),
                                transpose.getInput(), starts, steps);
  rewriter.replaceOpWithNewOp<TransposeOp>(op, op.getType(), slice,
                                           transpose.getPerm());
  return success();
}

/// slice(reshape(transpose(x))) of dims that exist before the reshape ->
/// reshape(slice(transpose(x))).
LogicalResult sliceBeforeReshape(SliceOp op, PatternRewriter &rewriter) {
  auto reshape = op.getInput().getDefiningOp<ReshapeOp>();
  if (!reshape || reshape.getShape() || op.getBegin() ||
      !reshape.getInput().getDefiningOp<TransposeOp>() ||
      !leadsToAttention(op.getResult()))
    return rewriter.notifyMatchFailure(op, "no reshaped transpose");
  Dims before = getDims(reshape.getInput()),
       whole = getDims(reshape.getResult()), part = getDims(op.getResult());
  auto factors = getFactors(before, whole);
  if (!factors)
    return rewriter.notifyMatchFailure(op, "the dims do not factor");
  Dims begins = op.getStartExprs(),
       starts(before.size(), rewriter.getAffineConstantExpr(0));
  SmallVector<int64_t> steps(before.size(), 1);
  for (size_t dim = 0; dim < whole.size(); ++dim) {
    if (areEqual(whole[dim], part[dim]) && op.getSteps()[dim] == 1)
      continue;
    auto same = llvm::find_if(*factors, [&](const Factor &factor) {
      return factor.after == dim && areEqual(factor.size, whole[dim]) &&
             areEqual(factor.size, before[factor.before]);
    });
    if (same == factors->end() || !part[dim])
      return rewriter.notifyMatchFailure(op, "the reshape creates the dim");
    before[same->before] = part[dim];
    starts[same->before] = begins[dim];
    steps[same->before] = op.getSteps()[dim];
  }
  Value slice = SliceOp::create(rewriter, op.getLoc(),
                                makeType(getElement(op.getResult()), before),
                                reshape.getInput(), starts, steps);
  rewriter.replaceOpWithNewOp<ReshapeOp>(op, op.getType(), slice);
  return success();
}

/// Returns the value before a reshape that merges batch dims, or null.
Value getApart(Value value) {
  auto merge = value.getDefiningOp<ReshapeOp>();
  return merge && isBatchReshape(merge) &&
                 countLarge(merge.getInput()) > countLarge(value)
             ? merge.getInput()
             : Value();
}

/// Returns true if there is a bias or mask that depends on the batch.
bool differsInBatch(Value value) {
  return value &&
         llvm::any_of(ArrayRef(getDims(value))
                          .drop_back(std::min<int64_t>(getRank(value), 2)),
                      [](AffineExpr dim) { return getConstant(dim) != 1; });
}

/// attention(reshape(x), ..) with merged batch dims -> reshape(attention(x,
/// ..)).
LogicalResult keepBatchApart(AttentionOp op, PatternRewriter &rewriter) {
  Value query = getApart(op.getQuery()), key = getApart(op.getKey()),
        value = getApart(op.getValue());
  if (!query || !key || !value || differsInBatch(op.getBias()) ||
      differsInBatch(op.getMask()))
    return rewriter.notifyMatchFailure(op, "a batch dim is not merged");
  Dims dims = getDims(query), keys = getDims(key), values = getDims(value);
  auto batch = ArrayRef(dims).drop_back(2);
  if (!areEqual(batch, ArrayRef(keys).drop_back(2)) ||
      !areEqual(batch, ArrayRef(values).drop_back(2)))
    return rewriter.notifyMatchFailure(op, "the batch dims differ");
  dims.back() = values.back();
  auto apart = cast<AttentionOp>(rewriter.clone(*op));
  apart.getQueryMutable().assign(query);
  apart.getKeyMutable().assign(key);
  apart.getValueMutable().assign(value);
  apart.getResult().setType(makeType(getElement(op.getResult()), dims));
  rewriter.replaceOpWithNewOp<ReshapeOp>(op, op.getType(), apart.getResult());
  return success();
}

//===----------------------------------------------------------------------===//
// Reshapes around arithmetic
//===----------------------------------------------------------------------===//

/// Returns the operand whose rows an op computes separately, if all other
/// operands are the same for all rows of two dims, or null.
OpOperand *getRows(Operation *op) {
  if (op->getNumResults() != 1 || getRank(op->getResult(0)) != 2)
    return nullptr;
  if (auto product = dyn_cast<MatmulOp>(op))
    return product.getTransposeA() || getRank(product.getLhs()) != 2
               ? nullptr
               : &product.getLhsMutable();
  if (!isa<ElementwiseOpInterface>(op))
    return nullptr;
  OpOperand *rows = nullptr;
  for (OpOperand &operand : op->getOpOperands()) {
    if (getRank(operand.get()) < 2)
      continue;
    if (rows || !areEqual(getDims(operand.get()), getDims(op->getResult(0))))
      return nullptr;
    rows = &operand;
  }
  return rows;
}

/// reshape(product(reshape(x))), in which rows are merged for the product and
/// its epilogue only: computed with the original rows.
LogicalResult keepRowsApart(ReshapeOp op, PatternRewriter &rewriter) {
  SmallVector<OpOperand *> chain;
  bool hasProduct = false;
  Value value = op.getInput();
  while (Operation *next = value.getDefiningOp()) {
    OpOperand *rows = value.hasOneUse() ? getRows(next) : nullptr;
    if (!rows)
      break;
    hasProduct |= isa<MatmulOp>(next);
    chain.push_back(rows);
    value = rows->get();
  }
  auto merge = value.getDefiningOp<ReshapeOp>();
  if (!hasProduct || !merge || merge.getShape() || op.getShape())
    return rewriter.notifyMatchFailure(op, "no product of merged rows");
  Dims to = getDims(op.getResult()), merged = getDims(op.getInput());
  size_t count = 1;
  while (count < to.size() &&
         !areEqual(product(op.getContext(), ArrayRef(to).take_front(count)),
                   merged[0]))
    ++count;
  if (count < 2 || count >= to.size() || llvm::is_contained(to, AffineExpr()))
    return rewriter.notifyMatchFailure(op, "the rows are not split");
  auto getType = [&](Value rows) {
    Dims dims(ArrayRef(to).take_front(count));
    dims.push_back(getDims(rows)[1]);
    return makeType(getElement(rows), dims);
  };
  Value result = rewriter.createOrFold<ReshapeOp>(
      merge.getLoc(), getType(merge.getResult()), merge.getInput());
  for (OpOperand *rows : llvm::reverse(chain)) {
    Operation *old = rows->getOwner(), *copy = rewriter.clone(*old);
    copy->setOperand(rows->getOperandNumber(), result);
    copy->getResult(0).setType(getType(old->getResult(0)));
    result = copy->getResult(0);
  }
  if (result.getType() != op.getType())
    result =
        rewriter.createOrFold<ReshapeOp>(op.getLoc(), op.getType(), result);
  rewriter.replaceOp(op, result);
  return success();
}

/// Returns the type of a constant operand after reshape(x) for use with x:
/// unchanged if it has one element; otherwise without leading dims of 1, if it
/// has either all or one of the elements along each dim of x.
std::optional<RankedTensorType> getTypeBeside(Value constant,
                                              ArrayRef<Factor> factors,
                                              ArrayRef<AffineExpr> after,
                                              ArrayRef<AffineExpr> before) {
  Dims dims = getDims(constant), own;
  AffineExpr one = getAffineConstantExpr(1, constant.getContext());
  if (getConstant(product(constant.getContext(), dims)) == 1)
    return makeType(getElement(constant), {});
  dims.insert(dims.begin(), after.size() - dims.size(), one);
  for (size_t dim = 0; dim < before.size(); ++dim) {
    bool all = true, none = true;
    for (const Factor &factor : factors)
      if (factor.before == dim) {
        all &= areEqual(dims[factor.after], after[factor.after]);
        none &= areEqual(dims[factor.after], one);
      }
    if (!all && !none)
      return std::nullopt;
    if (!none || !own.empty())
      own.push_back(none ? one : before[dim]);
  }
  return makeType(getElement(constant), own);
}

/// Returns the transpose that the value, possibly after arithmetic, is computed
/// by for one user.
TransposeOp getMove(Value value, unsigned depth = 0) {
  Operation *op = value.getDefiningOp();
  if (!op || !value.hasOneUse() || depth == maxViews)
    return {};
  if (isa<ElementwiseOpInterface>(op))
    for (Value operand : op->getOperands())
      if (areEqual(getDims(operand), getDims(value)))
        if (TransposeOp move = getMove(operand, depth + 1))
          return move;
  return dyn_cast<TransposeOp>(op);
}

/// Returns true if runs of elements that stay adjacent are shorter than a
/// vector: arithmetic is then computed on as few elements at once.
bool movesShortRuns(TransposeOp op) {
  constexpr int64_t lanes = 16;
  Dims dims = getDims(op.getResult());
  ArrayRef<int64_t> perm = op.getPerm();
  size_t first = perm.size() - 1;
  while (first > 0 && perm[first - 1] + 1 == perm[first])
    --first;
  auto run = getConstant(
      product(op.getContext(), ArrayRef<AffineExpr>(dims).drop_front(first)));
  return run && *run < lanes;
}

/// Returns true if the op can be fused with the movement at no cost.
bool canFollow(Operation *op, TransposeOp move) {
  return !movesShortRuns(move) ||
         isa<AbsOp, AddOp, LeakyReluOp, MaximumOp, MinimumOp, MulOp, NegOp,
             ReluOp, SelectOp, SubOp>(op);
}

/// f(reshape(x), others) -> reshape(f(x, others)): f can be fused with the
/// computation or movement of x. With a product, the others are constants, and
/// the reshape only splits dims or they have one element. A view of moved data
/// requires it in memory, so the others may be any views of the same shape.
class SplitAfterArithmetic final
    : public OpInterfaceRewritePattern<ElementwiseOpInterface> {
public:
  SplitAfterArithmetic(MLIRContext *context, Pass::Statistic &count)
      : OpInterfaceRewritePattern(context), count(count) {}

  LogicalResult matchAndRewrite(ElementwiseOpInterface op,
                                PatternRewriter &rewriter) const override {
    OpOperand *split = findSplit(op);
    if (!split)
      return rewriter.notifyMatchFailure(
          op, "no operand is a reshaped product or data movement");
    auto view = split->get().getDefiningOp<ReshapeOp>();
    Value x = view.getInput();
    Dims before = getDims(x), after = getDims(op->getResult(0));
    auto factors = getFactors(before, after);
    if (!factors)
      return rewriter.notifyMatchFailure(op, "the dims do not factor");
    bool merges =
        !getMove(x) && llvm::any_of(*factors, [&](const Factor &factor) {
          return !areEqual(factor.size, after[factor.after]);
        });
    SmallVector<Type> types;
    for (OpOperand &operand : op->getOpOperands()) {
      auto type = getTypeBeside(operand.get(), *factors, after, before);
      if (&operand != split && (!type || (merges && type->getRank() > 0)))
        return rewriter.notifyMatchFailure(op, "an operand splits a dim");
      types.push_back(&operand == split ? x.getType() : Type(*type));
    }
    Operation *copy = rewriter.clone(*op);
    rewriter.setInsertionPoint(copy);
    for (auto [operand, type] : llvm::zip(copy->getOpOperands(), types)) {
      Value source = operand.get();
      if (operand.getOperandNumber() == split->getOperandNumber())
        operand.set(x);
      else if (source.getType() != type)
        operand.set(
            rewriter.createOrFold<ReshapeOp>(op->getLoc(), type, source));
    }
    copy->getResult(0).setType(makeType(getElement(op->getResult(0)), before));
    rewriter.setInsertionPointAfter(copy);
    rewriter.replaceOpWithNewOp<ReshapeOp>(op, op->getResult(0).getType(),
                                           copy->getResult(0));
    rewriter.eraseOp(view); // otherwise x appears to have several users
    ++count;
    return success();
  }

private:
  /// Returns the reshape that defines `operand`, if it has no other use and all
  /// dims of the result of the op.
  static ReshapeOp getView(OpOperand &operand) {
    auto reshape = operand.get().getDefiningOp<ReshapeOp>();
    return reshape && !reshape.getShape() && reshape->hasOneUse() &&
                   areEqual(getDims(operand.get()),
                            getDims(operand.getOwner()->getResult(0)))
               ? reshape
               : ReshapeOp();
  }

  /// Returns the first operand that is a view of moved data, if no operand is
  /// moved data itself, so that the op is fused with the movement.
  static OpOperand *findMoved(Operation *op) {
    if (llvm::any_of(op->getOperands(), [&](Value operand) {
          return areEqual(getDims(operand), getDims(op->getResult(0))) &&
                 getMove(operand);
        }))
      return nullptr;
    for (OpOperand &operand : op->getOpOperands())
      if (ReshapeOp view = getView(operand))
        if (TransposeOp move = getMove(view.getInput());
            move && canFollow(op, move))
          return &operand;
    return nullptr;
  }

  /// Returns the operand that is a reshape of moved data, or of a product or
  /// its epilogue if all others are constants.
  static OpOperand *findSplit(Operation *op) {
    if (op->getNumResults() != 1)
      return nullptr;
    if (OpOperand *moved = findMoved(op))
      return moved;
    OpOperand *split = nullptr;
    for (OpOperand &operand : op->getOpOperands()) {
      if (matchPattern(operand.get(), m_Constant()))
        continue;
      ReshapeOp view = getView(operand);
      if (split || !view || getMove(view.getInput()) ||
          !isa_and_nonnull<MatmulOp, ElementwiseOpInterface>(
              view.getInput().getDefiningOp()))
        return nullptr;
      split = &operand;
    }
    return split;
  }

  Pass::Statistic &count;
};

//===----------------------------------------------------------------------===//
// Repetition
//===----------------------------------------------------------------------===//

/// Repeats each slice along `axis` `inner` times, and the result `outer` times.
Value repeat(PatternRewriter &rewriter, Location loc, Value x, int64_t axis,
             int64_t outer, int64_t inner, Type type) {
  Dims dims = getDims(x);
  auto at = dims.begin() + axis;
  at = dims.insert(at, rewriter.getAffineConstantExpr(1));
  dims.insert(at + 2, rewriter.getAffineConstantExpr(1));
  Value apart =
      ReshapeOp::create(rewriter, loc, makeType(getElement(x), dims), x);
  dims[axis] = rewriter.getAffineConstantExpr(outer);
  dims[axis + 2] = rewriter.getAffineConstantExpr(inner);
  auto repeated = makeType(getElement(x), dims);
  Value all = BroadcastToOp::create(rewriter, loc, repeated, apart);
  return ReshapeOp::create(rewriter, loc, type, all);
}

/// concat(x, x, ..) is a repetition.
LogicalResult repeatByConcat(ConcatOp op, PatternRewriter &rewriter) {
  int64_t count = op.getInputs().size();
  if (count < 2 || !llvm::all_equal(op.getInputs()) ||
      !areKnown(op.getResult()))
    return rewriter.notifyMatchFailure(op, "the operands differ");
  // Repetition along the features of one head, as for angles of rotary
  // embeddings, stays, as slices of it follow.
  if (int64_t(op.getAxis()) + 1 == getRank(op.getResult()))
    return rewriter.notifyMatchFailure(op, "the innermost dim is repeated");
  rewriter.replaceOp(op, repeat(rewriter, op.getLoc(), op.getInputs()[0],
                                op.getAxis(), count, 1, op.getType()));
  return success();
}

/// A gather at 0, 0, .., 1, 1, .. is a repetition.
LogicalResult repeatByGather(GatherOp op, PatternRewriter &rewriter) {
  auto size = getConstant(getDims(op.getData())[op.getAxis()]);
  auto places = getConstantElements(op.getIndices());
  if (!size || !places || getRank(op.getIndices()) != 1 || *size < 1 ||
      !areKnown(op.getResult()) || places->size() % *size != 0)
    return rewriter.notifyMatchFailure(op, "expected constant indices");
  int64_t count = places->size() / *size;
  for (auto [i, place] : llvm::enumerate(*places))
    if (place != int64_t(i) / std::max<int64_t>(count, 1))
      return rewriter.notifyMatchFailure(op, "no element is repeated");
  if (count < 2)
    return rewriter.notifyMatchFailure(op, "no element is repeated");
  rewriter.replaceOp(op, repeat(rewriter, op.getLoc(), op.getData(),
                                op.getAxis(), 1, count, op.getType()));
  return success();
}

/// A reduction keeps the dims that a reshape adds back as 1. This matches
/// normalisations, and fuses elements that use it into its kernel.
LogicalResult keepReduced(ReshapeOp op, PatternRewriter &rewriter) {
  auto reduce = op.getInput().getDefiningOp<ReduceOpInterface>();
  if (!reduce || reduce.getKeepdims() || reduce.getAxes().empty())
    return rewriter.notifyMatchFailure(op, "no reduction that drops its dims");
  Dims kept = getDims(reduce.getInput());
  for (int64_t axis : reduce.getAxes())
    kept[axis] = rewriter.getAffineConstantExpr(1);
  if (!areKnown(reduce.getInput()) || !areEqual(kept, getDims(op.getResult())))
    return rewriter.notifyMatchFailure(op, "the added dims are not reduced");
  rewriter.setInsertionPoint(reduce);
  Operation *result = rewriter.clone(*reduce);
  result->setAttr("keepdims", rewriter.getBoolAttr(true));
  Value whole = result->getResult(0);
  whole.setType(makeType(getElement(whole), kept));
  // Users without these dims read a view.
  Value without = ReshapeOp::create(rewriter, reduce->getLoc(),
                                    reduce->getResult(0).getType(), whole);
  if (whole.getType() == op.getType())
    rewriter.replaceOp(op, whole);
  rewriter.replaceOp(reduce, without);
  return success();
}

class OrderViewsPass final
    : public adze::graph::impl::OrderViewsPassBase<OrderViewsPass> {
public:
  using OrderViewsPassBase::OrderViewsPassBase;

  void runOnOperation() override {
    MLIRContext *context = &getContext();
    RewritePatternSet patterns(context);
    addSimplifications<ReshapeOp>(patterns, ordered, splitBefore);
    addSimplifications<ReshapeOp>(patterns, ordered, keepRowsApart);
    addSimplifications<TransposeOp>(patterns, ordered, mergeForAttention);
    addSimplifications<TransposeOp>(patterns, ordered, mergeResult);
    addSimplifications<SliceOp>(patterns, ordered, sliceBeforeTranspose);
    addSimplifications<SliceOp>(patterns, ordered, sliceBeforeReshape);
    addSimplifications<AttentionOp>(patterns, ordered, keepBatchApart);
    addSimplifications<ReshapeOp>(patterns, ordered, keepReduced);
    addSimplifications<GatherOp>(patterns, ordered, sliceByGather);
    addSimplifications<GatherOp>(patterns, ordered, repeatByGather);
    addSimplifications<ConcatOp>(patterns, ordered, repeatByConcat);
    patterns.add<SplitAfterArithmetic>(context, ordered);
    ReshapeOp::getCanonicalizationPatterns(patterns, context);
    TransposeOp::getCanonicalizationPatterns(patterns, context);
    SliceOp::getCanonicalizationPatterns(patterns, context);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
