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

/* A state of the model, for one sequence. */
typedef struct {
  adze_state_info info;
  int32_t rank;
  int64_t dims[GEN_RANK]; /* of a slot: as many rows as there is room for */
  DLDataType dtype;
  bool grows;     /* a tensor has as many rows as there are tokens, else all */
  uint64_t bytes; /* of a slot */
  uint64_t row_bytes; /* from a row to the next one */
} gen_state;

/* A tensor on the generator's device, copied from host memory for a sequence
 * and its forks. */
typedef struct {
  size_t references;
  DLTensor tensor;
  int64_t shape[GEN_RANK];
  uint64_t bytes;
} gen_copy;

/* A tensor of a step; its buffer grows as needed. */
typedef struct {
  DLTensor tensor;
  int64_t shape[GEN_RANK], strides[GEN_RANK];
  void *data;
  uint64_t capacity;
} gen_tensor;

/* The sequences that may share a run of the model. */
typedef enum {
  GEN_ALONE,  /* one */
  GEN_EQUAL,  /* those that have equally many rows */
  GEN_PADDED, /* any whose rows end at one position: the mask excludes the
                 rows before the first one of a shorter sequence */
  GEN_OWN     /* any: each row of the batch has a length of its own */
} gen_form;

/* The side on which a prompt is padded to the length of a longer one. */
typedef enum {
  GEN_NOWHERE, /* prompts of a run have one length */
  GEN_BEFORE,  /* the mask hides it */
  GEN_BEHIND   /* later tokens take its place */
} gen_padding;

/* Memory of the states of several sequences, a slot each: adjacent slots are
 * rows of a batch. */
typedef struct gen_block {
  struct gen_block *next;
  char **buffers;            /* one a state; null for those that are kept */
  adze_sequence **sequences; /* one a slot, or null */
  int64_t
      end; /* GEN_PADDED: the row that the next batch writes; at least `rows` */
} gen_block;

/* One run of the model: new rows of the sequences in consecutive slots. */
typedef struct {
  gen_block *block; /* null: shapes only */
  int64_t slot, count;
  int64_t start; /* the first row of the past in the slots */
  int64_t past, rows;
  bool has_prompts; /* of sequences without a past, filled up to `rows` */
  int64_t held;     /* last tokens of each prompt that the run does not take */
  int64_t scored;   /* rows with logits, the last ones; 0: one; -1: none */
} gen_run;

struct adze_generator {
  adze_module *module;
  adze_context *context;
  DLDevice device; /* of the context and the states */
  int32_t num_inputs, num_outputs, num_states;
  int32_t ids, mask, positions; /* inputs; -1: there is none */
  int32_t logits;
  int32_t logits_dim; /* of the rows that are left out; -1: all are there */
  gen_state *states;
  int32_t *input_states, *output_states; /* -1: of none */
  bool can_rewind;
  int64_t rows, chunk;
  gen_form form;
  const char *limits;  /* why not all sequences form one batch, or null */
  int64_t slots;       /* of a block */
  int64_t capacity;    /* rows of a slot */
  gen_padding padding; /* of prompts, if these are tried */
  bool has_tried;
  bool can_fill; /* a run may take slots whose sequences do not go on */
  gen_block *blocks;
  int64_t num_runs, num_rows, num_scored, num_drafted, num_accepted;
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
  size_t done;  /* tokens whose rows are in the slot */
  size_t begin; /* where max_tokens counts from */
  adze_sampling sampling;
  int64_t *stop_tokens; /* of all stop sequences */
  gen_block *block;
  int64_t slot;
  int64_t start;          /* the first row in the slot */
  const DLTensor **extra; /* one an input, or null */
  gen_copy **copies;      /* that these are, or null */
  adze_token_fn callback;
  void *user;
  atomic_bool cancelled;
  bool active, failed;
  bool waits;  /* for its token of this step */
  bool joined; /* the run of another one's prompt in this step */
};

/* ---- Slots (Slots.c) ------------------------------------------------------
 */

/* Returns the first free slot, filled with zeros. */
adze_status gen_take_slot(adze_sequence *sequence);
void gen_give_slot(adze_sequence *sequence);
/* Copies the rows in use to the slot of a sequence that has none. */
adze_status gen_copy_slot(adze_sequence *to, const adze_sequence *from);
/* Moves the rows in use, so that they end before row `end`. */
adze_status gen_move_rows(adze_sequence *sequence, int64_t end);
adze_status gen_create_block(adze_generator *generator, gen_block **block);
void gen_release_block(adze_generator *generator, gen_block *block);

/* ---- Forms (Form.c) -------------------------------------------------------
 */

/* Determines which sequences one run may batch, at most `most`. */
adze_status gen_find_form(adze_generator *generator, int64_t most);
/* Returns true if generator->scores equal these up to rounding. */
bool gen_is_near(const adze_generator *generator, const float *scores);

/* ---- Runs (Step.c) --------------------------------------------------------
 */

/* Makes the tensors of a run, without data except for the states. */
adze_status gen_shape_run(adze_generator *generator, const gen_run *run);
/* Runs the model on the tokens of waiting sequences, or of all if there is only
 * one slot. In other slots it writes a row that no sequence uses. */
adze_status gen_run_model(adze_generator *generator, const gen_run *run);
/* Puts the logits of row `row` of the batch, `back` tokens before the last one,
 * into generator->scores. */
adze_status gen_take_scores(adze_generator *generator, const gen_run *run,
                            int64_t row, int64_t back);

/* ---- Steps (Batch.c) --------------------------------------------------------
 */

/* Tokens whose rows are not in the slot yet. */
int64_t gen_left_of(const adze_sequence *sequence);
/* Chooses the next token, by the logits `back` tokens before the last one of
 * row `row`. */
adze_status gen_choose_next(adze_sequence *sequence, const gen_run *run,
                            int64_t row, int64_t back);
/* Ends the sequence, and keeps the first error of a step. */
void gen_fail(adze_sequence *sequence, adze_status status, adze_status *first);
/* Runs `rows` tokens of a sequence, and chooses one after the last of all. */
void gen_advance(adze_sequence *sequence, int64_t rows, adze_status *first);
/* Sets where the rows of an empty sequence begin in its slot. */
void gen_place(adze_sequence *sequence);
/* Prepares a run of one sequence by `rows` rows. Moves its rows if there is no
 * space after them. */
adze_status gen_extend_slot(adze_sequence *sequence, int64_t rows,
                            gen_run *run);

/* ---- Prompts (Prompts.c) ----------------------------------------------------
 */

/* Runs the next `rows` tokens of a prompt, together with whole short prompts in
 * the slots after it. */
void gen_run_prompts(adze_sequence *sequence, int64_t rows, adze_status *first);

/* ---- Drafts (Draft.c) -------------------------------------------------------
 */

/* Runs the next token with draft tokens. Returns false, and does nothing, if
 * there is no draft. */
bool gen_run_draft(adze_sequence *sequence, adze_status *first);

/* ---- Sequences (Sequence.c) -----------------------------------------------
 */

adze_status gen_add_tokens(adze_sequence *sequence, const int64_t *tokens,
                           size_t count);

/* ---- Logits (Scores.c) ------------------------------------------------------
 */

/* Converts logits of f32, f16 or bf16. */
void gen_convert_scores(float *scores, const void *data, DLDataType dtype,
                        int64_t count);
/* Returns the first of the greatest scores. Those that are NaN are ignored. */
int64_t gen_find_best(const float *scores, int64_t count);
/* Returns e^(score - greatest), or e^-87 if that is greater. */
float gen_weigh(float score, float greatest);
/* Returns the sum of these, which is NaN if a score is. */
double gen_sum_weights(const float *scores, int64_t count, float greatest);

/* ---- Choice of tokens (Sampling.c) ----------------------------------------
 */

/* Returns the token that follows the sequence's, by generator->scores. */
int64_t gen_choose(const adze_sequence *sequence, float *logprob);

#endif /* ADZE_RUNTIME_GENERATE_H */
