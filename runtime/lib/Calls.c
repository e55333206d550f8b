/* Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
 *
 * The functions that a host program calls by name, and the values that it
 * refers to by index.
 * */
#include "Calls.h"

#include <stdlib.h>
#include <string.h>

/* ---- Values of a run ----------------------------------------------------- */

adze_status rt_value_add(adze_context *context, adze_value *value,
                         int64_t *number) {
  if (context->num_values == context->values_capacity) {
    size_t capacity = context->num_values ? 2 * context->num_values : 16;
    adze_value **values =
        realloc(context->values, capacity * sizeof(adze_value *));
    if (!values)
      return rt_out_of_memory(capacity * sizeof(adze_value *));
    context->values = values;
    context->values_capacity = capacity;
  }
  adze_value_retain(value);
  *number = (int64_t)context->num_values;
  context->values[context->num_values++] = value;
  return NULL;
}

adze_status rt_value_get(adze_context *context, int64_t number,
                         adze_value **value) {
  if (number < 0 || (uint64_t)number >= context->num_values)
    return rt_error(ADZE_INTERNAL_ERROR,
                    "expected the number of a value below %zu, but got %lld",
                    context->num_values, (long long)number);
  *value = context->values[number];
  return NULL;
}

static void drop_results(adze_context *context) {
  for (uint32_t i = 0; i < context->num_results; ++i) {
    if (context->results[i].keep)
      adze_value_release(context->results[i].keep);
    else
      free(context->results[i].data);
    free(context->results[i].dims);
  }
  free(context->results);
  context->results = NULL;
  context->num_results = 0;
}

void rt_tables_clear(adze_context *context) {
  drop_results(context);
  for (size_t i = 0; i < context->num_values; ++i)
    adze_value_release(context->values[i]);
  context->num_values = 0;
  rt_strings_clear(context);
}

void rt_tables_free(adze_context *context) {
  rt_tables_clear(context);
  free(context->values);
  rt_strings_free(context);
}

/* ---- Results ------------------------------------------------------------- */

/* Checks the dims and stores them in the result. */
static adze_status set_dims(rt_result *result, uint32_t index,
                            const int64_t *dims) {
  for (int32_t d = 0; d < result->rank; ++d) {
    if (result->dims[d] >= 0 && result->dims[d] != dims[d])
      return rt_error(ADZE_RUN_ERROR,
                      "expected dim %d of result %u to be %lld, but got %lld",
                      d, index, (long long)result->dims[d], (long long)dims[d]);
    result->dims[d] = dims[d];
  }
  if (!rt_tensor_bytes(result->dtype, result->rank, result->dims,
                       &result->bytes))
    return rt_out_of_memory(UINT64_MAX);
  result->count = 1;
  for (int32_t d = 0; d < result->rank; ++d)
    result->count *= (uint64_t)result->dims[d];
  return NULL;
}

adze_status rt_result_make(rt_call *call, uint32_t index, const int64_t *dims) {
  rt_result *result = &call->results[index];
  RT_TRY(set_dims(result, index, dims));
  void *data;
  if (posix_memalign(&data, RT_ALIGNMENT, result->bytes ? result->bytes : 1))
    return rt_out_of_memory(result->bytes);
  memset(data, 0, result->bytes);
  result->data = data;
  return NULL;
}

adze_status rt_result_string(rt_call *call, uint32_t index, uint64_t at,
                             const char *text, size_t length) {
  return rt_string_add(call->context, text, length,
                       &((int64_t *)call->results[index].data)[at]);
}

/* The result shares the memory of the tensor and retains the value. */
static adze_status give_tensor(rt_call *call, uint32_t index,
                               adze_value *value) {
  rt_result *result = &call->results[index];
  const DLTensor *tensor = &value->tensor->dl_tensor;
  if (tensor->dtype.code != result->dtype.code ||
      tensor->dtype.bits != result->dtype.bits ||
      tensor->ndim != result->rank) {
    char want[48], got[48];
    return rt_error(
        ADZE_RUN_ERROR,
        "expected a tensor of %s and rank %d, but got %s and rank %d",
        rt_dtype_name(result->dtype, want, sizeof(want)), result->rank,
        rt_dtype_name(tensor->dtype, got, sizeof(got)), tensor->ndim);
  }
  RT_TRY(set_dims(result, index, tensor->shape));
  adze_value_retain(value);
  result->keep = value;
  result->data = rt_tensor_data(tensor);
  if (!result->data)
    result->data = (void *)rt_nothing; /* the tensor has no elements */
  return NULL;
}

static adze_status give_strings(rt_call *call, uint32_t index,
                                adze_value *value) {
  rt_result *result = &call->results[index];
  if (value->rank != result->rank)
    return rt_error(ADZE_RUN_ERROR,
                    "expected a string tensor of rank %d, but got rank %d",
                    result->rank, value->rank);
  RT_TRY(rt_result_make(call, index, value->dims));
  return rt_strings_to_numbers(call->context, value, result->data);
}

static adze_status give_value(rt_call *call, uint32_t index,
                              adze_value *value) {
  adze_kind wanted = call->results[index].kind;
  /* A function that takes an optional also takes its value. */
  if (wanted != value->kind && wanted != ADZE_OPTIONAL)
    return rt_error(ADZE_RUN_ERROR, "expected a %s, but got a %s",
                    rt_kind_name(wanted), rt_kind_name(value->kind));
  if (wanted == ADZE_TENSOR)
    return give_tensor(call, index, value);
  if (wanted == ADZE_STRINGS)
    return give_strings(call, index, value);
  RT_TRY(rt_result_make(call, index, NULL));
  return rt_value_add(call->context, value, call->results[index].data);
}

adze_status rt_result_give(rt_call *call, uint32_t index, adze_value *value) {
  adze_status status = give_value(call, index, value);
  adze_value_release(value);
  return status;
}

/* ---- Inputs -------------------------------------------------------------- */

adze_status rt_input_string(const rt_call *call, uint32_t index, uint64_t at,
                            rt_string *string) {
  return rt_string_get(call->context, rt_input_int(call, index, at), string);
}

adze_status rt_input_container(rt_call *call, uint32_t index, adze_kind kind,
                               adze_value **value) {
  RT_TRY(rt_value_get(call->context, rt_input_int(call, index, 0), value));
  if ((*value)->kind == kind)
    return rt_value_expand(*value);
  return rt_error(ADZE_RUN_ERROR, "expected a %s, but got a %s",
                  rt_kind_name(kind), rt_kind_name((*value)->kind));
}

adze_status rt_input_value(rt_call *call, uint32_t index, adze_value **value) {
  const rt_input *input = &call->inputs[index];
  if (input->kind == ADZE_STRINGS)
    return rt_strings_from_numbers(call->context, input->data, input->dims,
                                   input->rank, value);
  if (input->kind != ADZE_TENSOR) {
    RT_TRY(rt_value_get(call->context, rt_input_int(call, index, 0), value));
    adze_value_retain(*value);
    return NULL;
  }
  DLManagedTensorVersioned *tensor;
  RT_TRY(rt_make_host_tensor(call->context, input->dtype, input->rank,
                             input->dims, &tensor));
  uint64_t bytes;
  if (rt_tensor_bytes(input->dtype, input->rank, input->dims, &bytes) && bytes)
    memcpy(tensor->dl_tensor.data, input->data, bytes);
  return adze_value_from_dlpack(tensor, value);
}

/* ---- Calls --------------------------------------------------------------- */

static const rt_function_row *find_function(const char *name) {
  const rt_function_row *const tables[] = {
      rt_sequence_functions, rt_text_functions, rt_selection_functions,
      rt_random_functions, rt_image_functions};
  for (size_t t = 0; t < sizeof(tables) / sizeof(*tables); ++t)
    for (const rt_function_row *row = tables[t]; row->name; ++row)
      if (!strcmp(row->name, name))
        return row;
  return NULL;
}

/* Reads type, rank and dims, and returns the position after them. */
static int64_t *read_type(int64_t *values, DLDataType *dtype, adze_kind *kind,
                          int32_t *rank) {
  dtype->code = (uint8_t)values[0];
  dtype->bits = (uint8_t)(values[0] >> 8);
  dtype->lanes = 1;
  *kind = (adze_kind)(values[0] >> 16);
  *rank = (int32_t)values[1];
  return values + 2 + *rank;
}

/* Inputs on a device are copied to host memory, which is released with
   `exec`. */
static adze_status read_input(adze_exec *exec, const void *place,
                              rt_input *input) {
  uint64_t bytes;
  if (!rt_tensor_bytes(input->dtype, input->rank, input->dims, &bytes))
    return rt_out_of_memory(UINT64_MAX);
  input->count = 1;
  for (int32_t d = 0; d < input->rank; ++d)
    input->count *= (uint64_t)input->dims[d];
  input->data = place;
  if (!exec->context->on_device)
    return NULL;
  void *copy = malloc(bytes ? bytes : 1);
  if (!copy)
    return rt_out_of_memory(bytes);
  input->data = copy;
  if (bytes && rt_data_read(exec, copy, place, bytes))
    return exec->status;
  return NULL;
}

static adze_status make_results(rt_call *call, int64_t *values) {
  adze_context *context = call->context;
  drop_results(context);
  context->results = calloc(call->num_results + 1u, sizeof(rt_result));
  if (!context->results)
    return rt_out_of_memory(call->num_results * sizeof(rt_result));
  context->num_results = call->num_results;
  call->results = context->results;
  for (uint32_t i = 0; i < call->num_results; ++i) {
    rt_result *result = &call->results[i];
    int64_t *dims = values + 2;
    values = read_type(values, &result->dtype, &result->kind, &result->rank);
    result->dims = calloc((size_t)result->rank + 1, sizeof(int64_t));
    if (!result->dims)
      return rt_out_of_memory((uint64_t)result->rank * sizeof(int64_t));
    memcpy(result->dims, dims, (size_t)result->rank * sizeof(int64_t));
  }
  return NULL;
}

static adze_status call_row(const rt_function_row *row, rt_call *call) {
  if (call->num_inputs < row->min_inputs ||
      call->num_inputs > row->max_inputs ||
      call->num_results != row->num_results)
    return rt_error(ADZE_INVALID_MODULE,
                    "expected another number of values for '%s'", row->name);
  return row->run(call);
}

static adze_status run_function(const char *function, rt_call *call,
                                int64_t *values) {
  RT_TRY(make_results(call, values));
  if (*function == '@') {
    RT_TRY(rt_operator_run(call, function + 1));
  } else {
    const rt_function_row *row = find_function(function);
    if (!row)
      return rt_error(ADZE_UNSUPPORTED,
                      "the module needs a newer run time, with '%s'", function);
    RT_TRY(call_row(row, call));
  }
  for (uint32_t i = 0; i < call->num_results; ++i) {
    const rt_result *result = &call->results[i];
    if (!result->data)
      return rt_error(ADZE_INTERNAL_ERROR, "'%s' did not set result %u",
                      function, i);
    memcpy(values + 2, result->dims, (size_t)result->rank * sizeof(int64_t));
    values += 2 + result->rank;
  }
  return NULL;
}

static adze_status call_function(adze_exec *exec, const char *function,
                                 void *const *places, rt_input *inputs,
                                 uint32_t num_inputs, uint32_t num_results,
                                 int64_t *values) {
  for (uint32_t i = 0; i < num_inputs; ++i) {
    inputs[i].dims = values + 2;
    values =
        read_type(values, &inputs[i].dtype, &inputs[i].kind, &inputs[i].rank);
    RT_TRY(read_input(exec, places[i], &inputs[i]));
  }
  rt_call call = {exec->context, num_inputs, num_results, inputs, NULL};
  return run_function(function, &call, values);
}

/* Adds the name of the node before the message of an error. */
static adze_status at_node(adze_status status, const char *node) {
  adze_status named = rt_error(adze_status_code(status), "node '%s': %s", node,
                               adze_status_message(status));
  adze_status_free(status);
  return named;
}

int32_t rt_host_call(adze_exec *exec, const char *node, const char *function,
                     void *const *places, uint32_t num_inputs,
                     uint32_t num_results, int64_t *values) {
  rt_input *inputs = calloc(num_inputs + 1u, sizeof(rt_input));
  if (!inputs)
    return rt_exec_fail(exec, rt_out_of_memory(num_inputs * sizeof(rt_input)));
  adze_status status = call_function(exec, function, places, inputs, num_inputs,
                                     num_results, values);
  for (uint32_t i = 0; i < num_inputs && exec->context->on_device; ++i)
    free((void *)inputs[i].data);
  free(inputs);
  for (uint32_t i = 0; i < exec->context->num_results; ++i)
    exec->context->results[i].node = node;
  if (status && status == exec->status)
    /* an error of the driver is recorded already */
    return (int32_t)adze_status_code(status);
  return status ? rt_exec_fail(exec, at_node(status, node)) : 0;
}

int32_t rt_host_fetch(adze_exec *exec, uint32_t index, void *place,
                      uint64_t bytes) {
  const adze_context *context = exec->context;
  if (index >= context->num_results)
    return rt_exec_fail(exec, rt_error(ADZE_INVALID_MODULE,
                                       "expected a result of the last call"));
  /* Several results have one size in the host program, but differ in size. */
  if (context->results[index].bytes != bytes)
    return rt_exec_fail(
        exec,
        rt_error(ADZE_RUN_ERROR,
                 "node '%s': expected results whose sizes agree: %llu "
                 "bytes of result %u, but got %llu",
                 context->results[index].node, (unsigned long long)bytes, index,
                 (unsigned long long)context->results[index].bytes));
  if (!bytes)
    return 0;
  return rt_data_write(exec, place, context->results[index].data, bytes);
}
