/* Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
 *
 * Sequences: their tokens, creation, extension, and end.
 * */
#include "Generate.h"

#include <stdlib.h>
#include <string.h>

/* ---- Tokens ----------------------------------------------------------------
 */

adze_status gen_add_tokens(adze_sequence *sequence, const int64_t *tokens,
                           size_t count) {
  if (sequence->count + count > sequence->capacity) {
    size_t capacity = 2 * (sequence->count + count);
    int64_t *grown = realloc(sequence->tokens, capacity * sizeof(int64_t));
    if (!grown)
      return gen_out_of_memory();
    sequence->tokens = grown;
    sequence->capacity = capacity;
  }
  memcpy(sequence->tokens + sequence->count, tokens, count * sizeof(int64_t));
  sequence->count += count;
  return NULL;
}

const int64_t *adze_sequence_tokens(const adze_sequence *sequence,
                                    size_t *count) {
  *count = sequence ? sequence->count : 0;
  return sequence ? sequence->tokens : NULL;
}

/* ---- Life ------------------------------------------------------------------
 */

static adze_status set_sampling(adze_sequence *sequence,
                                const adze_sampling *sampling) {
  adze_sampling *own = &sequence->sampling;
  memset(own, 0, sizeof(*own));
  if (sampling)
    memcpy(own, sampling,
           sampling->size < sizeof(*own) ? sampling->size : sizeof(*own));
  if (!(own->temperature >= 0) || !(own->top_p >= 0) || !(own->min_p >= 0) ||
      !(own->repetition_penalty >= 0) || own->max_tokens < 0 || own->top_k < 0)
    return gen_error(ADZE_INVALID_ARGUMENT,
                     "expected sampling parameters that are not negative");
  size_t total = 0, at = 0;
  for (size_t i = 0; i < own->num_stops; ++i)
    total += own->stop_lengths[i];
  /* The stop sequences, after their lengths. */
  sequence->stop_tokens = calloc(total + own->num_stops + 1, sizeof(int64_t));
  if (!sequence->stop_tokens)
    return gen_out_of_memory();
  for (size_t i = 0; i < own->num_stops; ++i) {
    sequence->stop_tokens[at++] = (int64_t)own->stop_lengths[i];
    memcpy(sequence->stop_tokens + at, own->stops[i],
           own->stop_lengths[i] * sizeof(int64_t));
    at += own->stop_lengths[i];
  }
  own->stops = NULL; /* these belong to the caller */
  own->stop_lengths = NULL;
  return NULL;
}

static bool is_dense(const DLTensor *tensor) {
  int64_t stride = 1;
  for (int32_t d = tensor->ndim; tensor->strides && d-- > 0;) {
    if (tensor->shape[d] != 1 && tensor->strides[d] != stride)
      return false;
    stride *= tensor->shape[d];
  }
  return true;
}

static void release_copy(const adze_generator *generator, gen_copy *copy) {
  if (!copy || --copy->references)
    return;
  adze_memory_release(generator->context, copy->tensor.data, copy->bytes);
  free(copy);
}

/* Copies a tensor in host memory to a device, so that runs do not. */
static adze_status send(adze_sequence *sequence, int32_t index,
                        const DLTensor *tensor) {
  const adze_generator *generator = sequence->generator;
  if (generator->device.device_type == kDLCPU ||
      tensor->device.device_type != kDLCPU || tensor->ndim < 0 ||
      tensor->ndim > GEN_RANK || !tensor->data || !is_dense(tensor))
    return NULL;
  gen_copy *copy = calloc(1, sizeof(*copy));
  if (!copy)
    return gen_out_of_memory();
  copy->references = 1;
  release_copy(generator,
               sequence->copies[index]); /* the name is given twice */
  sequence->copies[index] = copy;
  copy->bytes = (uint64_t)tensor->dtype.bits * tensor->dtype.lanes;
  for (int32_t d = 0; d < tensor->ndim; ++d) {
    copy->shape[d] = tensor->shape[d];
    copy->bytes *= (uint64_t)tensor->shape[d];
  }
  copy->bytes = (copy->bytes + 7) / 8;
  void *data = NULL;
  GEN_TRY(adze_memory_allocate(generator->context, copy->bytes, &data));
  copy->tensor = *tensor;
  copy->tensor.data = data;
  copy->tensor.device = generator->device;
  copy->tensor.shape = copy->shape;
  copy->tensor.strides = NULL;
  copy->tensor.byte_offset = 0;
  sequence->extra[index] = &copy->tensor;
  return adze_memory_copy(generator->context, data, 0,
                          (const char *)tensor->data + tensor->byte_offset, 0,
                          copy->bytes, 1);
}

static adze_status set_extra(adze_sequence *sequence, const char *const *names,
                             const DLTensor *const *extra, size_t count) {
  const adze_generator *generator = sequence->generator;
  for (size_t i = 0; i < count; ++i) {
    int32_t index =
        gen_find_value(generator->module, adze_module_input, names[i]);
    if (index < 0)
      return gen_error(ADZE_INVALID_ARGUMENT, "the model has no input '%s'",
                       names[i]);
    sequence->extra[index] = extra[i];
    GEN_TRY(send(sequence, index, extra[i]));
  }
  for (int32_t i = 0; i < generator->num_inputs; ++i) {
    int32_t state = generator->input_states[i];
    bool is_own =
        i == generator->ids || i == generator->mask ||
        i == generator->positions ||
        (state >= 0 && generator->states[state].info.kind != ADZE_STATE_KEEP);
    const adze_value_info *info;
    GEN_TRY(adze_module_input(generator->module, i, &info));
    if (!is_own && !sequence->extra[i])
      return gen_error(ADZE_INVALID_ARGUMENT,
                       "expected a tensor for input '%s'", info->name);
    if (is_own && sequence->extra[i])
      return gen_error(ADZE_INVALID_ARGUMENT,
                       "input '%s' is the generator's own", info->name);
  }
  return NULL;
}

static adze_status create(adze_generator *generator, adze_token_fn callback,
                          void *user, adze_sequence **sequence) {
  adze_sequence *made = calloc(1, sizeof(*made));
  if (!made)
    return gen_out_of_memory();
  made->generator = generator;
  made->callback = callback;
  made->user = user;
  made->active = true;
  atomic_init(&made->cancelled, false);
  made->extra = calloc((size_t)generator->num_inputs + 1, sizeof(void *));
  made->copies = calloc((size_t)generator->num_inputs + 1, sizeof(void *));
  adze_sequence **last = &generator->first;
  while (*last)
    last = &(*last)->next;
  *last = *sequence = made;
  return made->extra && made->copies ? gen_take_slot(made)
                                     : gen_out_of_memory();
}

static adze_status fill(adze_sequence *sequence, const adze_sampling *sampling,
                        const int64_t *prompt, size_t count,
                        const char *const *names, const DLTensor *const *extra,
                        size_t num_extra) {
  GEN_TRY(set_sampling(sequence, sampling));
  GEN_TRY(set_extra(sequence, names, extra, num_extra));
  GEN_TRY(gen_add_tokens(sequence, prompt, count));
  sequence->begin = count;
  return NULL;
}

adze_status adze_sequence_create(adze_generator *generator,
                                 const adze_sampling *sampling,
                                 const int64_t *prompt, size_t count,
                                 const char *const *names,
                                 const DLTensor *const *extra, size_t num_extra,
                                 adze_token_fn callback, void *user,
                                 adze_sequence **sequence) {
  if (!generator || !sequence || !prompt || !count)
    return gen_error(ADZE_INVALID_ARGUMENT,
                     "expected a generator, at least one token, and a pointer "
                     "to the sequence");
  adze_sequence *made = NULL;
  adze_status status = create(generator, callback, user, &made);
  if (!status)
    status = fill(made, sampling, prompt, count, names, extra, num_extra);
  if (status)
    adze_sequence_release(made);
  else
    *sequence = made;
  return status;
}

void adze_sequence_release(adze_sequence *sequence) {
  if (!sequence)
    return;
  adze_generator *generator = sequence->generator;
  adze_sequence **at = &generator->first;
  while (*at && *at != sequence)
    at = &(*at)->next;
  if (*at)
    *at = sequence->next;
  gen_give_slot(sequence);
  for (int32_t i = 0; sequence->copies && i < generator->num_inputs; ++i)
    release_copy(generator, sequence->copies[i]);
  free(sequence->copies);
  free(sequence->extra);
  free(sequence->tokens);
  free(sequence->stop_tokens);
  free(sequence);
}

void adze_sequence_cancel(adze_sequence *sequence) {
  if (sequence)
    atomic_store(&sequence->cancelled, true);
}

adze_status adze_sequence_extend(adze_sequence *sequence, const int64_t *tokens,
                                 size_t count) {
  if (!sequence || !tokens || !count)
    return gen_error(ADZE_INVALID_ARGUMENT,
                     "expected a sequence and at least one token");
  if (sequence->active || sequence->failed)
    return gen_error(ADZE_INVALID_ARGUMENT,
                     "expected a sequence that has ended, not by a failure");
  GEN_TRY(gen_add_tokens(sequence, tokens, count));
  sequence->begin = sequence->count;
  atomic_store(&sequence->cancelled, false);
  sequence->active = true;
  return NULL;
}

static adze_status fork_into(const adze_sequence *sequence,
                             const adze_sampling *sampling,
                             adze_sequence *fork) {
  const adze_generator *generator = sequence->generator;
  if (sampling) {
    GEN_TRY(set_sampling(fork, sampling));
  } else {
    size_t count = 1, at = 0;
    for (size_t i = 0; i < sequence->sampling.num_stops; ++i) {
      count += (size_t)sequence->stop_tokens[at] + 1;
      at += (size_t)sequence->stop_tokens[at] + 1;
    }
    fork->sampling = sequence->sampling;
    fork->stop_tokens = malloc(count * sizeof(int64_t));
    if (!fork->stop_tokens)
      return gen_out_of_memory();
    memcpy(fork->stop_tokens, sequence->stop_tokens, count * sizeof(int64_t));
  }
  GEN_TRY(gen_add_tokens(fork, sequence->tokens, sequence->count));
  memcpy(fork->extra, sequence->extra,
         (size_t)generator->num_inputs * sizeof(void *));
  for (int32_t i = 0; i < generator->num_inputs; ++i) {
    fork->copies[i] = sequence->copies[i];
    if (fork->copies[i])
      ++fork->copies[i]->references;
  }
  GEN_TRY(gen_copy_slot(fork, sequence));
  fork->begin = sequence->begin;
  fork->active = sequence->active;
  return NULL;
}

adze_status adze_sequence_fork(adze_sequence *sequence,
                               const adze_sampling *sampling,
                               adze_token_fn callback, void *user,
                               adze_sequence **fork) {
  if (!sequence || !fork || sequence->failed)
    return gen_error(
        ADZE_INVALID_ARGUMENT,
        "expected a sequence that has not failed, and a pointer to "
        "the new one");
  adze_sequence *made = NULL;
  adze_status status = create(sequence->generator, callback, user, &made);
  if (!status)
    status = fork_into(sequence, sampling, made);
  if (status)
    adze_sequence_release(made);
  else
    *fork = made;
  return status;
}

adze_status adze_sequence_rewind(adze_sequence *sequence, size_t count) {
  if (!sequence || !count || count > sequence->count)
    return gen_error(ADZE_INVALID_ARGUMENT,
                     "expected a sequence and at least 1 and at most %zu "
                     "tokens, but got %zu",
                     sequence ? sequence->count : 0, count);
  if (!sequence->generator->can_rewind)
    return gen_error(ADZE_UNSUPPORTED,
                     "the model has states that cannot be rewound");
  sequence->count = count;
  /* The logits of the last token are computed again. */
  if (sequence->done >= count)
    sequence->done = count - 1;
  sequence->active = sequence->failed = false;
  return NULL;
}
