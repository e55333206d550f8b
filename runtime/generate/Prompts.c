/* Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
 *
 * Prompts: short prompts of several sequences share a run of the model. Shorter
 * ones are padded if the model's inputs can describe padding.
 */
#include "Generate.h"

#include <stdlib.h>
#include <string.h>

/* ---- A run -----------------------------------------------------------------
 */

/* Returns the number of padding rows of sequence `row` of the run. */
static int64_t padding_of(const gen_run *run, int64_t row) {
  const adze_sequence *sequence = run->block->sequences[run->slot + row];
  return run->rows + run->held - gen_left_of(sequence);
}

/* Places the first rows after the padding. */
static void prepare(adze_generator *generator, const gen_run *run) {
  adze_sequence **slots = run->block->sequences + run->slot;
  for (int64_t row = 0; row < run->count; ++row) {
    slots[row]->waits = slots[row]->joined = true;
    slots[row]->start =
        run->start +
        (generator->padding == GEN_BEFORE ? padding_of(run, row) : 0);
  }
}

/* Sequences with one token left wait for the run of single tokens in the same
   step. */
static void finish(adze_generator *generator, const gen_run *run,
                   adze_status *first) {
  adze_sequence **slots = run->block->sequences + run->slot;
  for (int64_t row = 0; row < run->count; ++row) {
    adze_sequence *sequence = slots[row];
    int64_t taken = gen_left_of(sequence) - run->held;
    generator->num_rows += taken;
    sequence->done += (size_t)taken;
    if (run->held)
      continue;
    sequence->waits = false;
    adze_status status = gen_choose_next(sequence, run, row, 0);
    if (status)
      gen_fail(sequence, status, first);
  }
}

/* ---- Whether padding changes results ---------------------------------------
 */

/* Runs the first token of one sequence with two of another: both must get the
 * logits of single runs. Padding tokens are 0, the others are 1. */
static adze_status compare(adze_generator *generator, adze_sequence *shorter,
                           adze_sequence *longer, float **scores, bool *fits) {
  gen_run both = {.block = shorter->block,
                  .slot = shorter->slot,
                  .count = 2,
                  .rows = 2,
                  .has_prompts = true,
                  .scored = 2};
  for (int64_t row = 0; row < 2; ++row) {
    adze_sequence *sequence = row ? longer : shorter;
    gen_run alone = {.block = both.block,
                     .slot = sequence->slot,
                     .count = 1,
                     .rows = gen_left_of(sequence)};
    sequence->start = 0;
    GEN_TRY(gen_run_model(generator, &alone));
    GEN_TRY(gen_take_scores(generator, &alone, 0, 0));
    size_t bytes = (size_t)generator->vocabulary * sizeof(float);
    if (!scores[row])
      scores[row] = malloc(bytes);
    if (!scores[row])
      return gen_out_of_memory();
    memcpy(scores[row], generator->scores, bytes);
  }
  prepare(generator, &both);
  GEN_TRY(gen_run_model(generator, &both));
  for (int64_t row = 0; row < 2; ++row) {
    bool is_behind = generator->padding == GEN_BEHIND;
    GEN_TRY(gen_take_scores(generator, &both, row,
                            is_behind ? padding_of(&both, row) : 0));
    *fits &= gen_is_near(generator, scores[row]);
  }
  return NULL;
}

/* An error in the trial means that the model does not support padding. */
static bool passes_trial(adze_generator *generator) {
  const int64_t tokens[2] = {1, 1};
  adze_sequence *pair[2] = {NULL, NULL};
  float *scores[2] = {NULL, NULL};
  int64_t runs = generator->num_runs, scored = generator->num_scored;
  bool fits = true;
  adze_status status = NULL;
  /* Both sequences are adjacent in a block of their own. */
  gen_block *blocks = generator->blocks;
  generator->blocks = NULL;
  for (size_t i = 0; i < 2 && !status; ++i)
    status = adze_sequence_create(generator, NULL, tokens, i + 1, NULL, NULL, 0,
                                  NULL, NULL, &pair[i]);
  if (!status)
    status = compare(generator, pair[0], pair[1], scores, &fits);
  fits &= !status;
  adze_status_free(status);
  for (size_t i = 0; i < 2; ++i) {
    free(scores[i]);
    adze_sequence_release(pair[i]);
  }
  generator->blocks = blocks;
  generator->num_runs = runs;
  generator->num_scored = scored;
  return fits;
}

/* ---- Which prompts share a run ---------------------------------------------
 */

/* Returns true if the prompt has no past and is short enough for one run. */
static bool is_whole(const adze_sequence *sequence) {
  int64_t rows = sequence ? gen_left_of(sequence) : 0;
  return sequence && sequence->active && !sequence->joined &&
         !atomic_load(&sequence->cancelled) && !sequence->done && rows > 1 &&
         rows <= sequence->generator->chunk &&
         rows <= sequence->generator->rows;
}

/* Extends the run to the slots after it, as long as its rows are at most a
 * chunk and at least three quarters of them are tokens. */
static void extend(adze_generator *generator, gen_run *run) {
  adze_sequence **slots = run->block->sequences + run->slot;
  int64_t tokens = gen_left_of(slots[0]);
  for (int64_t row = 1; run->slot + row < generator->slots; ++row) {
    if (!is_whole(slots[row]))
      return;
    int64_t rows = gen_left_of(slots[row]);
    int64_t most = rows > run->rows ? rows : run->rows;
    tokens += rows;
    if (most * (row + 1) > generator->chunk ||
        3 * most * (row + 1) > 4 * tokens)
      return;
    if (rows != run->rows && !generator->has_tried) {
      generator->has_tried = true;
      if (generator->padding != GEN_NOWHERE && !passes_trial(generator))
        generator->padding = GEN_NOWHERE;
    }
    if (rows != run->rows && generator->padding == GEN_NOWHERE)
      return;
    /* The logits after padding would be many rows, so the last tokens run
     * separately. */
    if (rows != run->rows && generator->padding == GEN_BEHIND)
      run->held = 1;
    run->rows = most;
    run->count = row + 1;
  }
}

void gen_run_prompts(adze_sequence *sequence, int64_t rows,
                     adze_status *first) {
  adze_generator *generator = sequence->generator;
  gen_run run = {.block = sequence->block,
                 .slot = sequence->slot,
                 .count = 1,
                 .rows = rows,
                 .has_prompts = true};
  if (generator->form != GEN_ALONE && is_whole(sequence))
    extend(generator, &run);
  if (run.count == 1) {
    gen_advance(sequence, rows, first);
    return;
  }
  run.rows -= run.held;
  run.scored = run.held ? -1 : 0;
  adze_sequence **slots = run.block->sequences + run.slot;
  if (generator->form == GEN_PADDED)
    for (int64_t row = 0; row < run.count; ++row)
      if (gen_left_of(slots[row]) == run.rows) {
        gen_place(slots[row]);
        run.start = slots[row]->start;
      }
  prepare(generator, &run);
  adze_status status = gen_run_model(generator, &run);
  if (!status) {
    finish(generator, &run, first);
    return;
  }
  /* If the run fails, its sequences run one by one, because the error may be
   * caused by only one of them. */
  adze_status_free(status);
  for (int64_t row = 0; row < run.count; ++row)
    gen_advance(slots[row], gen_left_of(slots[row]), first);
}
