// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Kernels that are equal but for the symbols, and quotients of these, that
// their sizes are of, for slices of tensors, or, where they are many, but for
// where they read and write or how large their tables are: one is compiled, the
// others call it.
#ifndef ADZE_LIB_PIPELINE_EQUALKERNELS_H
#define ADZE_LIB_PIPELINE_EQUALKERNELS_H

#include "Kernels.h"
#include "mlir/IR/AffineExpr.h"
#include "llvm/ADT/StringMap.h"

namespace adze {

/// A kernel that equals another one with other symbols.
struct KernelTwin {
  llvm::StringRef name, of;
  /// Symbols of the other one, and what they are here.
  llvm::SmallVector<std::pair<unsigned, mlir::AffineExpr>> symbols;
  /// Symbols of the other one that are numbers here.
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
