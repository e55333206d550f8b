// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Checks of the relations of sizes that a host program requires.
#ifndef ADZE_LIB_CONVERSION_HOSTTOLLVM_BROADCASTS_H
#define ADZE_LIB_CONVERSION_HOSTTOLLVM_BROADCASTS_H

#include "Dialect/Host/IR/Host.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace adze {

/// Returns `number`, or a negative code (ADZE_MISFIT_BASE of adze_module.h) if
/// sizes of `graph.broadcasts` differ and neither is 1, if sizes of
/// `graph.equalities` differ, or if sizes of `graph.bounds` or `adze.sizes` are
/// negative. Sizes that do not depend on the inputs only are unknown at this
/// point, and ignored.
mlir::Value emitUnlessMisfit(mlir::OpBuilder &builder,
                             mlir::func::FuncOp program, mlir::Value symbols,
                             mlir::Value number);
/// Returns true if a condition of the op is violated, or null if it has none.
mlir::Value emitSizeViolation(mlir::OpBuilder &builder, host::HoldsOp op,
                              mlir::Value symbols);

} // namespace adze

#endif // ADZE_LIB_CONVERSION_HOSTTOLLVM_BROADCASTS_H
