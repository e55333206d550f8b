// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The pass pipeline that lowers tile kernels for CPUs.
#include "Conversion/Passes.h"
#include "Conversion/TileToVector/TileToVector.h"
#include "Dialect/Tile/Transforms/Passes.h"
#include "Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

void adze::buildTileToVectorPipeline(OpPassManager &manager) {
  manager.addPass(tile::createTileSpecialize());
  manager.addPass(createConvertTileToVector());
  // Regions are not simplified: the search for dead blocks visits each loop
  // once for each enclosing loop, which takes a fifth of the compile time, and
  // finds none.
  GreedyRewriteConfig greedy;
  greedy.setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled);
  manager.addPass(createCanonicalizerPass(greedy));
  manager.addPass(createCSEPass());
  manager.addNestedPass<func::FuncOp>(createShareLoads());
  manager.addNestedPass<func::FuncOp>(createPipelineRows());
  manager.addNestedPass<func::FuncOp>(createNarrowConversions());
  manager.addNestedPass<func::FuncOp>(createPackStores());
  manager.addPass(createMathApproximate());
  manager.addPass(createLoopInvariantCodeMotionPass());
  manager.addPass(createCSEPass());
}

void adze::buildVectorToLLVMPipeline(OpPassManager &manager) {
  manager.addPass(createLowerVectors());
  manager.addPass(createConvertByteLookupToLLVM());
  manager.addPass(createLowerLoops());
}
