// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Compiles kernels as separate compilation units.
#ifndef ADZE_LIB_PIPELINE_KERNELS_H
#define ADZE_LIB_PIPELINE_KERNELS_H

#include "Pipeline/Stages.h"
#include "Target/CPU/CpuTarget.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/StringSet.h"
#include <string>
#include <vector>

namespace adze {

/// Some kernels with all symbols that they refer to.
struct KernelUnit {
  llvm::SmallVector<std::string, 1> names;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  /// True if code that compiles fast suffices.
  bool isLight = false;
};

/// The names of the functions of a kernel; the last may be empty. They have a
/// prefix, so that they do not collide with support functions or other
/// variants.
struct KernelSymbols {
  std::string body, programs, scratchBytes;
};

/// Object code of one unit.
struct KernelObject {
  llvm::SmallVector<KernelSymbols, 1> kernels; // in the order of the unit
  llvm::SmallVector<char, 0> object;
  double llvmSeconds = 0; // LLVM time
  bool isLight = false;
};

/// Clones the kernels `names` of `module` into units in their order with target
/// `target`; those of `light` are in units of light kernels. Kernels that
/// compile fast share units, as the overhead of a unit exceeds their compile
/// time.
std::vector<KernelUnit> cloneKernels(mlir::ModuleOp module,
                                     llvm::ArrayRef<llvm::StringRef> names,
                                     const llvm::StringSet<> &light,
                                     mlir::Attribute target,
                                     const StageOptions &options);

/// Erases the functions of these kernels that are in the LLVM dialect.
void eraseLoweredKernels(mlir::ModuleOp module,
                         llvm::ArrayRef<llvm::StringRef> names);

/// Lowers and compiles the units, on the threads of the context; the results
/// are in the order of the units. `complete` is called on the pass manager of
/// each unit, and `finished` after each unit.
mlir::FailureOr<std::vector<KernelObject>> compileKernels(
    std::vector<KernelUnit> units, const StageOptions &options,
    const cpu::CpuTarget &target, llvm::StringRef prefix,
    llvm::function_ref<mlir::LogicalResult(mlir::PassManager &)> complete,
    llvm::function_ref<void(const KernelUnit &)> finished);

/// Translates a module of the LLVM dialect and compiles it (cpu::emitObject at
/// `optLevel`). `rename`, if not empty, is the prefix of the name of each
/// function that it defines.
mlir::LogicalResult compileLLVMModule(mlir::ModuleOp module,
                                      const cpu::CpuTarget &target,
                                      unsigned optLevel, llvm::StringRef rename,
                                      llvm::SmallVectorImpl<char> &object);

} // namespace adze

#endif // ADZE_LIB_PIPELINE_KERNELS_H
