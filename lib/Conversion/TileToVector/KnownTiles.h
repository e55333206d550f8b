// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Tiles whose elements the compiler can compute.
#ifndef ADZE_CONVERSION_TILETOVECTOR_KNOWNTILES_H
#define ADZE_CONVERSION_TILETOVECTOR_KNOWNTILES_H

#include "Dialect/Tile/IR/Tile.h"

namespace adze::tile {

/// Makes constants of the rows that are computed from positions alone, if a
/// gather of the kernel takes its indices from one: then its code knows which
/// elements each lane picks, and no arithmetic is left.
void foldKnownTiles(KernelOp kernel);

} // namespace adze::tile

#endif // ADZE_CONVERSION_TILETOVECTOR_KNOWNTILES_H
