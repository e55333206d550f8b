// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Expressions of the module's symbols as LLVM dialect code.
#ifndef ADZE_CONVERSION_HOSTTOLLVM_FORMULA_H
#define ADZE_CONVERSION_HOSTTOLLVM_FORMULA_H

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/Builders.h"

namespace adze {

/// Emits i64 values of expressions whose symbols are in memory at `symbols` (an
/// array of i64), or are given as values. All code is emitted at the insertion
/// point of the builder, which values of earlier calls must dominate.
class Formula {
public:
  /// With `saturating`, sums and products out of the range of i64 become the
  /// greatest i64, so that allocations of them fail.
  Formula(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value symbols,
          bool saturating = false)
      : builder(builder), loc(loc), symbols(symbols), saturating(saturating) {}
  /// The symbols are these values of i64.
  Formula(mlir::OpBuilder &builder, mlir::Location loc,
          mlir::ValueRange symbolValues)
      : builder(builder), loc(loc), saturating(false),
        symbolValues(symbolValues) {}

  mlir::Value emit(mlir::AffineExpr expr);

  /// Returns the greatest of the results of the map, or 0 without results.
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
  llvm::SmallVector<mlir::Value> symbolValues;
  llvm::DenseMap<mlir::AffineExpr, mlir::Value> emitted;
};

} // namespace adze

#endif // ADZE_CONVERSION_HOSTTOLLVM_FORMULA_H
