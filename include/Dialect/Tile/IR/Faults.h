// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Ops that raise faults, which are errors that only the data shows, and that
// print.
#ifndef ADZE_DIALECT_TILE_IR_FAULTS_H
#define ADZE_DIALECT_TILE_IR_FAULTS_H

#include "Dialect/Tile/IR/Tile.h"

#define GET_OP_CLASSES
#include "Dialect/Tile/IR/TileFaultOps.h.inc"
#define GET_OP_CLASSES
#include "Dialect/Tile/IR/TilePrintOps.h.inc"

namespace adze::tile {
/// Returns true if there is a tile.print in the op's regions.
bool hasPrints(mlir::Operation *op);
/// Returns true if there is a tile.print or an absolute tile.check in the op's
/// regions: kernels that have one are compiled operation by operation, since no
/// other form has whole tiles, or windows that begin out of bounds.
bool isForDebugging(mlir::Operation *op);
/// On a launch: its kernel prints, and finds the function for it after its
/// operands.
inline constexpr llvm::StringLiteral printsAttr = "adze.prints";
} // namespace adze::tile

#endif // ADZE_DIALECT_TILE_IR_FAULTS_H
