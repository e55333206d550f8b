// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Measures the limits of the machine:
//   machine-limits THREADS MILLISECONDS [MILLISECONDS of the copy]
//
// Prints, as JSON, what MachineLimits.h measures. Benchmarks run it beside
// their samples, so that a figure is a fraction of the rate of the same cores in
// the same second.
#include "MachineLimits.h"

#include <cstdio>
#include <cstdlib>

int main(int argc, char **argv) {
  int threads = argc > 1 ? std::atoi(argv[1]) : 1,
      milliseconds = argc > 2 ? std::atoi(argv[2]) : 100;
  int copyMilliseconds = argc > 3 ? std::atoi(argv[3]) : milliseconds;
  if (argc > 4 || threads < 1 || threads > 256 || milliseconds < 1 ||
      copyMilliseconds < 1) {
    std::fprintf(stderr,
                 "usage: machine-limits THREADS MILLISECONDS [MILLISECONDS of "
                 "the copy], as in: machine-limits 2 100\n");
    return 2;
  }
  auto limits = adze::run::measureMachine(
      threads, milliseconds, copyMilliseconds, adze::run::Rate::Whole);
  if (!limits) {
    std::fprintf(stderr, "error: expected a CPU with AVX2 and FMA, and memory "
                         "and rights for the threads\n");
    return 1;
  }
  std::printf("%s\n", limits->toJson().c_str());
  return 0;
}
