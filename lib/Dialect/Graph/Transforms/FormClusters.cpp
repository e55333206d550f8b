// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// graph-form-clusters: makes a cluster of each group of ops that become one
// kernel.
#include "Dialect/Graph/Transforms/Passes.h"
#include "Grouping.h"
#include "Quantized.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"

namespace adze::graph {
#define GEN_PASS_DEF_FORMCLUSTERSPASS
#include "Dialect/Graph/Transforms/Passes.h.inc"
} // namespace adze::graph

using namespace mlir;
using namespace adze::graph;

namespace {

/// Returns a splat constant, or a broadcast of one, that is copied into each
/// cluster that uses it. Ops that read out of bounds are excluded, as the value
/// differs there.
Operation *getInnerConstant(OpOperand &use) {
  Operation *source = use.get().getDefiningOp();
  if (source && isInnerSplat(source))
    return source;
  auto constant = dyn_cast_or_null<ConstantOp>(source);
  auto elements =
      constant ? dyn_cast<DenseElementsAttr>(constant.getValue()) : nullptr;
  auto window = dyn_cast<WindowOpInterface>(use.getOwner());
  bool hasEnds = window && window.readsBeyond(use.getOperandNumber());
  return elements && elements.isSplat() && !hasEnds ? constant.getOperation()
                                                    : nullptr;
}

/// Returns the mnemonic as in "conv", or "pointwise" without an anchor.
StringRef getAnchorName(const Group &group) {
  return group.anchor ? group.anchor->getName().stripDialect() : "pointwise";
}

/// Moves the ops of the group into a cluster at the position of the last one.
void buildCluster(const Group &group) {
  DenseSet<Operation *> members(group.ops.begin(), group.ops.end());
  llvm::SetVector<Value> inputs, outputs;
  SmallVector<Location> locations;
  for (Operation *op : group.ops) {
    locations.push_back(op->getLoc());
    for (OpOperand &use : op->getOpOperands())
      if (!getInnerConstant(use) &&
          !members.contains(use.get().getDefiningOp()))
        inputs.insert(use.get());
    for (Value result : op->getResults())
      // A step of a recurrent layer reads the results that the previous one
      // stored.
      if (isa<RecurrentOp>(op) ||
          llvm::any_of(result.getUsers(), [&](Operation *user) {
            return !members.contains(user);
          }))
        outputs.insert(result);
  }
  SmallVector<Type> types;
  for (Value output : outputs)
    types.push_back(output.getType());
  OpBuilder builder(group.ops.back());
  Location loc = FusedLoc::get(builder.getContext(), locations);
  auto cluster = ClusterOp::create(builder, loc, TypeRange(types),
                                   inputs.getArrayRef(), getAnchorName(group));
  Block *body = &cluster.getBody().front();
  for (auto [output, result] :
       llvm::zip(outputs.getArrayRef(), cluster.getResults()))
    Value(output).replaceUsesWithIf(result, [&](OpOperand &use) {
      return !members.contains(use.getOwner());
    });
  IRMapping mapping;
  mapping.map(inputs.getArrayRef(), body->getArguments());
  builder.setInsertionPointToStart(body);
  for (Operation *op : group.ops) {
    for (OpOperand &use : op->getOpOperands()) {
      Operation *constant = getInnerConstant(use);
      if (!constant || mapping.contains(use.get()))
        continue;
      for (Value splat : constant->getOperands())
        builder.clone(*splat.getDefiningOp(), mapping);
      builder.clone(*constant, mapping);
    }
    builder.clone(*op, mapping);
  }
  SmallVector<Value> results;
  for (Value output : outputs)
    results.push_back(mapping.lookup(output));
  if (!body->empty() && body->back().hasTrait<OpTrait::IsTerminator>())
    body->back().erase();
  builder.setInsertionPointToEnd(body);
  YieldOp::create(builder, loc, results);
  for (Operation *op : llvm::reverse(group.ops))
    op->erase();
}

void eraseDead(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (isOpTriviallyDead(&op))
      op.erase();
}

struct FormClustersPass final
    : adze::graph::impl::FormClustersPassBase<FormClustersPass> {
  using Base::Base;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (function.isExternal() || function->hasAttr("adze.kernel"))
      return;
    // Inner blocks are processed first, so that outer ones see the values that
    // they use.
    SmallVector<Block *> blocks;
    function.walk<WalkOrder::PostOrder>([&](Block *block) {
      if (!isa<ClusterOp>(block->getParentOp()))
        blocks.push_back(block);
    });
    for (Block *block : blocks)
      formClusters(*block);
    skipConversions(function);
  }

private:
  void formClusters(Block &block) {
    eraseDead(block);
    Grouping grouping(block, mostOps, mode == ClusterMode::Fuse);
    if (mode == ClusterMode::Fuse) {
      grouping.fuse();
      if (!adze::tile::findCudaTarget(getOperation())) {
        auto target = adze::tile::getCpuTarget(getOperation());
        // Tensors of this size do not stay in the cache of a core together with
        // their operands.
        grouping.joinChains(chainBytes ? chainBytes
                                       : target.getL2Bytes() * 2 / 3,
                            target.getFlopsPerByte());
      }
      grouping.recomputeConversions();
      grouping.reportRefusals();
    }
    for (const Group &group : grouping.takeGroups()) {
      ++numClusters;
      numFused += group.ops.size() - 1;
      buildCluster(group);
    }
    eraseDead(block); // splats that clusters have copies of
    if (mode == ClusterMode::Fuse)
      sortBlock(block);
  }
};

} // namespace
