// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// What passes that combine launches have in common.
#include "Launches.h"
#include "Dialect/Tile/IR/Targets.h"

using namespace mlir;

namespace adze {

llvm::SmallSetVector<Block *, 4> getBlocksOfLaunches(ModuleOp module) {
  llvm::SmallSetVector<Block *, 4> blocks;
  module.walk(
      [&](host::LaunchOp launch) { blocks.insert(launch->getBlock()); });
  return blocks;
}

llvm::SmallSetVector<tile::KernelOp, 16> getLaunchedKernels(ModuleOp module) {
  SymbolTable symbols(module);
  llvm::SmallSetVector<tile::KernelOp, 16> kernels;
  module.walk([&](host::LaunchOp launch) {
    if (auto kernel = symbols.lookup<tile::KernelOp>(launch.getCallee()))
      kernels.insert(kernel);
  });
  return kernels;
}

bool isSimpleKernel(tile::KernelOp kernel,
                    llvm::function_ref<bool(Operation *)> isExcluded) {
  tile::ProgramIdOp id = kernel ? kernel.getProgramId() : tile::ProgramIdOp();
  if (!id || id.getOrdered() || kernel.hasPhases() ||
      kernel->hasAttr(tile::kScheduleAttribute))
    return false;
  return !kernel
              .walk([&](Operation *op) {
                return isExcluded(op) ? WalkResult::interrupt()
                                      : WalkResult::advance();
              })
              .wasInterrupted();
}

} // namespace adze
