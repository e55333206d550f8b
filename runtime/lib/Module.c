/* Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
 *
 * Opens modules and owns what their contexts share.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* dladdr, memfd_create */
#endif
#include "Runtime.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define AMX_BITS (ADZE_X86_AMX_TILE | ADZE_X86_AMX_INT8 | ADZE_X86_AMX_BF16)

/* ---- Choosing the CPU variant ------------------------------------------- */

static bool runs_here(const adze_cpu_variant *variant) {
  if (variant->cpu_features & ~rt_cpu_features())
    return false;
  return !(variant->cpu_features & AMX_BITS) || rt_cpu_request_amx();
}

static adze_status choose_variant(adze_module *module) {
  const adze_module_desc *desc = module->desc;
  const char *wanted = module->options.variant;
  for (uint32_t i = 0; i < desc->num_variants && !module->variant; ++i) {
    const adze_cpu_variant *variant = &desc->variants[i];
    if ((!*wanted || !strcmp(wanted, variant->name)) && runs_here(variant))
      module->variant = variant;
  }
  if (module->variant)
    return NULL;
  if (*wanted)
    return rt_error(ADZE_UNSUPPORTED,
                    "module has no variant '%s' that runs on this CPU", wanted);
  if (desc->num_variants && !desc->num_images && !desc->devices)
    return rt_error(ADZE_UNSUPPORTED,
                    "module has no variant that runs on this CPU");
  return NULL;
}

/* ---- Making modules -------------------------------------------------------
 */

static bool has_only_tensors(const adze_module_desc *desc) {
  for (uint32_t i = 0; i < desc->num_inputs; ++i)
    if (desc->inputs[i].kind != ADZE_TENSOR)
      return false;
  for (uint32_t i = 0; i < desc->num_outputs; ++i)
    if (desc->outputs[i].kind != ADZE_TENSOR)
      return false;
  return true;
}

static void destroy(adze_module *module) {
  adze_module_release(atomic_load(&module->newer));
  if (module->for_devices)
    destroy(module->for_devices);
  rt_cuda_release_devices(module);
  rt_operators_free(module);
  rt_pool_destroy(module->pool);
  rt_free_computed_weights(module);
  rt_memory_release(module->memory);
  pthread_mutex_destroy(&module->mutex);
  pthread_mutex_destroy(&module->weights_mutex);
  rt_descriptor_free(module->descriptor);
  free(module->path);
  free(module->info_storage);
  free(module->json);
  rt_prefault_end(module->prefault, /*finish=*/false);
  rt_unmap_weights(module);
  if (module->library)
    dlclose(module->library);
  if (module->fd >= 0)
    close(module->fd);
  free(module);
}

/* Sets the fields that depend on the descriptor and the options. */
static adze_status fill(adze_module *module, const adze_module_desc *desc,
                        int fd, const char *path) {
  RT_TRY(rt_descriptor_create(desc, &module->descriptor));
  module->desc = rt_descriptor_get(module->descriptor);
  module->only_tensors = has_only_tensors(module->desc);
  module->weights = module->desc->weights;
  RT_TRY(rt_map_weights(module, fd, path));
  atomic_init(&module->weights_checked,
              module->options.verify != RT_VERIFY_ALL ||
                  !module->desc->weights_size ||
                  !module->desc->weights_checksums);
  RT_TRY(choose_variant(module));
  RT_TRY(rt_make_value_infos(module));
  module->memory = rt_memory_create(&module->options);
  return module->memory ? NULL : rt_out_of_memory(sizeof(rt_memory));
}

static bool same_values(const adze_module_value *left,
                        const adze_module_value *right, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i)
    if (left[i].kind != right[i].kind || left[i].rank != right[i].rank ||
        left[i].dtype_code != right[i].dtype_code ||
        left[i].dtype_bits != right[i].dtype_bits)
      return false;
  return true;
}

/* Returns true if `devices` is a valid device program for the descriptor. */
static bool is_program_of(const adze_module_desc *devices,
                          const adze_module_desc *desc) {
  return !desc->num_images && !devices->devices && !devices->weights &&
         devices->num_inputs == desc->num_inputs &&
         devices->num_outputs == desc->num_outputs &&
         devices->num_symbols - devices->num_last_rows ==
             desc->num_symbols - desc->num_last_rows &&
         devices->num_defaults == desc->num_defaults &&
         same_values(devices->inputs, desc->inputs, desc->num_inputs) &&
         same_values(devices->outputs, desc->outputs, desc->num_outputs) &&
         devices->weights_offset % RT_ALIGNMENT == 0 &&
         devices->weights_offset <= desc->weights_size &&
         devices->weights_size <= desc->weights_size - devices->weights_offset;
}

/* Creates the program for devices; shared data belongs to the owner. */
static adze_status fill_for_devices(adze_module *owner) {
  adze_module *made = calloc(1, sizeof(*made));
  if (!made)
    return rt_out_of_memory(sizeof(*made));
  owner->for_devices = made;
  made->owner = owner;
  made->fd = -1;
  pthread_mutex_init(&made->mutex, NULL);
  pthread_mutex_init(&made->weights_mutex, NULL);
  made->options = owner->options;
  rt_memory_retain(owner->memory);
  made->memory = owner->memory;
  made->path = strdup(owner->path);
  if (!made->path)
    return rt_out_of_memory(strlen(owner->path) + 1);
  RT_TRY(rt_descriptor_create(owner->desc->devices, &made->descriptor));
  made->desc = rt_descriptor_get(made->descriptor);
  if (!is_program_of(made->desc, owner->desc))
    return rt_error(ADZE_INVALID_MODULE,
                    "damaged descriptor: program for devices");
  if (owner->weights)
    made->weights = (const char *)owner->weights + made->desc->weights_offset;
  made->only_tensors = has_only_tensors(made->desc);
  if (made->desc->num_variants)
    RT_TRY(choose_variant(made));
  return rt_make_value_infos(made);
}

adze_module *rt_module_for(adze_module *module, DLDevice device) {
  bool is_cpu = device.device_type == kDLCPU;
  return module->for_devices && !is_cpu ? module->for_devices : module;
}

adze_status rt_module_adopt(const adze_module_desc *desc, void *library, int fd,
                            const char *path, const char *name,
                            const adze_options *options, adze_module **module) {
  adze_module *made = calloc(1, sizeof(*made));
  if (!made) {
    if (library)
      dlclose(library);
    if (fd >= 0)
      close(fd);
    return rt_out_of_memory(sizeof(*made));
  }
  atomic_init(&made->references, 1);
  made->library = library;
  made->fd = fd;
  pthread_mutex_init(&made->mutex, NULL);
  pthread_mutex_init(&made->weights_mutex, NULL);
  if (options)
    made->options = *options;
  else
    rt_options_init(&made->options);
  made->path = strdup(name);
  adze_status status = made->path ? fill(made, desc, fd, path)
                                  : rt_out_of_memory(strlen(name) + 1);
  if (!status && made->desc->devices)
    status = fill_for_devices(made);
  if (status) {
    destroy(made);
    return status;
  }
  if (made->variant)
    made->prefault = rt_prefault_start(made->weights, made->desc->weights_size);
  rt_log(&made->options, ADZE_LOG_INFO,
         "opened module '%s' of ABI %u, cpu variant '%s'",
         made->desc->model_name ? made->desc->model_name : "", made->desc->abi,
         made->variant ? made->variant->name : "none");
  *module = made;
  return NULL;
}

/* ---- Loading ------------------------------------------------------------- */

/* Returns the note of the image that dlopen loaded, from its mapping. */
static bool mapped_note(const void *symbol, adze_module_note *result) {
  Dl_info info;
  if (!dladdr(symbol, &info) || !info.dli_fbase)
    return false;
  const char *base = info.dli_fbase;
  const Elf64_Ehdr *header = info.dli_fbase;
  const Elf64_Phdr *segments = (const void *)(base + header->e_phoff);
  for (unsigned i = 0; i < header->e_phnum; ++i) {
    if (segments[i].p_type != PT_NOTE)
      continue;
    const char *at = base + segments[i].p_vaddr;
    const char *end = at + segments[i].p_memsz;
    uint64_t alignment = segments[i].p_align == 8 ? 8 : 4;
    while (at + sizeof(Elf64_Nhdr) <= end) {
      const Elf64_Nhdr *note = (const void *)at;
      const char *name = at + sizeof(*note);
      uint64_t data = (uint64_t)(name - base) + note->n_namesz;
      data = (data + alignment - 1) & ~(alignment - 1);
      if (note->n_type == ADZE_NOTE_TYPE &&
          note->n_namesz == sizeof(ADZE_NOTE_OWNER) &&
          !memcmp(name, ADZE_NOTE_OWNER, sizeof(ADZE_NOTE_OWNER))) {
        memcpy(result, base + data, sizeof(*result));
        return true;
      }
      at = base + ((data + note->n_descsz + alignment - 1) & ~(alignment - 1));
    }
  }
  return false;
}

static adze_status load(const char *path, const char *name, void **library,
                        void **query) {
  *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!*library)
    return rt_error(ADZE_INVALID_MODULE, "%s: %s", name, dlerror());
  *query = dlsym(*library, ADZE_MODULE_QUERY);
  if (*query)
    return NULL;
  dlclose(*library);
  return rt_error(ADZE_INVALID_MODULE, "%s: no symbol '%s'", name,
                  ADZE_MODULE_QUERY);
}

/* Loads the checked file. dlopen identifies files by name: if an older file of
 * the same name is still loaded, it returns that one. The file is then loaded
 * by the path of its descriptor, which is unique while it is open. */
static adze_status load_checked(const char *path, const char *name, int fd,
                                const adze_module_note *note, void **library,
                                void **query) {
  char by_fd[64];
  snprintf(by_fd, sizeof(by_fd), "/proc/self/fd/%d", fd);
  if (path) {
    RT_TRY(load(path, name, library, query));
    adze_module_note mapped;
    if (mapped_note(*query, &mapped) && mapped.checksum == note->checksum &&
        mapped.file_size == note->file_size)
      return NULL;
    dlclose(*library);
  }
  return load(by_fd, name, library, query);
}

/* Takes over `fd`. */
static adze_status open_fd(int fd, const char *path, const char *name,
                           const adze_options *options, adze_module **module) {
  adze_module_note note;
  void *library, *query;
  adze_status status = rt_check_module_file(
      fd, name, !options || options->verify != RT_VERIFY_OFF, &note);
  if (!status)
    status = load_checked(path, name, fd, &note, &library, &query);
  if (status) {
    close(fd);
    return status;
  }
  adze_module_query_fn call;
  memcpy(&call, &query, sizeof(call));
  return rt_module_adopt(call(note.abi), library, fd, path, name, options,
                         module);
}

adze_status adze_module_open(const char *path, const adze_options *options,
                             adze_module **module) {
  if (!path || !module)
    return rt_error(
        ADZE_INVALID_ARGUMENT,
        "expected a path and a pointer to the module, but got NULL");
  /* dlopen would search the library path for a name without a slash. */
  char *full = realpath(path, NULL);
  int fd = full ? open(full, O_RDONLY | O_CLOEXEC) : -1;
  if (fd < 0) {
    int error = errno;
    free(full);
    return rt_error(rt_errno_code(error), "%s: %s", path, strerror(error));
  }
  adze_status status = open_fd(fd, full, path, options, module);
  free(full);
  return status;
}

adze_status adze_module_open_memory(const void *data, size_t size,
                                    const adze_options *options,
                                    adze_module **module) {
  if (!data || !module)
    return rt_error(ADZE_INVALID_ARGUMENT,
                    "expected data and a pointer to the module, but got NULL");
  int fd = memfd_create("adze-module", MFD_CLOEXEC);
  if (fd < 0)
    return rt_error(rt_errno_code(errno), "memfd_create: %s", strerror(errno));
  for (size_t done = 0; done < size;) {
    ssize_t written = write(fd, (const char *)data + done, size - done);
    if (written < 0 && errno != EINTR) {
      int error = errno;
      close(fd);
      return rt_error(rt_errno_code(error), "module in memory: %s",
                      strerror(error));
    }
    done += written > 0 ? (size_t)written : 0;
  }
  return open_fd(fd, NULL, "module in memory", options, module);
}

adze_status adze_module_link(adze_query_fn query, const adze_options *options,
                             adze_module **module) {
  if (!query || !module)
    return rt_error(ADZE_INVALID_ARGUMENT,
                    "expected a query function and a pointer to the module");
  adze_module_query_fn call = (adze_module_query_fn)query;
  const adze_module_desc *desc = NULL;
  for (uint32_t abi = ADZE_MODULE_ABI; !desc && abi >= ADZE_MODULE_OLDEST_ABI;
       --abi)
    desc = call(abi);
  return rt_module_adopt(desc, NULL, -1, NULL, "linked module", options,
                         module);
}

void adze_module_retain(adze_module *module) {
  if (module && module->owner)
    module = module->owner;
  if (module)
    atomic_fetch_add(&module->references, 1);
}

void adze_module_release(adze_module *module) {
  if (module && module->owner)
    module = module->owner;
  if (module && atomic_fetch_sub(&module->references, 1) == 1)
    destroy(module);
}

/* ---- Threads ------------------------------------------------------------- */

int32_t rt_module_threads(const adze_module *module) {
  int32_t threads = module->options.threads;
  return threads ? threads : rt_usable_cpus();
}

adze_status rt_module_pool(adze_module *module, rt_pool **pool) {
  if (module->owner)
    module = module->owner;
  int32_t threads = rt_module_threads(module);
  *pool = NULL;
  if (threads < 2 || module->options.parallel_for)
    return NULL;
  pthread_mutex_lock(&module->mutex);
  if (!module->pool)
    module->pool = rt_pool_create(threads, module->options.spin_us);
  *pool = module->pool;
  pthread_mutex_unlock(&module->mutex);
  if (!*pool)
    return rt_error(ADZE_OUT_OF_MEMORY, "%d threads could not be started",
                    threads);
  return NULL;
}
