// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Kernels of a program for a device take symbols of their own instead of those
// of the module, so that kernels that differ only in these share one entry
// point, and that an entry point has few parameters.
#ifndef ADZE_LIB_PIPELINE_SHAREDKERNELS_H
#define ADZE_LIB_PIPELINE_SHAREDKERNELS_H

#include "Target/CUDA/CompileKernels.h"
#include "mlir/IR/AffineMap.h"

namespace adze {

class SharedKernels {
public:
  /// Renumbers the symbols of each kernel that the host program launches, and
  /// erases kernels that equal others. Does nothing without a host program.
  explicit SharedKernels(mlir::ModuleOp module);

  /// Adds the erased kernels to the image, which was compiled from the module.
  void addErased(cuda::CompiledImage &image) const;

  /// Returns the kernel that an erased one equals, or an empty string.
  llvm::StringRef getCompiled(llvm::StringRef kernel) const;

  /// Returns the name of the LLVM dialect function in `helpers` that writes the
  /// symbols of a kernel (adze_device_kernel.bind_symbols), with this suffix.
  /// It is created for the first kernel with these symbols.
  std::string bindSymbols(mlir::ModuleOp helpers,
                          const cuda::CompiledKernel &kernel,
                          llvm::StringRef suffix) const;

private:
  mlir::AffineMap getSymbols(const cuda::CompiledKernel &kernel,
                             mlir::MLIRContext *context) const;

  /// The kernels of which the erased ones are copies, in order.
  std::vector<std::pair<std::string, std::string>> erased;
  /// The symbols of each kernel as expressions of those of the module.
  llvm::StringMap<mlir::AffineMap> symbols;
};

} // namespace adze

#endif // ADZE_LIB_PIPELINE_SHAREDKERNELS_H
