/* Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
 *
 * Memory that callers allocate on the device of a context.
 */
#include "Runtime.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static adze_status check_context(const adze_context *context) {
  return context ? NULL
                 : rt_error(ADZE_INVALID_ARGUMENT,
                            "expected a context, but got NULL");
}

static adze_status allocate_pages(adze_context *context, uint64_t bytes,
                                  void **data) {
  void *pages = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (pages == MAP_FAILED)
    return rt_out_of_memory(bytes);
  rt_memory_count(context->module->memory, (int64_t)bytes);
  *data = pages;
  return NULL;
}

adze_status adze_memory_allocate(adze_context *context, uint64_t bytes,
                                 void **data) {
  RT_TRY(check_context(context));
  if (!data)
    return rt_error(ADZE_INVALID_ARGUMENT,
                    "expected a pointer to the memory, but got NULL");
  if (!bytes)
    bytes = 1;
  if (!context->on_device)
    return allocate_pages(context, bytes, data);
  void *made;
  RT_TRY(rt_cuda_take(context, bytes, &made));
  adze_status status = rt_cuda_set_zero(context, made, bytes);
  if (status)
    rt_cuda_give(context->module, context->device.device_id, made, bytes);
  else
    *data = made;
  return status;
}

void adze_memory_release(adze_context *context, void *data, uint64_t bytes) {
  if (!context || !data)
    return;
  if (!bytes)
    bytes = 1;
  if (context->on_device) {
    rt_cuda_give(context->module, context->device.device_id, data, bytes);
    return;
  }
  munmap(data, bytes);
  rt_memory_count(context->module->memory, -(int64_t)bytes);
}

/* Returns whole pages to the system, which provides zeroed ones for them. */
static void clear_pages(char *data, uint64_t bytes) {
  uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
  uintptr_t begin = (uintptr_t)data, end = begin + bytes;
  uintptr_t first = (begin + page - 1) / page * page, last = end / page * page;
  if (first >= last || madvise((void *)first, last - first, MADV_DONTNEED)) {
    memset(data, 0, bytes);
    return;
  }
  memset(data, 0, first - begin);
  memset((void *)last, 0, end - last);
}

adze_status adze_memory_clear(adze_context *context, void *data,
                              uint64_t bytes) {
  RT_TRY(check_context(context));
  if (!bytes)
    return NULL;
  if (context->on_device)
    return rt_cuda_set_zero(context, data, bytes);
  clear_pages(data, bytes);
  return NULL;
}

adze_status adze_memory_copy(adze_context *context, void *to, uint64_t to_step,
                             const void *from, uint64_t from_step,
                             uint64_t bytes, uint64_t count) {
  RT_TRY(check_context(context));
  if (!bytes || !count)
    return NULL;
  if (context->on_device)
    return rt_cuda_transfer(context, (rt_pieces){to, to_step},
                            (rt_pieces){(char *)(uintptr_t)from, from_step},
                            bytes, count);
  for (uint64_t i = 0; i < count; ++i)
    memmove((char *)to + i * to_step, (const char *)from + i * from_step,
            bytes);
  return NULL;
}
