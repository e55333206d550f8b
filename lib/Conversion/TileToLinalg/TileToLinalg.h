// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The parts of convert-tile-to-linalg.
#ifndef ADZE_CONVERSION_TILETOLINALG_TILETOLINALG_H
#define ADZE_CONVERSION_TILETOLINALG_TILETOLINALG_H

#include "Dialect/Tile/IR/Tile.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"

namespace adze::tile {

/// Adds patterns that lower load, store and gather, element by element.
void populateTileMemoryToLinalgPatterns(mlir::RewritePatternSet &patterns);

} // namespace adze::tile

#endif // ADZE_CONVERSION_TILETOLINALG_TILETOLINALG_H
