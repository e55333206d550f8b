/* Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
 *
 * Sequences: their tokens, their buffers, and how they go on and end.
 */
#include "Generate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* ---- Buffers ---------------------------------------------------------------
 */

/* Zeros, of which the system gives pages as they are written. */
static void *take_buffer(uint64_t bytes) {
  void *data = mmap(NULL, bytes ? bytes : 1, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return data == MAP_FAILED ? NULL : data;
}

static adze_status take_buffers(adze_sequence *sequence) {
  const adze_generator *generator = sequence->generator;
  for (int32_t i = 0; i < generator->num_states; ++i) {
    const gen_state *state = &generator->states[i];
    if (state->info.kind == ADZE_STATE_KEEP)
      continue;
    sequence->buffers[i] = take_buffer(state->bytes);
    if (!sequence->buffers[i])
      return gen_out_of_memory();
  }
  return NULL;
}

/* Copies the rows that are in use. */
static void copy_buffer(const gen_state *state, char *to, const char *from,
                        uint64_t rows) {
  uint64_t outer = 1, row = (uint64_t)state->dtype.bits / 8;
  if (!state->grows) {
    memcpy(to, from, state->bytes);
    return;
  }
  for (int32_t d = 0; d < state->rank; ++d) {
    if (d < state->info.axis)
      outer *= (uint64_t)state->dims[d];
    else if (d > state->info.axis)
      row *= (uint64_t)state->dims[d];
  }
  uint64_t pitch = (uint64_t)state->dims[state->info.axis] * row;
  for (uint64_t i = 0; i < outer; ++i)
    memcpy(to + i * pitch, from + i * pitch, rows * row);
}

/* ---- Tokens ----------------------------------------------------------------
 */

static adze_status add_tokens(adze_sequence *sequence, const int64_t *tokens,
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
  /* The sequences, behind their lengths. */
  sequence->stop_tokens = calloc(total + own->num_stops + 1, sizeof(int64_t));
  if (!sequence->stop_tokens)
    return gen_out_of_memory();
  for (size_t i = 0; i < own->num_stops; ++i) {
    sequence->stop_tokens[at++] = (int64_t)own->stop_lengths[i];
    memcpy(sequence->stop_tokens + at, own->stops[i],
           own->stop_lengths[i] * sizeof(int64_t));
    at += own->stop_lengths[i];
  }
  own->stops = NULL; /* the caller's */
  own->stop_lengths = NULL;
  return NULL;
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
  made->buffers = calloc((size_t)generator->num_states + 1, sizeof(void *));
  made->extra = calloc((size_t)generator->num_inputs + 1, sizeof(void *));
  adze_sequence **last = &generator->first;
  while (*last)
    last = &(*last)->next;
  *last = *sequence = made;
  return made->buffers && made->extra ? take_buffers(made)
                                      : gen_out_of_memory();
}

static adze_status fill(adze_sequence *sequence, const adze_sampling *sampling,
                        const int64_t *prompt, size_t count,
                        const char *const *names, const DLTensor *const *extra,
                        size_t num_extra) {
  GEN_TRY(set_sampling(sequence, sampling));
  GEN_TRY(set_extra(sequence, names, extra, num_extra));
  GEN_TRY(add_tokens(sequence, prompt, count));
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
                     "expected a generator, at least one token, and a place "
                     "for the sequence");
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
  for (int32_t i = 0; sequence->buffers && i < generator->num_states; ++i)
    if (sequence->buffers[i])
      munmap(sequence->buffers[i],
             generator->states[i].bytes ? generator->states[i].bytes : 1);
  free(sequence->buffers);
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
  GEN_TRY(add_tokens(sequence, tokens, count));
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
  GEN_TRY(add_tokens(fork, sequence->tokens, sequence->count));
  memcpy(fork->extra, sequence->extra,
         (size_t)generator->num_inputs * sizeof(void *));
  for (int32_t i = 0; i < generator->num_states; ++i)
    if (fork->buffers[i])
      copy_buffer(&generator->states[i], fork->buffers[i], sequence->buffers[i],
                  sequence->done);
  fork->done = sequence->done;
  fork->begin = sequence->begin;
  fork->active = sequence->active;
  return NULL;
}

adze_status adze_sequence_fork(adze_sequence *sequence,
                               const adze_sampling *sampling,
                               adze_token_fn callback, void *user,
                               adze_sequence **fork) {
  if (!sequence || !fork || sequence->failed)
    return gen_error(ADZE_INVALID_ARGUMENT,
                     "expected a sequence that has not failed, and a place for "
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
                     "the model has states that can't go back");
  sequence->count = count;
  /* The logits of the last token are computed again. */
  if (sequence->done >= count)
    sequence->done = count - 1;
  sequence->active = sequence->failed = false;
  return NULL;
}

/* ---- Steps -----------------------------------------------------------------
 */

static int report(adze_sequence *sequence, adze_event event, int64_t token,
                  float logprob) {
  if (event != ADZE_TOKEN)
    sequence->active = false;
  return sequence->callback ? sequence->callback(sequence->user, sequence,
                                                 event, token, logprob)
                            : 0;
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

/* A chunk of the prompt, or the last token and then a new one. */
static adze_status advance(adze_sequence *sequence, int64_t most) {
  adze_generator *generator = sequence->generator;
  int64_t rows = (int64_t)(sequence->count - sequence->done);
  if (rows > most)
    rows = most;
  if ((int64_t)sequence->done + rows > generator->rows) {
    report(sequence, ADZE_FULL, -1, 0);
    return NULL;
  }
  GEN_TRY(gen_run_step(sequence, rows));
  if (sequence->done < sequence->count)
    return NULL;
  float logprob;
  int64_t token = gen_choose(sequence, &logprob);
  if (isnan(logprob))
    return gen_error(ADZE_RUN_ERROR, "the logits are not numbers");
  GEN_TRY(add_tokens(sequence, &token, 1));
  bool stops = report(sequence, ADZE_TOKEN, token, logprob) != 0;
  if (stops || ends(sequence))
    report(sequence, ADZE_STOPPED, -1, 0);
  return NULL;
}

adze_status adze_generator_step(adze_generator *generator, int32_t *active) {
  if (!generator)
    return gen_error(ADZE_INVALID_ARGUMENT,
                     "expected a generator, but got NULL");
  adze_status first = NULL;
  bool has_chunk = false;
  int32_t count = 0;
  adze_sequence *next;
  for (adze_sequence *sequence = generator->first; sequence; sequence = next) {
    next = sequence->next;
    if (sequence->active && atomic_load(&sequence->cancelled))
      report(sequence, ADZE_CANCELLED, -1, 0);
    if (!sequence->active)
      continue;
    bool is_chunk = sequence->count - sequence->done > 1;
    if (is_chunk && has_chunk) {
      ++count;
      continue;
    }
    has_chunk |= is_chunk;
    adze_status status = advance(sequence, generator->chunk);
    if (status) {
      sequence->failed = true;
      report(sequence, ADZE_FAILED, -1, 0);
      if (first)
        adze_status_free(status);
      else
        first = status;
    }
    count += sequence->active;
  }
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
