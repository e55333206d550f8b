// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Lets a launch begin before the previous launch has ended.
#ifndef ADZE_LIB_TARGET_CUDA_OVERLAPLAUNCHES_H
#define ADZE_LIB_TARGET_CUDA_OVERLAPLAUNCHES_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace adze::cuda {

/// Inserts a wait for the previous launches into each kernel, so that the
/// kernel may be launched before they have ended (attribute `adze.waits`), and
/// lets the next launch begin as soon as all blocks of this one run
/// (programmatic dependent launch). Blocks are then resident, and barriers and
/// tensor maps are set up, when the previous launch ends. Requires sm_90.
void overlapLaunches(mlir::gpu::GPUModuleOp module);

} // namespace adze::cuda

#endif // ADZE_LIB_TARGET_CUDA_OVERLAPLAUNCHES_H
