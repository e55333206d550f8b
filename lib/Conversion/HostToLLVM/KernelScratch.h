// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The scratch memory of a call of a kernel.
#ifndef ADZE_LIB_CONVERSION_HOSTTOLLVM_KERNELSCRATCH_H
#define ADZE_LIB_CONVERSION_HOSTTOLLVM_KERNELSCRATCH_H

#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/SymbolTable.h"

namespace adze {

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
