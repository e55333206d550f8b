/* Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
 *
 * Steps: run a chunk of a prompt and one token of each active sequence in as
 * few runs of the model as its form allows.
 * */
#include "Generate.h"

#include <math.h>
#include <string.h>

/* ---- Events ----------------------------------------------------------------
 */

static int report(adze_sequence *sequence, adze_event event, int64_t token,
                  float logprob) {
  if (event != ADZE_TOKEN)
    sequence->active = false;
  return sequence->callback ? sequence->callback(sequence->user, sequence,
                                                 event, token, logprob)
                            : 0;
}

void gen_fail(adze_sequence *sequence, adze_status status, adze_status *first) {
  sequence->failed = true;
  report(sequence, ADZE_FAILED, -1, 0);
  if (*first)
    adze_status_free(status);
  else
    *first = status;
}

static bool ends(const adze_sequence *sequence) {
  const adze_generator *generator = sequence->generator;
  int64_t token = sequence->tokens[sequence->count - 1];
  for (size_t i = 0; i < generator->num_ends; ++i)
    if (generator->ends[i] == token)
      return true;
  const int64_t *stop = sequence->stop_tokens;
  for (size_t i = 0; i < sequence->sampling.num_stops; ++i) {
    size_t length = (size_t)*stop++;
    if (length && sequence->count - sequence->begin >= length &&
        !memcmp(sequence->tokens + sequence->count - length, stop,
                length * sizeof(int64_t)))
      return true;
    stop += length;
  }
  int64_t made = (int64_t)(sequence->count - sequence->begin);
  return sequence->sampling.max_tokens && made >= sequence->sampling.max_tokens;
}

adze_status gen_choose_next(adze_sequence *sequence, const gen_run *run,
                            int64_t row, int64_t back) {
  GEN_TRY(gen_take_scores(sequence->generator, run, row, back));
  float logprob;
  int64_t token = gen_choose(sequence, &logprob);
  if (isnan(logprob))
    return gen_error(ADZE_RUN_ERROR, "the logits are not numbers");
  GEN_TRY(gen_add_tokens(sequence, &token, 1));
  bool stops = report(sequence, ADZE_TOKEN, token, logprob) != 0;
  if (stops || ends(sequence))
    report(sequence, ADZE_STOPPED, -1, 0);
  return NULL;
}

/* ---- One sequence ----------------------------------------------------------
 */

static int64_t end_of(const adze_sequence *sequence) {
  return sequence->start + (int64_t)sequence->done;
}

int64_t gen_left_of(const adze_sequence *sequence) {
  return (int64_t)(sequence->count - sequence->done);
}

/* Chooses the first row of a new sequence so that the rows of its prompt end
 * where those of its block will end: it then joins them without a copy. */
void gen_place(adze_sequence *sequence) {
  const adze_generator *generator = sequence->generator;
  int64_t count = gen_left_of(sequence), end = sequence->block->end;
  end += (count + generator->chunk - 1) / generator->chunk;
  sequence->start = end > count ? end - count : 0;
  if (sequence->start > generator->rows)
    sequence->start = generator->rows;
}

adze_status gen_extend_slot(adze_sequence *sequence, int64_t rows,
                            gen_run *run) {
  adze_generator *generator = sequence->generator;
  if (generator->form == GEN_PADDED) {
    if (!sequence->done)
      gen_place(sequence);
    if (end_of(sequence) + rows > generator->capacity)
      GEN_TRY(gen_move_rows(sequence, generator->rows));
  }
  *run = (gen_run){.block = sequence->block,
                   .slot = sequence->slot,
                   .count = 1,
                   .start = sequence->start,
                   .past = (int64_t)sequence->done,
                   .rows = rows};
  return NULL;
}

static adze_status advance(adze_sequence *sequence, int64_t rows) {
  adze_generator *generator = sequence->generator;
  gen_run run;
  GEN_TRY(gen_extend_slot(sequence, rows, &run));
  GEN_TRY(gen_run_model(generator, &run));
  sequence->done += (size_t)rows;
  generator->num_rows += rows;
  return gen_left_of(sequence) ? NULL : gen_choose_next(sequence, &run, 0, 0);
}

void gen_advance(adze_sequence *sequence, int64_t rows, adze_status *first) {
  sequence->waits = false;
  adze_status status = advance(sequence, rows);
  if (status)
    gen_fail(sequence, status, first);
}

/* ---- A batch ---------------------------------------------------------------
 */

/* Chooses tokens after a run. Callbacks may end sequences, but not release
   them. */
static void choose_all(adze_generator *generator, const gen_run *run,
                       adze_status *first) {
  adze_sequence **slots = run->block->sequences + run->slot;
  for (int64_t row = 0; row < run->count; ++row) {
    adze_sequence *sequence = slots[row];
    if (!sequence || !sequence->waits)
      continue;
    ++sequence->done;
    ++generator->num_rows;
  }
  for (int64_t row = 0; row < run->count; ++row) {
    adze_sequence *sequence = slots[row];
    if (!sequence || !sequence->waits)
      continue;
    sequence->waits = false;
    adze_status status = gen_choose_next(sequence, run, row, 0);
    if (status)
      gen_fail(sequence, status, first);
  }
}

/* If a batch fails, its sequences run one by one, because the error may be
   caused by only one of them. */
static void run_batch(adze_generator *generator, const gen_run *run,
                      adze_status *first) {
  adze_sequence **slots = run->block->sequences + run->slot;
  adze_status status = run->count > 1 ? gen_run_model(generator, run) : NULL;
  if (run->count > 1 && !status) {
    choose_all(generator, run, first);
    return;
  }
  adze_status_free(status);
  for (int64_t row = 0; row < run->count; ++row)
    if (slots[row] && slots[row]->waits)
      gen_advance(slots[row], 1, first);
}

/* Returns true if a run may include the slot although its sequence does not
 * take part: the row that the run stores there must not be one of the
 * sequence. */
static bool can_fill(const adze_generator *generator,
                     const adze_sequence *sequence, const gen_run *run) {
  if (!generator->can_fill)
    return false;
  if (!sequence)
    return true;
  return generator->form == GEN_OWN
             ? (int64_t)sequence->done <= run->past
             : !sequence->done || end_of(sequence) <= run->start + run->past;
}

static bool fits(const adze_generator *generator, const adze_sequence *sequence,
                 const gen_run *run) {
  return generator->form != GEN_EQUAL ||
         ((int64_t)sequence->done == run->past &&
          sequence->start == run->start);
}

/* Extends the run to more waiting slots, across at most as many other slots as
 * there are waiting ones. */
static void extend_run(const adze_generator *generator, gen_run *run) {
  adze_sequence **slots = run->block->sequences;
  int64_t gain = 1;
  for (int64_t slot = run->slot + 1; slot < generator->slots; ++slot) {
    const adze_sequence *sequence = slots[slot];
    if (sequence && sequence->waits && fits(generator, sequence, run)) {
      ++gain;
      run->count = slot - run->slot + 1;
    } else if (sequence && sequence->waits) {
      return;
    } else if (!can_fill(generator, sequence, run) || --gain < 0) {
      return;
    }
  }
}

/* Sets the row at which the rows of a batch end. It is that of the last step if
 * a sequence still ends there, so that only sequences that join are moved. */
static void align(adze_generator *generator, gen_block *block,
                  adze_status *first) {
  int64_t count = 0, members = 0, greatest = generator->rows;
  for (int64_t i = 0; i < generator->slots; ++i) {
    const adze_sequence *sequence = block->sequences[i];
    if (!sequence || !sequence->waits)
      continue;
    ++count;
    members += end_of(sequence) == block->end;
    if (end_of(sequence) > greatest)
      greatest = end_of(sequence);
  }
  if (!count)
    return;
  if (!members)
    block->end = greatest;
  if (block->end >= generator->capacity)
    block->end = generator->rows;
  for (int64_t i = 0; i < generator->slots; ++i) {
    adze_sequence *sequence = block->sequences[i];
    if (!sequence || !sequence->waits)
      continue;
    adze_status status = gen_move_rows(sequence, block->end);
    if (status) {
      sequence->waits = false;
      gen_fail(sequence, status, first);
    }
  }
}

static void step_block(adze_generator *generator, gen_block *block,
                       adze_status *first) {
  gen_run run = {.block = block, .rows = 1};
  int64_t longest = 0;
  if (generator->form == GEN_PADDED)
    align(generator, block, first);
  for (int64_t i = 0; i < generator->slots; ++i) {
    const adze_sequence *sequence = block->sequences[i];
    if (sequence && sequence->waits && (int64_t)sequence->done > longest)
      longest = (int64_t)sequence->done;
  }
  int64_t end = block->end;
  for (int64_t slot = 0; slot < generator->slots; slot += run.count) {
    const adze_sequence *sequence = block->sequences[slot];
    run.slot = slot;
    run.count = 1;
    if (!sequence || !sequence->waits)
      continue;
    bool is_equal = generator->form == GEN_EQUAL;
    run.past = is_equal ? (int64_t)sequence->done : longest;
    run.start = is_equal                        ? sequence->start
                : generator->form == GEN_PADDED ? end - longest
                                                : 0;
    extend_run(generator, &run);
    block->end = end + 1;
    run_batch(generator, &run, first);
  }
}

/* ---- Steps -----------------------------------------------------------------
 */

/* Ends cancelled sequences. Returns true if the sequence takes part in the
   step. */
static bool goes_on(adze_sequence *sequence) {
  if (sequence->active && atomic_load(&sequence->cancelled))
    report(sequence, ADZE_CANCELLED, -1, 0);
  return sequence->active && !sequence->joined;
}

/* Finds the sequences to continue, and runs a chunk of one prompt, or some
 * whole prompts. */
static void begin_step(adze_generator *generator, adze_status *first) {
  bool has_chunk = false;
  for (adze_sequence *sequence = generator->first; sequence;
       sequence = sequence->next)
    sequence->waits = sequence->joined = false;
  for (adze_sequence *sequence = generator->first; sequence;
       sequence = sequence->next) {
    if (!goes_on(sequence))
      continue;
    int64_t rows = gen_left_of(sequence);
    if (rows > generator->chunk)
      rows = generator->chunk;
    if (rows > 1 && has_chunk)
      continue;
    has_chunk |= rows > 1;
    if ((int64_t)sequence->done + rows > generator->rows)
      report(sequence, ADZE_FULL, -1, 0);
    else if (rows > 1)
      gen_run_prompts(sequence, rows, first);
    else if (gen_run_draft(sequence, first))
      continue;
    else if (generator->form == GEN_ALONE)
      gen_advance(sequence, rows, first);
    else
      sequence->waits = true;
  }
}

adze_status adze_generator_step(adze_generator *generator, int32_t *active) {
  if (!generator)
    return gen_error(ADZE_INVALID_ARGUMENT,
                     "expected a generator, but got NULL");
  adze_status first = NULL;
  begin_step(generator, &first);
  if (generator->form != GEN_ALONE)
    for (gen_block *block = generator->blocks; block; block = block->next)
      step_block(generator, block, &first);
  int32_t count = 0;
  for (const adze_sequence *sequence = generator->first; sequence;
       sequence = sequence->next)
    count += sequence->active;
  if (active)
    *active = count;
  return first;
}

adze_status adze_generator_run(adze_generator *generator) {
  int32_t active = 0;
  do
    GEN_TRY(adze_generator_step(generator, &active));
  while (active);
  return NULL;
}
