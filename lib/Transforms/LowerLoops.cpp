// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// lower-loops: lowers structured control flow to branches in linear time.
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

/// Ops are lowered from the end of each block, as each splits its block and
/// moves all later ops. Parents are lowered before their contents.
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
    // A region with a single block, such as that of a tile.kernel, cannot hold
    // branches.
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
