// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Packing of buffers with known lives into one block of memory.
#ifndef ADZE_TRANSFORMS_ARENAPACKING_H
#define ADZE_TRANSFORMS_ARENAPACKING_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include <cstdint>
#include <vector>

namespace adze {

/// A buffer alive from step `begin` to step `end`, both included.
struct LiveBuffer {
  int64_t size = 0;
  unsigned begin = 0, end = 0;
  int64_t offset = -1; // set by packBuffers
};

/// Gives each buffer an offset, so that buffers alive at one step do not
/// overlap; sizes and offsets are in units of the caller's alignment. Returns
/// the memory's size. Deterministic.
int64_t packBuffers(llvm::MutableArrayRef<LiveBuffer> buffers);

/// Which buffer lies above which, whatever their sizes: a packing's shape.
struct PackingOrder {
  /// The buffers, lower ones first.
  std::vector<unsigned> order;
  /// Of each buffer: those that end where it may begin at the earliest. For
  /// any two that live at one step there is a path from one to the other.
  std::vector<llvm::SmallVector<unsigned, 2>> below;
};

/// The packings, as shapes, that the greedy orders and the search give at these
/// sizes.
llvm::SmallVector<PackingOrder>
getPackingOrders(llvm::ArrayRef<LiveBuffer> buffers);

/// Sets each offset to the greatest end of those below; returns the memory's
/// size. Buffers alive at one step never overlap, at whatever sizes.
int64_t placeInOrder(const PackingOrder &order,
                     llvm::MutableArrayRef<LiveBuffer> buffers);

/// The greatest sum of sizes alive at one step.
int64_t getGreatestLiveSum(llvm::ArrayRef<LiveBuffer> buffers);

} // namespace adze

#endif // ADZE_TRANSFORMS_ARENAPACKING_H
