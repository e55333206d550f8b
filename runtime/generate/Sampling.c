/* Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
 *
 * Chooses the next token: penalties, temperature, filters, a random number.
 */
#include "Generate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The order of tokens by score. Ties are broken by the token id, so the order
 * is deterministic. */
typedef struct {
  const float *scores;
  int32_t *order;
} ranking;

static bool is_before(const ranking *r, int32_t x, int32_t y) {
  return r->scores[x] > r->scores[y] || (r->scores[x] == r->scores[y] && x < y);
}

static void sift(const ranking *r, int64_t count, int64_t at) {
  for (;;) {
    int64_t least = at;
    for (int64_t child = 2 * at + 1; child <= 2 * at + 2; ++child)
      if (child < count && is_before(r, r->order[least], r->order[child]))
        least = child;
    if (least == at)
      return;
    int32_t token = r->order[at];
    r->order[at] = r->order[least];
    r->order[least] = token;
    at = least;
  }
}

/* Moves the `most` best of `count` tokens to the front of the order, sorted. */
static void select_best(const ranking *r, int64_t count, int64_t most) {
  for (int64_t i = 0; i < count; ++i)
    r->order[i] = (int32_t)i;
  if (most > count)
    most = count;
  /* A min-heap of the best tokens so far. */
  for (int64_t i = most / 2; i-- > 0;)
    sift(r, most, i);
  for (int64_t i = most; i < count; ++i)
    if (is_before(r, r->order[i], r->order[0])) {
      r->order[0] = r->order[i];
      sift(r, most, 0);
    }
  for (int64_t end = most; end-- > 1;) {
    int32_t token = r->order[0];
    r->order[0] = r->order[end];
    r->order[end] = token;
    sift(r, end, 0);
  }
}

/* Returns a number in [0, 1) by SplitMix64 (Steele et al., 2014), as a function
   of the position. */
static double random_at(uint64_t seed, uint64_t position) {
  uint64_t z = seed + (position + 1) * 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

static bool has_penalty(const adze_sampling *sampling) {
  return sampling->repetition_penalty != 0 && sampling->repetition_penalty != 1;
}

static void penalize(const adze_sequence *sequence, float *scores) {
  float penalty = sequence->sampling.repetition_penalty;
  int64_t vocabulary = sequence->generator->vocabulary;
  int32_t *seen = sequence->generator->order;
  memset(seen, 0, (size_t)vocabulary * sizeof(*seen));
  for (size_t i = 0; i < sequence->count; ++i) {
    int64_t token = sequence->tokens[i];
    if (token < 0 || token >= vocabulary || seen[token])
      continue;
    seen[token] = 1;
    scores[token] *= scores[token] > 0 ? 1 / penalty : penalty;
  }
}

/* Returns how many of the best tokens pass the filters, and sorts them. */
static int64_t filter(const adze_sampling *sampling, const ranking *r,
                      int64_t count, float greatest) {
  int64_t most =
      sampling->top_k > 0 && sampling->top_k < count ? sampling->top_k : count;
  bool by_sum = sampling->top_p > 0 && sampling->top_p < 1;
  float floor =
      sampling->min_p > 0 ? greatest + logf(sampling->min_p) : -INFINITY;
  double all = 0;
  if (by_sum && most == count)
    all = gen_sum_weights(r->scores, count, greatest);
  /* Few tokens of the whole vocabulary usually reach top_p or pass min_p. After
   * top_k, top_p is relative to the probability of the top_k tokens. */
  bool is_few = by_sum ? most == count : sampling->min_p > 0;
  int64_t some = is_few && most > 256 ? 256 : most;
  for (;; some *= 4) {
    if (some > most)
      some = most;
    select_best(r, count, some);
    if (by_sum && most < count)
      for (int64_t i = 0; i < most; ++i)
        all += gen_weigh(r->scores[r->order[i]], greatest);
    double sum = 0;
    for (int64_t i = 0; i < some; ++i) {
      float score = r->scores[r->order[i]];
      if (i > 0 && score < floor)
        return i;
      sum += gen_weigh(score, greatest);
      if (by_sum && sum >= sampling->top_p * all)
        return i + 1;
    }
    if (some == most)
      return most;
  }
}

/* Draws one of the tokens that pass the filters. */
static int64_t draw(const adze_sequence *sequence, float *scores,
                    int64_t count) {
  const adze_sampling *sampling = &sequence->sampling;
  for (int64_t i = 0; i < count; ++i)
    scores[i] /= sampling->temperature;
  float greatest = scores[gen_find_best(scores, count)];
  ranking r = {scores, sequence->generator->order};
  int64_t left = filter(sampling, &r, count, greatest);
  double sum = 0, limit;
  for (int64_t i = 0; i < left; ++i)
    sum += gen_weigh(scores[r.order[i]], greatest);
  limit = sum * random_at(sampling->seed, sequence->count);
  sum = 0;
  for (int64_t i = 0; i < left; ++i) {
    sum += gen_weigh(scores[r.order[i]], greatest);
    if (sum > limit)
      return r.order[i];
  }
  return r.order[left - 1];
}

int64_t gen_choose(const adze_sequence *sequence, float *logprob) {
  const adze_generator *generator = sequence->generator;
  const adze_sampling *sampling = &sequence->sampling;
  int64_t count = generator->vocabulary;
  float *raw = generator->scores, *scores = raw + count;
  int64_t best = gen_find_best(raw, count), token = best;
  if (has_penalty(sampling) || sampling->temperature > 0) {
    memcpy(scores, raw, (size_t)count * sizeof(float));
    if (has_penalty(sampling))
      penalize(sequence, scores);
    token = sampling->temperature > 0 ? draw(sequence, scores, count)
                                      : gen_find_best(scores, count);
  }
  double sum = gen_sum_weights(raw, count, raw[best]);
  *logprob = (float)(raw[token] - raw[best] - log(sum));
  return token;
}
