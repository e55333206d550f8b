/* Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
 *
 * Modules on CUDA devices: selects and loads the image, and manages memory.
 * */
#include "CudaDriver.h"

#include <stdlib.h>
#include <string.h>

/* ---- Images -------------------------------------------------------------- */

/* Returns the rank of an image for this SM, 0 if it does not run on it. A cubin
 * runs on later minor versions of its major version, PTX on all later SMs, and
 * an exact image on no other SM. */
static uint32_t fitness(const adze_device_image *image, uint32_t sm) {
  if (image->sm > sm)
    return 0;
  if (image->flags & ADZE_IMAGE_ARCH_EXACT && image->sm != sm)
    return 0;
  bool ptx = image->flags & ADZE_IMAGE_PTX;
  if (!ptx && image->sm / 10 != sm / 10)
    return 0;
  return (ptx ? 0 : 100000) + image->sm * 2 +
         (image->flags & ADZE_IMAGE_ARCH_EXACT ? 1 : 0);
}

static void list_targets(const adze_module_desc *desc, rt_text *text) {
  for (uint32_t i = 0; i < desc->num_images; ++i)
    rt_text_add(text, "%s%s", i ? ", " : "", desc->images[i].target);
}

static adze_status refuse(const adze_module_desc *desc, const char *reason) {
  rt_text targets = {0};
  list_targets(desc, &targets);
  adze_status status =
      rt_error(ADZE_UNSUPPORTED, "module has device code for %s, but %s",
               targets.data ? targets.data : "nothing", reason);
  rt_text_free(&targets);
  return status;
}

static adze_status choose_image(const adze_module_desc *desc, rt_device *device,
                                uint32_t sm) {
  uint32_t best = 0;
  for (uint32_t i = 0; i < desc->num_images; ++i) {
    uint32_t fit = fitness(&desc->images[i], sm);
    if (fit > best) {
      best = fit;
      device->image = &desc->images[i];
    }
  }
  if (best)
    return NULL;
  rt_text reason = {0};
  rt_text_add(&reason, "device cuda:%d is sm_%u", device->ordinal, sm);
  adze_status status = refuse(desc, reason.data ? reason.data : "");
  rt_text_free(&reason);
  return status;
}

/* ---- Devices ------------------------------------------------------------- */

static adze_status load_functions(const adze_module *module,
                                  rt_device *device) {
  const adze_module_desc *desc = module->desc;
  const cu_driver *cu = device->cu;
  if (device->image->image_size)
    CU_TRY(cu, module_load, (&device->code, device->image->image));
  for (uint32_t i = 0; i < desc->num_kernels; ++i) {
    const adze_device_kernel *kernel = &device->image->kernels[i];
    if (!kernel->entry) {
      rt_log(&module->options, ADZE_LOG_WARNING,
             "kernel '%s' is not in the image for %s and runs on the CPU",
             desc->kernels[i].name, device->image->target);
      device->falls_back = true;
      continue;
    }
    CU_TRY(cu, module_function,
           (&device->functions[i], device->code, kernel->entry));
    if (kernel->shared_bytes)
      CU_TRY(cu, function_set,
             (device->functions[i], CU_FUNCTION_MAX_DYNAMIC_SHARED,
              (int)kernel->shared_bytes));
    if (kernel->num_maps) {
      RT_TRY(rt_maps_check(module, device, i));
      device->has_maps = true;
    }
  }
  if (device->falls_back && !module->variant)
    return rt_error(ADZE_UNSUPPORTED,
                    "the image for %s lacks kernels, and the module has no "
                    "code for this CPU",
                    device->image->target);
  return NULL;
}

static cu_result allocate(const rt_device *device, uint64_t bytes,
                          cu_address *address) {
  return device->cu->allocate(address, bytes ? bytes : 1);
}

static adze_status fill_device(adze_module *module, rt_device *device) {
  const cu_driver *cu = device->cu;
  int count = 0, major = 0, minor = 0, multiprocessors = 0;
  CU_TRY(cu, device_count, (&count));
  if (device->ordinal < 0 || device->ordinal >= count)
    return rt_error(ADZE_INVALID_ARGUMENT,
                    "expected a CUDA device below %d, but got %d", count,
                    device->ordinal);
  CU_TRY(cu, device_get, (&device->device, device->ordinal));
  CU_TRY(cu, device_attribute, (&major, CU_ATTRIBUTE_MAJOR, device->device));
  CU_TRY(cu, device_attribute, (&minor, CU_ATTRIBUTE_MINOR, device->device));
  CU_TRY(cu, device_attribute,
         (&multiprocessors, CU_ATTRIBUTE_MULTIPROCESSORS, device->device));
  device->multiprocessors = (uint32_t)multiprocessors;
  RT_TRY(choose_image(module->desc, device, (uint32_t)(major * 10 + minor)));
  CU_TRY(cu, primary_retain, (&device->primary, device->device));
  CU_TRY(cu, push, (device->primary));
  adze_status status = load_functions(module, device);
  if (!status)
    status = rt_cuda_load_kernels(module, device);
  if (!status)
    status = rt_cuda_send_weights(module, device);
  cu->pop(&device->primary);
  return status;
}

static void destroy_device(rt_device *device) {
  const cu_driver *cu = device->cu;
  if (device->primary && !cu->push(device->primary)) {
    rt_cuda_drop_weights(device->weights);
    if (device->code)
      cu->module_unload(device->code);
    if (device->checks)
      cu->module_unload(device->checks);
    if (device->clearing)
      cu->module_unload(device->clearing);
    cu->pop(&device->primary);
    cu->primary_release(device->device);
  }
  free(device);
}

void rt_cuda_release_devices(adze_module *module) {
  while (module->devices) {
    rt_device *device = module->devices;
    module->devices = device->next;
    destroy_device(device);
  }
}

static rt_device *find_device(adze_module *module, int32_t ordinal) {
  rt_device *device = module->devices;
  while (device && device->ordinal != ordinal)
    device = device->next;
  return device;
}

static adze_status make_device(adze_module *module, int32_t ordinal,
                               rt_device **device) {
  const adze_module_desc *desc = module->desc;
  if (!desc->num_images)
    return rt_error(ADZE_UNSUPPORTED, "module has no device code: it was "
                                      "compiled without a cuda target");
  const char *reason;
  const cu_driver *cu = rt_cuda_driver(&reason);
  if (!cu) {
    rt_text text = {0};
    rt_text_add(&text, "no CUDA driver was found (%s)", reason);
    adze_status status = refuse(desc, text.data ? text.data : "");
    rt_text_free(&text);
    return status;
  }
  size_t size = sizeof(rt_device) + desc->num_kernels * sizeof(cu_function);
  rt_device *made = calloc(1, size);
  if (!made)
    return rt_out_of_memory(size);
  made->cu = cu;
  made->ordinal = ordinal;
  adze_status status = fill_device(module, made);
  if (status) {
    destroy_device(made);
    return status;
  }
  made->next = module->devices;
  module->devices = made;
  *device = made;
  return NULL;
}

static adze_status get_device(adze_module *module, int32_t ordinal,
                              rt_device **device) {
  pthread_mutex_lock(&module->mutex);
  *device = find_device(module, ordinal);
  adze_status status = *device ? NULL : make_device(module, ordinal, device);
  pthread_mutex_unlock(&module->mutex);
  return status;
}

/* ---- Contexts ------------------------------------------------------------ */

static adze_status make_tables(const adze_module *module,
                               rt_device_context *state) {
  const adze_module_desc *desc = module->desc;
  uint32_t most = 0;
  uint64_t most_symbols = rt_num_symbols(module);
  for (uint32_t i = 0; i < desc->num_kernels; ++i) {
    const adze_device_kernel *code = &state->device->image->kernels[i];
    if (desc->kernels[i].num_ptrs > most)
      most = desc->kernels[i].num_ptrs;
    if (code->bind_symbols && code->num_symbols > most_symbols)
      most_symbols = code->num_symbols;
  }
  state->arguments =
      calloc((size_t)most + most_symbols + 2 + RT_MOST_MAPS, sizeof(void *));
  state->symbols = calloc(most_symbols + 1, sizeof(int64_t));
  if (!state->arguments || !state->symbols)
    return rt_out_of_memory((most + most_symbols) * sizeof(void *));
  if (state->device->has_maps)
    RT_TRY(rt_maps_create(state));
  return state->device->falls_back ? rt_fallback_create(state, most) : NULL;
}

static adze_status make_stream(rt_device_context *state) {
  const cu_driver *cu = state->device->cu;
  CU_TRY(cu, push, (state->device->primary));
  cu_context ignored;
  cu_result result =
      cu->stream_create(&state->own_stream, CU_STREAM_NON_BLOCKING);
  if (!result)
    result = cu->event_create(&state->begin, 0);
  if (!result)
    result = cu->event_create(&state->end, 0);
  cu->pop(&ignored);
  return result ? rt_cuda_error(cu, result, "stream_create") : NULL;
}

/* Allocates the fault records, all zero, in memory of the host that kernels
 * access: they store a record only when a fault is raised, and a run ends
 * without a copy. */
static adze_status make_faults(const adze_context *context) {
  rt_device_context *state = context->on_device;
  const cu_driver *cu = state->device->cu;
  size_t bytes = (size_t)context->module->desc->num_faults * sizeof(adze_fault);
  if (!bytes)
    return NULL;
  CU_TRY(cu, push, (state->device->primary));
  cu_context ignored;
  cu_result result = cu->allocate_host((void **)&state->faults, bytes);
  if (!result)
    memset(state->faults, 0, bytes);
  cu->pop(&ignored);
  return result ? rt_cuda_error(cu, result, "allocate") : NULL;
}

adze_status rt_cuda_attach(adze_context *context) {
  rt_device *device;
  RT_TRY(get_device(context->module, context->device.device_id, &device));
  rt_device_context *state = calloc(1, sizeof(*state));
  if (!state)
    return rt_out_of_memory(sizeof(*state));
  context->on_device = state;
  state->device = device;
  rt_cuda_take_weights(context);
  /* A run that reads data on the host may take another path each time: it waits
     for the device, and is not captured. */
  state->captures = context->module->options.cuda_graphs && !device->falls_back;
  if (device->falls_back)
    RT_TRY(rt_context_use_cpu(context));
  RT_TRY(make_tables(context->module, state));
  RT_TRY(rt_graphs_create(context));
  RT_TRY(make_stream(state));
  return make_faults(context);
}

void rt_cuda_detach(adze_context *context) {
  rt_device_context *state = context->on_device;
  const cu_driver *cu = state->device->cu;
  cu_context ignored;
  if (!cu->push(state->device->primary)) {
    rt_graphs_free(state);
    if (state->staging)
      cu->deallocate(state->staging);
    if (state->faults)
      cu->deallocate_host(state->faults);
    if (state->begin)
      cu->event_destroy(state->begin);
    if (state->end)
      cu->event_destroy(state->end);
    if (state->own_stream)
      cu->stream_destroy(state->own_stream);
    cu->pop(&ignored);
  }
  rt_memory_count(context->module->memory, -(int64_t)state->staging_bytes);
  rt_fallback_free(context);
  rt_cuda_drop_weights(state->weights);
  free(state->maps);
  free(state->arguments);
  free(state->symbols);
  free(state);
  context->on_device = NULL;
}

/* ---- Memory -------------------------------------------------------------- */

adze_status rt_cuda_take(adze_context *context, uint64_t bytes, void **data) {
  rt_device *device = context->on_device->device;
  const cu_driver *cu = device->cu;
  cu_address address = 0;
  cu_context ignored;
  CU_TRY(cu, push, (device->primary));
  cu_result result = allocate(device, bytes, &address);
  cu->pop(&ignored);
  if (result)
    return rt_cuda_error(cu, result, "allocate");
  rt_memory_count(context->module->memory, (int64_t)bytes);
  *data = (void *)(uintptr_t)address;
  return NULL;
}

void rt_cuda_give(adze_module *module, int32_t ordinal, void *data,
                  uint64_t bytes) {
  pthread_mutex_lock(&module->mutex);
  rt_device *device = find_device(module, ordinal);
  pthread_mutex_unlock(&module->mutex);
  cu_context ignored;
  if (!data || !device || device->cu->push(device->primary))
    return;
  device->cu->deallocate((uintptr_t)data);
  device->cu->pop(&ignored);
  rt_memory_count(module->memory, -(int64_t)bytes);
}
