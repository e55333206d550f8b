// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Removal of what no result depends on.
#include "Dialect/Graph/IR/Graph.h"
#include "Dialect/Graph/Transforms/Passes.h"
#include "mlir/Transforms/RegionUtils.h"

namespace adze::graph {
#define GEN_PASS_DEF_ELIMINATEDEADCODEPASS
#include "Dialect/Graph/Transforms/Passes.h.inc"
} // namespace adze::graph

using namespace mlir;
using namespace adze::graph;

namespace {

/// Drops the results of a cluster that nobody reads, so that what only they
/// need dies with them.
void dropUnusedResults(ClusterOp cluster, IRRewriter &rewriter) {
  if (llvm::none_of(cluster.getResults(),
                    [](Value result) { return result.use_empty(); }))
    return;
  SmallVector<Value> kept, yielded;
  SmallVector<Type> types;
  YieldOp yield = cluster.getYield();
  for (auto [result, value] :
       llvm::zip_equal(cluster.getResults(), yield.getOperands()))
    if (!result.use_empty()) {
      kept.push_back(result);
      yielded.push_back(value);
      types.push_back(result.getType());
    }
  if (kept.empty())
    return; // dead as a whole: the caller removes it
  rewriter.setInsertionPoint(cluster);
  auto smaller = ClusterOp::create(rewriter, cluster.getLoc(), types,
                                   cluster.getInputs(),
                                   cluster.getAnchor().value_or(StringRef()));
  smaller.getBody().takeBody(cluster.getBody());
  smaller.getYield()->setOperands(yielded);
  for (auto [before, after] : llvm::zip_equal(kept, smaller.getResults()))
    rewriter.replaceAllUsesWith(before, after);
  rewriter.eraseOp(cluster);
}

int64_t countOps(Operation *root) {
  int64_t count = 0;
  root->walk([&](Operation *) { ++count; });
  return count;
}

class EliminateDeadCodePass final
    : public adze::graph::impl::EliminateDeadCodePassBase<EliminateDeadCodePass> {
public:
  using EliminateDeadCodePassBase::EliminateDeadCodePassBase;

  void runOnOperation() override {
    Operation *root = getOperation();
    IRRewriter rewriter(&getContext());
    int64_t before = countOps(root);
    // Users first: a cluster that dies may free results of an earlier one.
    SmallVector<ClusterOp> clusters;
    root->walk([&](ClusterOp cluster) { clusters.push_back(cluster); });
    for (ClusterOp cluster : llvm::reverse(clusters)) {
      if (isOpTriviallyDead(cluster))
        rewriter.eraseOp(cluster);
      else
        dropUnusedResults(cluster, rewriter);
    }
    (void)runRegionDCE(rewriter, root->getRegions());
    removed = before - countOps(root);
  }
};

} // namespace
