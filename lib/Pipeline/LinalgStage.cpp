// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Stage "linalg". Afterwards kernels have no graph ops and no tensors.
#include "Conversion/Passes.h"
#include "Pipeline/Stages.h"
#include "Transforms/Passes.h"

using namespace mlir;

namespace adze {

void buildLinalgStage(OpPassManager &manager, const StageOptions &options) {
  manager.addPass(createConvertGraphToLinalg());
  if (options.injectFault)
    manager.addPass(createInjectFault());
  manager.addPass(createHoistScratch());
}

} // namespace adze
