// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Stage "llvm". Afterwards the module has the LLVM dialect only.
#include "Conversion/Passes.h"
#include "Pipeline/Stages.h"

using namespace mlir;

namespace adze {

void buildLLVMStage(OpPassManager &manager, const StageOptions &options) {
  manager.addPass(createConvertHostToLLVM());
}

} // namespace adze
