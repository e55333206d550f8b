// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Packing of buffers with known live ranges into one block of memory.
#ifndef ADZE_TRANSFORMS_ARENAPACKING_H
#define ADZE_TRANSFORMS_ARENAPACKING_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include <cstdint>
#include <vector>

namespace adze {

/// A buffer that is live from step `begin` to step `end`, inclusive.
struct LiveBuffer {
  int64_t size = 0;
  unsigned begin = 0, end = 0;
  int64_t offset = -1; // set by packBuffers
};

/// Assigns an offset to each buffer, so that buffers that are live at the same
/// step do not overlap. Sizes and offsets are multiples of the alignment of the
/// caller. Returns the size of the memory. The result is deterministic.
int64_t packBuffers(llvm::MutableArrayRef<LiveBuffer> buffers);

/// The order of buffers in memory, independent of their sizes.
struct PackingOrder {
  /// The buffers, in order of increasing offset.
  std::vector<unsigned> order;
  /// For each buffer, those whose greatest end is its offset. Any two buffers
  /// that are live at the same step are connected by a path.
  std::vector<llvm::SmallVector<unsigned, 2>> below;
};

/// Returns the orders of the packings that the greedy algorithms and the search
/// find for these sizes.
llvm::SmallVector<PackingOrder>
getPackingOrders(llvm::ArrayRef<LiveBuffer> buffers);

/// Sets each offset to the greatest end of the buffers below, and returns the
/// size of the memory. Buffers that are live at the same step never overlap,
/// whatever the sizes.
int64_t placeInOrder(const PackingOrder &order,
                     llvm::MutableArrayRef<LiveBuffer> buffers);

/// Returns the greatest sum of sizes that are live at one step.
int64_t getGreatestLiveSum(llvm::ArrayRef<LiveBuffer> buffers);

} // namespace adze

#endif // ADZE_TRANSFORMS_ARENAPACKING_H
