// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// graph-parallelize: rewrites ops with an inherent order for GPUs.
#include "Parallelize.h"
#include "BlockOrder.h"
#include "Dialect/Graph/Transforms/Passes.h"
#include "Dialect/Tile/IR/Targets.h"

namespace adze::graph {
#define GEN_PASS_DEF_PARALLELIZEPASS
#include "Dialect/Graph/Transforms/Passes.h.inc"
} // namespace adze::graph

using namespace mlir;
using namespace adze;
using namespace adze::graph;

namespace {

struct ParallelizePass final
    : adze::graph::impl::ParallelizePassBase<ParallelizePass> {
  using Base::Base;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (!tile::findCudaTarget(function))
      return;
    suppressions += selectBoxes(function);
    scatters += addScatteredIntegers(function);
    scans += splitScans(function);
    selections += splitSelections(function);
    function.walk([&](Block *block) { reads += mergeReads(*block); });
  }
};

} // namespace
