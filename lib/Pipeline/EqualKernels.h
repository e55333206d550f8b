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
  /// Symbols that the other kernel reads, and their values in this one:
  /// expressions of the symbols of the module.
  llvm::SmallVector<std::pair<unsigned, mlir::AffineExpr>> symbols;

  /// Returns the value in this kernel of a symbol that the other one reads.
  mlir::AffineExpr getValue(mlir::AffineExpr symbol) const;
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

/// Renumbers the symbols of a kernel in order of first appearance, and returns
/// the former symbol of each number. Returns nothing, without a change, if the
/// kernel refers to functions, which may have symbols, too.
std::optional<llvm::SmallVector<mlir::AffineExpr>>
takeOwnSymbols(mlir::Operation *kernel);

/// Creates the LLVM dialect code that stores the expressions, of symbols in the
/// array of i64 at `symbols`, in the array at `to`.
void storeSymbols(mlir::OpBuilder &builder, mlir::Location loc,
                  llvm::ArrayRef<mlir::AffineExpr> values, mlir::Value symbols,
                  mlir::Value to);

/// Creates functions for the aliases that call those of the kernels in
/// `compiled`, which gets an entry for each. Their names begin with `prefix`.
mlir::OwningOpRef<mlir::ModuleOp>
createAliases(mlir::MLIRContext &context, llvm::ArrayRef<KernelAlias> aliases,
              llvm::StringRef prefix, llvm::StringMap<KernelSymbols> &compiled);

} // namespace adze

#endif // ADZE_LIB_PIPELINE_EQUALKERNELS_H
