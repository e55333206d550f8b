// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Passes on the tile dialect.
#ifndef ADZE_DIALECT_TILE_TRANSFORMS_PASSES_H
#define ADZE_DIALECT_TILE_TRANSFORMS_PASSES_H

#include "mlir/Pass/Pass.h"

namespace adze::tile {
#define GEN_PASS_DECL
#include "Dialect/Tile/Transforms/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "Dialect/Tile/Transforms/Passes.h.inc"
} // namespace adze::tile

#endif // ADZE_DIALECT_TILE_TRANSFORMS_PASSES_H
