/* Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
 *
 * Generation of tokens by decoder models: token ids in, token ids out.
 *
 *   adze_generator *generator;
 *   status = adze_generator_create(module, NULL, &generator);
 *   adze_sampling sampling = {.size = sizeof(sampling), .max_tokens = 64};
 *   adze_sequence *sequence;
 *   status = adze_sequence_create(generator, &sampling, prompt, count, NULL,
 *                                 NULL, 0, print_token, NULL, &sequence);
 *   status = adze_generator_run(generator);
 *
 * The model is a module for the CPU with token ids as input, logits as output,
 * and states (adze_module_state): the generator keeps these in buffers, in
 * place, with a slot for each sequence. It is a library of its own,
 * libadze_generate, over libadze_rt. One thread drives a generator, but for
 * adze_sequence_cancel.
 */
#ifndef ADZE_GENERATE_H
#define ADZE_GENERATE_H

#include "adze.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct adze_generator adze_generator;
typedef struct adze_sequence adze_sequence;

typedef enum {
  ADZE_TOKEN = 0,     /* a token was chosen */
  ADZE_STOPPED = 1,   /* the last event: by an end token, a stop sequence,
                         max_tokens or the callback */
  ADZE_FULL = 2,      /* the last event: the buffers have no row left */
  ADZE_CANCELLED = 3, /* the last event */
  ADZE_FAILED = 4     /* the last event: see what the step returned */
} adze_event;

/* Writes at most `most` tokens that may follow the `count` given ones to
 * `draft`, and returns their number. A token that the model does not have fails
 * the sequence. */
typedef size_t (*adze_draft_fn)(void *user, const int64_t *tokens, size_t count,
                                int64_t *draft, size_t most);

/* Parameters of sampling. With all zeros but `size`, the most likely token is
 * selected each time. The filters apply in the order of the fields. */
typedef struct {
  size_t size; /* of this struct */
  /* Logits of tokens that occur are divided by it where positive, and
   * multiplied where negative (Keskar et al., CTRL, 2019). 0 or 1: off. */
  float repetition_penalty;
  float temperature; /* logits are divided by it; 0: the most likely token */
  int32_t top_k;     /* only this many of the most likely tokens; 0: all */
  float top_p;       /* only the most likely ones, up to this sum of
                        probabilities (Holtzman et al., 2020); 0 or 1: all */
  float min_p;       /* only those at least so likely, relative to the most
                        likely one; 0: all */
  /* Random numbers are a function of the seed and the position: results do not
   * depend on threads or on other sequences of the generator. */
  uint64_t seed;
  int64_t max_tokens; /* after the prompt; 0: until the buffers are full */
  /* Token sequences that end the generation. They are copied. */
  const int64_t *const *stops;
  const size_t *stop_lengths;
  size_t num_stops;
  /* Speculative decoding: at most this many tokens (up to 64) are drafted after
   * the next one. One run of the model verifies all of them and accepts those
   * that it would have chosen: the tokens are the same, in fewer runs. 0: none,
   * as for any model whose states cannot be rewound. */
  int32_t draft;
  adze_draft_fn drafter; /* NULL: prompt lookup, by the last tokens */
  void *drafter_user;
} adze_sampling;

/* Called by adze_generator_step, for each token and once at the end (`token` is
 * then -1). Any value but 0 stops the sequence. It may create sequences, and
 * must not release any. `logprob` is the logarithm of the token's probability
 * under the model, before filters. */
typedef int (*adze_token_fn)(void *user, adze_sequence *sequence,
                             adze_event event, int64_t token, float logprob);

/* New fields are only appended. NULL and 0 are the defaults. */
typedef struct {
  size_t size;   /* of this struct */
  int64_t rows;  /* of the buffers of a sequence: prompt and tokens; 2048 */
  int64_t chunk; /* rows of a prompt that one step takes; 512 */
  const int64_t *end_tokens; /* that end each sequence; copied */
  size_t num_end_tokens;
  /* Names of the model's values, if they differ from the defaults: input_ids,
   * attention_mask, position_ids or cache_position, logits. */
  const char *ids, *mask, *positions, *logits;
  int64_t batch; /* most sequences that one run of the model takes; 8 */
} adze_generator_options;

/* Fails with ADZE_UNSUPPORTED if the module lacks such values or states, and
 * names them. The module must outlive the generator. `options` may be NULL. */
ADZE_API adze_status adze_generator_create(
    adze_module *module, const adze_generator_options *options,
    adze_generator **generator);

/* New fields are only appended. */
typedef struct {
  int64_t batch;      /* most sequences that one run of the model takes */
  const char *limits; /* why these are 1, or only some of those that run; NULL:
                         any sequences form a batch. Lives as the generator */
  int64_t num_runs;   /* of the model so far */
  int64_t num_rows;   /* of tokens that these took, of prompts as well */
  int64_t num_scored; /* rows of logits that these computed */
  int64_t num_drafted, num_accepted; /* tokens (adze_sampling.draft) */
} adze_generator_info;
/* Writes `size` bytes, sizeof(adze_generator_info) of the caller. */
ADZE_API adze_status adze_generator_get_info(const adze_generator *generator,
                                             adze_generator_info *info,
                                             size_t size);
/* Also releases its sequences. */
ADZE_API void adze_generator_release(adze_generator *generator);

/* Creates a sequence, which joins at the next step. `prompt` has at least one
 * token. The tensors `extra` are inputs by name that are constant for the
 * sequence (such as results of an encoder); they must outlive it. `sampling`
 * and `callback` may be NULL. */
ADZE_API adze_status adze_sequence_create(
    adze_generator *generator, const adze_sampling *sampling,
    const int64_t *prompt, size_t count, const char *const *names,
    const DLTensor *const *extra, size_t num_extra, adze_token_fn callback,
    void *user, adze_sequence **sequence);
/* Appends more tokens, for the next turn of a chat. max_tokens counts from
 * here. The sequence must have ended without a failure. */
ADZE_API adze_status adze_sequence_extend(adze_sequence *sequence,
                                          const int64_t *tokens, size_t count);
/* Creates a copy that continues independently; copies the rows that are in use.
 * `sampling` NULL: that of the original. */
ADZE_API adze_status adze_sequence_fork(adze_sequence *sequence,
                                        const adze_sampling *sampling,
                                        adze_token_fn callback, void *user,
                                        adze_sequence **fork);
/* Drops all tokens but the first `count`, and ends the sequence if it is
 * active. ADZE_UNSUPPORTED if the model has states that cannot be rewound
 * (recurrent ones).
 * */
ADZE_API adze_status adze_sequence_rewind(adze_sequence *sequence,
                                          size_t count);
/* Returns the tokens so far, including the prompt; valid until the next
   call. */
ADZE_API const int64_t *adze_sequence_tokens(const adze_sequence *sequence,
                                             size_t *count);
/* May be called by any thread; takes effect before the next step. */
ADZE_API void adze_sequence_cancel(adze_sequence *sequence);
ADZE_API void adze_sequence_release(adze_sequence *sequence);

/* Runs, for each active sequence, a chunk of its prompt, or one token, or some
 * of a draft. Only one sequence gets a chunk of more than one token, so that
 * others are not delayed; but short prompts share a run of the model, padded to
 * one length, with at most as many rows as a chunk. Sequences that get one
 * token share runs of the model, as far as its form allows
 * (adze_generator_get_info); tokens do not depend on the batch. `*active` (may
 * be NULL) receives the number of sequences that continue. If a sequence fails,
 * the others are unchanged or one token further; the first error is
 * returned. */
ADZE_API adze_status adze_generator_step(adze_generator *generator,
                                         int32_t *active);
/* Steps until no sequence is active. */
ADZE_API adze_status adze_generator_run(adze_generator *generator);

#ifdef __cplusplus
}
#endif
#endif /* ADZE_GENERATE_H */
