/* Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
 *
 * Determines which sequences one run of a model may batch. Shapes and roles of
 * its values determine the form, and a trial run verifies it.
 * */
#include "Generate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static adze_status input_of(const adze_generator *generator, int32_t index,
                            const adze_value_info **info) {
  return adze_module_input(generator->module, index, info);
}

/* Sets *fits to false if the input has no dynamic leading dim. */
static adze_status check_batch_dim(const adze_generator *generator,
                                   int32_t index, bool *fits) {
  const adze_value_info *info;
  if (index < 0)
    return NULL;
  GEN_TRY(input_of(generator, index, &info));
  *fits &= info->rank > 1 && info->dims[0] < 0;
  return NULL;
}

/* `is_shared`: one row of positions serves the whole batch. */
static adze_status check_inputs(const adze_generator *generator,
                                const char **limits, bool *is_shared) {
  bool fits = true;
  const adze_value_info *info;
  for (int32_t i = 0; i < generator->num_inputs; ++i) {
    int32_t state = generator->input_states[i];
    if (state >= 0 ? generator->states[state].info.kind == ADZE_STATE_KEEP
                   : i != generator->ids && i != generator->mask &&
                         i != generator->positions)
      *limits = "sequences have tensors of their own as further inputs";
    if (state < 0)
      continue;
    GEN_TRY(check_batch_dim(generator, i, &fits));
    fits &= generator->states[state].info.axis != 0;
  }
  GEN_TRY(check_batch_dim(generator, generator->ids, &fits));
  GEN_TRY(check_batch_dim(generator, generator->mask, &fits));
  if (generator->positions >= 0) {
    GEN_TRY(input_of(generator, generator->positions, &info));
    *is_shared = info->rank == 1;
    if (!*is_shared)
      GEN_TRY(check_batch_dim(generator, generator->positions, &fits));
  }
  if (!fits && !*limits)
    *limits = "an input or a state has no batch as its first dim";
  return NULL;
}

/* Returns true if outputs have the same batch size as inputs. */
static bool has_batch(adze_generator *generator) {
  gen_run run = {.count = 2, .past = 1, .rows = 1};
  adze_status status = gen_shape_run(generator, &run);
  bool fits = !status;
  adze_status_free(status);
  for (int32_t i = 0; fits && i < generator->num_outputs; ++i)
    if (i == generator->logits || generator->output_states[i] >= 0)
      fits = generator->outputs[i].tensor.ndim > 1 &&
             generator->outputs[i].shape[0] == 2;
  return fits;
}

/* GroupQueryAttention stores a row's tokens after those that the mask counts:
 * its states have at least as many rows as the past, however short the mask. */
static bool stores_by_mask(adze_generator *generator) {
  const int64_t past = 8, seen = 3;
  gen_run run = {.count = 1, .past = past, .rows = 1};
  adze_status status = gen_shape_run(generator, &run);
  if (!status) {
    gen_tensor *mask = &generator->inputs[generator->mask];
    mask->shape[mask->tensor.ndim - 1] = seen;
    status = adze_infer_shapes(generator->module, generator->input_shapes,
                               generator->num_inputs, generator->output_shapes,
                               generator->num_outputs, NULL);
  }
  bool fits = !status;
  adze_status_free(status);
  for (int32_t i = 0; fits && i < generator->num_states; ++i) {
    const gen_state *state = &generator->states[i];
    if (state->grows)
      fits = generator->outputs[state->info.output].shape[state->info.axis] ==
             past;
  }
  return fits;
}

/* ---- The trial -------------------------------------------------------------
 */

bool gen_is_near(const adze_generator *generator, const float *scores) {
  float greatest = 0, apart = 0;
  for (int64_t i = 0; i < generator->vocabulary; ++i) {
    greatest = fmaxf(greatest, fabsf(scores[i]));
    float difference = fabsf(generator->scores[i] - scores[i]);
    if (!(difference <= apart))
      apart = difference;
  }
  return apart <= 0.01f * greatest;
}

/* Runs the model, and puts the logits of row `row` into generator->scores. */
static adze_status run_one(adze_generator *generator, const gen_run *run,
                           int64_t row) {
  GEN_TRY(gen_run_model(generator, run));
  return gen_take_scores(generator, run, row, 0);
}

static adze_status copy_scores(const adze_generator *generator, float **copy) {
  size_t bytes = (size_t)generator->vocabulary * sizeof(float);
  if (!*copy)
    *copy = malloc(bytes);
  if (!*copy)
    return gen_out_of_memory();
  memcpy(*copy, generator->scores, bytes);
  return NULL;
}

/* Runs the first token of one sequence with the second one of another. Both
 * must get the logits of single runs; a row that the mask does not hide would
 * change them. */
static adze_status compare_runs(adze_generator *generator,
                                adze_sequence *shorter, adze_sequence *longer,
                                float **scores, bool *fits) {
  bool is_padded = generator->form == GEN_PADDED;
  int64_t start = is_padded ? generator->rows - 1 : 0;
  gen_run run = {.block = longer->block,
                 .slot = longer->slot,
                 .count = 1,
                 .start = start,
                 .rows = 1};
  GEN_TRY(run_one(generator, &run, 0));
  GEN_TRY(copy_scores(generator, scores));
  longer->done = 1;
  shorter->waits = longer->waits = true;
  run.slot = shorter->slot;
  run.count = 2;
  run.past = 1;
  GEN_TRY(run_one(generator, &run, 0));
  *fits = gen_is_near(generator, *scores);
  GEN_TRY(gen_take_scores(generator, &run, 1, 0));
  GEN_TRY(copy_scores(generator, scores));
  shorter->done = 1;
  run.count = 1;
  run.start += is_padded;
  GEN_TRY(run_one(generator, &run, 0));
  *fits &= gen_is_near(generator, *scores);
  return NULL;
}

/* An error in the trial means that the model does not support the form. */
static bool passes_trial(adze_generator *generator) {
  const int64_t tokens[2] = {0, 0};
  adze_sequence *shorter = NULL, *longer = NULL;
  float *scores = NULL;
  bool fits = false;
  adze_status status = adze_sequence_create(generator, NULL, tokens, 2, NULL,
                                            NULL, 0, NULL, NULL, &shorter);
  if (!status)
    status = adze_sequence_create(generator, NULL, tokens, 2, NULL, NULL, 0,
                                  NULL, NULL, &longer);
  if (!status)
    status = compare_runs(generator, shorter, longer, &scores, &fits);
  fits &= !status;
  adze_status_free(status);
  free(scores);
  adze_sequence_release(shorter);
  adze_sequence_release(longer);
  generator->num_runs = generator->num_scored = 0;
  return fits;
}

/* ---- The choice ------------------------------------------------------------
 */

static void set_capacity(adze_generator *generator, int64_t capacity) {
  generator->capacity = capacity;
  for (int32_t i = 0; i < generator->num_states; ++i) {
    gen_state *state = &generator->states[i];
    if (!state->grows)
      continue;
    int64_t *rows = &state->dims[state->info.axis];
    state->bytes = state->bytes / (uint64_t)*rows * (uint64_t)capacity;
    *rows = capacity;
  }
}

static gen_form choose_form(adze_generator *generator, bool is_shared) {
  bool some_grow = false, all_grow = true;
  for (int32_t i = 0; i < generator->num_states; ++i) {
    some_grow |= generator->states[i].grows;
    all_grow &= generator->states[i].grows;
  }
  generator->can_fill = all_grow;
  generator->padding = GEN_NOWHERE;
  if (is_shared)
    return GEN_EQUAL;
  if (!some_grow && generator->mask < 0 && generator->positions < 0)
    return GEN_OWN;
  if (some_grow && generator->mask >= 0 && stores_by_mask(generator)) {
    if (all_grow)
      generator->padding = GEN_BEHIND;
    return GEN_OWN;
  }
  if (!all_grow || generator->mask < 0 || generator->positions < 0)
    return GEN_EQUAL;
  generator->padding = GEN_BEFORE;
  return GEN_PADDED;
}

adze_status gen_find_form(adze_generator *generator, int64_t most) {
  bool is_shared = false;
  generator->form = GEN_ALONE;
  generator->limits = NULL;
  if (most > 1) {
    GEN_TRY(check_inputs(generator, &generator->limits, &is_shared));
    if (!generator->limits && !has_batch(generator))
      generator->limits = "the batch of an output is not that of the inputs";
  } else {
    generator->limits = "the options say so";
  }
  if (generator->limits)
    return NULL;
  generator->slots = most;
  generator->form = choose_form(generator, is_shared);
  /* With padding, any sequence fits before row `rows`, where the first batch
     begins. */
  if (generator->form == GEN_PADDED)
    set_capacity(generator, 2 * generator->rows);
  if (generator->form != GEN_EQUAL && generator->rows > 1 &&
      !passes_trial(generator)) {
    set_capacity(generator, generator->rows);
    generator->form = GEN_EQUAL;
    generator->padding = GEN_NOWHERE;
  }
  if (generator->form != GEN_EQUAL)
    return NULL;
  generator->can_fill = false;
  generator->limits =
      "the model has no mask or positions for rows of different "
      "lengths: sequences of equal length form batches";
  return NULL;
}
