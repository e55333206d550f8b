// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Sizes that are the greater or the lesser of two, where it is dynamic
// which one: what is left of a dim that is cut at a bound that it may not
// reach.
#ifndef ADZE_DIALECT_GRAPH_IR_CLAMP_H
#define ADZE_DIALECT_GRAPH_IR_CLAMP_H

#include "mlir/IR/AffineExpr.h"
#include "llvm/ADT/SmallVector.h"
#include <optional>

namespace adze::graph {

using Exprs = llvm::SmallVector<mlir::AffineExpr>;

/// The greater of an expression and 0: the expression or 0 where that is known,
/// else one remainder, the same for all ways to write the expression. Null if
/// it is null, or if the sign of what it is made of is not known.
mlir::AffineExpr clampExpr(mlir::AffineExpr expr);
mlir::AffineExpr minExprs(mlir::AffineExpr lhs, mlir::AffineExpr rhs);
mlir::AffineExpr maxExprs(mlir::AffineExpr lhs, mlir::AffineExpr rhs);

/// Of such a remainder, the expression that it is if that is not negative; else
/// null.
mlir::AffineExpr getClamped(mlir::AffineExpr atom);

/// One in `expr` whose expression has no other inside; null if there is none.
mlir::AffineExpr findClamp(mlir::AffineExpr expr);

/// `expr` with `value` for `atom`.
mlir::AffineExpr replaceAtom(mlir::AffineExpr expr, mlir::AffineExpr atom,
                             mlir::AffineExpr value);

/// Known to be >= 0 for all values of the symbols for which those of `given`
/// are.
bool isNonNegativeWhere(mlir::AffineExpr expr,
                        llvm::ArrayRef<mlir::AffineExpr> given);

/// The same as clampExpr where those of `given` are >= 0.
mlir::AffineExpr clampExprWhere(mlir::AffineExpr expr,
                                llvm::ArrayRef<mlir::AffineExpr> given);

/// A size that was cut meets the one that it was to be cut to.
struct Meeting {
  /// What both are, and expressions that are not negative then. For other
  /// values of the symbols they are different, or less than 2.
  mlir::AffineExpr size;
  Exprs bounds;
};
std::optional<Meeting> meet(mlir::AffineExpr lhs, mlir::AffineExpr rhs);

/// One of two sizes where the other is that of a slice of its first or its last
/// element, if there is one (`x[-1:]`): this is repeated, whatever the size.
/// Else null.
mlir::AffineExpr spreadFirst(mlir::AffineExpr lhs, mlir::AffineExpr rhs);

} // namespace adze::graph

#endif // ADZE_DIALECT_GRAPH_IR_CLAMP_H
