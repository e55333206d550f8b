// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Sizes of a host program's arena at given values of its symbols.
#ifndef ADZE_TRANSFORMS_ARENAFORMULA_H
#define ADZE_TRANSFORMS_ARENAFORMULA_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/AffineExpr.h"

namespace adze {

/// The expression's value; divisions round as affine expressions say. A divisor
/// of zero gives zero.
int64_t evaluate(mlir::AffineExpr expr, llvm::ArrayRef<int64_t> symbols);

/// Values of the symbols that the program is likely to be run with: the common
/// ones of `graph.symbol_ranges`, else `usual` as near as the range allows.
llvm::SmallVector<int64_t> getTypicalSymbols(mlir::func::FuncOp program,
                                             int64_t usual = 128);

struct ArenaSize {
  int64_t bytes = 0, lowerBound = 0;
};

/// What plan-memory's formulas say; the same as the module's own functions.
ArenaSize getArenaSize(mlir::func::FuncOp program,
                       llvm::ArrayRef<int64_t> symbols);

} // namespace adze

#endif // ADZE_TRANSFORMS_ARENAFORMULA_H
