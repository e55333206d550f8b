/* Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
 *
 * Values other than tensors, and the functions that a host program calls by
 * name.
 * */
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
  /* The parts of a container; of a map, keys and then values. Those of a
   * sequence with a table are created by rt_value_expand. */
  adze_value **parts;
  size_t count;
  uint32_t depth; /* nesting depth of containers; 0: not a container */
  /* The keys and values of a sequence of maps with equal keys and scalar
   * values: each map is a row of the table. */
  adze_value *keys, *table;
  atomic_bool expanded;
};

/* Returns true if a tensor in a container is dense, in host memory, and
   complete. */
bool rt_is_plain(const DLTensor *tensor);

const char *rt_kind_name(adze_kind kind);
/* Makes a sequence of maps; the values of each are a row of the table, a
   tensor. */
adze_status rt_value_from_table(adze_value *keys, adze_value *table,
                                adze_value **value);
/* Creates the parts of a sequence with a table once. Thread-safe. */
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
/* Converts the strings of a string tensor to indices, and indices to
   strings. */
adze_status rt_strings_to_numbers(adze_context *context,
                                  const adze_value *value, int64_t *numbers);
adze_status rt_strings_from_numbers(adze_context *context,
                                    const int64_t *numbers, const int64_t *dims,
                                    int32_t rank, adze_value **value);

/* ---- Values of a run (Calls.c) ------------------------------------------- */

/* Adds a reference that is kept until the end of the run. */
adze_status rt_value_add(adze_context *context, adze_value *value,
                         int64_t *number);
adze_status rt_value_get(adze_context *context, int64_t number,
                         adze_value **value);
/* Releases what the run has added to its tables. */
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

/* A result of a call; `dims` are the expected ones (-1: any) until it is
   set. */
struct rt_result {
  DLDataType dtype;
  adze_kind kind;
  int32_t rank;
  int64_t *dims;
  uint64_t count, bytes;
  void *data;       /* owned, or */
  adze_value *keep; /* the value that owns `data` */
  const char *node; /* the node that computes it */
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

/* Allocates the memory of a result of these dims, filled with zeros. */
adze_status rt_result_make(rt_call *call, uint32_t index, const int64_t *dims);
/* Sets the result to this value, whose reference is consumed, also on
   failure. */
adze_status rt_result_give(rt_call *call, uint32_t index, adze_value *value);
/* Sets string j of result i. */
adze_status rt_result_string(rt_call *call, uint32_t index, uint64_t at,
                             const char *text, size_t length);
/* Returns a new reference to the value of input i; a tensor is copied. */
adze_status rt_input_value(rt_call *call, uint32_t index, adze_value **value);
/* Returns the container that input i refers to; borrowed. */
adze_status rt_input_container(rt_call *call, uint32_t index, adze_kind kind,
                               adze_value **value);
/* Returns element j of an i64 input, or a string of a string input. */
static inline int64_t rt_input_int(const rt_call *call, uint32_t index,
                                   uint64_t at) {
  return ((const int64_t *)call->inputs[index].data)[at];
}
adze_status rt_input_string(const rt_call *call, uint32_t index, uint64_t at,
                            rt_string *string);
/* Makes a tensor that owns its host memory. */
adze_status rt_make_host_tensor(adze_context *context, DLDataType dtype,
                                int32_t rank, const int64_t *dims,
                                DLManagedTensorVersioned **tensor);

int32_t rt_host_call(adze_exec *exec, const char *node, const char *function,
                     void *const *inputs, uint32_t num_inputs,
                     uint32_t num_results, int64_t *values);
/* Calls the operator in this row of the module's table (Operators.c). */
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
