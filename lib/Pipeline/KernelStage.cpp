// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Stage "kernel". Afterwards kernels are functions of the LLVM dialect.
#include "Conversion/Passes.h"
#include "Conversion/TileToVector/TileToVector.h"
#include "Dialect/Tile/Transforms/Passes.h"
#include "Pipeline/Stages.h"
#include "Transforms/Passes.h"
#include "mlir/Conversion/MathToFuncs/MathToFuncs.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

namespace adze {

void buildKernelStage(OpPassManager &manager, const StageOptions &options) {
  if (options.injectCrash)
    manager.addPass(createInjectCrash({options.injectCrash}));
  if (options.plainKernels) {
    manager.addPass(tile::createTileSpecialize());
    manager.addPass(createConvertTileToLinalg());
    manager.addPass(createCanonicalizerPass());
    manager.addPass(bufferization::createOneShotBufferizePass());
    manager.addPass(createReconcileUnrealizedCastsPass());
  }
  // These passes lower the remaining linalg ops of the reference path.
  manager.addNestedPass<func::FuncOp>(createExpandCopies());
  manager.addNestedPass<func::FuncOp>(createConvertLinalgToLoopsPass());
  manager.addPass(createMapLoopsToPrograms());
  // This pipeline lowers tile kernels.
  buildTileToVectorPipeline(manager);
  // These passes apply to both.
  manager.addNestedPass<func::FuncOp>(createExpandBounds());
  manager.addPass(arith::createArithExpandOpsPass());
  manager.addPass(createConvertMathToFuncs()); // integer powers
  buildVectorToLLVMPipeline(manager);
  manager.addPass(createConvertKernelToLLVM());
}

} // namespace adze
