// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Expressions of the module's symbols as LLVM dialect code.
#ifndef ADZE_LIB_CONVERSION_HOSTTOLLVM_FORMULA_H
#define ADZE_LIB_CONVERSION_HOSTTOLLVM_FORMULA_H

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/Builders.h"

namespace adze {

/// Emits i64 values of expressions whose symbols lie at `symbols` (an array of
/// i64 in memory). All code goes to the builder's insertion point, where values
/// of earlier calls must be visible.
class Formula {
public:
  /// `saturating`: sums and products that are no i64 are the greatest one, so
  /// that there is no memory for them.
  Formula(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value symbols,
          bool saturating = false)
      : builder(builder), loc(loc), symbols(symbols), saturating(saturating) {}

  mlir::Value emit(mlir::AffineExpr expr);

  /// The greatest of the map's results; 0 if there are none.
  mlir::Value emitMax(mlir::AffineMap map);

  mlir::Value emitSum(mlir::Value lhs, mlir::Value rhs);

  mlir::Value constant(int64_t value);

private:
  mlir::Value replaceZero(mlir::Value divisor);
  mlir::Value emitProduct(mlir::Value lhs, mlir::Value rhs);
  mlir::Value emitFloorDiv(mlir::Value lhs, mlir::Value rhs);

  mlir::OpBuilder &builder;
  mlir::Location loc;
  mlir::Value symbols;
  bool saturating;
  llvm::DenseMap<mlir::AffineExpr, mlir::Value> emitted;
};

} // namespace adze

#endif // ADZE_LIB_CONVERSION_HOSTTOLLVM_FORMULA_H
