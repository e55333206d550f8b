// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Autotuning of kernel parameters.
#ifndef ADZE_LIB_PIPELINE_TUNE_H
#define ADZE_LIB_PIPELINE_TUNE_H

#include "Dialect/Tile/IR/Tile.h"
#include "Pipeline/Compile.h"
#include "Pipeline/TuneDatabase.h"
#include "Target/CPU/CpuTarget.h"
#include "mlir/IR/BuiltinOps.h"
#include <chrono>

namespace adze {

/// The context that a kernel is tuned for.
struct TuneContext {
  const cpu::CpuTarget &target;
  StageOptions stageOptions;
  llvm::SmallVector<int64_t> symbols; // typical values
};

/// The cost of all programs of a kernel, in nanoseconds or estimated cycles: in
/// sequence, and together on eight cores, of which some may be idle.
struct TuneCost {
  double sequential, parallel;

  /// Returns true if this cost is lower by more than noise on several cores,
  /// and not higher on one.
  bool isBetterThan(const TuneCost &other) const {
    constexpr double worthwhile = 0.98;
    return parallel <= other.parallel * worthwhile &&
           sequential <= other.sequential;
  }
};

/// Returns the cost for the number of programs and their time in sequence.
TuneCost getTuneCost(double sequential, int64_t programs);

/// Returns the estimated cost of a kernel with the bindings, or nothing if it
/// cannot be lowered with them.
std::optional<TuneCost> estimateCost(tile::KernelOp kernel,
                                     const TuneBindings &bindings,
                                     const TuneContext &context);
/// Returns the least measured cost of a few runs on one thread.
std::optional<TuneCost> measureCost(tile::KernelOp kernel,
                                    const TuneBindings &bindings,
                                    const TuneContext &context);
/// Measures both bindings in alternating runs. Returns true if the candidate is
/// better: the least of many costs is often one that was measured too low.
bool isFaster(tile::KernelOp kernel, const TuneBindings &candidate,
              const TuneBindings &other, const TuneContext &context);

/// Returns the dims of an argument for the symbols, or nothing if they are
/// unknown.
std::optional<llvm::SmallVector<int64_t>>
getArgumentDims(tile::KernelOp kernel, unsigned index,
                llvm::ArrayRef<int64_t> symbols);

/// Returns a digest of the text of the kernel without its name, locations,
/// parameters and schedule, of the target, and of the typical sizes.
std::string getTuneKey(tile::KernelOp kernel, llvm::StringRef target,
                       llvm::ArrayRef<int64_t> symbols);

/// Fails with an error that names the database if a value is no value of a
/// parameter of the kernel, or with `all` if one of its parameters has none.
mlir::LogicalResult verifyBindings(tile::KernelOp kernel,
                                   const TuneBindings &bindings, bool all,
                                   llvm::StringRef key,
                                   const CompileOptions &options);

/// Clones the kernel into a module of its own, with these bindings.
mlir::OwningOpRef<mlir::ModuleOp> cloneBound(tile::KernelOp kernel,
                                             const TuneBindings &bindings);

/// Chooses bindings for all tile kernels of a module and sets them in
/// `tile.params`, by the mode of `options`; measurements are read from and
/// added to the database. Only errors of the database are emitted. `progress`
/// is called with the numbers of tuned and of all kernels.
mlir::LogicalResult
tuneKernels(mlir::ModuleOp module, const CompileOptions &options,
            const TuneContext &context, llvm::raw_ostream &log,
            llvm::function_ref<void(size_t, size_t)> progress);

} // namespace adze

#endif // ADZE_LIB_PIPELINE_TUNE_H
