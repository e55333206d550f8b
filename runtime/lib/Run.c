/* Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
 *
 * Runs: checks a call, binds its shapes, and executes the host program.
 */
#include "Calls.h"

#include <stdlib.h>
#include <string.h>

/* ---- Shapes -------------------------------------------------------------- */

/* Computes the dims of the outputs. A negative size is an error. */
static adze_status infer_dims(const adze_module_desc *desc,
                              const int64_t *symbols, int64_t *dims) {
  desc->infer(symbols, dims);
  for (uint32_t i = 0; i < desc->num_outputs; ++i)
    for (uint32_t d = 0; d < desc->outputs[i].rank; ++d, ++dims)
      if (*dims < -1)
        return rt_error(ADZE_INVALID_ARGUMENT,
                        "output '%s': dim %u would be %lld: expected larger "
                        "inputs",
                        desc->outputs[i].name, d, (long long)(*dims + 1));
  return NULL;
}

/* Sets the new symbols, and recomputes what depends on them if they changed. */
static adze_status bind_symbols(adze_context *context) {
  const adze_module_desc *desc = context->module->desc;
  size_t bytes = desc->num_symbols * sizeof(int64_t);
  memset(context->symbols + desc->num_symbols, 0,
         context->module->desc->num_data_symbols * sizeof(int64_t));
  if (context->bound && !memcmp(context->symbols, context->new_symbols, bytes))
    return NULL;
  context->bound = false;
  memcpy(context->symbols, context->new_symbols, bytes);
  RT_TRY(infer_dims(desc, context->symbols, context->output_dims));
  RT_TRY(rt_context_needs(context, context->symbols, &context->needs));
  context->bound = true;
  return NULL;
}

/* Completes the inputs, and binds the symbols that depend on their shapes and
 * on those of the outputs, which may be null. */
static adze_status bind_inputs(adze_context *context,
                               const DLTensor *const **inputs,
                               int32_t num_inputs, DLTensor *const outputs[],
                               int32_t num_outputs) {
  if (context->on_device)
    rt_cuda_take_weights(context);
  RT_TRY(rt_complete_inputs(context, inputs, &num_inputs));
  RT_TRY(rt_bind_inputs(context->module, *inputs, num_inputs, context->device,
                        context->new_symbols));
  rt_bind_last_rows(context->module, outputs, num_outputs,
                    context->new_symbols);
  return bind_symbols(context);
}

static adze_status infer(const adze_module *module, const adze_shape *inputs,
                         int32_t num_inputs, int64_t *symbols, int64_t *dims,
                         adze_shape *outputs, uint64_t *workspace_bytes) {
  const adze_module_desc *desc = module->desc;
  RT_TRY(rt_bind_shapes(module, inputs, num_inputs, symbols));
  for (uint32_t i = 0; i < desc->num_outputs; ++i)
    if (outputs[i].rank != (int32_t)desc->outputs[i].rank ||
        (outputs[i].rank && !outputs[i].dims))
      return rt_error(ADZE_INVALID_ARGUMENT,
                      "output '%s': expected an array of %u dims, but got %d",
                      desc->outputs[i].name, desc->outputs[i].rank,
                      outputs[i].rank);
  RT_TRY(infer_dims(desc, symbols, dims));
  if (workspace_bytes) {
    rt_needs needs;
    RT_TRY(rt_needs_of(module, rt_module_threads(module), symbols, &needs));
    *workspace_bytes = needs.total;
  }
  for (uint32_t i = 0; i < desc->num_outputs; ++i)
    for (uint32_t d = 0; d < desc->outputs[i].rank; ++d)
      outputs[i].dims[d] = *dims++;
  return NULL;
}

adze_status adze_infer_shapes(const adze_module *module,
                              const adze_shape *inputs, int32_t num_inputs,
                              adze_shape *outputs, int32_t num_outputs,
                              uint64_t *workspace_bytes) {
  if (!module || (num_outputs && !outputs))
    return rt_error(ADZE_INVALID_ARGUMENT,
                    "expected a module and output shapes, but got NULL");
  if (num_outputs < 0 || (uint32_t)num_outputs != module->desc->num_outputs)
    return rt_error(ADZE_INVALID_ARGUMENT,
                    "expected %u output shapes, but got %d",
                    module->desc->num_outputs, num_outputs);
  size_t dims = (size_t)rt_total_output_rank(module->desc);
  size_t count = rt_num_symbols(module) + dims + 1;
  int64_t *sizes = calloc(count, sizeof(int64_t));
  if (!sizes)
    return rt_out_of_memory(count * sizeof(int64_t));
  adze_status status =
      infer(module, inputs, num_inputs, sizes, sizes + rt_num_symbols(module),
            outputs, workspace_bytes);
  free(sizes);
  return status;
}

/* ---- Runs ---------------------------------------------------------------- */

static adze_status run_on_cpu(adze_context *context,
                              const DLTensor *const inputs[],
                              DLTensor *const outputs[]) {
  const adze_module_desc *desc = context->module->desc;
  for (uint32_t i = 0; i < desc->num_inputs; ++i)
    context->input_data[i] =
        inputs[i]->data ? rt_tensor_data(inputs[i]) : (void *)rt_nothing;
  for (uint32_t i = 0; i < desc->num_outputs; ++i)
    context->output_data[i] = outputs[i] ? rt_tensor_data(outputs[i]) : NULL;
  rt_states_open(context);
  uint64_t state = rt_float_state_enter();
  adze_module *source = rt_weights_acquire(context->module);
  rt_place_defaults(context, inputs, source->weights);
  adze_status status =
      rt_execute(context, source->weights, atomic_load(&source->computed));
  rt_weights_release(context->module, source);
  rt_float_state_leave(state);
  adze_status fault = rt_faults_take(context);
  if (!status && !fault)
    status = rt_states_close(context);
  if (!status)
    return fault;
  /* After a fault, later errors may be consequences of it. */
  if (!fault)
    return status;
  adze_status_free(status);
  return fault;
}

static adze_status run_bound(adze_context *context,
                             const DLTensor *const inputs[],
                             DLTensor *const outputs[], int32_t num_outputs,
                             void *stream, bool wait) {
  RT_TRY(rt_check_outputs(context->module, outputs, num_outputs,
                          context->device, context->output_dims,
                          context->made != NULL));
  context->inputs = inputs;
  context->outputs = outputs;
  RT_TRY(rt_states_choose(context));
  RT_TRY(rt_check_overlap(context->module, inputs, outputs));
  RT_TRY(rt_check_weights(context->module));
  RT_TRY(rt_context_reserve(context));
  if (context->on_device)
    return rt_cuda_run(context, inputs, outputs, stream, wait);
  return run_on_cpu(context, inputs, outputs);
}

static adze_status run(adze_context *context, const DLTensor *const inputs[],
                       int32_t num_inputs, DLTensor *const outputs[],
                       int32_t num_outputs, void *stream, bool wait) {
  RT_TRY(rt_context_enter(context));
  context->made = NULL;
  adze_status status = rt_check_only_tensors(context->module);
  if (!status)
    status = bind_inputs(context, &inputs, num_inputs, outputs, num_outputs);
  if (!status)
    status = run_bound(context, inputs, outputs, num_outputs, stream, wait);
  rt_context_leave(context);
  return status;
}

adze_status adze_run(adze_context *context, const DLTensor *const inputs[],
                     int32_t num_inputs, DLTensor *const outputs[],
                     int32_t num_outputs) {
  return run(context, inputs, num_inputs, outputs, num_outputs, NULL, true);
}

adze_status adze_run_async(adze_context *context,
                           const DLTensor *const inputs[], int32_t num_inputs,
                           DLTensor *const outputs[], int32_t num_outputs,
                           void *stream) {
  return run(context, inputs, num_inputs, outputs, num_outputs, stream, false);
}

/* ---- Allocated outputs ----------------------------------------------------
 * */

typedef struct {
  DLManagedTensorVersioned tensor;
  rt_memory *memory;   /* of a tensor on the CPU */
  adze_module *module; /* of a tensor on a device, which the module owns */
  uint64_t bytes;
  int64_t dims[]; /* shape, then strides */
} owned_tensor;

static void delete_owned(DLManagedTensorVersioned *tensor) {
  owned_tensor *owned = (owned_tensor *)tensor;
  if (owned->module)
    rt_cuda_give(owned->module, tensor->dl_tensor.device.device_id,
                 tensor->dl_tensor.data, owned->bytes);
  else
    rt_memory_give_output(owned->memory, tensor->dl_tensor.data, owned->bytes);
  adze_module_release(owned->module);
  rt_memory_release(owned->memory);
  free(owned);
}

static adze_status take_data(adze_context *context, bool on_device,
                             owned_tensor *owned) {
  if (on_device) {
    RT_TRY(
        rt_context_take(context, owned->bytes, &owned->tensor.dl_tensor.data));
    adze_module_retain(context->module);
    owned->module = context->module;
    return NULL;
  }
  rt_memory *memory = context->module->memory;
  owned->tensor.dl_tensor.data = rt_memory_take_output(memory, owned->bytes);
  if (!owned->tensor.dl_tensor.data)
    return rt_out_of_memory(owned->bytes);
  rt_memory_retain(memory);
  owned->memory = memory;
  return NULL;
}

static adze_status make_tensor(adze_context *context, bool on_device,
                               DLDataType dtype, int32_t rank,
                               const int64_t *dims,
                               DLManagedTensorVersioned **tensor) {
  uint64_t bytes;
  if (!rt_tensor_bytes(dtype, rank, dims, &bytes))
    return rt_out_of_memory(UINT64_MAX);
  size_t size = sizeof(owned_tensor) + 2 * (size_t)rank * sizeof(int64_t);
  owned_tensor *owned = calloc(1, size);
  if (!owned)
    return rt_out_of_memory(size);
  owned->bytes = bytes;
  owned->tensor.version.major = DLPACK_MAJOR_VERSION;
  owned->tensor.version.minor = DLPACK_MINOR_VERSION;
  owned->tensor.deleter = delete_owned;
  DLTensor *inner = &owned->tensor.dl_tensor;
  inner->device = on_device ? context->device : (DLDevice){kDLCPU, 0};
  inner->ndim = rank;
  inner->dtype = dtype;
  inner->shape = owned->dims;
  inner->strides = owned->dims + rank;
  int64_t stride = 1;
  for (int32_t d = rank; d-- > 0;) {
    inner->shape[d] = dims[d];
    inner->strides[d] = stride;
    stride *= dims[d];
  }
  adze_status status = take_data(context, on_device, owned);
  if (status)
    free(owned);
  else
    *tensor = &owned->tensor;
  return status;
}

adze_status rt_make_tensor(adze_context *context,
                           const adze_module_value *value, const int64_t *dims,
                           DLManagedTensorVersioned **tensor) {
  return make_tensor(context, context->on_device != NULL, rt_value_dtype(value),
                     (int32_t)value->rank, dims, tensor);
}

adze_status rt_make_host_tensor(adze_context *context, DLDataType dtype,
                                int32_t rank, const int64_t *dims,
                                DLManagedTensorVersioned **tensor) {
  return make_tensor(context, false, dtype, rank, dims, tensor);
}

static bool is_known(const adze_module_value *value, const int64_t *dims) {
  for (uint32_t d = 0; d < value->rank; ++d)
    if (dims[d] < 0)
      return false;
  return true;
}

static adze_status run_alloc(adze_context *context,
                             const DLTensor *const inputs[], int32_t num_inputs,
                             DLManagedTensorVersioned **made,
                             DLTensor **tensors, int32_t num_outputs) {
  const adze_module_desc *desc = context->module->desc;
  RT_TRY(bind_inputs(context, &inputs, num_inputs, NULL, 0));
  const int64_t *dims = context->output_dims;
  for (int32_t i = 0; i < num_outputs; ++i) {
    const adze_module_value *value = &desc->outputs[i];
    if (is_known(value, dims)) {
      RT_TRY(rt_make_tensor(context, value, dims, &made[i]));
      tensors[i] = &made[i]->dl_tensor;
    }
    dims += value->rank;
  }
  RT_TRY(run_bound(context, inputs, tensors, num_outputs, NULL, true));
  for (int32_t i = 0; i < num_outputs; ++i)
    if (!made[i])
      return rt_error(ADZE_INVALID_MODULE,
                      "output '%s': the run did not compute it",
                      desc->outputs[i].name);
  return NULL;
}

adze_status rt_run_alloc(adze_context *context, const DLTensor *const inputs[],
                         int32_t num_inputs,
                         DLManagedTensorVersioned *outputs[],
                         int32_t num_outputs) {
  uint32_t expected = context->module->desc->num_outputs;
  if (num_outputs < 0 || (uint32_t)num_outputs != expected ||
      (expected && !outputs))
    return rt_error(ADZE_INVALID_ARGUMENT, "expected %u outputs, but got %d",
                    expected, num_outputs);
  DLManagedTensorVersioned **made =
      calloc(expected + 1u, sizeof(void *) + sizeof(DLTensor *));
  if (!made)
    return rt_out_of_memory(expected * sizeof(void *));
  adze_status status =
      run_alloc(context, inputs, num_inputs, context->made = made,
                (DLTensor **)(made + expected), num_outputs);
  context->made = NULL;
  for (uint32_t i = 0; i < expected; ++i) {
    if (!status)
      outputs[i] = made[i];
    else if (made[i])
      made[i]->deleter(made[i]);
  }
  free(made);
  return status;
}

adze_status adze_run_alloc(adze_context *context,
                           const DLTensor *const inputs[], int32_t num_inputs,
                           DLManagedTensorVersioned *outputs[],
                           int32_t num_outputs) {
  RT_TRY(rt_context_enter(context));
  adze_status status = rt_check_only_tensors(context->module);
  if (!status)
    status = rt_run_alloc(context, inputs, num_inputs, outputs, num_outputs);
  rt_context_leave(context);
  return status;
}
