// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Launches that begin while the one before them ends.
#ifndef ADZE_LIB_TARGET_CUDA_OVERLAPLAUNCHES_H
#define ADZE_LIB_TARGET_CUDA_OVERLAPLAUNCHES_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace adze::cuda {

/// Makes each kernel wait for the launches before it by itself, so that it may
/// be launched before they are done (`adze.waits`), and lets the launch behind
/// it begin once all its blocks run. Blocks are then in their places, and
/// barriers and tensor maps ready, when the last launch ends. Needs sm_90.
void overlapLaunches(mlir::gpu::GPUModuleOp module);

} // namespace adze::cuda

#endif // ADZE_LIB_TARGET_CUDA_OVERLAPLAUNCHES_H
