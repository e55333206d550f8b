/* Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
 *
 * Runs modules whose signatures have types other than tensors: the host program
 * receives indices of strings and of values.
 * */
#include "Calls.h"

#include <stdlib.h>
#include <string.h>

/* ---- Types --------------------------------------------------------------- */

/* Names of element types in ONNX. */
static const struct {
  const char *name;
  uint8_t code, bits;
} element_names[] = {{"float", kDLFloat, 32},   {"double", kDLFloat, 64},
                     {"float16", kDLFloat, 16}, {"bfloat16", kDLBfloat, 16},
                     {"bool", kDLBool, 8},      {"int8", kDLInt, 8},
                     {"int16", kDLInt, 16},     {"int32", kDLInt, 32},
                     {"int64", kDLInt, 64},     {"uint8", kDLUInt, 8},
                     {"uint16", kDLUInt, 16},   {"uint32", kDLUInt, 32},
                     {"uint64", kDLUInt, 64}};

static bool starts_with(const char **type, const char *prefix) {
  size_t length = strlen(prefix);
  if (strncmp(*type, prefix, length))
    return false;
  *type += length;
  return true;
}

static bool is_element(DLDataType dtype, const char *name, size_t length) {
  for (size_t i = 0; i < sizeof(element_names) / sizeof(*element_names); ++i)
    if (strlen(element_names[i].name) == length &&
        !strncmp(element_names[i].name, name, length))
      return dtype.code == element_names[i].code &&
             dtype.bits == element_names[i].bits && dtype.lanes == 1;
  return true; /* another type, which is checked when it is used */
}

bool rt_is_plain(const DLTensor *tensor) {
  uint64_t bytes;
  if (tensor->device.device_type != kDLCPU || tensor->ndim < 0 ||
      (tensor->ndim && !tensor->shape) ||
      !rt_tensor_bytes(tensor->dtype, tensor->ndim, tensor->shape, &bytes) ||
      (bytes && !tensor->data))
    return false;
  uint64_t dense = 1; /* the product of an empty tensor's dims may overflow */
  for (int32_t d = tensor->ndim; d-- > 0;) {
    if (tensor->shape[d] < 0 || (tensor->shape[d] > 1 && tensor->strides &&
                                 (uint64_t)tensor->strides[d] != dense))
      return false;
    dense *= (uint64_t)tensor->shape[d];
  }
  return true;
}

/* Returns true if the maps of a table have the type, such as
 * "map(string,tensor(float))". */
static bool has_table_type(const adze_value *keys, const adze_value *table,
                           const char *type) {
  if (!starts_with(&type, "map(") ||
      (keys->kind == ADZE_STRINGS) != starts_with(&type, "string"))
    return false;
  type = strchr(type, ',');
  return type && ++type && starts_with(&type, "tensor(") &&
         is_element(table->tensor->dl_tensor.dtype, type, strcspn(type, ")"));
}

/* Returns true if the value has the type, such as "seq(tensor(float))". */
static bool has_type(const adze_value *value, const char *type) {
  if (starts_with(&type, "optional("))
    return value->kind == ADZE_OPTIONAL &&
           (!value->count || has_type(value->parts[0], type));
  if (starts_with(&type, "seq(")) {
    bool fits = value->kind == ADZE_SEQUENCE;
    if (fits && value->table)
      return has_table_type(value->keys, value->table, type);
    for (size_t i = 0; i < value->count && fits; ++i)
      fits = has_type(value->parts[i], type);
    return fits;
  }
  if (starts_with(&type, "map(")) {
    bool by_text = starts_with(&type, "string");
    bool fits = value->kind == ADZE_MAP &&
                (value->parts[0]->kind == ADZE_STRINGS) == by_text;
    type = strchr(type, ',');
    for (size_t i = 1; fits && type && i < value->count; ++i)
      fits = has_type(value->parts[i], type + 1);
    return fits;
  }
  if (!starts_with(&type, "tensor("))
    return false;
  if (starts_with(&type, "string"))
    return value->kind == ADZE_STRINGS;
  return value->kind == ADZE_TENSOR && rt_is_plain(&value->tensor->dl_tensor) &&
         is_element(value->tensor->dl_tensor.dtype, type, strcspn(type, ")"));
}

/* ---- Inputs -------------------------------------------------------------- */

/* The tensors that the host program receives in place of values. */
typedef struct {
  DLTensor tensor;
  int64_t number;   /* of a container */
  int64_t *numbers; /* of strings, owned */
} stand_in;

static adze_status check_input(const adze_module *module, int32_t index,
                               const adze_value *value) {
  const adze_module_value *expected = &module->desc->inputs[index];
  if (!value)
    return rt_error(ADZE_INVALID_ARGUMENT,
                    "input '%s': expected a value, but got NULL",
                    expected->name);
  if ((uint32_t)value->kind != expected->kind)
    return rt_error(ADZE_INVALID_ARGUMENT,
                    "input '%s': expected a %s, but got a %s", expected->name,
                    rt_kind_name((adze_kind)expected->kind),
                    rt_kind_name(value->kind));
  const char *type = module->desc->types ? module->desc->types[index] : NULL;
  if (type && !has_type(value, type))
    return rt_error(ADZE_INVALID_ARGUMENT,
                    "input '%s': expected a value of type %s, whose tensors "
                    "are dense and in host memory",
                    expected->name, type);
  return NULL;
}

static adze_status make_stand_in(adze_context *context, adze_value *value,
                                 stand_in *in) {
  in->tensor.device = (DLDevice){kDLCPU, 0};
  in->tensor.dtype = (DLDataType){kDLInt, 64, 1};
  if (value->kind != ADZE_STRINGS) {
    in->tensor.data = &in->number;
    return rt_value_add(context, value, &in->number);
  }
  in->tensor.ndim = value->rank;
  in->tensor.shape = value->dims;
  in->numbers = calloc(value->count + 1, sizeof(int64_t));
  in->tensor.data = in->numbers;
  return in->numbers ? rt_strings_to_numbers(context, value, in->numbers)
                     : rt_out_of_memory(value->count * sizeof(int64_t));
}

/* ---- Outputs ------------------------------------------------------------- */

/* Reads the indices in a tensor, which may be on a device; the caller frees
   them. */
static adze_status read_numbers(adze_context *context, const DLTensor *tensor,
                                int64_t **numbers) {
  uint64_t bytes;
  rt_tensor_bytes(tensor->dtype, tensor->ndim, tensor->shape, &bytes);
  *numbers = malloc(bytes ? bytes : 1);
  if (!*numbers)
    return rt_out_of_memory(bytes);
  if (context->on_device)
    return rt_cuda_transfer(context, (rt_pieces){(char *)*numbers, 0},
                            (rt_pieces){rt_tensor_data(tensor), 0}, bytes, 1);
  memcpy(*numbers, rt_tensor_data(tensor), bytes);
  return NULL;
}

/* Consumes the tensor. */
static adze_status make_output(adze_context *context, uint32_t index,
                               DLManagedTensorVersioned *made,
                               adze_value **output) {
  adze_kind kind = (adze_kind)context->module->desc->outputs[index].kind;
  if (kind == ADZE_TENSOR)
    return adze_value_from_dlpack(made, output);
  int64_t *numbers = NULL;
  const DLTensor *tensor = &made->dl_tensor;
  adze_status status = read_numbers(context, tensor, &numbers);
  if (!status && kind == ADZE_STRINGS) {
    status = rt_strings_from_numbers(context, numbers, tensor->shape,
                                     tensor->ndim, output);
  } else if (!status) {
    adze_value *value = NULL;
    status = rt_value_get(context, numbers[0], &value);
    /* The value of an optional may be passed in place of the optional. */
    if (!status && kind == ADZE_OPTIONAL && value->kind != kind) {
      status = adze_value_from_optional(value, output);
    } else if (!status) {
      adze_value_retain(value);
      *output = value;
    }
  }
  free(numbers);
  made->deleter(made);
  return status;
}

static adze_status make_outputs(adze_context *context,
                                DLManagedTensorVersioned **made,
                                adze_value *outputs[], uint32_t count) {
  adze_status status = NULL;
  for (uint32_t i = 0; i < count; ++i) {
    if (status)
      made[i]->deleter(made[i]);
    else
      status = make_output(context, i, made[i], &outputs[i]);
  }
  for (uint32_t i = 0; i < count && status; ++i) {
    adze_value_release(outputs[i]);
    outputs[i] = NULL;
  }
  return status;
}

/* ---- Runs ---------------------------------------------------------------- */

static adze_status
run_with(adze_context *context, const adze_value *const inputs[],
         uint32_t num_inputs, stand_in *ins, const DLTensor **tensors,
         DLManagedTensorVersioned **made, adze_value *outputs[]) {
  const adze_module_desc *desc = context->module->desc;
  for (uint32_t i = 0; i < num_inputs; ++i) {
    if (!inputs[i] && i >= rt_num_required(context->module))
      continue; /* the context has the value */
    /* Only the reference count changes. */
    adze_value *value = (adze_value *)inputs[i];
    RT_TRY(check_input(context->module, (int32_t)i, value));
    tensors[i] = &ins[i].tensor;
    if (value->kind == ADZE_TENSOR)
      tensors[i] = &value->tensor->dl_tensor;
    else
      RT_TRY(make_stand_in(context, value, &ins[i]));
  }
  RT_TRY(rt_run_alloc(context, tensors, (int32_t)num_inputs, made,
                      (int32_t)desc->num_outputs));
  return make_outputs(context, made, outputs, desc->num_outputs);
}

static adze_status run_values(adze_context *context,
                              const adze_value *const inputs[],
                              int32_t num_inputs, adze_value *outputs[],
                              int32_t num_outputs) {
  const adze_module_desc *desc = context->module->desc;
  uint32_t required = rt_num_required(context->module);
  if (((uint32_t)num_inputs != required &&
       (uint32_t)num_inputs != desc->num_inputs) ||
      (uint32_t)num_outputs != desc->num_outputs)
    return rt_error(ADZE_INVALID_ARGUMENT,
                    "expected %u inputs and %u outputs, but got %d and %d",
                    required, desc->num_outputs, num_inputs, num_outputs);
  size_t count = desc->num_inputs + (size_t)desc->num_outputs + 1;
  stand_in *ins = calloc(desc->num_inputs + 1u, sizeof(stand_in));
  void **pointers = calloc(count, sizeof(void *));
  adze_status status =
      ins && pointers
          ? run_with(context, inputs, (uint32_t)num_inputs, ins,
                     (const DLTensor **)pointers,
                     (DLManagedTensorVersioned **)(pointers + desc->num_inputs),
                     outputs)
          : rt_out_of_memory(count * sizeof(void *));
  for (uint32_t i = 0; i < desc->num_inputs && ins; ++i)
    free(ins[i].numbers);
  free(ins);
  free(pointers);
  return status;
}

adze_status adze_run_values(adze_context *context,
                            const adze_value *const inputs[],
                            int32_t num_inputs, adze_value *outputs[],
                            int32_t num_outputs) {
  if (!context || num_inputs < 0 || num_outputs < 0 ||
      (num_inputs && !inputs) || (num_outputs && !outputs))
    return rt_error(ADZE_INVALID_ARGUMENT,
                    "expected a context, inputs and outputs");
  for (int32_t i = 0; i < num_outputs; ++i)
    outputs[i] = NULL;
  RT_TRY(rt_context_enter(context));
  adze_status status =
      run_values(context, inputs, num_inputs, outputs, num_outputs);
  rt_context_leave(context);
  return status;
}
