/* Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
 *
 * Contexts: the working memory of runs.
 */
#include "Calls.h"

#include <stdlib.h>
#include <string.h>

/* ---- Memory needs of a run ----------------------------------------------- */

static adze_status scratch_of(const adze_module *module, const int64_t *symbols,
                              uint64_t *scratch) {
  *scratch = 0;
  for (uint32_t i = 0; i < module->desc->num_kernels; ++i) {
    const adze_cpu_kernel *kernel = &module->variant->kernels[i];
    int64_t bytes = kernel->scratch_bytes ? kernel->scratch_bytes(symbols) : 0;
    if (bytes < 0 && module->desc->num_data_symbols)
      continue; /* not known yet; computed at the launch */
    if (bytes < 0 || bytes > INT64_MAX / 4)
      return rt_error(ADZE_INVALID_MODULE,
                      "kernel '%s': got %lld bytes of scratch memory",
                      module->desc->kernels[i].name, (long long)bytes);
    if ((uint64_t)bytes > *scratch)
      *scratch = (uint64_t)bytes;
  }
  *scratch = rt_align_up(*scratch);
  return NULL;
}

adze_status rt_needs_of(const adze_module *module, int32_t lanes,
                        const int64_t *symbols, rt_needs *needs) {
  const adze_module_desc *desc = module->desc;
  int64_t arena = desc->arena_bytes(symbols);
  int64_t bound =
      desc->arena_lower_bound ? desc->arena_lower_bound(symbols) : 0;
  if (arena < 0)
    return rt_misfit(desc, arena, symbols);
  if (arena > INT64_MAX / 4)
    return rt_error(ADZE_OUT_OF_MEMORY, "the arena would have %lld bytes",
                    (long long)arena);
  needs->arena = (uint64_t)arena;
  needs->arena_lower_bound = bound > 0 ? (uint64_t)bound : 0;
  needs->scratch = 0;
  uint64_t all;
  if (lanes && module->variant)
    RT_TRY(scratch_of(module, symbols, &needs->scratch));
  if (__builtin_mul_overflow((uint64_t)lanes, needs->scratch, &all) ||
      __builtin_add_overflow(all, rt_align_up(needs->arena), &needs->total) ||
      needs->total > INT64_MAX)
    return rt_out_of_memory(UINT64_MAX);
  return NULL;
}

adze_status rt_context_needs(const adze_context *context,
                             const int64_t *symbols, rt_needs *needs) {
  /* Kernels of a device that run on the CPU have scratch memory elsewhere. */
  return rt_needs_of(context->module, context->on_device ? 0 : context->lanes,
                     symbols, needs);
}

/* ---- Working memory ------------------------------------------------------ */

adze_status rt_context_take(adze_context *context, uint64_t bytes,
                            void **data) {
  if (context->on_device)
    return rt_cuda_take(context, bytes, data);
  *data = rt_memory_take(context->module->memory, bytes);
  return *data ? NULL : rt_out_of_memory(bytes);
}

void rt_context_give(adze_context *context, void *data, uint64_t bytes) {
  if (context->on_device)
    rt_cuda_give(context->module, context->device.device_id, data, bytes);
  else
    rt_memory_give(context->module->memory, data, bytes);
}

static void give_workspace(adze_context *context) {
  if (!context->workspace_bound && context->workspace)
    rt_context_give(context, context->workspace, context->workspace_bytes);
  context->workspace_bound = false;
  context->workspace = NULL;
  context->workspace_bytes = 0;
}

adze_status rt_context_reserve(adze_context *context) {
  uint64_t bytes = context->needs.total;
  if (bytes <= context->workspace_bytes)
    return NULL;
  if (context->workspace_bound)
    return rt_error(ADZE_OUT_OF_MEMORY,
                    "expected a workspace of %llu bytes, but got %llu",
                    (unsigned long long)bytes,
                    (unsigned long long)context->workspace_bytes);
  give_workspace(context);
  RT_TRY(rt_context_take(context, bytes, &context->workspace));
  context->workspace_bytes = bytes;
  return NULL;
}

adze_status rt_context_enter(adze_context *context) {
  if (!context)
    return rt_error(ADZE_INVALID_ARGUMENT, "expected a context, but got NULL");
  if (atomic_flag_test_and_set(&context->running))
    return rt_error(ADZE_INVALID_ARGUMENT,
                    "the context is in use by another call; each of several "
                    "runs at once needs its own");
  return NULL;
}

void rt_context_leave(adze_context *context) {
  rt_tables_clear(context);
  atomic_flag_clear(&context->running);
}

adze_status adze_context_workspace_size(const adze_context *context,
                                        uint64_t *bytes) {
  if (!context || !bytes)
    return rt_error(ADZE_INVALID_ARGUMENT,
                    "expected a context and a pointer to the size");
  const adze_module_desc *desc = context->module->desc;
  int64_t *symbols =
      calloc(rt_num_symbols(context->module) + 1, sizeof(int64_t));
  if (!symbols)
    return rt_out_of_memory(desc->num_symbols * sizeof(int64_t));
  adze_status status = NULL;
  for (uint32_t i = 0; i < desc->num_symbols && !status; ++i) {
    symbols[i] = desc->symbols[i].max;
    if (symbols[i] < 0)
      status = rt_error(ADZE_UNSUPPORTED, "symbol %u ('%s') has no upper bound",
                        i, desc->symbols[i].name);
  }
  rt_needs needs;
  if (!status)
    status = rt_context_needs(context, symbols, &needs);
  if (!status)
    *bytes = needs.total;
  free(symbols);
  return status;
}

adze_status adze_context_bind_workspace(adze_context *context, void *workspace,
                                        uint64_t bytes) {
  if ((uintptr_t)workspace % RT_ALIGNMENT)
    return rt_error(ADZE_INVALID_ARGUMENT,
                    "expected a workspace aligned to %u bytes", RT_ALIGNMENT);
  RT_TRY(rt_context_enter(context));
  give_workspace(context);
  if (workspace) {
    context->workspace = workspace;
    context->workspace_bytes = bytes;
    context->workspace_bound = true;
  }
  rt_context_leave(context);
  return NULL;
}

/* ---- Life ---------------------------------------------------------------- */

static void destroy(adze_context *context) {
  give_workspace(context);
  rt_boxes_free(context);
  rt_states_free(context);
  if (context->on_device)
    rt_cuda_detach(context);
  rt_profile_free(&context->profile);
  free(context->boxes);
  free(context->symbols);
  free(context->new_symbols);
  free(context->output_dims);
  free(context->input_data);
  free(context->output_data);
  rt_tables_free(context);
  rt_overrides_free(context);
  free(context->operators);
  free(context->faults);
  adze_module_release(context->module);
  free(context);
}

static adze_status allocate_tables(adze_context *context) {
  const adze_module_desc *desc = context->module->desc;
  /* One more of each, so that an empty table is not null. */
  size_t symbols = rt_num_symbols(context->module) + 1;
  context->symbols = calloc(symbols, sizeof(int64_t));
  context->new_symbols = calloc(symbols, sizeof(int64_t));
  context->boxes =
      calloc(context->module->desc->num_boxes + 1u, sizeof(rt_box));
  context->states = calloc(desc->num_states + 1u, sizeof(rt_state));
  context->output_dims =
      calloc((size_t)rt_total_output_rank(desc) + 1u, sizeof(int64_t));
  context->input_data = calloc(desc->num_inputs + 1u, sizeof(void *));
  context->output_data = calloc(desc->num_outputs + 1u, sizeof(void *));
  if (!context->symbols || !context->new_symbols || !context->boxes ||
      !context->states || !context->output_dims || !context->input_data ||
      !context->output_data)
    return rt_out_of_memory(sizeof(int64_t) * desc->num_symbols);
  return rt_faults_create(context);
}

adze_status rt_context_use_cpu(adze_context *context) {
  context->lanes = rt_module_threads(context->module);
  return rt_module_pool(context->module, &context->pool);
}

static adze_status no_cpu_code(const adze_module_desc *devices) {
  return rt_error(ADZE_UNSUPPORTED,
                  "module has no code for cpu that runs here%s%s",
                  devices->num_images ? "; it has " : "",
                  devices->num_images ? devices->images[0].target : "");
}

static adze_status attach_cpu(adze_context *context) {
  adze_module *module = context->module;
  if (!module->variant)
    return no_cpu_code(module->for_devices ? module->for_devices->desc
                                           : module->desc);
  RT_TRY(rt_compute_weights(module));
  return rt_context_use_cpu(context);
}

/* Damaged weights are not copied to the device. */
static adze_status attach_cuda(adze_context *context) {
  RT_TRY(rt_check_weights(context->module));
  return rt_cuda_attach(context);
}

/* Allocates what does not depend on the call, so that runs of a module with
 * static shapes allocate nothing. With symbols, only the size is computed, and
 * not if the model rejects the smallest sizes. */
static adze_status size_up(adze_context *context) {
  const adze_module_desc *desc = context->module->desc;
  rt_smallest_symbols(desc, context->new_symbols);
  adze_status status =
      rt_context_needs(context, context->new_symbols, &context->needs);
  if (!desc->num_symbols)
    return status ? status : rt_context_reserve(context);
  if (status)
    context->needs = (rt_needs){0};
  adze_status_free(status);
  return NULL;
}

static adze_status prepare(adze_context *context) {
  RT_TRY(allocate_tables(context));
  RT_TRY(rt_operators_find(context));
  if (context->device.device_type == kDLCPU)
    RT_TRY(attach_cpu(context));
  else if (context->device.device_type == kDLCUDA)
    RT_TRY(attach_cuda(context));
  else
    return rt_error(ADZE_UNSUPPORTED,
                    "expected a device of type cpu or cuda, but got type %d",
                    (int)context->device.device_type);
  RT_TRY(rt_overrides_create(context));
  return size_up(context);
}

adze_status adze_context_create(adze_module *module, DLDevice device,
                                adze_context **context) {
  if (!module || !context)
    return rt_error(ADZE_INVALID_ARGUMENT,
                    "expected a module and a pointer to the context");
  adze_context *made = calloc(1, sizeof(*made));
  if (!made)
    return rt_out_of_memory(sizeof(*made));
  adze_module_retain(module);
  made->module = rt_module_for(module, device);
  made->device = device;
  atomic_flag_clear(&made->running);
  adze_status status = prepare(made);
  if (status) {
    destroy(made);
    return status;
  }
  *context = made;
  return NULL;
}

adze_status adze_context_clone(const adze_context *context,
                               adze_context **clone) {
  if (!context)
    return rt_error(ADZE_INVALID_ARGUMENT, "expected a context, but got NULL");
  return adze_context_create(context->module, context->device, clone);
}

void adze_context_release(adze_context *context) {
  if (context)
    destroy(context);
}

adze_status adze_memory_stats(const adze_context *context,
                              adze_memory_info *info, size_t size) {
  if (!context || !info || !size)
    return rt_error(ADZE_INVALID_ARGUMENT,
                    "expected a context and a pointer to the numbers");
  rt_memory *memory = context->module->memory;
  adze_memory_info now = {0};
  now.current_bytes = atomic_load(&memory->current);
  now.peak_bytes = atomic_load(&memory->peak);
  now.allocations = atomic_load(&memory->allocations);
  now.weights_bytes = context->module->desc->weights_size;
  now.arena_bytes = context->needs.arena;
  now.arena_lower_bound_bytes = context->needs.arena_lower_bound;
  memset(info, 0, size);
  memcpy(info, &now, size < sizeof(now) ? size : sizeof(now));
  return NULL;
}
