// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Contraction of sums of scaled integers.
#ifndef ADZE_LIB_CONVERSION_GRAPHTOTILE_CONTRACTSUMS_H
#define ADZE_LIB_CONVERSION_GRAPHTOTILE_CONTRACTSUMS_H

#include "Dialect/Tile/IR/Tile.h"

namespace adze::tile {

/// Computes sums of scaled integers that are rounded and converted to integers,
/// as in requantization, by fused multiply-adds. They are exact to one rounding
/// for each term, in all vectors and remainders of the kernel alike.
void contractSums(KernelOp kernel);

} // namespace adze::tile

#endif // ADZE_LIB_CONVERSION_GRAPHTOTILE_CONTRACTSUMS_H
