// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The memory behind a kernel's argument.
#ifndef ADZE_DIALECT_TILE_IR_PHYSICALTYPE_H
#define ADZE_DIALECT_TILE_IR_PHYSICALTYPE_H

#include "mlir/IR/BuiltinTypes.h"

namespace adze::tile {

/// The memref that holds the elements of an argument: its layout map applied
/// (whole panels), bools as bytes.
mlir::MemRefType getPhysicalType(mlir::MemRefType type);

} // namespace adze::tile

#endif // ADZE_DIALECT_TILE_IR_PHYSICALTYPE_H
