// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Tiles whose elements are known at compile time.
#ifndef ADZE_CONVERSION_TILETOVECTOR_KNOWNTILES_H
#define ADZE_CONVERSION_TILETOVECTOR_KNOWNTILES_H

#include "Dialect/Tile/IR/Tile.h"

namespace adze::tile {

/// Replaces rows that depend on positions only by constants, if a gather of the
/// kernel uses one as indices. The selected elements of each lane are then
/// known at compile time, and no arithmetic is left.
void foldKnownTiles(KernelOp kernel);

} // namespace adze::tile

#endif // ADZE_CONVERSION_TILETOVECTOR_KNOWNTILES_H
