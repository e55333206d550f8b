/* Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
 *
 * Operators that the program registers as functions.
 * */
#include "Calls.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* Attributes in the module's table are passed to functions unchanged. */
_Static_assert(sizeof(adze_attribute) == sizeof(adze_module_attribute) &&
                   offsetof(adze_attribute, kind) ==
                       offsetof(adze_module_attribute, kind) &&
                   offsetof(adze_attribute, count) ==
                       offsetof(adze_module_attribute, count) &&
                   offsetof(adze_attribute, ints) ==
                       offsetof(adze_module_attribute, values) &&
                   sizeof(adze_string) == sizeof(adze_module_string),
               "adze_attribute and adze_module_attribute differ");

struct rt_operator {
  rt_operator *next;
  adze_operator_fn run;
  void *user;
  void (*release)(void *user);
  char name[];
};

struct adze_call {
  rt_call *call;
  const adze_module_operator *row;
  DLTensor *inputs; /* of the call; strings have no data here */
  DLTensor *outputs;
};

/* ---- Registration -------------------------------------------------------- */

adze_status adze_module_register_operator(adze_module *module, const char *name,
                                          adze_operator_fn run, void *user,
                                          void (*release)(void *user)) {
  if (!module || !name || !*name || !run)
    return rt_error(ADZE_INVALID_ARGUMENT,
                    "expected a module, the name of an operator and a function "
                    "for it");
  size_t size = strlen(name) + 1;
  rt_operator *made = calloc(1, sizeof(*made) + size);
  if (!made)
    return rt_out_of_memory(sizeof(*made) + size);
  made->run = run;
  made->user = user;
  made->release = release;
  memcpy(made->name, name, size);
  pthread_mutex_lock(&module->mutex);
  made->next = module->operators;
  module->operators = made;
  pthread_mutex_unlock(&module->mutex);
  return NULL;
}

void rt_operators_free(adze_module *module) {
  while (module->operators) {
    rt_operator *first = module->operators;
    module->operators = first->next;
    if (first->release)
      first->release(first->user);
    free(first);
  }
}

static const rt_operator *find(const rt_operator *list, const char *name) {
  while (list && strcmp(list->name, name))
    list = list->next;
  return list;
}

adze_status rt_operators_find(adze_context *context) {
  const adze_module_desc *desc = context->module->desc;
  adze_module *owner =
      context->module->owner ? context->module->owner : context->module;
  if (!desc->num_operators)
    return NULL;
  context->operators = calloc(desc->num_operators, sizeof(rt_operator *));
  if (!context->operators)
    return rt_out_of_memory(desc->num_operators * sizeof(rt_operator *));
  pthread_mutex_lock(&owner->mutex);
  const rt_operator *list = owner->operators;
  pthread_mutex_unlock(&owner->mutex);
  for (uint64_t i = 0; i < desc->num_operators; ++i) {
    const adze_module_operator *row = &desc->operators[i];
    context->operators[i] = find(list, row->name);
    if (!context->operators[i])
      return rt_error(ADZE_UNSUPPORTED,
                      "node '%s' (%s): the operator is a function of the "
                      "program, which has not registered it; "
                      "adze_module_register_operator does so",
                      row->node, row->name);
  }
  return NULL;
}

/* ---- Running ------------------------------------------------------------- */

/* Returns a view of an input, without data unless it is a tensor of numbers. */
static DLTensor view_input(const rt_input *input) {
  DLTensor tensor = {.device = {kDLCPU, 0},
                     .ndim = input->rank,
                     .dtype = input->dtype,
                     .shape = (int64_t *)(uintptr_t)input->dims};
  if (input->kind == ADZE_TENSOR)
    tensor.data =
        input->data ? (void *)(uintptr_t)input->data : (void *)rt_nothing;
  return tensor;
}

static DLTensor view_output(const rt_result *result) {
  DLTensor tensor = {.device = {kDLCPU, 0},
                     .ndim = result->rank,
                     .dtype = result->dtype,
                     .shape = result->dims};
  return tensor;
}

static adze_status check_outputs(const adze_call *call) {
  for (uint32_t i = 0; i < call->call->num_results; ++i)
    if (!call->call->results[i].data)
      return rt_error(ADZE_RUN_ERROR, "the function did not set output %u", i);
  return NULL;
}

/* Converts the status of the function to ADZE_RUN_ERROR, except for out of
 * memory. */
static adze_status as_run_error(const char *name, adze_status status) {
  if (!status)
    return NULL;
  bool is_memory = adze_status_code(status) == ADZE_OUT_OF_MEMORY;
  adze_status made = rt_error(is_memory ? ADZE_OUT_OF_MEMORY : ADZE_RUN_ERROR,
                              "%s: %s", name, adze_status_message(status));
  adze_status_free(status);
  return made;
}

static adze_status run_row(adze_call *call, const rt_operator *function) {
  for (uint32_t i = 0; i < call->call->num_inputs; ++i)
    call->inputs[i] = view_input(&call->call->inputs[i]);
  for (uint32_t i = 0; i < call->call->num_results; ++i)
    call->outputs[i] = view_output(&call->call->results[i]);
  adze_status status = function->run(function->user, call);
  if (!status)
    status = check_outputs(call);
  return as_run_error(call->row->name, status);
}

adze_status rt_operator_run(rt_call *call, const char *row) {
  const adze_context *context = call->context;
  const adze_module_desc *desc = context->module->desc;
  char *end;
  uint64_t number = strtoull(row, &end, 10);
  if (end == row || *end || number >= desc->num_operators)
    return rt_error(ADZE_INVALID_MODULE, "expected operator '%s' below %llu",
                    row, (unsigned long long)desc->num_operators);
  adze_call made = {.call = call, .row = &desc->operators[number]};
  for (uint32_t i = 0; i < made.row->num_inputs; ++i)
    if (made.row->inputs[i] >= (int64_t)call->num_inputs)
      return rt_error(ADZE_INVALID_MODULE, "operator %s has no input %d",
                      made.row->name, made.row->inputs[i]);
  size_t count = (size_t)call->num_inputs + call->num_results;
  made.inputs = calloc(count + 1, sizeof(DLTensor));
  if (!made.inputs)
    return rt_out_of_memory(count * sizeof(DLTensor));
  made.outputs = made.inputs + call->num_inputs;
  adze_status status = run_row(&made, context->operators[number]);
  free(made.inputs);
  return status;
}

/* ---- Access of a function to its call -------------------------------------
 * */

const char *adze_call_operator(const adze_call *call) {
  return call ? call->row->name : "";
}

const char *adze_call_node(const adze_call *call) {
  return call ? call->row->node : "";
}

const adze_attribute *adze_call_attributes(const adze_call *call,
                                           size_t *count) {
  if (count)
    *count = call ? call->row->num_attributes : 0;
  return call ? (const adze_attribute *)call->row->attributes : NULL;
}

const adze_attribute *adze_call_attribute(const adze_call *call,
                                          const char *name) {
  size_t count;
  const adze_attribute *attributes = adze_call_attributes(call, &count);
  for (size_t i = 0; name && i < count; ++i)
    if (!strcmp(attributes[i].name, name))
      return &attributes[i];
  return NULL;
}

int32_t adze_call_num_inputs(const adze_call *call) {
  return call ? (int32_t)call->row->num_inputs : 0;
}

int32_t adze_call_num_outputs(const adze_call *call) {
  return call ? (int32_t)call->call->num_results : 0;
}

/* Returns the index of an input among those of the call; -1: omitted. */
static int32_t find_input(const adze_call *call, int32_t index) {
  bool known = call && index >= 0 && (uint32_t)index < call->row->num_inputs;
  return known ? call->row->inputs[index] : -1;
}

const DLTensor *adze_call_input(const adze_call *call, int32_t index) {
  int32_t number = find_input(call, index);
  return number >= 0 && call->inputs[number].data ? &call->inputs[number]
                                                  : NULL;
}

adze_status adze_call_input_value(adze_call *call, int32_t index,
                                  adze_value **value) {
  if (!call || !value || index < 0 || index >= adze_call_num_inputs(call))
    return rt_error(
        ADZE_INVALID_ARGUMENT,
        "expected the index of an input and a pointer to its value");
  int32_t number = find_input(call, index);
  *value = NULL;
  return number < 0 ? NULL
                    : rt_input_value(call->call, (uint32_t)number, value);
}

const DLTensor *adze_call_output_type(const adze_call *call, int32_t index) {
  bool known = index >= 0 && index < adze_call_num_outputs(call);
  return known ? &call->outputs[index] : NULL;
}

/* Returns the result with this index, which must not have been set yet. */
static adze_status find_result(adze_call *call, int32_t index,
                               rt_result **result) {
  if (index < 0 || index >= adze_call_num_outputs(call))
    return rt_error(ADZE_INVALID_ARGUMENT,
                    "expected the index of an output below %d, but got %d",
                    adze_call_num_outputs(call), index);
  *result = &call->call->results[index];
  if ((*result)->data)
    return rt_error(ADZE_INVALID_ARGUMENT, "output %d is set twice", index);
  return NULL;
}

static adze_status check_dims(const rt_result *result, int32_t index,
                              const int64_t *dims) {
  for (int32_t d = 0; d < result->rank; ++d)
    if (dims[d] < 0)
      return rt_error(ADZE_INVALID_ARGUMENT,
                      "expected the size of dim %d of output %d", d, index);
  return NULL;
}

adze_status adze_call_output(adze_call *call, int32_t index,
                             const int64_t *dims, DLTensor **tensor) {
  rt_result *result;
  RT_TRY(find_result(call, index, &result));
  if (!tensor || result->kind != ADZE_TENSOR)
    return rt_error(
        ADZE_INVALID_ARGUMENT,
        "expected a pointer to output %d, which must be a tensor of "
        "numbers",
        index);
  if (!dims)
    dims = result->dims;
  RT_TRY(check_dims(result, index, dims));
  RT_TRY(rt_result_make(call->call, (uint32_t)index, dims));
  call->outputs[index].data = result->data;
  *tensor = &call->outputs[index];
  return NULL;
}

adze_status adze_call_set_output(adze_call *call, int32_t index,
                                 adze_value *value) {
  rt_result *result;
  RT_TRY(find_result(call, index, &result));
  if (!value)
    return rt_error(ADZE_INVALID_ARGUMENT,
                    "expected a value for output %d, but got NULL", index);
  if (value->kind == ADZE_TENSOR && !rt_is_plain(&value->tensor->dl_tensor))
    return rt_error(ADZE_INVALID_ARGUMENT,
                    "expected a dense tensor in host memory for output %d",
                    index);
  adze_value_retain(value);
  return rt_result_give(call->call, (uint32_t)index, value);
}
