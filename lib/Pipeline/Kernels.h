// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Kernels as compilation units of their own.
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

/// Some kernels with all that they refer to, apart from everything else.
struct KernelUnit {
  llvm::SmallVector<std::string, 1> names;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  /// Whether code that is quick to compile does.
  bool isLight = false;
};

/// What a kernel's functions are called; the last may be empty. They have a
/// prefix, so that they meet neither the support functions nor another variant.
struct KernelSymbols {
  std::string body, programs, scratchBytes;
};

/// Object code of one unit.
struct KernelObject {
  llvm::SmallVector<KernelSymbols, 1> kernels; // in the unit's order
  llvm::SmallVector<char, 0> object;
  double llvmSeconds = 0; // that LLVM took
  bool isLight = false;
};

/// Clones of the kernels `names` of `module`, in units that follow their order
/// and state `target`; those of `light` are units of light kernels.
/// Those that are quickly compiled share units: what a unit costs by itself is
/// more than they do.
std::vector<KernelUnit> cloneKernels(mlir::ModuleOp module,
                                     llvm::ArrayRef<llvm::StringRef> names,
                                     const llvm::StringSet<> &light,
                                     mlir::Attribute target,
                                     const StageOptions &options);

/// Lowers and compiles the units, on the context's threads; the result's order
/// is the units'. `complete` is called on each unit's pass manager, and
/// `finished` after each unit.
mlir::FailureOr<std::vector<KernelObject>> compileKernels(
    std::vector<KernelUnit> units, const StageOptions &options,
    const cpu::CpuTarget &target, llvm::StringRef prefix,
    llvm::function_ref<mlir::LogicalResult(mlir::PassManager &)> complete,
    llvm::function_ref<void(const KernelUnit &)> finished);

/// Translates a module of the LLVM dialect and compiles it (cpu::emitObject at
/// `optLevel`). `rename`, if not
/// empty, is put before the name of each function that it defines.
mlir::LogicalResult compileLLVMModule(mlir::ModuleOp module,
                                      const cpu::CpuTarget &target,
                                      unsigned optLevel, llvm::StringRef rename,
                                      llvm::SmallVectorImpl<char> &object);

} // namespace adze

#endif // ADZE_LIB_PIPELINE_KERNELS_H
