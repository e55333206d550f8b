// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Relations of dynamic sizes, and sizes of dims for which it is dynamic whether
// they are broadcast.
#ifndef ADZE_DIALECT_GRAPH_IR_BROADCAST_H
#define ADZE_DIALECT_GRAPH_IR_BROADCAST_H

#include "mlir/IR/AffineExpr.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

namespace adze::graph {

/// Function attribute: sizes that must be equal or 1 at run time, one map of
/// the symbols for each set that broadcasts.
inline constexpr llvm::StringLiteral broadcastsAttr = "graph.broadcasts";
/// Function attribute: sizes that must be equal.
inline constexpr llvm::StringLiteral equalitiesAttr = "graph.equalities";
/// Function attribute: sizes that must not be negative.
inline constexpr llvm::StringLiteral boundsAttr = "graph.bounds";

/// Returns true if the relation of these sizes (of one of the attributes above)
/// holds for all values of the symbols.
bool isDecided(llvm::ArrayRef<mlir::AffineExpr> sizes,
               llvm::StringRef condition);

/// Returns the size of a dim whose operands have these dynamic sizes, some of
/// which may be 1 (the others are equal). It is the same expression for all
/// orders and repetitions of the operands, and one of the operands if that is
/// never 1. Returns null if an operand is null, or if there are too many.
mlir::AffineExpr broadcastExprs(mlir::AffineExpr lhs, mlir::AffineExpr rhs);

/// Returns the sizes that such an expression combines, or none for others.
llvm::SmallVector<mlir::AffineExpr> getBroadcastSizes(mlir::AffineExpr expr);

} // namespace adze::graph

#endif // ADZE_DIALECT_GRAPH_IR_BROADCAST_H
