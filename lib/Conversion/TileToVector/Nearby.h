// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Gathers whose lanes usually read nearby elements.
#ifndef ADZE_CONVERSION_TILETOVECTOR_NEARBY_H
#define ADZE_CONVERSION_TILETOVECTOR_NEARBY_H

#include "DimClasses.h"

namespace adze::tile {

/// Returns true if the tile depends on positions and scalars only, not on
/// memory.
bool followsFromPositions(mlir::Value tile);

/// Returns true if the target permutes lanes of two vectors by a vector of lane
/// numbers.
bool canPermute(mlir::VectorType type, CpuTargetAttr target);

/// The elements of a row of memory that a gather reads.
struct NearbyGather {
  mlir::Value memref;
  llvm::SmallVector<mlir::Value> at; // indices; the last one is ignored
  mlir::Value positions;             // of the lanes in the row
  mlir::Value extent;                // of the row
  mlir::Value exists;                // condition that the row exists, or null
  mlir::Value pad;                   // any value of the element type
};

/// Emits one register. `otherwise` emits it if the lanes are not near each
/// other.
mlir::Value gatherNearby(mlir::OpBuilder &b, mlir::Location loc,
                         const NearbyGather &gather, mlir::VectorType type,
                         llvm::function_ref<mlir::Value()> otherwise);

} // namespace adze::tile

#endif // ADZE_CONVERSION_TILETOVECTOR_NEARBY_H
