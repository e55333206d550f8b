/* Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
 *
 * Random numbers of a seed: the generator MT19937 of Matsumoto and Nishimura
 * ("Mersenne Twister", 1998), with their initialisation of 2002. The order in
 * which numbers are drawn is that of ONNX's reference implementation, so the
 * same seed gives the same numbers there.
 */
#include "Calls.h"

enum { kWords = 624, kShift = 397 };

typedef struct {
  uint32_t words[kWords];
  int next; /* the next word to draw */
} twister;

/* Computes each word from the previous one. */
static void fill_words(twister *t, uint32_t seed) {
  t->words[0] = seed;
  for (uint32_t i = 1; i < kWords; ++i) {
    uint32_t before = t->words[i - 1];
    t->words[i] = 1812433253u * (before ^ before >> 30) + i;
  }
  t->next = kWords;
}

/* A seed of more than 32 bits is a key of two words. */
static void mix_key(twister *t, const uint32_t key[2]) {
  fill_words(t, 19650218u);
  uint32_t *words = t->words, at = 1;
  for (uint32_t step = 0; step < 2 * kWords - 1; ++step) {
    uint32_t before = words[at - 1], factor, plus;
    if (step < kWords) {
      factor = 1664525u;
      plus = key[step & 1] + (step & 1);
    } else {
      factor = 1566083941u;
      plus = 0u - at;
    }
    words[at] = (words[at] ^ (before ^ before >> 30) * factor) + plus;
    if (++at == kWords) {
      words[0] = words[kWords - 1];
      at = 1;
    }
  }
  words[0] = 0x80000000u;
}

static void seed_twister(twister *t, int64_t seed) {
  uint64_t bits = (uint64_t)seed;
  uint32_t key[2] = {(uint32_t)bits, (uint32_t)(bits >> 32)};
  if (key[1])
    mix_key(t, key);
  else
    fill_words(t, key[0]);
}

/* Computes words [from, to) of the next state. The word `kShift` positions
 * later is `offset` away in memory. */
static void twist(uint32_t *words, int from, int to, int offset) {
  for (int i = from; i < to; ++i) {
    uint32_t both =
        (words[i] & 0x80000000u) | (words[(i + 1) % kWords] & 0x7fffffffu);
    words[i] = words[i + offset] ^ both >> 1 ^ (0u - (both & 1u) & 0x9908b0dfu);
  }
}

static uint32_t draw_word(twister *t) {
  if (t->next == kWords) {
    twist(t->words, 0, kWords - kShift, kShift);
    twist(t->words, kWords - kShift, kWords, kShift - kWords);
    t->next = 0;
  }
  uint32_t word = t->words[t->next++];
  word ^= word >> 11;
  word ^= word << 7 & 0x9d2c5680u;
  word ^= word << 15 & 0xefc60000u;
  return word ^ word >> 18;
}

/* Returns a number in [0, 1) with 53 bits: 27 of one word and 26 of the
   next. */
static double draw_uniform(twister *t) {
  double high = draw_word(t) >> 5, low = draw_word(t) >> 6;
  return (high * 67108864.0 + low) / 9007199254740992.0;
}

/* ---- The functions: (seed) -> numbers, as many as the results have ------- */

static adze_status make_all(rt_call *call) {
  for (uint32_t i = 0; i < call->num_results; ++i) {
    const rt_result *result = &call->results[i];
    if (result->dtype.code != kDLFloat || result->dtype.bits != 64)
      return rt_error(ADZE_INVALID_MODULE, "expected results of f64");
    for (int32_t d = 0; d < result->rank; ++d)
      if (result->dims[d] < 0)
        return rt_error(ADZE_INVALID_MODULE, "expected dims that are known");
    RT_TRY(rt_result_make(call, i, result->dims));
    if (result->count != call->results[0].count)
      return rt_error(ADZE_INVALID_MODULE, "expected results of one size");
  }
  return NULL;
}

static adze_status random_uniform(rt_call *call) {
  RT_TRY(make_all(call));
  twister t;
  seed_twister(&t, rt_input_int(call, 0, 0));
  double *numbers = call->results[0].data;
  for (uint64_t i = 0; i < call->results[0].count; ++i)
    numbers[i] = draw_uniform(&t);
  return NULL;
}

/* Draws points in the unit disc other than its centre: coordinates, y before x,
 * and squared distances from the centre, for normal numbers by Marsaglia's
 * polar method. */
static adze_status random_disc(rt_call *call) {
  RT_TRY(make_all(call));
  twister t;
  seed_twister(&t, rt_input_int(call, 0, 0));
  double *places = call->results[0].data, *squares = call->results[1].data;
  uint64_t count = call->results[0].count;
  for (uint64_t i = 0; i < count; i += 2) {
    double x, y, square;
    do {
      x = 2 * draw_uniform(&t) - 1;
      y = 2 * draw_uniform(&t) - 1;
      square = x * x + y * y;
    } while (square >= 1 || square == 0);
    places[i] = y;
    squares[i] = square;
    if (i + 1 < count) {
      places[i + 1] = x;
      squares[i + 1] = square;
    }
  }
  return NULL;
}

const rt_function_row rt_random_functions[] = {
    {"random_uniform", 1, 1, 1, random_uniform},
    {"random_disc", 1, 1, 2, random_disc},
    {NULL, 0, 0, 0, NULL}};
