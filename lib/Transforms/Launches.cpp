// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// What passes on launches have in common.
#include "Launches.h"
#include "Dialect/Tile/IR/Targets.h"

using namespace mlir;

namespace adze {

ValueRange getInputs(host::LaunchOp launch) {
  return ValueRange(launch.getOperands()).drop_back(launch.getNumOutputs());
}

ValueRange getOutputs(host::LaunchOp launch) {
  return ValueRange(launch.getOperands()).take_back(launch.getNumOutputs());
}

Value getRoot(Value place) {
  while (auto view = place.getDefiningOp<host::ViewOp>())
    place = view.getSource();
  return place;
}

bool isConstant(Value place) {
  return isa_and_present<host::ConstantOp, host::TransformOp>(
      getRoot(place).getDefiningOp());
}

AffineExpr sumBytes(ArrayRef<host::LaunchOp> launches, StringRef name,
                    llvm::function_ref<ValueRange(host::LaunchOp)> places) {
  MLIRContext *context = launches.front()->getContext();
  AffineExpr sum = getAffineConstantExpr(0, context);
  for (host::LaunchOp launch : launches)
    if (Attribute attr = launch->getAttr(name))
      sum = sum + host::getBytesExpr(attr, context);
    else if (places)
      for (Value place : places(launch))
        sum = sum + host::getPlaceBytes(place);
  return sum;
}

/// Returns the kernels with tiles that are launched.
static llvm::SmallSetVector<tile::KernelOp, 16>
getLaunchedKernels(ModuleOp module) {
  SymbolTable symbols(module);
  llvm::SmallSetVector<tile::KernelOp, 16> kernels;
  module.walk([&](host::LaunchOp launch) {
    if (auto kernel = symbols.lookup<tile::KernelOp>(launch.getCallee()))
      kernels.insert(kernel);
  });
  return kernels;
}

void rewriteLaunches(ModuleOp module,
                     llvm::function_ref<void(Block &)> rewrite) {
  auto launched = getLaunchedKernels(module);
  llvm::SmallSetVector<Block *, 4> blocks;
  module.walk(
      [&](host::LaunchOp launch) { blocks.insert(launch->getBlock()); });
  for (Block *block : blocks)
    rewrite(*block);
  launched.set_subtract(getLaunchedKernels(module));
  for (tile::KernelOp kernel : launched)
    kernel.erase();
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
