// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Clusters of blocks of threads.
#ifndef ADZE_DIALECT_TILE_IR_CLUSTERS_H
#define ADZE_DIALECT_TILE_IR_CLUSTERS_H

#include <cstdint>

namespace adze::tile {

/// Returns the number of clusters of up to 8 blocks that run at the same time,
/// if a block occupies a multiprocessor.
int64_t countClusters(int64_t blocks, int64_t multiprocessors);

} // namespace adze::tile

#endif // ADZE_DIALECT_TILE_IR_CLUSTERS_H
