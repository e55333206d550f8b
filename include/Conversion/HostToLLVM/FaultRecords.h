// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Records of faults (adze_module.h) that kernels store.
#ifndef ADZE_CONVERSION_HOSTTOLLVM_FAULTRECORDS_H
#define ADZE_CONVERSION_HOSTTOLLVM_FAULTRECORDS_H

#include "Dialect/Tile/IR/Faults.h"
#include "mlir/IR/Builders.h"

namespace adze {

/// Stores that the fault with this number has been raised at the pointer
/// `faults` to the records of a kernel. `position` and `extent` are i64, and
/// `position` is not in [0, extent). Unless `isAbsolute`, `extent` has been
/// added to negative indices. Concurrent threads may store the same record.
void storeFault(mlir::OpBuilder &b, mlir::Location loc, mlir::Value faults,
                uint64_t fault, bool isAbsolute, mlir::Value position,
                mlir::Value extent);

/// Stores the fault of the check at `faults` if `position` is not in
/// [0, `extent`); both are of type index.
void raiseOutside(mlir::OpBuilder &b, tile::CheckOp check, mlir::Value position,
                  mlir::Value extent, mlir::Value faults);

} // namespace adze

#endif // ADZE_CONVERSION_HOSTTOLLVM_FAULTRECORDS_H
