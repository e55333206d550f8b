// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The physical memory of kernel arguments.
#ifndef ADZE_DIALECT_TILE_IR_PHYSICALTYPE_H
#define ADZE_DIALECT_TILE_IR_PHYSICALTYPE_H

#include "mlir/IR/BuiltinTypes.h"

namespace adze::tile {

/// Returns the memref that holds the elements of an argument: its layout map
/// applied (whole panels), bools as bytes.
mlir::MemRefType getPhysicalType(mlir::MemRefType type);

/// Returns the map from the indices of a memref to those of its physical memory:
/// its layout map, or the identity if its dims only have strides.
mlir::AffineMap getPhysicalMap(mlir::MemRefType type);

/// Returns how many elements along a dimension are adjacent, in a panel whose
/// columns follow each other: G if the map ends with `n mod P, k mod G`, else
/// 1.
int64_t getGroup(mlir::MemRefType type);

/// Returns the dimension of packed memory that counts panels, or nothing.
std::optional<unsigned> getPanelDim(mlir::MemRefType type);

/// Returns the dimension of memory whose elements are adjacent, or -1.
int64_t getContiguousDim(mlir::MemRefType type);

} // namespace adze::tile

#endif // ADZE_DIALECT_TILE_IR_PHYSICALTYPE_H
