/* Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
 *
 * Generators: determines the role of each value of a model.
 */
#include "Generate.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_ROWS 2048
#define DEFAULT_CHUNK 512
#define DEFAULT_BATCH 8

adze_status gen_error(adze_code code, const char *format, ...) {
  char text[512];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof(text), format, arguments);
  va_end(arguments);
  return adze_status_create(code, text);
}

adze_status gen_out_of_memory(void) {
  return adze_status_create(ADZE_OUT_OF_MEMORY, "out of memory");
}

/* ---- The model's values ----------------------------------------------------
 */

int32_t gen_find_value(const adze_module *module, gen_value_fn value,
                       const char *name) {
  const adze_value_info *info;
  adze_status end = NULL;
  for (int32_t i = 0; !(end = value(module, i, &info)); ++i)
    if (!strcmp(info->name, name))
      return i;
  adze_status_free(end);
  return -1;
}

/* `given` is the name from the user, which must exist, or null. */
static adze_status choose_input(const adze_module *module, const char *given,
                                const char *usual, const char *other,
                                int32_t *index) {
  *index = gen_find_value(module, adze_module_input, given ? given : usual);
  if (*index < 0 && !given && other)
    *index = gen_find_value(module, adze_module_input, other);
  if (*index < 0 && given)
    return gen_error(ADZE_INVALID_ARGUMENT, "the model has no input '%s'",
                     given);
  return NULL;
}

/* Tokens, positions and masks are integers in rows along the last dim. */
static adze_status check_numbers(const adze_module *module, int32_t index) {
  const adze_value_info *info;
  if (index < 0)
    return NULL;
  GEN_TRY(adze_module_input(module, index, &info));
  DLDataType t = info->dtype;
  bool fits = (t.code == kDLInt && (t.bits == 64 || t.bits == 32)) ||
              (t.code == kDLBool && t.bits == 8) ||
              (t.code == kDLFloat && t.bits == 32);
  if (info->kind == ADZE_TENSOR && fits && info->rank >= 1 && info->rank <= 3 &&
      info->dims[info->rank - 1] < 0)
    return NULL;
  return gen_error(ADZE_UNSUPPORTED,
                   "input '%s': expected a dynamic number of integers, bools "
                   "or floats along the last of 1 to 3 dims",
                   info->name);
}

static adze_status find_values(adze_generator *generator,
                               const adze_generator_options *options) {
  const adze_module *module = generator->module;
  GEN_TRY(choose_input(module, options->ids, "input_ids", "tokens",
                       &generator->ids));
  GEN_TRY(choose_input(module, options->mask, "attention_mask", NULL,
                       &generator->mask));
  GEN_TRY(choose_input(module, options->positions, "position_ids",
                       "cache_position", &generator->positions));
  generator->logits = gen_find_value(
      module, adze_module_output, options->logits ? options->logits : "logits");
  if (generator->ids < 0 || generator->logits < 0)
    return gen_error(ADZE_UNSUPPORTED,
                     "the model has no %s '%s'; name it in the options",
                     generator->ids < 0 ? "input" : "output",
                     generator->ids < 0 ? "input_ids"
                     : options->logits  ? options->logits
                                        : "logits");
  GEN_TRY(check_numbers(module, generator->ids));
  GEN_TRY(check_numbers(module, generator->mask));
  GEN_TRY(check_numbers(module, generator->positions));
  generator->logits_dim = adze_module_last_rows(module, generator->logits);
  const adze_value_info *info;
  GEN_TRY(adze_module_output(module, generator->logits, &info));
  if (info->kind != ADZE_TENSOR || info->rank < 1 || info->rank > GEN_RANK ||
      (info->dtype.bits != 32 && info->dtype.bits != 16) ||
      (info->dtype.code != kDLFloat && info->dtype.code != kDLBfloat))
    return gen_error(ADZE_UNSUPPORTED,
                     "output '%s': expected logits of f32, f16 or bf16",
                     info->name);
  return NULL;
}

/* ---- States ----------------------------------------------------------------
 */

static adze_status read_state(adze_generator *generator, int32_t index) {
  gen_state *state = &generator->states[index];
  GEN_TRY(adze_module_state(generator->module, index, &state->info,
                            sizeof(state->info)));
  const adze_value_info *info;
  GEN_TRY(adze_module_input(generator->module, state->info.input, &info));
  generator->input_states[state->info.input] = index;
  generator->output_states[state->info.output] = index;
  if (info->rank > GEN_RANK)
    return gen_error(ADZE_UNSUPPORTED, "input '%s': expected at most %d dims",
                     info->name, GEN_RANK);
  state->rank = info->rank;
  state->dtype = info->dtype;
  state->bytes = state->row_bytes = (uint64_t)info->dtype.bits / 8;
  bool is_rows = state->info.kind == ADZE_STATE_ROWS;
  for (int32_t d = 0; d < info->rank; ++d) {
    int64_t size = info->dims[d];
    if (size < 0)
      size = is_rows && d == state->info.axis ? generator->rows : 1;
    state->dims[d] = size;
    state->bytes *= (uint64_t)size;
    if (d > state->info.axis)
      state->row_bytes *= (uint64_t)size;
  }
  state->grows = is_rows && info->dims[state->info.axis] < 0;
  generator->can_rewind &= is_rows || state->info.kind == ADZE_STATE_KEEP;
  return NULL;
}

/* Determines from the output shapes of a step with a past whether states have
 * one row per token or a fixed number of rows. */
static adze_status find_growing(adze_generator *generator) {
  int64_t some = generator->rows < 5 ? 1 : 4;
  gen_run run = {.count = 1, .past = some, .rows = 1};
  GEN_TRY(gen_shape_run(generator, &run));
  for (int32_t i = 0; i < generator->num_states; ++i) {
    gen_state *state = &generator->states[i];
    if (!state->grows)
      continue;
    int64_t rows =
        generator->outputs[state->info.output].shape[state->info.axis];
    state->grows = rows == some + 1;
    if (!state->grows)
      generator->can_rewind &= rows == some;
  }
  return NULL;
}

static adze_status find_states(adze_generator *generator) {
  int32_t count = generator->num_states;
  if (!count)
    return gen_error(ADZE_UNSUPPORTED,
                     "the module has no states: no output continues an input "
                     "(see --state of atranslate)");
  memset(generator->input_states, -1,
         (size_t)generator->num_inputs * sizeof(int32_t));
  memset(generator->output_states, -1,
         (size_t)generator->num_outputs * sizeof(int32_t));
  generator->can_rewind = true;
  for (int32_t i = 0; i < count; ++i)
    GEN_TRY(read_state(generator, i));
  return find_growing(generator);
}

/* ---- Life ------------------------------------------------------------------
 */

static adze_status allocate(adze_generator *generator) {
  size_t inputs = (size_t)generator->num_inputs + 1,
         outputs = (size_t)generator->num_outputs + 1;
  generator->states =
      calloc((size_t)generator->num_states + 1, sizeof(gen_state));
  generator->input_states = calloc(inputs, sizeof(int32_t));
  generator->output_states = calloc(outputs, sizeof(int32_t));
  generator->inputs = calloc(inputs, sizeof(gen_tensor));
  generator->outputs = calloc(outputs, sizeof(gen_tensor));
  generator->input_tensors = calloc(inputs, sizeof(DLTensor *));
  generator->output_tensors = calloc(outputs, sizeof(DLTensor *));
  generator->input_shapes = calloc(inputs, sizeof(adze_shape));
  generator->output_shapes = calloc(outputs, sizeof(adze_shape));
  bool complete = generator->states && generator->input_states &&
                  generator->output_states && generator->inputs &&
                  generator->outputs && generator->input_tensors &&
                  generator->output_tensors && generator->input_shapes &&
                  generator->output_shapes;
  return complete ? NULL : gen_out_of_memory();
}

static adze_status copy_ends(adze_generator *generator,
                             const adze_generator_options *options) {
  generator->num_ends = options->num_end_tokens;
  if (!generator->num_ends)
    return NULL;
  size_t bytes = generator->num_ends * sizeof(int64_t);
  generator->ends = malloc(bytes);
  if (!generator->ends)
    return gen_out_of_memory();
  memcpy(generator->ends, options->end_tokens, bytes);
  return NULL;
}

static adze_status prepare(adze_generator *generator,
                           const adze_generator_options *options) {
  generator->rows = options->rows > 0 ? options->rows : DEFAULT_ROWS;
  generator->chunk = options->chunk > 0 ? options->chunk : DEFAULT_CHUNK;
  generator->capacity = generator->rows;
  generator->slots = 1;
  generator->device = options->device;
  if (!generator->device.device_type)
    generator->device = (DLDevice){kDLCPU, 0};
  generator->num_inputs = adze_module_num_inputs(generator->module);
  generator->num_outputs = adze_module_num_outputs(generator->module);
  generator->num_states = adze_module_num_states(generator->module);
  GEN_TRY(allocate(generator));
  GEN_TRY(copy_ends(generator, options));
  GEN_TRY(find_values(generator, options));
  GEN_TRY(find_states(generator));
  GEN_TRY(adze_context_create(generator->module, generator->device,
                              &generator->context));
  return gen_find_form(generator,
                       options->batch > 0 ? options->batch : DEFAULT_BATCH);
}

adze_status adze_generator_create(adze_module *module,
                                  const adze_generator_options *options,
                                  adze_generator **generator) {
  if (!module || !generator)
    return gen_error(ADZE_INVALID_ARGUMENT,
                     "expected a module and a pointer to the generator");
  adze_generator_options given = {0};
  if (options)
    memcpy(&given, options,
           options->size < sizeof(given) ? options->size : sizeof(given));
  adze_generator *made = calloc(1, sizeof(*made));
  if (!made)
    return gen_out_of_memory();
  adze_module_retain(module);
  made->module = module;
  adze_status status = prepare(made, &given);
  if (status) {
    adze_generator_release(made);
    return status;
  }
  *generator = made;
  return NULL;
}

adze_status adze_generator_get_info(const adze_generator *generator,
                                    adze_generator_info *info, size_t size) {
  if (!generator || !info)
    return gen_error(ADZE_INVALID_ARGUMENT,
                     "expected a generator and a pointer to its description");
  adze_generator_info all = {.batch = generator->slots,
                             .limits = generator->limits,
                             .num_runs = generator->num_runs,
                             .num_rows = generator->num_rows,
                             .num_scored = generator->num_scored,
                             .num_drafted = generator->num_drafted,
                             .num_accepted = generator->num_accepted};
  memcpy(info, &all, size < sizeof(all) ? size : sizeof(all));
  return NULL;
}

void adze_generator_release(adze_generator *generator) {
  if (!generator)
    return;
  while (generator->first)
    adze_sequence_release(generator->first);
  adze_context_release(generator->context);
  for (int32_t i = 0; generator->inputs && i < generator->num_inputs; ++i)
    free(generator->inputs[i].data);
  for (int32_t i = 0; generator->outputs && i < generator->num_outputs; ++i)
    free(generator->outputs[i].data);
  free(generator->states);
  free(generator->input_states);
  free(generator->output_states);
  free(generator->inputs);
  free(generator->outputs);
  free(generator->input_tensors);
  free(generator->output_tensors);
  free(generator->input_shapes);
  free(generator->output_shapes);
  free(generator->ends);
  free(generator->scores);
  free(generator->order);
  adze_module_release(generator->module);
  free(generator);
}
