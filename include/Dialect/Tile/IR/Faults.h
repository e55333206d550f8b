// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Ops that raise faults, which are data-dependent errors, and ops that print.
#ifndef ADZE_DIALECT_TILE_IR_FAULTS_H
#define ADZE_DIALECT_TILE_IR_FAULTS_H

#include "Dialect/Tile/IR/Tile.h"

#define GET_OP_CLASSES
#include "Dialect/Tile/IR/TileFaultOps.h.inc"
#define GET_OP_CLASSES
#include "Dialect/Tile/IR/TilePrintOps.h.inc"

namespace adze::tile {
/// Returns true if the regions of the op contain a tile.print.
bool hasPrints(mlir::Operation *op);
/// Returns true if the regions of the op contain a tile.print, an absolute
/// tile.check, a tile.scatter, a tile.scan or a tensor.extract. Kernels of CPUs
/// with one are compiled op by op, since other lowerings have no whole tiles, no
/// windows that begin out of bounds, and no stores to computed positions.
bool isLoweredByOp(mlir::Operation *op);
/// An attribute of a launch: its kernel prints, and receives the print function
/// after its operands.
inline constexpr llvm::StringLiteral printsAttr = "adze.prints";
} // namespace adze::tile

#endif // ADZE_DIALECT_TILE_IR_FAULTS_H
