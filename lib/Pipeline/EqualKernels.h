// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Kernels that are equal but for which symbols their sizes are of, or, where
// they are many, but for where they read and write or how large their tables
// are: one is compiled, the others call it.
#ifndef ADZE_LIB_PIPELINE_EQUALKERNELS_H
#define ADZE_LIB_PIPELINE_EQUALKERNELS_H

#include "Kernels.h"
#include "llvm/ADT/StringMap.h"

namespace adze {

/// A kernel that is another one with symbols of its own.
struct KernelTwin {
  llvm::StringRef name, of;
  llvm::SmallVector<std::pair<unsigned, unsigned>> symbols; // the other's, own
  /// Symbols of the other one that are numbers here.
  llvm::SmallVector<std::pair<unsigned, int64_t>> numbers;
};

/// Of the kernels `names` of a module the first of each kind, in order, and
/// the others.
struct EqualKernels {
  llvm::SmallVector<llvm::StringRef> different;
  std::vector<KernelTwin> twins;
  /// Kernels that were made for many, which nobody launches: to be erased when
  /// they are compiled.
  llvm::SmallVector<mlir::Operation *> made;
};
EqualKernels findEqualKernels(mlir::ModuleOp module,
                              llvm::ArrayRef<llvm::StringRef> names);

/// Functions for the twins that call those of the kernels in `compiled`, which
/// gets an entry for each. Their names begin with `prefix`.
mlir::OwningOpRef<mlir::ModuleOp>
makeTwins(mlir::MLIRContext &context, llvm::ArrayRef<KernelTwin> twins,
          llvm::StringRef prefix, llvm::StringMap<KernelSymbols> &compiled);

} // namespace adze

#endif // ADZE_LIB_PIPELINE_EQUALKERNELS_H
