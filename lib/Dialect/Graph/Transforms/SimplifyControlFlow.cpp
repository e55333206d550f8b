// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// graph-simplify-control-flow: inlines branches with constant conditions and
// unrolls loops of few iterations, so that other passes can optimise across
// them.
#include "BlockOrder.h"
#include "Dialect/Graph/Transforms/Passes.h"
#include "Simplification.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace adze::graph {
#define GEN_PASS_DEF_SIMPLIFYCONTROLFLOWPASS
#include "Dialect/Graph/Transforms/Passes.h.inc"
} // namespace adze::graph

using namespace mlir;
using namespace adze::graph;

namespace {

bool isFromOutside(Value value, Operation *op) {
  return !op->isAncestor(value.getParentBlock()->getParentOp());
}

/// Inlines the branch that runs, if it has the shapes of the op.
LogicalResult inlineBranch(IfOp op, PatternRewriter &rewriter) {
  auto truth = getConstantElements(op.getCondition());
  if (!truth)
    return rewriter.notifyMatchFailure(op, "the condition is not constant");
  Region &region = truth->front() ? op.getThenRegion() : op.getElseRegion();
  Operation *yield = region.front().getTerminator();
  // A dim that is a symbol of the op is also used elsewhere.
  if (!op.getSymbols().empty() ||
      !llvm::equal(yield->getOperandTypes(), op.getResultTypes()))
    return rewriter.notifyMatchFailure(
        op, "the branch has types other than the results");
  SmallVector<Value> results(yield->getOperands());
  rewriter.eraseOp(yield);
  rewriter.inlineBlockBefore(&region.front(), op);
  rewriter.replaceOp(op, results);
  return success();
}

bool holds(Value condition) {
  auto truth = getConstantElements(condition);
  return truth && truth->front();
}

/// Returns the trip count, if it is constant.
std::optional<int64_t> getTrips(LoopOp op) {
  if (op.getCondition() &&
      !(holds(op.getCondition()) && holds(op.getYield().getOperand(0))))
    return std::nullopt;
  auto count =
      op.getTripCount() ? getConstantElements(op.getTripCount()) : std::nullopt;
  return count && count->size() == 1 ? std::optional(count->front())
                                     : std::nullopt;
}

/// Returns true if the type of a value in the loop, or of a result, has a
/// symbol that the loop binds, or if carried values change their types.
bool mentionsOwnSymbols(LoopOp op) {
  auto isOwn = [&](AffineExpr size) {
    return !size || llvm::any_of(op.getSymbols(), [&](int64_t symbol) {
      return size.isFunctionOfSymbol(symbol);
    });
  };
  auto mentions = [&](Value value) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    return !type || llvm::any_of(getDims(type), isOwn);
  };
  bool found = llvm::any_of(op.getResults(), mentions) ||
               llvm::any_of(op.getBody().getArguments(), mentions);
  op.getBody().walk([&](Operation *inner) {
    found |= llvm::any_of(inner->getResults(), mentions) ||
             isa<AssignOp, BindOp, IfOp, LoopOp>(inner);
    if (auto assume = dyn_cast<AssumeOp>(inner))
      assume.forEachSize([&](AffineExpr size) { found |= isOwn(size); });
    if (auto check = dyn_cast<CheckRangeOp>(inner))
      found |= llvm::any_of(check.getRange().getResults(), isOwn);
  });
  auto carried = TypeRange(op.getBody().getArgumentTypes()).drop_front();
  return found || !llvm::equal(op.getInits().getTypes(), carried) ||
         !llvm::equal(op.getYieldedCarried().getTypes(), carried);
}

/// Stacks slices along a new first dim.
Value stackSlices(ArrayRef<Value> slices, Type type,
                  PatternRewriter &rewriter) {
  SmallVector<Value> parts;
  Location loc = slices.front().getLoc();
  for (Value slice : slices) {
    Dims dims = getDims(slice);
    dims.insert(dims.begin(), rewriter.getAffineConstantExpr(1));
    parts.push_back(ReshapeOp::create(
        rewriter, loc, makeType(getElement(slice), dims), slice));
  }
  return ConcatOp::create(rewriter, loc, type, parts, /*axis=*/0);
}

void unroll(LoopOp op, int64_t trips, PatternRewriter &rewriter) {
  Block &body = op.getBody().front();
  size_t numCarried = op.getInits().size();
  SmallVector<Value> carried(op.getInits());
  SmallVector<SmallVector<Value>> slices(op.getNumResults() - numCarried);
  auto number = cast<RankedTensorType>(body.getArgument(0).getType());
  for (int64_t trip = 0; trip < trips; ++trip) {
    IRMapping map;
    map.map(body.getArgument(0),
            ConstantOp::create(rewriter, op.getLoc(),
                               DenseElementsAttr::get(number, trip))
                .getResult());
    map.map(op.getCarriedArguments(), carried);
    for (Operation &inner : body.without_terminator())
      rewriter.clone(inner, map);
    for (auto [slice, stack] : llvm::zip_equal(op.getYieldedSlices(), slices))
      stack.push_back(map.lookupOrDefault(slice));
    carried.clear();
    for (Value next : op.getYieldedCarried())
      carried.push_back(map.lookupOrDefault(next));
  }
  for (auto [stack, result] :
       llvm::zip_equal(slices, op.getResults().drop_front(numCarried)))
    carried.push_back(stackSlices(stack, result.getType(), rewriter));
  rewriter.replaceOp(op, carried);
}

/// Unrolls the iterations.
LogicalResult unrollShort(LoopOp op, PatternRewriter &rewriter,
                          int64_t maxTrips, int64_t maxOps) {
  std::optional<int64_t> trips = getTrips(op);
  if (!trips)
    return rewriter.notifyMatchFailure(op, "the trip count is not constant");
  int64_t ops = 0;
  op.getBody().walk([&](Operation *) { ++ops; });
  if (*trips > maxTrips || *trips * ops > maxOps)
    return rewriter.notifyMatchFailure(op,
                                       "the unrolled loop would be too large");
  if (mentionsOwnSymbols(op) || *trips < 1)
    return rewriter.notifyMatchFailure(
        op, "the body uses symbols of the loop, or never runs");
  unroll(op, *trips, rewriter);
  return success();
}

/// Replaces results that both branches yield from outside.
LogicalResult forwardCommon(IfOp op, PatternRewriter &rewriter) {
  Operation *one = op.getThenRegion().front().getTerminator(),
            *other = op.getElseRegion().front().getTerminator();
  bool changed = false;
  for (auto [result, value, same] : llvm::zip_equal(
           op.getResults(), one->getOperands(), other->getOperands())) {
    if (value != same || value.getType() != result.getType() ||
        result.use_empty() || !isFromOutside(value, op))
      continue;
    rewriter.replaceAllUsesWith(result, value);
    changed = true;
  }
  return success(changed);
}

/// Replaces carried values that never change.
LogicalResult forwardInvariant(LoopOp op, PatternRewriter &rewriter) {
  bool changed = false;
  for (auto [init, argument, next, result] :
       llvm::zip(op.getInits(), op.getCarriedArguments(),
                 op.getYieldedCarried(), op.getResults())) {
    Operation *yield = op.getYield();
    auto isInside = [&](OpOperand &use) { return use.getOwner() != yield; };
    if (next != argument || init.getType() != argument.getType() ||
        init.getType() != result.getType() ||
        (llvm::none_of(argument.getUses(), isInside) && result.use_empty()))
      continue;
    rewriter.replaceAllUsesWith(result, init);
    rewriter.replaceUsesWithIf(argument, init, isInside);
    changed = true;
  }
  return success(changed);
}

class SimplifyControlFlowPass final
    : public adze::graph::impl::SimplifyControlFlowPassBase<
          SimplifyControlFlowPass> {
public:
  using SimplifyControlFlowPassBase::SimplifyControlFlowPassBase;

  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    addSimplifications<IfOp>(patterns, decided, inlineBranch);
    addSimplifications<IfOp>(patterns, forwarded, forwardCommon);
    addSimplifications<LoopOp>(patterns, forwarded, forwardInvariant);
    addSimplifications<LoopOp>(patterns, unrolled, [this](LoopOp op, auto &r) {
      return unrollShort(op, r, maxTrips, maxOps);
    });
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      return signalPassFailure();
    // Checks of a region may now precede other ops, too.
    hoistChecks(getOperation());
  }
};

} // namespace
