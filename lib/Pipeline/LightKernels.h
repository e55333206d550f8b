// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Kernels with a negligible part of the time of a run.
#ifndef ADZE_LIB_PIPELINE_LIGHTKERNELS_H
#define ADZE_LIB_PIPELINE_LIGHTKERNELS_H

#include "Dialect/Host/IR/Host.h"
#include "EqualKernels.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringSet.h"

namespace adze {

/// Returns the time of a launch, by its operations and bytes, in units of what
/// a byte takes from memory.
double estimateTime(host::LaunchOp launch, llvm::ArrayRef<int64_t> symbols);

/// Returns the tile kernels that, by the operations and bytes of their
/// launches, together take at most a twentieth of a run. A kernel that others
/// call counts with these. A kernel launched from a loop is excluded, as the
/// number of iterations is unknown.
llvm::StringSet<> findLightKernels(mlir::ModuleOp module,
                                   mlir::func::FuncOp program,
                                   const EqualKernels &kernels);

} // namespace adze

#endif // ADZE_LIB_PIPELINE_LIGHTKERNELS_H
