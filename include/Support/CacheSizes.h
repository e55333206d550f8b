// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// What the models of cost take for granted of the CPU.
#ifndef ADZE_SUPPORT_CACHESIZES_H
#define ADZE_SUPPORT_CACHESIZES_H

#include <cstdint>

namespace adze {

struct CacheSizes {
  static constexpr int64_t l2 = 1024 * 1024; // the least of today's servers
};

} // namespace adze

#endif // ADZE_SUPPORT_CACHESIZES_H
