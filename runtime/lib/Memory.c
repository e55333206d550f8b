/* Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
 *
 * The allocator: the caller's hook or the C library, with counters.
 */
#include "Runtime.h"

#include <stdlib.h>
#include <sys/mman.h>

#define HUGE_PAGE ((uint64_t)2 << 20)

/* Large blocks use huge pages if the system provides them: every kernel
 * accesses the arena, and the page misses are measurable. */
static void *allocate_default(void *user, size_t bytes, size_t alignment) {
  (void)user;
  if (bytes >= 2 * HUGE_PAGE && alignment < HUGE_PAGE)
    alignment = HUGE_PAGE;
  void *data = NULL;
  if (posix_memalign(&data, alignment, bytes))
    return NULL;
  if (alignment == HUGE_PAGE)
    madvise(data, bytes / HUGE_PAGE * HUGE_PAGE, MADV_HUGEPAGE);
  return data;
}

static void deallocate_default(void *user, void *data, size_t bytes) {
  (void)user;
  (void)bytes;
  free(data);
}

rt_memory *rt_memory_create(const adze_options *options) {
  rt_memory *memory = calloc(1, sizeof(*memory));
  if (!memory)
    return NULL;
  atomic_init(&memory->references, 1);
  memory->allocate = options->allocate ? options->allocate : allocate_default;
  memory->deallocate =
      options->deallocate ? options->deallocate : deallocate_default;
  memory->user = options->allocator_user;
  return memory;
}

void rt_memory_retain(rt_memory *memory) {
  atomic_fetch_add(&memory->references, 1);
}

void rt_memory_release(rt_memory *memory) {
  if (memory && atomic_fetch_sub(&memory->references, 1) == 1)
    free(memory);
}

void rt_memory_count(rt_memory *memory, int64_t bytes) {
  uint_fast64_t current =
      atomic_fetch_add(&memory->current, (uint64_t)bytes) + (uint64_t)bytes;
  if (bytes <= 0)
    return;
  atomic_fetch_add(&memory->allocations, 1);
  uint_fast64_t peak = atomic_load(&memory->peak);
  while (peak < current &&
         !atomic_compare_exchange_weak(&memory->peak, &peak, current)) {
  }
}

void *rt_memory_take(rt_memory *memory, uint64_t bytes) {
  if (bytes > PTRDIFF_MAX)
    return NULL;
  void *data = memory->allocate(memory->user, bytes ? bytes : 1, RT_ALIGNMENT);
  if (data)
    rt_memory_count(memory, (int64_t)bytes);
  return data;
}

void rt_memory_give(rt_memory *memory, void *data, uint64_t bytes) {
  if (!data)
    return;
  memory->deallocate(memory->user, data, bytes ? bytes : 1);
  rt_memory_count(memory, -(int64_t)bytes);
}
