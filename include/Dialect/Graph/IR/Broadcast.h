// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Dynamic checks of sizes: whether they fit each other, and those
// of dims that may or may not be repeated.
#ifndef ADZE_DIALECT_GRAPH_IR_BROADCAST_H
#define ADZE_DIALECT_GRAPH_IR_BROADCAST_H

#include "mlir/IR/AffineExpr.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

namespace adze::graph {

/// Function attribute: sizes that a run has to find equal or 1, one map of the
/// symbols for each set that broadcasts.
inline constexpr llvm::StringLiteral broadcastsAttr = "graph.broadcasts";
/// The same of sizes that have to be equal.
inline constexpr llvm::StringLiteral equalitiesAttr = "graph.equalities";
/// The same of sizes that must not be negative.
inline constexpr llvm::StringLiteral boundsAttr = "graph.bounds";

/// Whether the condition of these sizes (one of the attributes above) holds for
/// all values of the symbols.
bool isDecided(llvm::ArrayRef<mlir::AffineExpr> sizes,
               llvm::StringRef condition);

/// The size of a dim whose operands have these dynamic sizes, some of which may
/// be 1 (the others are equal): one expression for all orders and
/// repetitions of the operands, and one of them where that is never 1. Null if
/// one is, or if there are too many.
mlir::AffineExpr broadcastExprs(mlir::AffineExpr lhs, mlir::AffineExpr rhs);

/// The sizes that such an expression was made of; none if it is no such one.
llvm::SmallVector<mlir::AffineExpr> getBroadcastSizes(mlir::AffineExpr expr);

} // namespace adze::graph

#endif // ADZE_DIALECT_GRAPH_IR_BROADCAST_H
