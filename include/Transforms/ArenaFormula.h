// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Sizes of the arena of a host program for given values of its symbols.
#ifndef ADZE_TRANSFORMS_ARENAFORMULA_H
#define ADZE_TRANSFORMS_ARENAFORMULA_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/AffineExpr.h"

namespace adze {

/// Returns the value of the expression; divisions round as in affine
/// expressions. A division by zero is zero.
int64_t evaluate(mlir::AffineExpr expr, llvm::ArrayRef<int64_t> symbols);

/// Returns common values of the symbols: those of `graph.symbol_ranges`, else
/// `usual` clamped to the range.
llvm::SmallVector<int64_t> getTypicalSymbols(mlir::func::FuncOp program,
                                             int64_t usual = 128);

struct ArenaSize {
  int64_t bytes = 0, lowerBound = 0;
};

/// Evaluates the formulas of plan-memory, which are those of the module.
ArenaSize getArenaSize(mlir::func::FuncOp program,
                       llvm::ArrayRef<int64_t> symbols);

} // namespace adze

#endif // ADZE_TRANSFORMS_ARENAFORMULA_H
