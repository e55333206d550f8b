// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The passes of the CPU road of tile kernels, in order.
#include "Conversion/Passes.h"
#include "Conversion/TileToVector/TileToVector.h"
#include "Dialect/Tile/Transforms/Passes.h"
#include "Transforms/Passes.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

void adze::buildTileToVectorPipeline(
    OpPassManager &manager, const TileToVectorPipelineOptions &options) {
  manager.addPass(tile::createTileSpecialize());
  ConvertTileToVectorOptions lowering;
  lowering.vectorBytes = options.vectorBytes;
  lowering.l2Bytes = options.caches.l2;
  lowering.storesApart = options.caches.storesApart;
  lowering.byteDots = options.byteDots;
  lowering.permutes = options.permutes;
  lowering.keepRefused = options.keepRefused;
  manager.addPass(createConvertTileToVector(lowering));
  // Regions are left as they are: to look for dead blocks walks every loop
  // again for each that is around it, a fifth of the time of a compilation, and
  // there are none.
  GreedyRewriteConfig greedy;
  greedy.setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled);
  manager.addPass(createCanonicalizerPass(greedy));
  manager.addPass(createCSEPass());
  if (options.caches.halfLoads)
    manager.addNestedPass<func::FuncOp>(createShareLoads());
  manager.addNestedPass<func::FuncOp>(createPipelineRows());
  manager.addNestedPass<func::FuncOp>(createNarrowConversions());
  MathApproximateOptions math;
  math.vectorBytes = options.vectorBytes;
  manager.addPass(createMathApproximate(math));
  manager.addPass(createLoopInvariantCodeMotionPass());
  manager.addPass(createCSEPass());
}

void adze::buildVectorToLLVMPipeline(OpPassManager &manager) {
  manager.addPass(memref::createExpandStridedMetadataPass());
  // Intrinsics where LLVM has one (fma, sqrt, ..), calls for the rest: those
  // take vectors apart, so vectors are lowered after.
  manager.addPass(createConvertMathToLLVMPass());
  manager.addPass(createConvertMathToLibmPass());
  ConvertVectorToLLVMPassOptions vectors;
  vectors.reassociateFPReductions = true;
  manager.addPass(createConvertVectorToLLVMPass(vectors));
  manager.addPass(createLowerAffinePass());
  manager.addPass(createLowerLoops());
  manager.addPass(createCSEPass());
}
