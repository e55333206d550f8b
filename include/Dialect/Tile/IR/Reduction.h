// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The kinds of `tile.reduce` in arith, for all lowerings.
#ifndef ADZE_DIALECT_TILE_IR_REDUCTION_H
#define ADZE_DIALECT_TILE_IR_REDUCTION_H

#include "Dialect/Tile/IR/Tile.h"

namespace adze::tile {

/// Combines two values, scalars or vectors. NaN propagates through max and min.
mlir::Value createCombine(mlir::OpBuilder &b, mlir::Location loc,
                          ReduceKind kind, mlir::Value x, mlir::Value y);

/// Returns the neutral element of the type.
mlir::Value createNeutral(mlir::OpBuilder &b, mlir::Location loc,
                          ReduceKind kind, mlir::Type element);

} // namespace adze::tile

#endif // ADZE_DIALECT_TILE_IR_REDUCTION_H
