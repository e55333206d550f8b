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

/// How many neighbours along a dimension are adjacent, those of the panel's
/// columns one after the other: the map ends with `n mod P, k mod G`. Else 1.
int64_t getGroup(mlir::MemRefType type);

/// The dimension of packed memory that counts panels, or none.
std::optional<unsigned> getPanelDim(mlir::MemRefType type);

/// The dimension of memory along which neighbours are neighbours, or -1.
int64_t getContiguousDim(mlir::MemRefType type);

} // namespace adze::tile

#endif // ADZE_DIALECT_TILE_IR_PHYSICALTYPE_H
