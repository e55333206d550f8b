// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Stage "graph". Afterwards @main holds constants, clusters and reshapes.
#include "Dialect/Graph/Transforms/Passes.h"
#include "Pipeline/Stages.h"
#include "Transforms/Passes.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

namespace adze {

/// Tile kernels in the text stay as they are: a module made of what
/// `--emit=tile` printed is the one that it would have been.
static void addCleanup(OpPassManager &manager) {
  manager.addNestedPass<func::FuncOp>(createCanonicalizerPass());
  manager.addNestedPass<func::FuncOp>(createCSEPass());
}

void buildGraphStage(OpPassManager &manager, const StageOptions &options) {
  // While the only tile kernels are those of the text.
  if (options.checkBounds)
    manager.addPass(createCheckBounds());
  manager.addNestedPass<func::FuncOp>(graph::createCollectAssumptionsPass());
  if (options.optLevel > 0)
    manager.addNestedPass<func::FuncOp>(graph::createSolveSizesPass());
  if (options.optLevel > 0 || !options.literal)
    addCleanup(manager);
  // Before anything looks at weights.
  if (options.weights.bits != 0)
    manager.addPass(graph::createQuantizeWeightsPass(
        {options.weights.bits, options.weights.block}));
  graph::FormBlockProductsPassOptions blocks;
  blocks.form = options.optLevel > 0 && !options.forExport;
  manager.addNestedPass<func::FuncOp>(
      graph::createFormBlockProductsPass(blocks));
  graph::FormClustersPassOptions clusters;
  if (options.optLevel == 0) {
    clusters.mode = graph::ClusterMode::Single;
  } else {
    // Recognisers ask for numbers that models compute from sizes.
    graph::FoldConstantsPassOptions numbers;
    numbers.maxBytes = 64;
    if (options.foldConstants)
      manager.addPass(graph::createFoldConstantsPass(numbers));
    manager.addNestedPass<func::FuncOp>(graph::createSimplifyControlFlowPass());
    // While weights are bytes and scales stand beside them.
    if (!options.forExport) {
      manager.addNestedPass<func::FuncOp>(
          graph::createSinkDequantizationPass());
      manager.addNestedPass<func::FuncOp>(
          graph::createFormIntegerProductsPass());
      manager.addNestedPass<func::FuncOp>(
          graph::createFoldRequantizationPass());
    }
    manager.addNestedPass<func::FuncOp>(graph::createOrderViewsPass());
    manager.addNestedPass<func::FuncOp>(
        graph::createRecognizeNormalizationPass());
    manager.addNestedPass<func::FuncOp>(
        graph::createRecognizeActivationsPass());
    if (!options.forExport) { // what has no ONNX spelling stays in its parts
      manager.addNestedPass<func::FuncOp>(
          graph::createRecognizeAttentionPass());
      // What is beside it now.
      manager.addNestedPass<func::FuncOp>(graph::createOrderViewsPass());
    }
    // The recognisers know activations and norms as models spell them.
    manager.addNestedPass<func::FuncOp>(graph::createSimplifyAlgebraPass());
    manager.addNestedPass<func::FuncOp>(graph::createSimplifyMovementPass());
    // Drops what is dead now.
    manager.addNestedPass<func::FuncOp>(createCanonicalizerPass());
    // Weights take in the normalisations first: what is left of these would
    // stand between a convolution and its neighbours.
    manager.addNestedPass<func::FuncOp>(graph::createFoldBatchNormPass());
    if (!options.forExport) {
      if (options.foldConstants) // merging joins constants, not what makes them
        manager.addPass(graph::createFoldConstantsPass());
      manager.addNestedPass<func::FuncOp>(graph::createMergeHorizontalPass());
      manager.addNestedPass<func::FuncOp>(
          graph::createConvTransposeToConvPass());
      if (options.precision != "f32") {
        if (options.foldConstants) // weights that were merged are constants
          manager.addPass(graph::createFoldConstantsPass());
        if (options.probesPrecision)
          manager.addPass(graph::createProbePrecisionPass({options.precision}));
        else
          manager.addPass(graph::createSetPrecisionPass(
              {options.precision, llvm::to_vector(options.wideProducts)}));
      }
      manager.addNestedPass<func::FuncOp>(graph::createSplitPoolsPass());
      manager.addNestedPass<func::FuncOp>(graph::createSpaceToDepthPass());
      manager.addNestedPass<func::FuncOp>(graph::createConvertLayoutPass());
      if (options.winograd)
        manager.addNestedPass<func::FuncOp>(graph::createWinogradPass());
    }
    if (options.foldConstants)
      manager.addPass(graph::createFoldConstantsPass());
    addCleanup(manager);
    // What is one value now may be that of both branches, or decide which.
    manager.addNestedPass<func::FuncOp>(
        graph::createSimplifyControlFlowPass({/*maxOps=*/0}));
    manager.addPass(graph::createEliminateDeadCodePass());
  }
  if (options.forExport)
    return;
  if (options.cachePrecision != "f32")
    manager.addNestedPass<func::FuncOp>(graph::createNarrowStatesPass(
        {options.cachePrecision, llvm::to_vector(options.states)}));
  // The caller's symbol follows those of the inputs; states add others.
  manager.addNestedPass<func::FuncOp>(graph::createFindLastRowsPass(
      graph::FindLastRowsPassOptions{llvm::to_vector(options.states)}));
  graph::FindStatesPassOptions states;
  states.pairs = llvm::to_vector(options.states);
  manager.addNestedPass<func::FuncOp>(graph::createFindStatesPass(states));
  if (options.optLevel > 0) {
    // Of look-ups into states, which may be longer than their shapes say, the
    // checks stay as they are.
    manager.addNestedPass<func::FuncOp>(createFoldChecks());
    manager.addNestedPass<func::FuncOp>(graph::createSplitReductionsPass());
    addCleanup(manager);
    manager.addNestedPass<func::FuncOp>(graph::createPlaceConcatPass());
  }
  manager.addNestedPass<func::FuncOp>(graph::createFormClustersPass(clusters));
  if (options.optLevel > 0 && options.precision != "f32" &&
      !options.probesPrecision)
    manager.addPass(graph::createNarrowStoragePass());
  manager.addNestedPass<func::FuncOp>(graph::createShareKernelsPass());
}

} // namespace adze
