// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Stage "host". Afterwards @main has no tensors, and every place has an offset.
#include "Pipeline/Stages.h"
#include "Transforms/Passes.h"

using namespace mlir;

namespace adze {

void buildHostStage(OpPassManager &manager, const StageOptions &options) {
  manager.addPass(createAssignDestinations());
  manager.addPass(createReuseOperands());
  manager.addPass(createPlanMemory());
  manager.addPass(createLaunchVersions());
  manager.addPass(createFuseLaunches());
  manager.addPass(createMergeLaunches());
  manager.addPass(createAssignAlignment());
}

} // namespace adze
