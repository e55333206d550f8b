// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Gathers whose lanes lie near each other as a rule.
#ifndef ADZE_CONVERSION_TILETOVECTOR_NEARBY_H
#define ADZE_CONVERSION_TILETOVECTOR_NEARBY_H

#include "DimClasses.h"

namespace adze::tile {

/// Is the tile made of positions and scalars alone, of nothing in memory?
bool followsFromPositions(mlir::Value tile);

/// Can lanes of two vectors be picked by the numbers of another register?
bool canPermute(mlir::VectorType type, CpuTargetAttr target);

/// Elements of a row of memory.
struct NearbyGather {
  mlir::Value memref;
  llvm::SmallVector<mlir::Value> at; // indices; the last one does not matter
  mlir::Value positions;             // of the lanes in the row
  mlir::Value extent;                // of the row
  mlir::Value exists;                // null: there is such a row
  mlir::Value pad;                   // anything of the element type
};

/// One register. `otherwise` makes it where the lanes are not near each other.
mlir::Value gatherNearby(mlir::OpBuilder &b, mlir::Location loc,
                         const NearbyGather &gather, mlir::VectorType type,
                         llvm::function_ref<mlir::Value()> otherwise);

} // namespace adze::tile

#endif // ADZE_CONVERSION_TILETOVECTOR_NEARBY_H
