// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Lets a launch begin before the previous launch has ended.
#ifndef ADZE_LIB_TARGET_CUDA_OVERLAPLAUNCHES_H
#define ADZE_LIB_TARGET_CUDA_OVERLAPLAUNCHES_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace adze::cuda {

/// Inserts a wait for the previous launches into kernels, so that they may be
/// launched before these have ended (attribute `adze.waits`), and lets the next
/// launch begin (programmatic dependent launch): in a product after its last
/// loop, in other kernels at once. Blocks are then resident, and barriers,
/// tensor maps and the first weights are loaded, when the previous launch ends.
/// Kernels with products by threads or warps (attribute `adze.products`) are
/// launched after it: their blocks would be resident on those multiprocessors
/// that have room first, instead of one on each. Requires sm_90.
void overlapLaunches(mlir::gpu::GPUModuleOp module);

} // namespace adze::cuda

#endif // ADZE_LIB_TARGET_CUDA_OVERLAPLAUNCHES_H
