// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Binds the parameters of kernels for a GPU.
#ifndef ADZE_LIB_DIALECT_TILE_TRANSFORMS_BINDINGS_H
#define ADZE_LIB_DIALECT_TILE_TRANSFORMS_BINDINGS_H

#include "Dialect/Tile/IR/Targets.h"
#include "Dialect/Tile/IR/Tile.h"

namespace adze::tile {

/// Binds parameters of a kernel to values.
void bindParams(KernelOp kernel, llvm::ArrayRef<ParamOp> params,
                llvm::ArrayRef<int64_t> values);
/// Sets the schedule of a kernel whose programs `split` blocks of threads
/// compute.
void setThreads(KernelOp kernel, int64_t threads, int64_t split);
/// Returns the value of a size for values of the parameters, or nothing if it
/// is dynamic.
std::optional<int64_t>
evaluateSize(mlir::OpFoldResult size,
             llvm::function_ref<int64_t(ParamOp)> getParam);
/// Binds the parameters of a kernel without products, if a rule applies to it.
mlir::LogicalResult bindWithoutProduct(KernelOp kernel, CudaTargetAttr target);

} // namespace adze::tile

#endif // ADZE_LIB_DIALECT_TILE_TRANSFORMS_BINDINGS_H
