/* Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
 *
 * Replaces the weights of a module while its contexts run. The new weights
 * belong to a module with the same code, which is kept until the last run with
 * them has ended.
 * */
#include "Runtime.h"

#include <string.h>

/* Returns true if the modules differ only in the contents of their weights. */
static bool has_same_code(const adze_module_desc *left,
                          const adze_module_desc *right) {
  return left->structure_id && right->structure_id &&
         !strcmp(left->structure_id, right->structure_id) &&
         left->weights_size == right->weights_size;
}

static adze_status check(const adze_module *module, adze_module *newer,
                         const char *path) {
  if (!module->desc->structure_id)
    return rt_error(ADZE_UNSUPPORTED,
                    "%s: its weights cannot be swapped: it was compiled by "
                    "an older compiler",
                    module->path);
  if (!has_same_code(module->desc, newer->desc))
    return rt_error(ADZE_INVALID_MODULE,
                    "%s: expected the code of '%s' with other weights, but got "
                    "other code: compile both models by one compiler with the "
                    "same options, or open it as a separate module",
                    path, module->path);
  RT_TRY(rt_check_weights(newer));
  return newer->variant ? rt_compute_weights(newer) : NULL;
}

/* Locks the program for devices first, as contexts on devices do. */
static void lock(adze_module *module) {
  if (module->for_devices)
    pthread_mutex_lock(&module->for_devices->mutex);
  pthread_mutex_lock(&module->mutex);
}

static void unlock(adze_module *module) {
  pthread_mutex_unlock(&module->mutex);
  if (module->for_devices)
    pthread_mutex_unlock(&module->for_devices->mutex);
}

/* Updates all devices, or none. */
static adze_status swap_on_devices(adze_module *module, adze_module *newer) {
  adze_module *program = module->for_devices ? module->for_devices : module;
  adze_status status = rt_cuda_prepare_swap(
      program, module->for_devices ? newer->for_devices : newer);
  rt_cuda_finish_swap(program, /*commits=*/!status);
  return status;
}

adze_status adze_swap_weights(adze_module *module, const char *path) {
  if (!module || !path)
    return rt_error(ADZE_INVALID_ARGUMENT,
                    "expected a module and a path, but got NULL");
  adze_options options = module->options;
  options.weights[0] = 0; /* the path of the module's first weights */
  adze_module *newer;
  RT_TRY(adze_module_open(path, &options, &newer));
  adze_status status = check(module, newer, path);
  if (status) {
    adze_module_release(newer);
    return status;
  }
  lock(module);
  status = swap_on_devices(module, newer);
  adze_module *older = newer;
  if (!status)
    older =
        atomic_exchange_explicit(&module->newer, newer, memory_order_acq_rel);
  unlock(module);
  adze_module_release(older);
  return status;
}

bool rt_has_swapped_weights(const adze_module *module) {
  const adze_module *owner = module->owner ? module->owner : module;
  return atomic_load_explicit(&owner->newer, memory_order_acquire) != NULL;
}

adze_module *rt_weights_acquire(adze_module *module) {
  if (!rt_has_swapped_weights(module))
    return module;
  pthread_mutex_lock(&module->mutex);
  adze_module *newer = atomic_load(&module->newer);
  adze_module_retain(newer);
  pthread_mutex_unlock(&module->mutex);
  return newer;
}

void rt_weights_release(adze_module *module, adze_module *source) {
  if (source != module)
    adze_module_release(source);
}
