/* Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
 *
 * Weights in device memory: copied once per device, and again when they are
 * replaced (adze_swap_weights). Each version is kept until no context runs with
 * it.
 * */
#include "CudaDriver.h"

#include <stdlib.h>

struct rt_device_weights {
  atomic_int references;
  rt_device *device;
  cu_address address;  /* 0: the module has none */
  const void *on_host; /* the same bytes */
  /* the module to release, which owns them; null: the module itself */
  adze_module *source;
};

void rt_cuda_drop_weights(rt_device_weights *weights) {
  if (!weights || atomic_fetch_sub(&weights->references, 1) != 1)
    return;
  const rt_device *device = weights->device;
  cu_context ignored;
  /* The driver waits for runs that still read the weights. */
  if (weights->address && !device->cu->push(device->primary)) {
    device->cu->deallocate(weights->address);
    device->cu->pop(&ignored);
  }
  adze_module_release(weights->source);
  free(weights);
}

static adze_status copy(rt_device_weights *weights, uint64_t bytes) {
  const cu_driver *cu = weights->device->cu;
  CU_TRY(cu, allocate, (&weights->address, bytes));
  CU_TRY(cu, copy,
         (weights->address, (uintptr_t)weights->on_host, bytes, NULL));
  CU_TRY(cu, stream_wait, (NULL));
  return NULL;
}

/* Copies the weights of `source`, the device's module or another one with the
 * same code. */
static adze_status send(const adze_module *module, adze_module *source,
                        rt_device *device, rt_device_weights **weights) {
  rt_device_weights *made = calloc(1, sizeof(*made));
  if (!made)
    return rt_out_of_memory(sizeof(*made));
  atomic_init(&made->references, 1);
  made->device = device;
  made->on_host = source->weights;
  if (source != module) {
    adze_module_retain(source);
    made->source = source;
  }
  const cu_driver *cu = device->cu;
  cu_context ignored;
  cu_result result = cu->push(device->primary);
  adze_status status = result ? rt_cuda_error(cu, result, "push") : NULL;
  if (!status && module->desc->weights_size)
    status = copy(made, module->desc->weights_size);
  if (!result)
    cu->pop(&ignored);
  if (status)
    rt_cuda_drop_weights(made);
  else
    *weights = made;
  return status;
}

/* Returns the module whose weights a new device of this one gets. */
static adze_module *get_source(adze_module *module) {
  adze_module *owner = module->owner ? module->owner : module;
  adze_module *newer = atomic_load(&owner->newer);
  if (!newer)
    return module;
  return module->owner ? newer->for_devices : newer;
}

adze_status rt_cuda_send_weights(adze_module *module, rt_device *device) {
  return send(module, get_source(module), device, &device->weights);
}

adze_status rt_cuda_prepare_swap(adze_module *module, adze_module *newer) {
  adze_status status = NULL;
  for (rt_device *at = module->devices; at && !status; at = at->next)
    status = send(module, newer, at, &at->new_weights);
  return status;
}

void rt_cuda_finish_swap(adze_module *module, bool commits) {
  for (rt_device *at = module->devices; at; at = at->next) {
    rt_device_weights *newer = at->new_weights;
    at->new_weights = NULL;
    rt_cuda_drop_weights(commits ? at->weights : newer);
    if (commits)
      at->weights = newer;
  }
}

void rt_cuda_take_weights(adze_context *context) {
  rt_device_context *state = context->on_device;
  pthread_mutex_lock(&context->module->mutex);
  rt_device_weights *now = state->device->weights, *old = state->weights;
  if (now != old)
    atomic_fetch_add(&now->references, 1);
  state->weights = now;
  pthread_mutex_unlock(&context->module->mutex);
  if (now != old)
    rt_cuda_drop_weights(old);
}

const void *rt_cuda_weights(const adze_context *context) {
  return (const void *)(uintptr_t)context->on_device->weights->address;
}

const void *rt_cuda_weights_on_host(const adze_context *context) {
  return context->on_device->weights->on_host;
}
