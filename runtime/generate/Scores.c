/* Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
 *
 * Logits as numbers. A vocabulary may have more than 10^5 tokens, so the loops
 * are in a form that compilers vectorize: sums and maxima have a fixed number
 * of lanes, and results do not depend on the machine's vectors.
 */
#include "../lib/NarrowFloats.h"
#include "Generate.h"

#include <math.h>
#include <string.h>

#define LANES 16

void gen_convert_scores(float *scores, const void *data, DLDataType dtype,
                        int64_t count) {
  const uint16_t *narrow = data;
  if (dtype.bits == 32)
    memcpy(scores, data, (size_t)count * sizeof(float));
  else if (dtype.code == kDLBfloat)
    for (int64_t i = 0; i < count; ++i)
      scores[i] = rt_from_bfloat(narrow[i]);
  else
    for (int64_t i = 0; i < count; ++i)
      scores[i] = rt_from_half(narrow[i]);
}

/* ---- The greatest ---------------------------------------------------------
 */

int64_t gen_find_best(const float *scores, int64_t count) {
  float lanes[LANES];
  for (int lane = 0; lane < LANES; ++lane)
    lanes[lane] = -INFINITY;
  int64_t whole = count / LANES * LANES;
  for (int64_t i = 0; i < whole; i += LANES)
    for (int lane = 0; lane < LANES; ++lane)
      lanes[lane] =
          scores[i + lane] > lanes[lane] ? scores[i + lane] : lanes[lane];
  float greatest = -INFINITY;
  for (int lane = 0; lane < LANES; ++lane)
    greatest = lanes[lane] > greatest ? lanes[lane] : greatest;
  for (int64_t i = whole; i < count; ++i)
    greatest = scores[i] > greatest ? scores[i] : greatest;
  for (int64_t i = 0; i < count; ++i)
    if (scores[i] == greatest)
      return i;
  return 0; /* none is a number */
}

/* ---- Exponentials ---------------------------------------------------------
 */

/* Returns e^x with a relative error below 2e-7 for x from -87 to 0, and e^-87
 * for less. */
static float exponential(float x) {
  /* e^x = 2^n e^r, where |r| <= ln(2) / 2, by a polynomial with the least
   * maximum of its relative error. Adding `rounder` rounds to the integer n,
   * which is then in the last bits. ln(2) is the sum of two constants, of which
   * the first one times n is exact. */
  const float rounder = 0x1.8p23f, high = 0.693359375f, low = -2.12194440e-4f;
  float least = x < -87.0f ? -87.0f : x;
  float shifted = least * 1.44269504f + rounder, n = shifted - rounder;
  float r = least - n * high - n * low;
  float y = 0.00138146128f;
  y = y * r + 0.00836871006f;
  y = y * r + 0.041668389f;
  y = y * r + 0.166665211f;
  y = y * r + 0.49999994f;
  y = y * r * r + r + 1.0f;
  float scale =
      rt_float_of_bits((rt_bits_of_float(shifted) << 23) + 0x3f800000u);
  return y * scale;
}

float gen_weigh(float score, float greatest) {
  return exponential(score - greatest);
}

double gen_sum_weights(const float *scores, int64_t count, float greatest) {
  enum { BLOCK = 16 * LANES };
  double sum = 0;
  for (int64_t at = 0; at < count; at += BLOCK) {
    int64_t size = count - at < BLOCK ? count - at : BLOCK;
    float weights[BLOCK] = {0}, lanes[LANES] = {0};
    for (int64_t i = 0; i < size; ++i)
      weights[i] = exponential(scores[at + i] - greatest);
    for (int64_t i = 0; i < BLOCK; i += LANES)
      for (int lane = 0; lane < LANES; ++lane)
        lanes[lane] += weights[i + lane];
    for (int lane = 0; lane < LANES; ++lane)
      sum += lanes[lane];
  }
  return sum;
}
