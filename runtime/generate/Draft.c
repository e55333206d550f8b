/* Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
 *
 * Speculative decoding: draft tokens run together with the next one, and are
 * accepted up to the first one that the model does not choose (Leviathan et
 * al., 2023). The choice is a function of the logits, the seed and the
 * position, so the tokens equal those of runs without drafts.
 * */
#include "Generate.h"

#include <string.h>

#define MOST_DRAFTED 64

/* Drafts the tokens that followed the last occurrence of the sequence's last
 * tokens. */
static size_t look_up(const adze_sequence *sequence, int64_t *draft,
                      size_t most) {
  const int64_t *tokens = sequence->tokens;
  size_t count = sequence->count;
  for (size_t length = 3; length > 0; --length) {
    if (count <= length)
      continue;
    const int64_t *last = tokens + (count - length);
    for (size_t at = count - length; at-- > 0;) {
      if (memcmp(tokens + at, last, length * sizeof(int64_t)) != 0)
        continue;
      size_t found = count - (at + length);
      if (found > most)
        found = most;
      memcpy(draft, tokens + at + length, found * sizeof(int64_t));
      return found;
    }
  }
  return 0;
}

/* Returns the number of draft tokens after the next one, limited by the
 * capacity and by the sequence's length. */
static size_t most_drafted(const adze_sequence *sequence) {
  const adze_generator *generator = sequence->generator;
  int64_t most = sequence->sampling.draft;
  int64_t rows = generator->rows - (int64_t)sequence->done - 1;
  int64_t wanted = sequence->sampling.max_tokens;
  int64_t made = (int64_t)(sequence->count - sequence->begin);
  if (most > MOST_DRAFTED)
    most = MOST_DRAFTED;
  if (most > rows)
    most = rows;
  if (wanted && most > wanted - made - 1)
    most = wanted - made - 1;
  return most > 0 && generator->can_rewind ? (size_t)most : 0;
}

/* Accepts tokens while they equal those of `draft`, which were appended to the
 * first `known` tokens of the sequence. */
static adze_status accept(adze_sequence *sequence, const gen_run *run,
                          const int64_t *draft, size_t count, size_t known) {
  for (size_t i = 0; i <= count; ++i) {
    sequence->count = known + i;
    sequence->done = known + i;
    GEN_TRY(gen_choose_next(sequence, run, 0, (int64_t)(count - i)));
    if (!sequence->active || i == count ||
        sequence->tokens[known + i] != draft[i])
      return NULL;
    ++sequence->generator->num_accepted;
  }
  return NULL;
}

static adze_status run_draft(adze_sequence *sequence, const int64_t *draft,
                             size_t count) {
  adze_generator *generator = sequence->generator;
  size_t known = sequence->count;
  int64_t rows = (int64_t)count + 1;
  gen_run run;
  GEN_TRY(gen_extend_slot(sequence, rows, &run));
  GEN_TRY(gen_add_tokens(sequence, draft, count));
  run.scored = rows;
  adze_status status = gen_run_model(generator, &run);
  sequence->count = known;
  if (status)
    return status;
  generator->num_rows += rows;
  generator->num_drafted += (int64_t)count;
  return accept(sequence, &run, draft, count, known);
}

bool gen_run_draft(adze_sequence *sequence, adze_status *first) {
  int64_t draft[MOST_DRAFTED];
  size_t most = most_drafted(sequence);
  if (!most)
    return false;
  const adze_sampling *sampling = &sequence->sampling;
  size_t count =
      sampling->drafter
          ? sampling->drafter(sampling->drafter_user, sequence->tokens,
                              sequence->count, draft, most)
          : look_up(sequence, draft, most);
  if (count > most)
    count = most;
  if (!count)
    return false;
  adze_status status = run_draft(sequence, draft, count);
  if (status)
    gen_fail(sequence, status, first);
  return true;
}
