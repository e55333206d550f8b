// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Memory of kernels: memrefs built from pointers, and the scratch memory of a
// call.
#ifndef ADZE_LIB_CONVERSION_HOSTTOLLVM_KERNELSCRATCH_H
#define ADZE_LIB_CONVERSION_HOSTTOLLVM_KERNELSCRATCH_H

#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/SymbolTable.h"

namespace adze {

/// Builds a dense row-major memref at `pointer`. Dynamic sizes are results of
/// `dims`, for the symbols at `symbols`. Fails if they are required and
/// missing.
mlir::FailureOr<mlir::Value>
buildMemRef(mlir::OpBuilder &builder, mlir::Location loc, mlir::MemRefType type,
            mlir::Value pointer, mlir::AffineMap dims, mlir::Value symbols,
            const mlir::LLVMTypeConverter &types);

/// Builds a memref with all dynamic sizes given as values (index).
mlir::Value buildMemRef(mlir::OpBuilder &builder, mlir::Location loc,
                        mlir::MemRefType type, mlir::Value pointer,
                        mlir::ValueRange dynamicSizes,
                        const mlir::LLVMTypeConverter &types);

/// Replaces the allocations of `kernel` by parts of `scratch`, removes its
/// deallocations, and adds @<name>_scratch(syms) -> i64 if there were any.
/// Sizes must be computed from constants and from dims of the first arguments
/// of the kernel, whose maps are `dims`. Returns the number of replaced
/// allocations.
mlir::FailureOr<unsigned>
moveAllocationsToScratch(mlir::func::FuncOp kernel, llvm::StringRef name,
                         llvm::ArrayRef<mlir::AffineMap> dims,
                         mlir::Value symbols, mlir::Value scratch,
                         mlir::SymbolTable &symbolTable,
                         const mlir::LLVMTypeConverter &types);

} // namespace adze

#endif // ADZE_LIB_CONVERSION_HOSTTOLLVM_KERNELSCRATCH_H
