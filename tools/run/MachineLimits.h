// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The rates that the machine gives at this moment.

#ifndef ADZE_TOOLS_RUN_MACHINELIMITS_H
#define ADZE_TOOLS_RUN_MACHINELIMITS_H

#include <optional>
#include <string>

namespace adze::run {

struct MachineLimits {
  int threads = 1;
  // A second, all threads together.
  double gflops = 0, gigabytes = 0;

  /// Returns {"threads": .., "fma_gflops": .., "copy_gb_s": ..}.
  std::string toJson() const;
};

/// Which rate of a thread counts: that of the whole time, in which others may
/// have had its core, or the median of short slices, which is that of a core
/// that the thread has.
enum class Rate { Whole, Slices };

/// Measures the rate of a register-only burst of f32 fused multiply-adds (two
/// operations each), then that of a copy between arrays out of cache with
/// non-temporal stores (bytes read plus bytes written), on `threads` threads at
/// once. The arrays lie on huge pages where the system gives them. Returns none
/// where the CPU is not x86-64 with AVX2 and FMA, or a thread or an array
/// cannot be had.
std::optional<MachineLimits> measureMachine(int threads, int milliseconds,
                                            int copyMilliseconds, Rate rate);

} // namespace adze::run

#endif // ADZE_TOOLS_RUN_MACHINELIMITS_H
