// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// What passes that combine launches have in common.
#ifndef ADZE_LIB_TRANSFORMS_LAUNCHES_H
#define ADZE_LIB_TRANSFORMS_LAUNCHES_H

#include "Dialect/Host/IR/Host.h"
#include "Dialect/Tile/IR/Tile.h"

namespace adze {

/// Returns the blocks that have launches.
llvm::SmallSetVector<mlir::Block *, 4>
getBlocksOfLaunches(mlir::ModuleOp module);

/// Returns the kernels with tiles that are launched.
llvm::SmallSetVector<tile::KernelOp, 16>
getLaunchedKernels(mlir::ModuleOp module);

/// Returns true if the kernel is one part whose programs run in any order, has
/// no schedule, and has no op for which `isExcluded` returns true.
bool isSimpleKernel(tile::KernelOp kernel,
                    llvm::function_ref<bool(mlir::Operation *)> isExcluded);

} // namespace adze

#endif // ADZE_LIB_TRANSFORMS_LAUNCHES_H
