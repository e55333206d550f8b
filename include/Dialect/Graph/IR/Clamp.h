// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Sizes that are the maximum or minimum of two dynamic sizes: those of slices
// with a bound that the dim may not reach.
#ifndef ADZE_DIALECT_GRAPH_IR_CLAMP_H
#define ADZE_DIALECT_GRAPH_IR_CLAMP_H

#include "mlir/IR/AffineExpr.h"
#include "llvm/ADT/SmallVector.h"
#include <optional>

namespace adze::graph {

using Exprs = llvm::SmallVector<mlir::AffineExpr>;

/// Returns the maximum of an expression and 0: the expression or 0 if this is
/// known, else a remainder that is equal for all forms of the expression.
/// Returns null for null, or if the signs of operands are unknown.
mlir::AffineExpr clampExpr(mlir::AffineExpr expr);
mlir::AffineExpr minExprs(mlir::AffineExpr lhs, mlir::AffineExpr rhs);
mlir::AffineExpr maxExprs(mlir::AffineExpr lhs, mlir::AffineExpr rhs);

/// Returns the expression that such a remainder equals if it is not negative,
/// or null for others.
mlir::AffineExpr getClamped(mlir::AffineExpr atom);

/// Returns a remainder of this kind in `expr` whose expression has no other
/// inside, or null.
mlir::AffineExpr findClamp(mlir::AffineExpr expr);

/// Returns `expr` with `atom` replaced by `value`.
mlir::AffineExpr replaceAtom(mlir::AffineExpr expr, mlir::AffineExpr atom,
                             mlir::AffineExpr value);

/// Returns true if the expression is known to be >= 0 for all values of the
/// symbols for which those of `given` are.
bool isNonNegativeWhere(mlir::AffineExpr expr,
                        llvm::ArrayRef<mlir::AffineExpr> given);

/// Returns clampExpr under the assumption that those of `given` are >= 0.
mlir::AffineExpr clampExprWhere(mlir::AffineExpr expr,
                                llvm::ArrayRef<mlir::AffineExpr> given);

/// The case in which a size with a bound equals another size.
struct Meeting {
  /// The value of both, and expressions that are then not negative. For other
  /// values of the symbols, the sizes differ, or are less than 2.
  mlir::AffineExpr size;
  Exprs bounds;
};
std::optional<Meeting> meet(mlir::AffineExpr lhs, mlir::AffineExpr rhs);

/// Returns one of two sizes if the other is that of a slice of its first or
/// last element (`x[-1:]`), which is 0 or 1: this element is broadcast,
/// whatever the size. Returns null otherwise.
mlir::AffineExpr spreadFirst(mlir::AffineExpr lhs, mlir::AffineExpr rhs);

} // namespace adze::graph

#endif // ADZE_DIALECT_GRAPH_IR_CLAMP_H
