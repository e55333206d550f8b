/* Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
 *
 * One run of the model: its tensors, and the logits of the last tokens.
 */
#include "Generate.h"

#include <stdlib.h>
#include <string.h>

/* ---- Tensors --------------------------------------------------------------
 */

static uint64_t count_of(const gen_tensor *tensor) {
  uint64_t count = 1;
  for (int32_t d = 0; d < tensor->tensor.ndim; ++d)
    count *= (uint64_t)tensor->shape[d];
  return count;
}

static adze_status reserve(gen_tensor *tensor) {
  uint64_t bytes = count_of(tensor) * tensor->tensor.dtype.bits / 8;
  if (bytes > tensor->capacity || !tensor->data) {
    free(tensor->data);
    tensor->capacity = 0;
    tensor->data = aligned_alloc(64, (bytes + 64) / 64 * 64);
    if (!tensor->data)
      return gen_out_of_memory();
    tensor->capacity = bytes;
  }
  tensor->tensor.data = tensor->data;
  return NULL;
}

static void describe(gen_tensor *tensor, const adze_value_info *info) {
  tensor->tensor = (DLTensor){.device = {kDLCPU, 0},
                              .ndim = info->rank,
                              .dtype = info->dtype,
                              .shape = tensor->shape};
}

/* Sets the dynamic dims: the first of several to `count`, the last one to
 * `last`, others to 1. */
static void set_dims(gen_tensor *tensor, const adze_value_info *info,
                     int64_t count, int64_t last) {
  for (int32_t d = 0; d < info->rank; ++d)
    tensor->shape[d] = info->dims[d] >= 0    ? info->dims[d]
                       : d + 1 == info->rank ? last
                       : d == 0              ? count
                                             : 1;
}

/* Sets the rows of a state in the slots of the run. */
static void set_rows(const adze_generator *generator, gen_tensor *tensor,
                     const gen_state *state, const gen_run *run, char *buffer,
                     int64_t rows) {
  int64_t stride = 1;
  tensor->tensor.device = generator->device;
  for (int32_t d = state->rank; d-- > 0;) {
    tensor->shape[d] = state->dims[d];
    tensor->strides[d] = stride;
    stride *= state->dims[d];
  }
  if (run->count > 1)
    tensor->shape[0] = run->count;
  if (state->grows)
    tensor->shape[state->info.axis] = rows;
  tensor->tensor.strides = tensor->strides;
  if (!buffer)
    return;
  uint64_t skipped = (uint64_t)run->slot * state->bytes;
  if (state->grows)
    skipped += (uint64_t)run->start * state->row_bytes;
  tensor->tensor.data = buffer + skipped;
}

static char *buffer_of(const gen_run *run, int32_t state) {
  return run->block ? run->block->buffers[state] : NULL;
}

static adze_status shape_input(adze_generator *generator, const gen_run *run,
                               int32_t index) {
  const adze_value_info *info;
  GEN_TRY(adze_module_input(generator->module, index, &info));
  gen_tensor *tensor = &generator->inputs[index];
  describe(tensor, info);
  generator->input_tensors[index] = &tensor->tensor;
  int32_t state = generator->input_states[index];
  bool is_kept =
      state >= 0 && generator->states[state].info.kind == ADZE_STATE_KEEP;
  const adze_sequence *first =
      run->block ? run->block->sequences[run->slot] : NULL;
  if (first && first->extra[index])
    generator->input_tensors[index] = first->extra[index];
  else if (state >= 0 && !is_kept)
    set_rows(generator, tensor, &generator->states[state], run,
             buffer_of(run, state), run->past);
  else
    set_dims(tensor, info, run->count,
             index == generator->mask ? run->past + run->rows : run->rows);
  generator->input_shapes[index] =
      (adze_shape){info->rank, generator->input_tensors[index]->shape};
  return NULL;
}

adze_status gen_shape_run(adze_generator *generator, const gen_run *run) {
  for (int32_t i = 0; i < generator->num_inputs; ++i)
    GEN_TRY(shape_input(generator, run, i));
  for (int32_t i = 0; i < generator->num_outputs; ++i) {
    const adze_value_info *info;
    GEN_TRY(adze_module_output(generator->module, i, &info));
    describe(&generator->outputs[i], info);
    generator->output_tensors[i] = &generator->outputs[i].tensor;
    generator->output_shapes[i] =
        (adze_shape){info->rank, generator->outputs[i].shape};
  }
  return adze_infer_shapes(generator->module, generator->input_shapes,
                           generator->num_inputs, generator->output_shapes,
                           generator->num_outputs, NULL);
}

/* Outputs that are states share the memory of their inputs. */
static adze_status place_outputs(adze_generator *generator,
                                 const gen_run *run) {
  for (int32_t i = 0; i < generator->num_outputs; ++i) {
    gen_tensor *tensor = &generator->outputs[i];
    int32_t index = generator->output_states[i];
    if (index < 0) {
      for (int32_t d = 0; d < tensor->tensor.ndim; ++d)
        if (tensor->shape[d] < 0)
          return gen_error(ADZE_UNSUPPORTED,
                           "output %d: its size depends on the data", i);
      GEN_TRY(reserve(tensor));
      continue;
    }
    const gen_state *state = &generator->states[index];
    if (state->info.kind == ADZE_STATE_KEEP)
      *generator->output_tensors[i] =
          *generator->input_tensors[state->info.input];
    else
      set_rows(generator, tensor, state, run, buffer_of(run, index),
               run->past + run->rows);
  }
  return NULL;
}

/* ---- Numbers --------------------------------------------------------------
 */

static void put(void *data, DLDataType dtype, uint64_t at, int64_t value) {
  if (dtype.code == kDLFloat)
    ((float *)data)[at] = (float)value;
  else if (dtype.bits == 64)
    ((int64_t *)data)[at] = value;
  else if (dtype.bits == 32)
    ((int32_t *)data)[at] = (int32_t)value;
  else
    ((uint8_t *)data)[at] = (uint8_t)value;
}

/* Returns the number of tokens of a sequence in the run. */
static int64_t taken_of(const gen_run *run, const adze_sequence *sequence) {
  if (!sequence || (run->count > 1 && !sequence->waits))
    return 0;
  return run->has_prompts ? gen_left_of(sequence) - run->held : run->rows;
}

/* Returns the number of rows of the run before the first token of a
   sequence. */
static int64_t skipped_of(const adze_generator *generator, const gen_run *run,
                          const adze_sequence *sequence) {
  return generator->padding == GEN_BEFORE ? run->rows - taken_of(run, sequence)
                                          : 0;
}

/* Returns true if element `at` in the mask row of a sequence is one of its
 * tokens. Rows without tokens attend to the row that they write, since a row of
 * the mask must not be empty. */
static bool is_seen(const adze_generator *generator, const gen_run *run,
                    int64_t slot, int64_t at) {
  const adze_sequence *sequence = run->block->sequences[slot];
  int64_t done = sequence ? (int64_t)sequence->done : 0;
  if (run->has_prompts) {
    int64_t first = skipped_of(generator, run, sequence);
    return at >= first && at < first + taken_of(run, sequence);
  }
  if (generator->form == GEN_OWN)
    return at < done + run->rows;
  if (generator->form != GEN_PADDED || run->count == 1)
    return true;
  return at >= run->past - (sequence && sequence->waits ? done : 0);
}

static int64_t value_at(const adze_generator *generator, const gen_run *run,
                        int32_t index, int64_t slot, int64_t at) {
  const adze_sequence *sequence = run->block->sequences[slot];
  if (index == generator->mask)
    return is_seen(generator, run, slot, at);
  int64_t taken = taken_of(run, sequence);
  if (taken)
    at -= skipped_of(generator, run, sequence);
  if (at < 0 || at >= taken)
    return 0;
  int64_t position = (int64_t)sequence->done + at;
  return index == generator->ids ? sequence->tokens[position] : position;
}

/* Fills the tokens, positions or mask: one row of the last dim for each
   slot. */
static adze_status fill_input(adze_generator *generator, const gen_run *run,
                              int32_t index) {
  if (index < 0)
    return NULL;
  gen_tensor *tensor = &generator->inputs[index];
  GEN_TRY(reserve(tensor));
  int64_t last = tensor->shape[tensor->tensor.ndim - 1];
  int64_t rows = (int64_t)count_of(tensor) / (last ? last : 1);
  for (int64_t row = 0; row < rows; ++row) {
    int64_t slot = run->slot + (row < run->count ? row : 0);
    for (int64_t at = 0; at < last; ++at)
      put(tensor->data, tensor->tensor.dtype, (uint64_t)(row * last + at),
          value_at(generator, run, index, slot, at));
  }
  return NULL;
}

adze_status gen_take_scores(adze_generator *generator, const gen_run *run,
                            int64_t row, int64_t back) {
  const gen_tensor *tensor = &generator->outputs[generator->logits];
  int64_t count = tensor->shape[tensor->tensor.ndim - 1];
  if (count < 1)
    return gen_error(ADZE_UNSUPPORTED, "the logits have no elements");
  if (count > generator->vocabulary) {
    free(generator->scores);
    free(generator->order);
    generator->scores = malloc(2 * (size_t)count * sizeof(float));
    generator->order = malloc((size_t)count * sizeof(int32_t));
    if (!generator->scores || !generator->order)
      return gen_out_of_memory();
  }
  generator->vocabulary = count;
  uint64_t each = count_of(tensor) / (uint64_t)run->count;
  uint64_t first =
      (uint64_t)(row + 1) * each - (uint64_t)(back + 1) * (uint64_t)count;
  DLDataType dtype = tensor->tensor.dtype;
  gen_convert_scores(generator->scores,
                     (const char *)tensor->data + first * dtype.bits / 8, dtype,
                     count);
  return NULL;
}

adze_status gen_run_model(adze_generator *generator, const gen_run *run) {
  GEN_TRY(gen_shape_run(generator, run));
  if (generator->logits_dim >= 0)
    generator->outputs[generator->logits].shape[generator->logits_dim] =
        run->scored < 0 ? 0
        : run->scored   ? run->scored
                        : 1;
  GEN_TRY(place_outputs(generator, run));
  GEN_TRY(fill_input(generator, run, generator->ids));
  GEN_TRY(fill_input(generator, run, generator->mask));
  GEN_TRY(fill_input(generator, run, generator->positions));
  GEN_TRY(adze_run(generator->context, generator->input_tensors,
                   generator->num_inputs, generator->output_tensors,
                   generator->num_outputs));
  ++generator->num_runs;
  const gen_tensor *logits = &generator->outputs[generator->logits];
  int64_t words = logits->shape[logits->tensor.ndim - 1];
  generator->num_scored += words ? (int64_t)count_of(logits) / words : 0;
  return NULL;
}
