// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Divisors for block sizes in cost models.
#ifndef ADZE_SUPPORT_LARGESTDIVISOR_H
#define ADZE_SUPPORT_LARGESTDIVISOR_H

#include <algorithm>
#include <cstdint>

namespace adze {

/// Returns the largest divisor of n that is at most `most`, at least 1.
inline int64_t largestDivisor(int64_t n, int64_t most) {
  int64_t divisor = std::max<int64_t>(1, std::min(n, most));
  while (n % divisor != 0)
    --divisor;
  return divisor;
}

} // namespace adze

#endif // ADZE_SUPPORT_LARGESTDIVISOR_H
