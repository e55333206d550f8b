/* Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
 *
 * The floating-point environment of a run: round to nearest, subnormals
 * enabled, all exceptions masked. The environment of the calling thread is
 * restored afterwards.
 * */
#include "Runtime.h"

#if defined(__x86_64__)
#include <xmmintrin.h>

uint64_t rt_float_state_enter(void) {
  unsigned old = _mm_getcsr();
  /* Exceptions masked, round to nearest, FTZ and DAZ off. */
  if (old != 0x1f80u)
    _mm_setcsr(0x1f80u);
  return old;
}

void rt_float_state_leave(uint64_t state) { _mm_setcsr((unsigned)state); }

#elif defined(__aarch64__)

uint64_t rt_float_state_enter(void) {
  uint64_t old;
  __asm__ volatile("mrs %0, fpcr" : "=r"(old));
  if (old)
    __asm__ volatile("msr fpcr, %0" ::"r"((uint64_t)0));
  return old;
}

void rt_float_state_leave(uint64_t state) {
  __asm__ volatile("msr fpcr, %0" ::"r"(state));
}

#else
#error "expected x86-64 or AArch64"
#endif
