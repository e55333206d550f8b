// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The caches that the cost model cuts kernels for.
#ifndef ADZE_LIB_CONVERSION_GRAPHTOTILE_CACHESIZES_H
#define ADZE_LIB_CONVERSION_GRAPHTOTILE_CACHESIZES_H

#include <cstdint>

namespace adze {

/// Bytes that one core has of each level; of the third, what all share.
struct CacheSizes {
  int64_t l1 = 32 * 1024, l2 = 1024 * 1024, l3 = 32 * 1024 * 1024;
};

} // namespace adze

#endif // ADZE_LIB_CONVERSION_GRAPHTOTILE_CACHESIZES_H
