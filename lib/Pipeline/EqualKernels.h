// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Kernels that are equal up to the symbols of their sizes or, if there are
// many, up to offsets and sizes of tables: one is compiled, and the others call
// it.
#ifndef ADZE_LIB_PIPELINE_EQUALKERNELS_H
#define ADZE_LIB_PIPELINE_EQUALKERNELS_H

#include "Kernels.h"
#include "llvm/ADT/StringMap.h"

namespace adze {

/// A kernel that equals another one with other symbols.
struct KernelTwin {
  llvm::StringRef name, of;
  // Pairs of a symbol of the other kernel and one of this kernel.
  llvm::SmallVector<std::pair<unsigned, unsigned>> symbols;
  /// Symbols of the other kernel that are constants here.
  llvm::SmallVector<std::pair<unsigned, int64_t>> numbers;
};

/// The first kernel of each class among `names` of a module, in order, and the
/// others.
struct EqualKernels {
  llvm::SmallVector<llvm::StringRef> different;
  std::vector<KernelTwin> twins;
  /// Shared kernels that were created, and are not launched: they are erased
  /// after compilation.
  llvm::SmallVector<mlir::Operation *> made;
};
EqualKernels findEqualKernels(mlir::ModuleOp module,
                              llvm::ArrayRef<llvm::StringRef> names);

/// Creates functions for the twins that call those of the kernels in
/// `compiled`, which gets an entry for each. Their names begin with `prefix`.
mlir::OwningOpRef<mlir::ModuleOp>
makeTwins(mlir::MLIRContext &context, llvm::ArrayRef<KernelTwin> twins,
          llvm::StringRef prefix, llvm::StringMap<KernelSymbols> &compiled);

} // namespace adze

#endif // ADZE_LIB_PIPELINE_EQUALKERNELS_H
