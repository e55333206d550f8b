// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The layout of the operands of a unit in memory.
#ifndef ADZE_DIALECT_TILE_IR_UNITS_H
#define ADZE_DIALECT_TILE_IR_UNITS_H

#include "Dialect/Tile/IR/Targets.h"

namespace adze::tile {

/// The least bytes that a thread copies from global to shared memory at once
/// (PTX ISA, cp.async).
inline constexpr int64_t kLeastCopyBytes = 4;

/// Returns the bits of an element in memory; those of tf32, which is not a
/// tensor type, are the bits of f32.
int64_t getStorageBits(mlir::Type element);

/// Returns the bytes of an element of the left operand of the unit in memory.
int64_t getElementBytes(TargetUnitAttr unit);

/// Returns true if the operands of the matrix instruction have to be contiguous
/// along k.
bool readsAlongDepth(TargetUnitAttr unit);

/// Returns the warp-level unit, which multiplies operands in registers, or null
/// if the target has none for these types.
TargetUnitAttr findWarpUnit(CudaTargetAttr target, ProductAttr product);

} // namespace adze::tile

#endif // ADZE_DIALECT_TILE_IR_UNITS_H
