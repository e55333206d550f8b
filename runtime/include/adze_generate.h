/* Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
 *
 * The C API of token generation with decoder models, on token ids.
 *
 *   adze_generator *generator;
 *   status = adze_generator_create(module, NULL, &generator);
 *   adze_sampling sampling = {.size = sizeof(sampling), .max_tokens = 64};
 *   adze_sequence *sequence;
 *   status = adze_sequence_create(generator, &sampling, prompt, count, NULL,
 *                                 NULL, 0, print_token, NULL, &sequence);
 *   status = adze_generator_run(generator);
 *
 * The model is a module with token ids as input, logits as output, and states
 * (adze_module_state), which the generator updates in place in its buffers on
 * the device, with a slot for each sequence. The API is a separate library,
 * libadze_generate, on top of libadze_rt. Only one thread at a time may use a
 * generator, except for adze_sequence_cancel.
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
  ADZE_TOKEN = 0, /* a token was generated */
  /* The last event of a sequence: */
  ADZE_STOPPED = 1,   /* an end token, a stop sequence, max_tokens or the
                         callback ended it */
  ADZE_FULL = 2,      /* its buffers are full */
  ADZE_CANCELLED = 3, /* it was cancelled */
  ADZE_FAILED = 4     /* it failed; the step returned the error */
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
  float top_p;       /* only the most likely tokens up to this sum of
                        probabilities (Holtzman et al., 2020); 0 or 1: all */
  float min_p;       /* only tokens of at least this probability relative to the
                        most likely one; 0: all */
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
   * that it would have generated: the tokens are the same, in fewer runs. 0:
   * none. Models whose states cannot be rewound draft no tokens. */
  int32_t draft;
  adze_draft_fn drafter; /* NULL: prompt lookup for the last tokens */
  void *drafter_user;
} adze_sampling;

/* Called by adze_generator_step for each token, and once at the end (`token` is
 * then -1). A non-zero result stops the sequence. The callback may create
 * sequences, but must not release any. `logprob` is the logarithm of the
 * token's probability under the model, before filters. */
typedef int (*adze_token_fn)(void *user, adze_sequence *sequence,
                             adze_event event, int64_t token, float logprob);

/* New fields are only appended. NULL and 0 are the defaults. */
typedef struct {
  size_t size;   /* of this struct */
  int64_t rows;  /* maximum number of tokens of a sequence; 2048 */
  int64_t chunk; /* maximum number of tokens of a prompt in one step; 512 */
  const int64_t *end_tokens; /* tokens that end any sequence; copied */
  size_t num_end_tokens;
  /* Names of the model's values, if they differ from the defaults: input_ids,
   * attention_mask, position_ids or cache_position, logits. */
  const char *ids, *mask, *positions, *logits;
  int64_t batch;   /* maximum number of sequences in one run of the model; 8 */
  DLDevice device; /* of runs and states, for which the module has code; CPU */
} adze_generator_options;

/* Creates a generator. Fails with ADZE_UNSUPPORTED if the module lacks one of
 * these values or has no states; the message names the value. The module must
 * outlive the generator. `options` may be NULL. */
ADZE_API adze_status adze_generator_create(
    adze_module *module, const adze_generator_options *options,
    adze_generator **generator);

/* New fields are only appended. */
typedef struct {
  int64_t batch;      /* maximum number of sequences in one run of the model */
  const char *limits; /* why `batch` is 1, or why only some active sequences
                         share a run; NULL if any sequences form a batch. Valid
                         as long as the generator */
  int64_t num_runs;   /* runs of the model so far */
  int64_t num_rows;   /* tokens in these runs, including prompts */
  int64_t num_scored; /* rows of logits that these runs computed */
  int64_t num_drafted, num_accepted; /* drafted tokens (adze_sampling.draft) */
} adze_generator_info;
/* Writes `size` bytes: the caller's sizeof(adze_generator_info). */
ADZE_API adze_status adze_generator_get_info(const adze_generator *generator,
                                             adze_generator_info *info,
                                             size_t size);
/* Releases the generator and its sequences. */
ADZE_API void adze_generator_release(adze_generator *generator);

/* Creates a sequence, which joins at the next step. `prompt` has at least one
 * token. The tensors `extra` are inputs by name that are constant for the
 * sequence (such as results of an encoder); they must outlive it. On a device,
 * those in host memory are copied here. `sampling`
 * and `callback` may be NULL. */
ADZE_API adze_status adze_sequence_create(
    adze_generator *generator, const adze_sampling *sampling,
    const int64_t *prompt, size_t count, const char *const *names,
    const DLTensor *const *extra, size_t num_extra, adze_token_fn callback,
    void *user, adze_sequence **sequence);
/* Appends more tokens, for the next turn of a chat; max_tokens counts the
 * tokens after them. The sequence must have ended without a failure. */
ADZE_API adze_status adze_sequence_extend(adze_sequence *sequence,
                                          const int64_t *tokens, size_t count);
/* Creates a copy that continues independently; the rows that are in use are
 * copied. If `sampling` is NULL, it is that of the original. */
ADZE_API adze_status adze_sequence_fork(adze_sequence *sequence,
                                        const adze_sampling *sampling,
                                        adze_token_fn callback, void *user,
                                        adze_sequence **fork);
/* Drops all tokens but the first `count`, and ends the sequence if it is
 * active. ADZE_UNSUPPORTED if the model has states that cannot be rewound
 * (recurrent ones). */
ADZE_API adze_status adze_sequence_rewind(adze_sequence *sequence,
                                          size_t count);
/* Returns the tokens so far, including the prompt; the array is valid until the
 * next call. */
ADZE_API const int64_t *adze_sequence_tokens(const adze_sequence *sequence,
                                             size_t *count);
/* Ends the sequence before the next step. Any thread may call this. */
ADZE_API void adze_sequence_cancel(adze_sequence *sequence);
ADZE_API void adze_sequence_release(adze_sequence *sequence);

/* Runs a chunk of a prompt, or generates one token or some drafted ones, for
 * each active sequence. A step processes a chunk of only one prompt, so that
 * other sequences are not delayed; but short prompts share a run of the model,
 * padded to one length, if they have at most as many rows as a chunk. Sequences
 * that get one token share runs of the model if its form allows it
 * (adze_generator_get_info); tokens do not depend on the batch. `*active` (may
 * be NULL) receives the number of sequences that remain active. If a sequence
 * fails, the others are unchanged or one token further, and the first error is
 * returned. */
ADZE_API adze_status adze_generator_step(adze_generator *generator,
                                         int32_t *active);
/* Runs steps until no sequence is active. */
ADZE_API adze_status adze_generator_run(adze_generator *generator);

#ifdef __cplusplus
}
#endif
#endif /* ADZE_GENERATE_H */
