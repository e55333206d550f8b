// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Memory of kernels in LLVM dialect: memrefs built from pointers, and sizes
// computed from symbols.
#ifndef ADZE_CONVERSION_HOSTTOLLVM_KERNELMEMORY_H
#define ADZE_CONVERSION_HOSTTOLLVM_KERNELMEMORY_H

#include "Conversion/HostToLLVM/Formula.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"

namespace adze {

/// Returns the bytes of an element in memory. Indices have the width of
/// pointers.
int64_t getElementBytes(mlir::MemRefType type);

/// Casts between index and i64.
mlir::Value castToI64(mlir::OpBuilder &builder, mlir::Location loc,
                      mlir::Value index);
mlir::Value castToIndex(mlir::OpBuilder &builder, mlir::Location loc,
                        mlir::Value i64);

/// Builds a dense row-major memref at `pointer`. Dynamic sizes are results of
/// `dims`. Fails if they are required and missing.
mlir::FailureOr<mlir::Value>
buildMemRef(mlir::OpBuilder &builder, mlir::Location loc, mlir::MemRefType type,
            mlir::Value pointer, mlir::AffineMap dims, Formula &formula,
            const mlir::LLVMTypeConverter &types);

/// Builds a memref with all dynamic sizes given as values (index).
mlir::Value buildMemRef(mlir::OpBuilder &builder, mlir::Location loc,
                        mlir::MemRefType type, mlir::Value pointer,
                        mlir::ValueRange dynamicSizes,
                        const mlir::LLVMTypeConverter &types);

/// Recomputes sizes of a kernel at the position of a builder, from dims of its
/// arguments (whose maps are `dims`), symbols and constants.
class SizeCloner {
public:
  SizeCloner(mlir::OpBuilder &builder, mlir::func::FuncOp kernel,
             llvm::ArrayRef<mlir::AffineMap> dims, Formula formula)
      : builder(builder), kernel(kernel), dims(dims), formula(formula) {}

  /// Fails if the value depends on anything else.
  mlir::FailureOr<mlir::Value> clone(mlir::Value value);

  /// Returns the product of the sizes and the bytes of the element as an index,
  /// rounded up to `alignment`.
  mlir::FailureOr<mlir::Value> cloneBytes(mlir::MemRefType type,
                                          mlir::ValueRange dynamicSizes,
                                          int64_t alignment);

private:
  mlir::FailureOr<mlir::Value> cloneDim(mlir::Operation *dim);

  mlir::OpBuilder &builder;
  mlir::func::FuncOp kernel;
  llvm::ArrayRef<mlir::AffineMap> dims;
  Formula formula;
  mlir::IRMapping mapping;
};

} // namespace adze

#endif // ADZE_CONVERSION_HOSTTOLLVM_KERNELMEMORY_H
