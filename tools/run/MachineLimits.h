// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Measures the peak rates that the machine currently achieves.

#ifndef ADZE_TOOLS_RUN_MACHINELIMITS_H
#define ADZE_TOOLS_RUN_MACHINELIMITS_H

#include <optional>
#include <string>

namespace adze::run {

struct MachineLimits {
  int threads = 1;
  // Per second, all threads together.
  double gflops = 0, gigabytes = 0;

  /// Returns {"threads": .., "fma_gflops": .., "copy_gb_s": ..}.
  std::string toJson() const;
};

/// How the rate of a thread is computed: over the whole time, in which other
/// processes may have used its core, or as the median of short slices, which
/// excludes most interruptions.
enum class Rate { Whole, Slices };

/// Measures the rate of a register-only burst of f32 fused multiply-adds (two
/// operations each), then that of a copy with non-temporal stores between
/// arrays larger than the cache (bytes read plus bytes written), on `threads`
/// threads concurrently. The arrays use huge pages if the system provides them.
/// Returns none if the CPU is not x86-64 with AVX2 and FMA, or if a thread or
/// an array cannot be created.
std::optional<MachineLimits> measureMachine(int threads, int milliseconds,
                                            int copyMilliseconds, Rate rate);

} // namespace adze::run

#endif // ADZE_TOOLS_RUN_MACHINELIMITS_H
