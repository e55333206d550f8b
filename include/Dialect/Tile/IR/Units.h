// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// How the operands of a unit lie in memory.
#ifndef ADZE_DIALECT_TILE_IR_UNITS_H
#define ADZE_DIALECT_TILE_IR_UNITS_H

#include "Dialect/Tile/IR/Targets.h"

namespace adze::tile {

/// Returns the bits of an element in memory: those of f32 for tf32, which is no
/// type of tensors.
int64_t getStorageBits(mlir::Type element);

/// Returns the bytes of an element of the unit's left operand in memory.
int64_t getElementBytes(TargetUnitAttr unit);

/// Returns true if the matrix instruction takes only operands whose neighbours
/// in memory are neighbours along k.
bool readsAlongDepth(TargetUnitAttr unit);

/// Returns the unit by which a warp multiplies operands in its registers; null
/// if the target has none for such elements.
TargetUnitAttr findWarpUnit(CudaTargetAttr target, ProductAttr product);

} // namespace adze::tile

#endif // ADZE_DIALECT_TILE_IR_UNITS_H
