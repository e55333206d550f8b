// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The summands of an expression in normal form.
#ifndef ADZE_DIALECT_GRAPH_IR_TERMS_H
#define ADZE_DIALECT_GRAPH_IR_TERMS_H

#include "mlir/IR/AffineExpr.h"

namespace adze::graph {

/// A number times a product of symbols, quotients and remainders.
struct Term {
  int64_t factor = 1;
  llvm::SmallVector<mlir::AffineExpr, 2> atoms;
};

/// Returns the summands of a normalised expression.
llvm::SmallVector<Term> getTerms(mlir::AffineExpr expr);

} // namespace adze::graph

#endif // ADZE_DIALECT_GRAPH_IR_TERMS_H
