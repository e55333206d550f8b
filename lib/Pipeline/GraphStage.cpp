// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Stage "graph". Afterwards @main has constants, clusters and reshapes only.
#include "Dialect/Graph/Transforms/Passes.h"
#include "Pipeline/Stages.h"
#include "Transforms/Passes.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

namespace adze {

/// Tile kernels in the text are not changed, so that compiling the output of
/// `--emit=tile` has the same result.
static void addCleanup(OpPassManager &manager) {
  manager.addNestedPass<func::FuncOp>(createCanonicalizerPass());
  manager.addNestedPass<func::FuncOp>(createCSEPass());
}

void buildGraphStage(OpPassManager &manager, const StageOptions &options) {
  // The only tile kernels at this point are those of the text.
  if (options.checkBounds)
    manager.addPass(createCheckBounds());
  manager.addNestedPass<func::FuncOp>(graph::createCollectAssumptionsPass());
  if (options.optLevel > 0)
    manager.addNestedPass<func::FuncOp>(graph::createSolveSizesPass());
  if (options.optLevel > 0 || !options.literal)
    addCleanup(manager);
  // This is before any pass on weights.
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
    // Recognisers require constants that models compute from sizes.
    graph::FoldConstantsPassOptions numbers;
    numbers.maxBytes = 64;
    if (options.foldConstants)
      manager.addPass(graph::createFoldConstantsPass(numbers));
    manager.addNestedPass<func::FuncOp>(graph::createSimplifyControlFlowPass());
    // Weights are still bytes with scales next to them.
    if (!options.forExport) {
      manager.addNestedPass<func::FuncOp>(
          graph::createSinkDequantizationPass());
      manager.addNestedPass<func::FuncOp>(
          graph::createFormIntegerProductsPass());
      manager.addNestedPass<func::FuncOp>(
          graph::createFoldRequantizationPass());
      if (options.foldConstants)
        manager.addPass(graph::createFormByteTablesPass());
    }
    manager.addNestedPass<func::FuncOp>(graph::createOrderViewsPass());
    manager.addNestedPass<func::FuncOp>(
        graph::createRecognizeNormalizationPass());
    manager.addNestedPass<func::FuncOp>(
        graph::createRecognizeActivationsPass());
    if (!options.forExport) { // ops without ONNX operator are not created
      manager.addNestedPass<func::FuncOp>(
          graph::createRecognizeAttentionPass());
      // Data movement next to attention has changed.
      manager.addNestedPass<func::FuncOp>(graph::createOrderViewsPass());
    }
    // The recognisers match activations and norms as models express them.
    manager.addNestedPass<func::FuncOp>(graph::createSimplifyAlgebraPass());
    manager.addNestedPass<func::FuncOp>(graph::createSimplifyMovementPass());
    // Removes ops that are dead now.
    manager.addNestedPass<func::FuncOp>(createCanonicalizerPass());
    // Normalisations are folded into weights first, as others would remain
    // between a convolution and its neighbours.
    manager.addNestedPass<func::FuncOp>(graph::createFoldBatchNormPass());
    if (!options.forExport) {
      // Merging concatenates constants, not ops on constants.
      if (options.foldConstants)
        manager.addPass(graph::createFoldConstantsPass());
      manager.addNestedPass<func::FuncOp>(graph::createMergeHorizontalPass());
      manager.addNestedPass<func::FuncOp>(
          graph::createConvTransposeToConvPass());
      if (options.foldConstants) // merged weights are constants
        manager.addPass(graph::createFoldConstantsPass());
      if (options.precision != "f32") {
        if (options.probesPrecision)
          manager.addPass(graph::createProbePrecisionPass({options.precision}));
        else
          manager.addPass(graph::createSetPrecisionPass(
              {options.precision, llvm::to_vector(options.wideProducts)}));
      }
      manager.addNestedPass<func::FuncOp>(graph::createSplitPoolsPass());
      manager.addNestedPass<func::FuncOp>(graph::createSpaceToDepthPass());
      manager.addNestedPass<func::FuncOp>(graph::createBandGroupsPass());
      manager.addNestedPass<func::FuncOp>(graph::createConvertLayoutPass());
      if (options.winograd)
        manager.addNestedPass<func::FuncOp>(graph::createWinogradPass());
    }
    if (options.foldConstants)
      manager.addPass(graph::createFoldConstantsPass());
    addCleanup(manager);
    // Values that are equal now may be yielded by both branches, or be
    // conditions.
    manager.addNestedPass<func::FuncOp>(
        graph::createSimplifyControlFlowPass({/*maxOps=*/0}));
    manager.addPass(graph::createEliminateDeadCodePass());
  }
  if (options.forExport)
    return;
  if (options.cachePrecision != "f32")
    manager.addNestedPass<func::FuncOp>(graph::createNarrowStatesPass(
        {options.cachePrecision, llvm::to_vector(options.states)}));
  // The symbol of the caller follows those of the inputs; states add others.
  manager.addNestedPass<func::FuncOp>(graph::createFindLastRowsPass(
      graph::FindLastRowsPassOptions{llvm::to_vector(options.states)}));
  graph::FindStatesPassOptions states;
  states.pairs = llvm::to_vector(options.states);
  manager.addNestedPass<func::FuncOp>(graph::createFindStatesPass(states));
  if (options.optLevel > 0) {
    // Checks of gathers from states, whose buffers may be longer than their
    // shapes, are not changed.
    manager.addNestedPass<func::FuncOp>(createFoldChecks());
    manager.addNestedPass<func::FuncOp>(graph::createParallelizePass());
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
