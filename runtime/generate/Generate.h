/* Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
 *
 * What the files of libadze_generate share. Names start with gen_.
 */
#ifndef ADZE_RUNTIME_GENERATE_H
#define ADZE_RUNTIME_GENERATE_H

#include "adze_generate.h"

#include <stdatomic.h>
#include <stdbool.h>

#define GEN_RANK 8
#define GEN_TRY(expression)                                                    \
  do {                                                                         \
    adze_status gen_try_status = (expression);                                 \
    if (gen_try_status)                                                        \
      return gen_try_status;                                                   \
  } while (0)

/* printf-like. */
adze_status gen_error(adze_code code, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
adze_status gen_out_of_memory(void);

/* adze_module_input or adze_module_output. */
typedef adze_status (*gen_value_fn)(const adze_module *module, int32_t index,
                                    const adze_value_info **info);
/* Returns the index of the value of that name, or -1. */
int32_t gen_find_value(const adze_module *module, gen_value_fn value,
                       const char *name);

/* A state of the model for one sequence. */
typedef struct {
  adze_state_info info;
  int32_t rank;
  int64_t dims[GEN_RANK]; /* of the buffer: as many rows as there is room for */
  DLDataType dtype;
  bool grows; /* a tensor has as many rows as there are tokens, else all */
  uint64_t bytes;
} gen_state;

/* A tensor of a step; grows. */
typedef struct {
  DLTensor tensor;
  int64_t shape[GEN_RANK], strides[GEN_RANK];
  void *data;
  uint64_t capacity;
} gen_tensor;

struct adze_generator {
  adze_module *module;
  adze_context *context;
  int32_t num_inputs, num_outputs, num_states;
  int32_t ids, mask, positions; /* inputs; -1: there is none */
  int32_t logits;
  gen_state *states;
  int32_t *input_states, *output_states; /* -1: of none */
  bool can_rewind;
  int64_t rows, chunk;
  int64_t *ends;
  size_t num_ends;
  adze_sequence *first;
  gen_tensor *inputs, *outputs;
  const DLTensor **input_tensors;
  DLTensor **output_tensors;
  adze_shape *input_shapes, *output_shapes;
  float *scores; /* of the last row, and what sampling needs */
  int32_t *order;
  int64_t vocabulary;
};

struct adze_sequence {
  adze_generator *generator;
  adze_sequence *next;
  int64_t *tokens;
  size_t count, capacity;
  size_t done;  /* tokens whose rows are in the buffers */
  size_t begin; /* where max_tokens counts from */
  adze_sampling sampling;
  int64_t *stop_tokens;   /* of all stop sequences */
  void **buffers;         /* one a state */
  const DLTensor **extra; /* one an input, or null */
  adze_token_fn callback;
  void *user;
  atomic_bool cancelled;
  bool active, failed;
};

/* ---- Steps (Step.c) -------------------------------------------------------
 */

/* Makes a step's tensors for `past` rows and `rows` new ones, all of them
 * without data but for the states of `sequence`, which may be null. */
adze_status gen_shape_step(adze_generator *generator, adze_sequence *sequence,
                           int64_t past, int64_t rows);
/* Runs the model on tokens [done, done + rows) of the sequence. The logits of
 * the last one are in generator->scores then. */
adze_status gen_run_step(adze_sequence *sequence, int64_t rows);

/* ---- Choice of tokens (Sampling.c) ----------------------------------------
 */

/* Returns the token that follows the sequence's, by generator->scores. */
int64_t gen_choose(const adze_sequence *sequence, float *logprob);

#endif /* ADZE_RUNTIME_GENERATE_H */
