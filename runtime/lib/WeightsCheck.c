/* Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
 *
 * Verifies the checksums of weights, once per module before its first run. All
 * threads take part. The run reads the same pages afterwards, so the time is
 * mostly that of the page faults.
 * */
#include "Runtime.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

uint64_t rt_checksum(const void *data, size_t bytes) {
  return XXH3_64bits(data, bytes);
}

typedef struct {
  const char *weights;
  const uint64_t *checksums;
  uint64_t size, blocks;
  _Atomic uint64_t next;    /* next block that no lane has taken */
  _Atomic uint64_t damaged; /* the first damaged block; `blocks`: none */
} check_job;

static uint64_t size_of_block(const check_job *job, uint64_t block) {
  uint64_t left = job->size - block * ADZE_WEIGHTS_BLOCK;
  return left < ADZE_WEIGHTS_BLOCK ? left : ADZE_WEIGHTS_BLOCK;
}

static uint64_t checksum_of(const check_job *job, uint64_t block) {
  return rt_checksum(job->weights + block * ADZE_WEIGHTS_BLOCK,
                     (size_t)size_of_block(job, block));
}

static void check_blocks(void *data, int32_t lane) {
  (void)lane;
  check_job *job = data;
  uint64_t block;
  while ((block = atomic_fetch_add(&job->next, 1)) < job->blocks) {
    if (checksum_of(job, block) == job->checksums[block])
      continue;
    uint64_t first = atomic_load(&job->damaged);
    while (block < first &&
           !atomic_compare_exchange_weak(&job->damaged, &first, block))
      ;
  }
}

static void check_on_lanes(void *data, int64_t begin, int64_t end) {
  for (int64_t lane = begin; lane < end; ++lane)
    check_blocks(data, (int32_t)lane);
}

static adze_status report(const adze_module *module, const check_job *job,
                          uint64_t block) {
  uint64_t begin = block * ADZE_WEIGHTS_BLOCK;
  return rt_error(
      ADZE_INVALID_MODULE,
      "%s: damaged weights: bytes [%llu, %llu): expected checksum %016llx, but "
      "got %016llx",
      rt_weights_name(module), (unsigned long long)begin,
      (unsigned long long)(begin + size_of_block(job, block)),
      (unsigned long long)job->checksums[block],
      (unsigned long long)checksum_of(job, block));
}

static adze_status check(adze_module *module) {
  const adze_module_desc *desc = module->desc;
  check_job job = {.weights = module->weights,
                   .checksums = desc->weights_checksums,
                   .size = desc->weights_size};
  job.blocks = (job.size + ADZE_WEIGHTS_BLOCK - 1) / ADZE_WEIGHTS_BLOCK;
  atomic_init(&job.next, 0);
  atomic_init(&job.damaged, job.blocks);
  int32_t lanes = rt_module_threads(module);
  if ((uint64_t)lanes > job.blocks)
    lanes = (int32_t)job.blocks;
  rt_pool *pool = NULL;
  if (lanes > 1)
    RT_TRY(rt_module_pool(module, &pool));
  if (lanes > 1 && module->options.parallel_for)
    module->options.parallel_for(module->options.parallel_user, lanes,
                                 check_on_lanes, &job);
  else if (pool)
    rt_pool_run(pool, lanes, check_blocks, &job);
  else
    check_blocks(&job, 0);
  uint64_t damaged = atomic_load(&job.damaged);
  return damaged < job.blocks ? report(module, &job, damaged) : NULL;
}

adze_status rt_check_weights(adze_module *module) {
  if (module->owner)
    module = module->owner;
  if (rt_has_swapped_weights(module)) /* the swap has verified them */
    return NULL;
  if (atomic_load_explicit(&module->weights_checked, memory_order_acquire))
    return NULL;
  adze_status status = NULL;
  pthread_mutex_lock(&module->weights_mutex);
  /* If the weights are damaged, each run checks and rejects them again. */
  if (!atomic_load(&module->weights_checked))
    status = check(module);
  if (!status)
    atomic_store_explicit(&module->weights_checked, true, memory_order_release);
  pthread_mutex_unlock(&module->weights_mutex);
  return status;
}
