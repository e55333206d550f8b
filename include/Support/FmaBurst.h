/* Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
 *
 * Measures the peak rate of f32 fused multiply-adds on the widest vectors of
 * the CPU, for benchmarks and profiles. C and C++; x86-64 with AVX2.
 * */
#ifndef ADZE_SUPPORT_FMABURST_H
#define ADZE_SUPPORT_FMABURST_H

#include <immintrin.h>

/* Twelve dependency chains hide the latency (4 cycles on 2 ports); the empty
 * asm keeps every accumulator in a register. */
#define ADZE_CHAINS(F)                                                         \
  F(0) F(1) F(2) F(3) F(4) F(5) F(6) F(7) F(8) F(9) F(10) F(11)
#define ADZE_DECLARE(i) V a##i = SET(0.0f + i);
#define ADZE_STEP(i)                                                           \
  a##i = FMA(a##i, x, y);                                                      \
  __asm__("" : "+v"(a##i));
#define ADZE_SINK(i) __asm__ volatile("" : : "v"(a##i));

/* Defines `NAME(steps)`, which runs the chains and returns the number of
   operations. */
#define ADZE_BURST(NAME, TARGET, LANES)                                        \
  __attribute__((target(TARGET))) static double NAME(int steps) {              \
    ADZE_CHAINS(ADZE_DECLARE)                                                  \
    V x = SET(0.999f), y = SET(0.001f);                                        \
    for (int s = 0; s < steps; ++s) {                                          \
      ADZE_CHAINS(ADZE_STEP)                                                   \
    }                                                                          \
    ADZE_CHAINS(ADZE_SINK)                                                     \
    return 12.0 * LANES * 2 * steps;                                           \
  }

#define V __m512
#define SET _mm512_set1_ps
#define FMA _mm512_fmadd_ps
ADZE_BURST(fmaBurstAvx512, "avx512f", 16)
#undef V
#undef SET
#undef FMA
#define V __m256
#define SET _mm256_set1_ps
#define FMA _mm256_fmadd_ps
ADZE_BURST(fmaBurstAvx2, "avx2,fma", 8)
#undef V
#undef SET
#undef FMA
#undef ADZE_BURST
#undef ADZE_SINK
#undef ADZE_STEP
#undef ADZE_DECLARE
#undef ADZE_CHAINS

/* Returns the function for this CPU. */
static inline double (*fmaBurst(void))(int) {
  return __builtin_cpu_supports("avx512f") ? fmaBurstAvx512 : fmaBurstAvx2;
}

#endif /* ADZE_SUPPORT_FMABURST_H */
