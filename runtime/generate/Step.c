/* Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
 *
 * One run of the model: tensors of a step, and the logits of its last token.
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

/* Dims that the model leaves open: `last` for the last one, 1 for others. */
static void set_dims(gen_tensor *tensor, const adze_value_info *info,
                     int64_t last) {
  for (int32_t d = 0; d < info->rank; ++d)
    tensor->shape[d] = info->dims[d] >= 0    ? info->dims[d]
                       : d + 1 == info->rank ? last
                                             : 1;
}

/* Rows of a state in the sequence's buffer. */
static void set_rows(gen_tensor *tensor, const gen_state *state, void *buffer,
                     int64_t rows) {
  int64_t stride = 1;
  for (int32_t d = state->rank; d-- > 0;) {
    tensor->shape[d] = state->dims[d];
    tensor->strides[d] = stride;
    stride *= state->dims[d];
  }
  if (state->grows)
    tensor->shape[state->info.axis] = rows;
  tensor->tensor.strides = tensor->strides;
  tensor->tensor.data = buffer;
}

static adze_status shape_input(adze_generator *generator,
                               adze_sequence *sequence, int32_t index,
                               int64_t past, int64_t rows) {
  const adze_value_info *info;
  GEN_TRY(adze_module_input(generator->module, index, &info));
  gen_tensor *tensor = &generator->inputs[index];
  describe(tensor, info);
  generator->input_tensors[index] = &tensor->tensor;
  int32_t state = generator->input_states[index];
  bool is_kept =
      state >= 0 && generator->states[state].info.kind == ADZE_STATE_KEEP;
  if (sequence && sequence->extra[index])
    generator->input_tensors[index] = sequence->extra[index];
  else if (state >= 0 && !is_kept)
    set_rows(tensor, &generator->states[state],
             sequence ? sequence->buffers[state] : NULL, past);
  else
    set_dims(tensor, info, index == generator->mask ? past + rows : rows);
  generator->input_shapes[index] =
      (adze_shape){info->rank, generator->input_tensors[index]->shape};
  return NULL;
}

adze_status gen_shape_step(adze_generator *generator, adze_sequence *sequence,
                           int64_t past, int64_t rows) {
  for (int32_t i = 0; i < generator->num_inputs; ++i)
    GEN_TRY(shape_input(generator, sequence, i, past, rows));
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

/* Outputs that are states lie where their inputs do. */
static adze_status place_outputs(adze_generator *generator,
                                 adze_sequence *sequence, int64_t total) {
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
      set_rows(tensor, state, sequence->buffers[index], total);
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

/* Tokens, positions or ones, in each row of the last dim. */
static adze_status fill_input(adze_sequence *sequence, int32_t index) {
  adze_generator *generator = sequence->generator;
  if (index < 0)
    return NULL;
  gen_tensor *tensor = &generator->inputs[index];
  GEN_TRY(reserve(tensor));
  int64_t last = tensor->shape[tensor->tensor.ndim - 1];
  uint64_t count = count_of(tensor);
  for (uint64_t i = 0; i < count; ++i) {
    int64_t at = (int64_t)sequence->done + (int64_t)(i % (uint64_t)last);
    int64_t value = index == generator->ids         ? sequence->tokens[at]
                    : index == generator->positions ? at
                                                    : 1;
    put(tensor->data, tensor->tensor.dtype, i, value);
  }
  return NULL;
}

static float half_as_float(uint16_t bits) {
  uint32_t sign = (uint32_t)(bits & 0x8000u) << 16, rest = bits & 0x7fffu;
  union {
    uint32_t bits;
    float value;
  } number = {rest << 13};
  if (rest >= 0x7c00u) { /* infinite, or no number */
    number.bits |= 0x7f800000u;
  } else {
    number.value *= 0x1p112f;
  }
  number.bits |= sign;
  return number.value;
}

/* The last row of the logits as floats. */
static adze_status take_scores(adze_generator *generator) {
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
  uint64_t first = count_of(tensor) - (uint64_t)count;
  DLDataType dtype = tensor->tensor.dtype;
  for (int64_t i = 0; i < count; ++i) {
    uint64_t at = first + (uint64_t)i;
    union {
      uint32_t bits;
      float value;
    } number;
    if (dtype.bits == 32) {
      number.value = ((const float *)tensor->data)[at];
    } else {
      uint16_t bits = ((const uint16_t *)tensor->data)[at];
      if (dtype.code == kDLBfloat)
        number.bits = (uint32_t)bits << 16;
      else
        number.value = half_as_float(bits);
    }
    generator->scores[i] = number.value;
  }
  return NULL;
}

adze_status gen_run_step(adze_sequence *sequence, int64_t rows) {
  adze_generator *generator = sequence->generator;
  int64_t past = (int64_t)sequence->done;
  GEN_TRY(gen_shape_step(generator, sequence, past, rows));
  GEN_TRY(place_outputs(generator, sequence, past + rows));
  GEN_TRY(fill_input(sequence, generator->ids));
  GEN_TRY(fill_input(sequence, generator->mask));
  GEN_TRY(fill_input(sequence, generator->positions));
  GEN_TRY(adze_run(generator->context, generator->input_tensors,
                   generator->num_inputs, generator->output_tensors,
                   generator->num_outputs));
  sequence->done += (size_t)rows;
  return take_scores(generator);
}
