// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// What the models of cost know of a CPU's memory.
#ifndef ADZE_SUPPORT_CACHESIZES_H
#define ADZE_SUPPORT_CACHESIZES_H

#include <cstdint>

namespace adze {

struct CacheSizes {
  int64_t l2 = 1 << 20;  // of a core, in bytes
  int64_t l3 = 32 << 20; // of all cores
  /// Stores past the caches hold up what else a core does at that time: rows
  /// had better be asked for by what computes the rows before them.
  bool storesApart = false;
  /// Vectors are loaded in halves, and shuffled beside multiply-adds: what two
  /// of them hold had better not be loaded again.
  bool halfLoads = false;
  /// Operations on floats that a core does in the time that a byte takes to its
  /// last level and back.
  int64_t flopsAByte = 8;
  bool operator==(const CacheSizes &other) const {
    return l2 == other.l2 && l3 == other.l3 &&
           storesApart == other.storesApart && halfLoads == other.halfLoads &&
           flopsAByte == other.flopsAByte;
  }
};

} // namespace adze

#endif // ADZE_SUPPORT_CACHESIZES_H
