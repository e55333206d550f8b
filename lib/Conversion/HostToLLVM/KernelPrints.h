// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Lowers prints in kernels to calls of the run time.
#ifndef ADZE_LIB_CONVERSION_HOSTTOLLVM_KERNELPRINTS_H
#define ADZE_LIB_CONVERSION_HOSTTOLLVM_KERNELPRINTS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace adze {

/// Replaces each tile.print of `kernel` by a call of `function`, the print
/// function of adze_host_table. The printed values are in memory, as f64 or
/// i64.
void lowerPrints(mlir::func::FuncOp kernel, mlir::Value function);

} // namespace adze

#endif // ADZE_LIB_CONVERSION_HOSTTOLLVM_KERNELPRINTS_H
