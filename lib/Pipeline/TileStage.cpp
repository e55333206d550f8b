// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Stage "tile". Afterwards there is no graph.cluster: @main launches kernels.
#include "Conversion/Passes.h"
#include "Dialect/Graph/Transforms/Passes.h"
#include "Pipeline/Stages.h"

using namespace mlir;

namespace adze {

void buildTileStage(OpPassManager &manager, const StageOptions &options) {
  manager.addPass(graph::createOutlineClustersPass());
  if (options.optLevel > 0)
    manager.addPass(createConvertGraphToTile(
        {/*packConstants=*/true, /*remarks=*/false, options.batchInvariant}));
}

} // namespace adze
