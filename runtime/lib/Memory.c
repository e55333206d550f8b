/* Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
 *
 * The allocator: the caller's hook or the C library, with counters.
 */
#include "Runtime.h"

#include <stdlib.h>
#include <sys/mman.h>

#define HUGE_PAGE ((uint64_t)2 << 20)
#define LEAST_HUGE (2 * HUGE_PAGE)

/* Large blocks use huge pages if the system provides them: every kernel
 * accesses the arena, and the page misses are measurable. */
static void *allocate_default(void *user, size_t bytes, size_t alignment) {
  (void)user;
  if (bytes >= LEAST_HUGE && alignment < HUGE_PAGE)
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
  atomic_flag_clear(&memory->busy);
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
  if (!memory || atomic_fetch_sub(&memory->references, 1) != 1)
    return;
  for (int i = 0; i < RT_MOST_KEPT; ++i)
    free(memory->kept[i].data);
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

/* ---- Memory of outputs ----------------------------------------------------
 */

static void lock(rt_memory *memory) {
  while (atomic_flag_test_and_set_explicit(&memory->busy, memory_order_acquire))
    ;
}

static void unlock(rt_memory *memory) {
  atomic_flag_clear_explicit(&memory->busy, memory_order_release);
}

/* The C library returns blocks of huge pages to the system, which would clear
 * them for each run. */
static bool is_kept(const rt_memory *memory, uint64_t bytes) {
  return memory->allocate == allocate_default &&
         memory->deallocate == deallocate_default && bytes >= LEAST_HUGE &&
         bytes <= RT_MOST_KEPT_BYTES;
}

/* Removes block `i`, and moves the later ones up. */
static rt_kept remove_block(rt_memory *memory, int i) {
  rt_kept block = memory->kept[i];
  for (; i + 1 < RT_MOST_KEPT; ++i)
    memory->kept[i] = memory->kept[i + 1];
  memory->kept[RT_MOST_KEPT - 1] = (rt_kept){NULL, 0};
  return block;
}

void *rt_memory_take_output(rt_memory *memory, uint64_t bytes) {
  rt_kept block = {NULL, 0};
  if (is_kept(memory, bytes)) {
    lock(memory);
    for (int i = 0; i < RT_MOST_KEPT && !block.data; ++i)
      if (memory->kept[i].data && memory->kept[i].bytes == bytes)
        block = remove_block(memory, i);
    unlock(memory);
  }
  if (!block.data)
    return rt_memory_take(memory, bytes);
  rt_memory_count(memory, (int64_t)bytes);
  return block.data;
}

void rt_memory_give_output(rt_memory *memory, void *data, uint64_t bytes) {
  if (!data || !is_kept(memory, bytes)) {
    rt_memory_give(memory, data, bytes);
    return;
  }
  rt_kept dropped[RT_MOST_KEPT] = {{NULL, 0}};
  lock(memory);
  dropped[0] = remove_block(memory, RT_MOST_KEPT - 1);
  for (int i = RT_MOST_KEPT - 1; i > 0; --i)
    memory->kept[i] = memory->kept[i - 1];
  memory->kept[0] = (rt_kept){data, bytes};
  uint64_t all = 0;
  for (int i = 0; i < RT_MOST_KEPT; ++i) {
    all += memory->kept[i].bytes;
    if (all <= RT_MOST_KEPT_BYTES || !memory->kept[i].data)
      continue;
    dropped[i] = memory->kept[i];
    memory->kept[i] = (rt_kept){NULL, 0};
  }
  unlock(memory);
  for (int i = 0; i < RT_MOST_KEPT; ++i)
    free(dropped[i].data);
  rt_memory_count(memory, -(int64_t)bytes);
}
