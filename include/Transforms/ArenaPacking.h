// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Packing of buffers with known lives into one block of memory.
#ifndef ADZE_TRANSFORMS_ARENAPACKING_H
#define ADZE_TRANSFORMS_ARENAPACKING_H

#include "llvm/ADT/ArrayRef.h"
#include <cstdint>

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

} // namespace adze

#endif // ADZE_TRANSFORMS_ARENAPACKING_H
