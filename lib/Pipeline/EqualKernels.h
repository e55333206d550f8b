// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Kernels that differ only in the symbols of their sizes and quotients of
// these, in slices of tensors, or, if they are many, in the offsets of their
// accesses or in the sizes of their tables: one of them is compiled, and the
// others call it.
#ifndef ADZE_LIB_PIPELINE_EQUALKERNELS_H
#define ADZE_LIB_PIPELINE_EQUALKERNELS_H

#include "Kernels.h"
#include "mlir/IR/AffineExpr.h"
#include "llvm/ADT/StringMap.h"

namespace adze {

/// A kernel that equals another one with other symbols.
struct KernelAlias {
  llvm::StringRef name, of;
  /// Symbols of the other kernel, and the corresponding ones of this one.
  llvm::SmallVector<std::pair<unsigned, mlir::AffineExpr>> symbols;
  /// Symbols of the other kernel that are constants in this one.
  llvm::SmallVector<std::pair<unsigned, int64_t>> numbers;
};

/// The first kernel of each class among `names` of a module, in order, and
/// aliases of them.
struct EqualKernels {
  llvm::SmallVector<llvm::StringRef> different;
  std::vector<KernelAlias> aliases;
  /// Shared kernels that were created, and are not launched: they are erased
  /// after compilation.
  llvm::SmallVector<mlir::Operation *> made;
};
EqualKernels findEqualKernels(mlir::ModuleOp module,
                              llvm::ArrayRef<llvm::StringRef> names);

/// Creates functions for the aliases that call those of the kernels in
/// `compiled`, which gets an entry for each. Their names begin with `prefix`.
mlir::OwningOpRef<mlir::ModuleOp>
createAliases(mlir::MLIRContext &context, llvm::ArrayRef<KernelAlias> aliases,
              llvm::StringRef prefix, llvm::StringMap<KernelSymbols> &compiled);

} // namespace adze

#endif // ADZE_LIB_PIPELINE_EQUALKERNELS_H
