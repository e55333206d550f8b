// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Lowers lookups in tables of bytes (tile.byte_lookup).
#ifndef ADZE_CONVERSION_BYTELOOKUPTOLLVM_BYTELOOKUPTOLLVM_H
#define ADZE_CONVERSION_BYTELOOKUPTOLLVM_BYTELOOKUPTOLLVM_H

#include "mlir/IR/BuiltinOps.h"

namespace adze {

/// Lowers the lookups in a module, on scalars and vectors of one dim, by the
/// features of its CPU target. Those in a gpu.module load from global memory.
/// Returns their number.
int64_t lowerByteLookups(mlir::Operation *module);
/// Lowers the lookups in the gpu.modules of a module.
void lowerDeviceByteLookups(mlir::ModuleOp module);

} // namespace adze

#endif // ADZE_CONVERSION_BYTELOOKUPTOLLVM_BYTELOOKUPTOLLVM_H
