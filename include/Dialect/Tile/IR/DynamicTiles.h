// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Detects kernels with unbound parameters.
#ifndef ADZE_DIALECT_TILE_IR_DYNAMICTILES_H
#define ADZE_DIALECT_TILE_IR_DYNAMICTILES_H

#include "Dialect/Tile/IR/Tile.h"

namespace adze::tile {

/// Returns an op whose tile has a dynamic shape, and a message with a remedy,
/// or null.
std::pair<mlir::Operation *, std::string> findDynamicTile(KernelOp kernel);

} // namespace adze::tile

#endif // ADZE_DIALECT_TILE_IR_DYNAMICTILES_H
