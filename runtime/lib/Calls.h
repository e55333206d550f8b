/* Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
 *
 * Values that are no tensors, and the functions that a host program calls by
 * name.
 */
#ifndef ADZE_CALLS_H
#define ADZE_CALLS_H

#include "Runtime.h"

struct adze_value {
  atomic_int references;
  adze_kind kind;
  DLManagedTensorVersioned *tensor; /* ADZE_TENSOR */
  /* ADZE_STRINGS: one block holds pointers, lengths and bytes. */
  const char **strings;
  size_t *lengths;
  int64_t *dims;
  int32_t rank;
  /* The parts of a container; of a map: keys, then values. Of a sequence with a
   * table they are made by rt_value_expand. */
  adze_value **parts;
  size_t count;
  uint32_t depth; /* of containers in it; 0: it is none */
  /* A sequence of maps with the same keys and scalars: a row of the table each.
   */
  adze_value *keys, *table;
  atomic_bool expanded;
};

/* Whether a tensor in a container is dense, in host memory, and all there. */
bool rt_is_plain(const DLTensor *tensor);

const char *rt_kind_name(adze_kind kind);
/* A sequence of maps: the values of each are a row of the table, a tensor. */
adze_status rt_value_from_table(adze_value *keys, adze_value *table,
                                adze_value **value);
/* Makes the parts of a sequence with a table, once; threads may share it. */
adze_status rt_value_expand(const adze_value *value);
static inline const void *rt_value_data(const adze_value *value) {
  return rt_tensor_data(&value->tensor->dl_tensor);
}

/* ---- Strings of a run (Strings.c) ---------------------------------------- */

typedef struct {
  const char *text;
  size_t length;
} rt_string;

adze_status rt_string_add(adze_context *context, const char *text,
                          size_t length, int64_t *number);
adze_status rt_string_get(adze_context *context, int64_t number,
                          rt_string *string);
/* The numbers of a string tensor's strings, and the way back. */
adze_status rt_strings_to_numbers(adze_context *context,
                                  const adze_value *value, int64_t *numbers);
adze_status rt_strings_from_numbers(adze_context *context,
                                    const int64_t *numbers, const int64_t *dims,
                                    int32_t rank, adze_value **value);

/* ---- Values of a run (Calls.c) ------------------------------------------- */

/* Keeps a reference until the end of the run; takes none over. */
adze_status rt_value_add(adze_context *context, adze_value *value,
                         int64_t *number);
adze_status rt_value_get(adze_context *context, int64_t number,
                         adze_value **value);
/* Forgets what the run has added to its tables. */
void rt_tables_clear(adze_context *context);
void rt_tables_free(adze_context *context);

/* ---- Calls (Calls.c) ----------------------------------------------------- */

/* An input, in host memory. */
typedef struct {
  DLDataType dtype;
  adze_kind kind;
  int32_t rank;
  const int64_t *dims;
  uint64_t count; /* of elements */
  const void *data;
} rt_input;

/* A result on its way: `dims` are as expected (-1: any) until it is made. */
struct rt_result {
  DLDataType dtype;
  adze_kind kind;
  int32_t rank;
  int64_t *dims;
  uint64_t count, bytes;
  void *data;       /* owned, or */
  adze_value *keep; /* the value that owns it */
  const char *node; /* that made it */
};

typedef struct {
  adze_context *context;
  uint32_t num_inputs, num_results;
  const rt_input *inputs;
  rt_result *results;
} rt_call;

typedef adze_status (*rt_function)(rt_call *call);
typedef struct {
  const char *name;
  uint32_t min_inputs, max_inputs, num_results;
  rt_function run;
} rt_function_row;

/* Memory for a result of these dims, filled with zeros. */
adze_status rt_result_make(rt_call *call, uint32_t index, const int64_t *dims);
/* The result is this value; takes the reference over, also when it fails. */
adze_status rt_result_give(rt_call *call, uint32_t index, adze_value *value);
/* Result i's string j. */
adze_status rt_result_string(rt_call *call, uint32_t index, uint64_t at,
                             const char *text, size_t length);
/* A reference to what input i is, a copy of a tensor. */
adze_status rt_input_value(rt_call *call, uint32_t index, adze_value **value);
/* The container that input i is; borrowed. */
adze_status rt_input_container(rt_call *call, uint32_t index, adze_kind kind,
                               adze_value **value);
/* Element j of an input of i64, or a string of one of strings. */
static inline int64_t rt_input_int(const rt_call *call, uint32_t index,
                                   uint64_t at) {
  return ((const int64_t *)call->inputs[index].data)[at];
}
adze_status rt_input_string(const rt_call *call, uint32_t index, uint64_t at,
                            rt_string *string);
/* A tensor in host memory that owns it. */
adze_status rt_make_host_tensor(adze_context *context, DLDataType dtype,
                                int32_t rank, const int64_t *dims,
                                DLManagedTensorVersioned **tensor);

int32_t rt_host_call(adze_exec *exec, const char *node, const char *function,
                     void *const *inputs, uint32_t num_inputs,
                     uint32_t num_results, int64_t *values);
/* Runs the operator of that row of the module's table (Operators.c). */
adze_status rt_operator_run(rt_call *call, const char *row);
int32_t rt_host_fetch(adze_exec *exec, uint32_t index, void *place,
                      uint64_t bytes);

/* ---- The functions (SequenceFunctions.c, ...) -----------------------------
 */

extern const rt_function_row rt_sequence_functions[];
extern const rt_function_row rt_text_functions[];
extern const rt_function_row rt_selection_functions[];
extern const rt_function_row rt_random_functions[];
extern const rt_function_row rt_image_functions[];

#endif /* ADZE_CALLS_H */
