/* Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
 *
 * Data-dependent values during a run: values that the host reads, sizes that
 * depend on them, and memory of such sizes.
 * */
#include "Runtime.h"

#include <string.h>

/* ---- Values -------------------------------------------------------------- */

int32_t rt_data_read(adze_exec *exec, void *host, const void *place,
                     uint64_t bytes) {
  if (exec->context->on_device) {
    int32_t code = rt_cuda_copy(exec, host, place, bytes);
    if (!code)
      rt_cuda_wait(exec->context);
    return code;
  }
  memcpy(host, place, bytes);
  return 0;
}

int32_t rt_data_write(adze_exec *exec, void *place, const void *host,
                      uint64_t bytes) {
  /* The driver has copied pageable memory when the call returns. */
  if (exec->context->on_device)
    return rt_cuda_copy(exec, place, host, bytes);
  memcpy(place, host, bytes);
  return 0;
}

/* ---- Sizes --------------------------------------------------------------- */

static adze_status check_size(const adze_module_symbol *symbol,
                              const char *node, int64_t size) {
  if (size >= symbol->min && (symbol->max < 0 || size <= symbol->max))
    return NULL;
  if (symbol->max < 0)
    return rt_error(ADZE_RUN_ERROR,
                    "node '%s': expected a size of at least %lld, but got %lld",
                    node, (long long)symbol->min, (long long)size);
  return rt_error(ADZE_RUN_ERROR,
                  "node '%s': expected a size in [%lld, %lld], but got %lld",
                  node, (long long)symbol->min, (long long)symbol->max,
                  (long long)size);
}

int32_t rt_data_bind(adze_exec *exec, const char *node, const int64_t *values,
                     const int64_t *symbols, uint32_t count) {
  adze_context *context = exec->context;
  const adze_module_desc *desc = context->module->desc;
  int64_t end = (int64_t)rt_num_symbols(context->module);
  for (uint32_t i = 0; i < count; ++i) {
    if (symbols[i] < 0)
      continue;
    adze_status status =
        symbols[i] < (int64_t)desc->num_symbols || symbols[i] >= end
            ? rt_error(ADZE_INVALID_MODULE, "symbol %lld is not the program's",
                       (long long)symbols[i])
            : check_size(&desc->symbols[symbols[i]], node, values[i]);
    if (status)
      return rt_exec_fail(exec, status);
    context->symbols[symbols[i]] = values[i];
  }
  return 0;
}

/* ---- Boxes --------------------------------------------------------------- */

static adze_status move_box(adze_context *context, rt_box *box, void *data,
                            uint64_t keep) {
  adze_exec exec = {.context = context};
  if (context->on_device) {
    if (keep)
      (void)rt_cuda_copy(&exec, data, box->data, keep);
    rt_cuda_wait(context); /* kernels may still use the old memory */
  } else if (keep) {
    memcpy(data, box->data, keep);
  }
  return exec.status;
}

adze_status rt_box_grow(adze_context *context, rt_box *box, uint64_t bytes,
                        uint64_t keep) {
  if (box->data && bytes <= box->bytes)
    return NULL;
  if (bytes > INT64_MAX / 4)
    return rt_out_of_memory(bytes);
  /* Grows by half, so that a box that grows repeatedly is copied only a few
     times. */
  uint64_t more = box->bytes + box->bytes / 2;
  uint64_t size = rt_align_up(bytes > more ? bytes : more);
  if (!size)
    size = RT_ALIGNMENT;
  if (keep > box->bytes)
    keep = box->bytes;
  void *data;
  RT_TRY(rt_context_take(context, size, &data));
  if (box->data) {
    adze_status status = move_box(context, box, data, keep);
    if (status) {
      rt_context_give(context, data, size);
      return status;
    }
    rt_context_give(context, box->data, box->bytes);
  }
  box->data = data;
  box->bytes = size;
  return NULL;
}

void *rt_data_reserve(adze_exec *exec, uint32_t box, uint64_t bytes,
                      uint64_t keep) {
  adze_context *context = exec->context;
  adze_status status =
      box >= context->module->desc->num_boxes
          ? rt_error(ADZE_INVALID_MODULE, "expected a box below %u, but got %u",
                     context->module->desc->num_boxes, box)
          : rt_box_grow(context, &context->boxes[box], bytes, keep);
  if (!status)
    return context->boxes[box].data;
  rt_exec_fail(exec, status);
  return NULL;
}

void rt_boxes_free(adze_context *context) {
  for (uint32_t i = 0; context->boxes && i <= context->module->desc->num_boxes;
       ++i)
    if (context->boxes[i].data)
      rt_context_give(context, context->boxes[i].data, context->boxes[i].bytes);
}

/* ---- Outputs ------------------------------------------------------------- */

static adze_status give_output(adze_context *context, uint32_t index,
                               const int64_t *dims, void **place) {
  const adze_module_desc *desc = context->module->desc;
  if (index >= desc->num_outputs)
    return rt_error(ADZE_INVALID_MODULE,
                    "expected an output below %u, but got %u",
                    desc->num_outputs, index);
  const DLTensor *given = context->outputs[index];
  if (given) {
    RT_TRY(rt_check_output_dims(context->module, index, given, dims));
    *place = context->output_data[index];
    return NULL;
  }
  DLManagedTensorVersioned **made = &context->made[index];
  if (!*made)
    RT_TRY(rt_make_tensor(context, &desc->outputs[index], dims, made));
  *place = (*made)->dl_tensor.data;
  return NULL;
}

void *rt_data_output(adze_exec *exec, uint32_t index, const int64_t *dims) {
  void *place = NULL;
  adze_status status = give_output(exec->context, index, dims, &place);
  if (status)
    rt_exec_fail(exec, status);
  /* A tensor without elements needs an address, but nothing is written to
     it. */
  static char nothing;
  return place || status ? place : &nothing;
}
