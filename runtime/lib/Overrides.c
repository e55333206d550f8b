/* Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
 *
 * Overridable weights: inputs with a default value in the module's weights,
 * which a context may replace.
 * */
#include "Runtime.h"

#include <stdlib.h>
#include <string.h>

struct rt_overrides {
  const DLTensor **inputs; /* all of a run */
  DLTensor *defaults;      /* the model's own values */
  /* The context's value: a shared reference, or its copy on the device. Null:
   * the default. */
  DLManagedTensorVersioned **tensors;
};

static void drop(rt_overrides *overrides, uint64_t index) {
  DLManagedTensorVersioned *tensor = overrides->tensors[index];
  overrides->tensors[index] = NULL;
  if (tensor && tensor->deleter)
    tensor->deleter(tensor);
}

void rt_overrides_free(adze_context *context) {
  rt_overrides *overrides = context->overrides;
  for (uint64_t i = 0; overrides && i < context->module->desc->num_defaults;
       ++i)
    drop(overrides, i);
  free(overrides);
  context->overrides = NULL;
}

adze_status rt_overrides_create(adze_context *context) {
  const adze_module *module = context->module;
  const adze_module_desc *desc = module->desc;
  if (!desc->num_defaults)
    return NULL;
  size_t count = (size_t)desc->num_defaults;
  size_t size =
      sizeof(rt_overrides) +
      count * (sizeof(DLTensor) + sizeof(DLManagedTensorVersioned *)) +
      desc->num_inputs * sizeof(DLTensor *);
  rt_overrides *made = calloc(1, size);
  if (!made)
    return rt_out_of_memory(size);
  made->defaults = (DLTensor *)(made + 1);
  made->tensors = (DLManagedTensorVersioned **)(made->defaults + count);
  made->inputs = (const DLTensor **)(made->tensors + count);
  for (size_t i = 0; i < count; ++i) {
    const adze_module_value *input = &desc->inputs[rt_num_required(module) + i];
    made->defaults[i] =
        (DLTensor){.device = context->device,
                   .ndim = (int32_t)input->rank,
                   .dtype = rt_value_dtype(input),
                   .shape = (int64_t *)(uintptr_t)desc->defaults[i].dims};
  }
  context->overrides = made;
  return NULL;
}

/* ---- Runs ---------------------------------------------------------------- */

/* Returns the context's value of a weight. On the CPU, rt_place_defaults sets
 * the address of a default afterwards. */
static const DLTensor *get_current(const adze_context *context,
                                   uint32_t index) {
  const rt_overrides *overrides = context->overrides;
  if (overrides->tensors[index])
    return &overrides->tensors[index]->dl_tensor;
  const adze_module *module = context->module;
  const void *weights =
      context->on_device ? rt_cuda_weights(context) : module->weights;
  overrides->defaults[index].data =
      (char *)(uintptr_t)weights + module->desc->defaults[index].offset;
  return &overrides->defaults[index];
}

adze_status rt_complete_inputs(adze_context *context,
                               const DLTensor *const **inputs,
                               int32_t *num_inputs) {
  rt_overrides *overrides = context->overrides;
  uint32_t all = context->module->desc->num_inputs,
           required = rt_num_required(context->module);
  if (!overrides)
    return NULL;
  if (*num_inputs < 0 ||
      ((uint32_t)*num_inputs != required && (uint32_t)*num_inputs != all))
    return rt_error(ADZE_INVALID_ARGUMENT,
                    "expected %u inputs, or %u with the overridable weights, "
                    "but got %d",
                    required, all, *num_inputs);
  if (*num_inputs && !*inputs)
    return rt_error(ADZE_INVALID_ARGUMENT, "expected inputs, but got NULL");
  for (uint32_t i = 0; i < all; ++i) {
    const DLTensor *given = i < (uint32_t)*num_inputs ? (*inputs)[i] : NULL;
    bool is_left_out = !given && i >= required;
    overrides->inputs[i] =
        is_left_out ? get_current(context, i - required) : given;
  }
  *inputs = overrides->inputs;
  *num_inputs = (int32_t)all;
  return NULL;
}

void rt_place_defaults(adze_context *context, const DLTensor *const inputs[],
                       const void *weights) {
  const rt_overrides *overrides = context->overrides;
  uint32_t required = rt_num_required(context->module);
  const adze_module_desc *desc = context->module->desc;
  for (uint64_t i = 0; overrides && i < desc->num_defaults; ++i)
    if (inputs[required + i] == &overrides->defaults[i])
      context->input_data[required + i] =
          (char *)(uintptr_t)weights + desc->defaults[i].offset;
}

/* ---- Overriding ---------------------------------------------------------- */

static adze_status find_weight(const adze_module *module, const char *name,
                               uint32_t *index) {
  const adze_module_desc *desc = module->desc;
  for (uint32_t i = rt_num_required(module); i < desc->num_inputs; ++i)
    if (!strcmp(desc->inputs[i].name, name)) {
      *index = i;
      return NULL;
    }
  rt_text names = {0};
  for (uint32_t i = rt_num_required(module); i < desc->num_inputs; ++i)
    rt_text_add(&names, "%s'%s'", names.size ? ", " : "", desc->inputs[i].name);
  adze_status status =
      rt_error(ADZE_INVALID_ARGUMENT,
               "expected the name of an overridable weight (%s), but got '%s'",
               names.data ? names.data : "the module has none", name);
  rt_text_free(&names);
  return status;
}

/* Copies a tensor from host memory to the device. */
static adze_status send_to_device(adze_context *context, uint32_t input,
                                  const DLTensor *tensor,
                                  DLManagedTensorVersioned **copy) {
  RT_TRY(rt_make_tensor(context, &context->module->desc->inputs[input],
                        tensor->shape, copy));
  uint64_t bytes = rt_tensor_size(tensor);
  adze_status status =
      bytes ? rt_cuda_transfer(context, (rt_pieces){(*copy)->dl_tensor.data, 0},
                               (rt_pieces){rt_tensor_data(tensor), 0}, bytes, 1)
            : NULL;
  if (status)
    (*copy)->deleter(*copy);
  return status;
}

static adze_status override(adze_context *context, const char *name,
                            adze_value *value) {
  uint32_t index;
  RT_TRY(find_weight(context->module, name, &index));
  uint32_t number = index - rt_num_required(context->module);
  DLManagedTensorVersioned *tensor = NULL;
  if (value) {
    RT_TRY(adze_value_as_dlpack(value, &tensor));
    adze_status status =
        rt_check_input(context->module, index, &tensor->dl_tensor,
                       context->device, context->new_symbols);
    bool is_host = tensor->dl_tensor.device.device_type == kDLCPU;
    DLManagedTensorVersioned *copy = NULL;
    if (!status && context->on_device && is_host)
      status = send_to_device(context, index, &tensor->dl_tensor, &copy);
    if (status || copy)
      tensor->deleter(tensor);
    if (status)
      return status;
    tensor = copy ? copy : tensor;
  }
  drop(context->overrides, number);
  context->overrides->tensors[number] = tensor;
  return NULL;
}

adze_status adze_context_override(adze_context *context, const char *name,
                                  adze_value *value) {
  if (!name)
    return rt_error(ADZE_INVALID_ARGUMENT,
                    "expected the name of an overridable weight, but got NULL");
  RT_TRY(rt_context_enter(context));
  adze_status status = override(context, name, value);
  rt_context_leave(context);
  return status;
}

int32_t adze_module_num_overridable(const adze_module *module) {
  return module ? (int32_t)module->desc->num_defaults : 0;
}
