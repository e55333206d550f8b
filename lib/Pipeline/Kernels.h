// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Kernels as compilation units of their own.
#ifndef ADZE_LIB_PIPELINE_KERNELS_H
#define ADZE_LIB_PIPELINE_KERNELS_H

#include "Pipeline/Stages.h"
#include "Target/CPU/CpuTarget.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include <string>
#include <vector>

namespace adze {

/// A kernel with all that it refers to, apart from everything else.
struct KernelUnit {
  std::string name;
  mlir::OwningOpRef<mlir::ModuleOp> module;
};

/// Object code of one kernel; its symbols have a prefix, so that they meet
/// neither the support functions' nor another variant's.
struct KernelObject {
  std::string body, programs, scratchBytes; // symbols; the last may be empty
  llvm::SmallVector<char, 0> object;
};

/// Clones of the kernels `names` of `module`, one unit each.
std::vector<KernelUnit> cloneKernels(mlir::ModuleOp module,
                                     llvm::ArrayRef<llvm::StringRef> names);

/// Lowers and compiles the units, on the context's threads; the result's order
/// is the units'. `instrument` is called on each unit's pass manager.
mlir::FailureOr<std::vector<KernelObject>>
compileKernels(std::vector<KernelUnit> units, const StageOptions &options,
               const cpu::CpuTarget &target, llvm::StringRef prefix,
               llvm::function_ref<void(mlir::PassManager &)> instrument);

/// Translates a module of the LLVM dialect and compiles it. `rename`, if not
/// empty, is put before the name of each function that it defines.
mlir::LogicalResult compileLLVMModule(mlir::ModuleOp module,
                                      const cpu::CpuTarget &target,
                                      unsigned optLevel, llvm::StringRef rename,
                                      llvm::SmallVectorImpl<char> &object);

} // namespace adze

#endif // ADZE_LIB_PIPELINE_KERNELS_H
