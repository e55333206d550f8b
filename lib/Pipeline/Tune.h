// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Bindings of kernel parameters that are better than the default ones.
#ifndef ADZE_LIB_PIPELINE_TUNE_H
#define ADZE_LIB_PIPELINE_TUNE_H

#include "Dialect/Tile/IR/Tile.h"
#include "Pipeline/Compile.h"
#include "Target/CPU/CpuTarget.h"
#include "mlir/IR/BuiltinOps.h"
#include <chrono>
#include <map>

namespace adze {

/// Values of parameters by their names, in order.
using TuneBindings = std::map<std::string, int64_t>;

/// What one kernel is tuned for.
struct TuneContext {
  const cpu::CpuTarget &target;
  StageOptions stageOptions;
  llvm::SmallVector<int64_t> symbols; // typical values
};

/// A kernel's cost with the bindings, smaller is better; none where it cannot
/// be lowered with them.
std::optional<double> estimateCost(tile::KernelOp kernel,
                                   const TuneBindings &bindings,
                                   const TuneContext &context);
/// Nanoseconds of all its programs on one thread, the least of a few runs.
std::optional<double> measureCost(tile::KernelOp kernel,
                                  const TuneBindings &bindings,
                                  const TuneContext &context);

/// The dims of an argument at the symbols; null where they are not known.
std::optional<llvm::SmallVector<int64_t>>
getArgumentDims(tile::KernelOp kernel, unsigned index,
                llvm::ArrayRef<int64_t> symbols);

/// A copy of the kernel alone in a module, with these bindings.
mlir::OwningOpRef<mlir::ModuleOp> cloneBound(tile::KernelOp kernel,
                                             const TuneBindings &bindings);

/// Chooses bindings for all tile kernels of a module and writes them into
/// `tile.params`, by the mode of `options`; what was measured is taken from and
/// added to the database. Emits errors of the database only. `progress` is told
/// how many kernels of how many are done.
mlir::LogicalResult
tuneKernels(mlir::ModuleOp module, const CompileOptions &options,
            const TuneContext &context, llvm::raw_ostream &log,
            llvm::function_ref<void(size_t, size_t)> progress);

} // namespace adze

#endif // ADZE_LIB_PIPELINE_TUNE_H
