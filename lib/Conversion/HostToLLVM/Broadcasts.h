// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Sizes that a host program takes to agree.
#ifndef ADZE_LIB_CONVERSION_HOSTTOLLVM_BROADCASTS_H
#define ADZE_LIB_CONVERSION_HOSTTOLLVM_BROADCASTS_H

#include "Dialect/Host/IR/Host.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace adze {

/// `number`, or a negative code (ADZE_MISFIT_BASE of adze_module.h) where sizes
/// of `graph.broadcasts` differ though neither is 1, or sizes of
/// `graph.equalities` differ, or sizes of `graph.bounds` or `adze.sizes` are
/// negative. Sizes that are not the inputs' alone are not known yet and left
/// out.
mlir::Value emitUnlessMisfit(mlir::OpBuilder &builder,
                             mlir::func::FuncOp program, mlir::Value symbols,
                             mlir::Value number);
/// Whether one of the op's conditions does not hold; null if there is none.
mlir::Value emitSizeViolation(mlir::OpBuilder &builder, host::HoldsOp op,
                              mlir::Value symbols);

} // namespace adze

#endif // ADZE_LIB_CONVERSION_HOSTTOLLVM_BROADCASTS_H
