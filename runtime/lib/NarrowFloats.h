/* Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
 *
 * Conversions of floats of 16 bits to f32, in a form that compilers vectorize.
 * libadze_rt and libadze_generate share them.
 */
#ifndef ADZE_NARROW_FLOATS_H
#define ADZE_NARROW_FLOATS_H

#include <stdint.h>
#include <string.h>

static inline float rt_float_of_bits(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof(value));
  return value;
}

static inline uint32_t rt_bits_of_float(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof(bits));
  return bits;
}

static inline float rt_from_half(uint16_t half) {
  uint32_t sign = (uint32_t)(half & 0x8000u) << 16, rest = half & 0x7fffu;
  /* A multiplication handles subnormals; the exponent biases differ by 112. */
  uint32_t finite = rt_bits_of_float(rt_float_of_bits(rest << 13) * 0x1p112f);
  uint32_t infinite = rest << 13 | 0x7f800000u; /* or NaN */
  return rt_float_of_bits((rest >= 0x7c00u ? infinite : finite) | sign);
}

static inline float rt_from_bfloat(uint16_t bfloat) {
  return rt_float_of_bits((uint32_t)bfloat << 16);
}

#endif /* ADZE_NARROW_FLOATS_H */
