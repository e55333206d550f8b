// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// What the kinds of `tile.reduce` mean in arith, for every lowering alike.
#ifndef ADZE_DIALECT_TILE_IR_REDUCTION_H
#define ADZE_DIALECT_TILE_IR_REDUCTION_H

#include "Dialect/Tile/IR/Tile.h"

namespace adze::tile {

/// Two values, scalars or vectors, as one. NaN passes through max and min.
mlir::Value createCombine(mlir::OpBuilder &b, mlir::Location loc,
                          ReduceKind kind, mlir::Value x, mlir::Value y);

/// The value of `element` that changes no other it is combined with.
mlir::Value createNeutral(mlir::OpBuilder &b, mlir::Location loc,
                          ReduceKind kind, mlir::Type element);

} // namespace adze::tile

#endif // ADZE_DIALECT_TILE_IR_REDUCTION_H
