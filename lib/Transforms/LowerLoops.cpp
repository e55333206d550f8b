// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Structured control flow to branches, in time that grows with the ops alone.
#include "Transforms/Passes.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Iterators.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Rewrite/PatternApplicator.h"

using namespace mlir;

namespace adze {
#define GEN_PASS_DEF_LOWERLOOPS
#include "Transforms/Passes.h.inc"

namespace {
class LowerLoopsPass final : public impl::LowerLoopsBase<LowerLoopsPass> {
public:
  void runOnOperation() override;
};
} // namespace

/// The last op of a block first: each splits its block, and moves what stands
/// behind it. What is around an op comes before it.
void LowerLoopsPass::runOnOperation() {
  RewritePatternSet patterns(&getContext());
  populateSCFToControlFlowConversionPatterns(patterns);
  FrozenRewritePatternSet frozen(std::move(patterns));
  PatternApplicator applicator(frozen);
  applicator.applyDefaultCostModel();
  SmallVector<Operation *> ops;
  getOperation()->walk<WalkOrder::PreOrder, ReverseIterator>(
      [&](Operation *op) {
        if (isa_and_nonnull<scf::SCFDialect>(op->getDialect()) &&
            !op->hasTrait<OpTrait::IsTerminator>())
          ops.push_back(op);
      });
  PatternRewriter rewriter(&getContext());
  for (Operation *op : ops) {
    // There is no room for branches, in a tile.kernel as an example.
    if (op->getParentOp()->hasTrait<OpTrait::SingleBlock>())
      continue;
    std::string name = op->getName().getStringRef().str();
    Location loc = op->getLoc();
    rewriter.setInsertionPoint(op);
    if (succeeded(applicator.matchAndRewrite(op, rewriter))) {
      ++numLowered;
      continue;
    }
    emitError(loc)
        << "expected control flow that has a form of branches, but got '"
        << name << "'";
    return signalPassFailure();
  }
}

} // namespace adze
