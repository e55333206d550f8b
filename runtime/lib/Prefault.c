/* Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
 *
 * Maps the pages of large weights while the module's first run is prepared:
 * page faults of the kernels take longer than mapping all pages at once, and
 * delay the first run.
 * */
#include "Runtime.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22 /* Linux 5.14 */
#endif

/* Smaller weights are mapped fast enough without it. */
#define LEAST_BYTES ((uint64_t)16 << 20)
#define HUGE_PAGE ((uint64_t)2 << 20)
#define STEP_BYTES ((uint64_t)4 << 20) /* granularity of stopping */

struct rt_prefault {
  pthread_t thread;
  pid_t process; /* a forked process does not have the thread */
  atomic_bool stop;
  char *begin;
  uint64_t bytes;
};

static void *prefault_main(void *data) {
  rt_prefault *self = data;
  /* Pages that are not in memory yet are read as huge pages if possible. */
  uint64_t skipped =
      (HUGE_PAGE - (uintptr_t)self->begin % HUGE_PAGE) % HUGE_PAGE;
  madvise(self->begin + skipped,
          (self->bytes - skipped) / HUGE_PAGE * HUGE_PAGE, MADV_HUGEPAGE);
  for (uint64_t at = 0; at < self->bytes; at += STEP_BYTES) {
    uint64_t left = self->bytes - at;
    if (atomic_load(&self->stop) ||
        madvise(self->begin + at, left < STEP_BYTES ? left : STEP_BYTES,
                MADV_POPULATE_READ))
      break; /* older system: kernels fault the pages in */
  }
  return NULL;
}

rt_prefault *rt_prefault_start(const void *data, uint64_t bytes) {
  uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
  uint64_t skipped = (page - (uintptr_t)data % page) % page;
  if (!data || bytes < LEAST_BYTES)
    return NULL;
  rt_prefault *self = calloc(1, sizeof(*self));
  if (!self)
    return NULL;
  self->process = getpid();
  atomic_init(&self->stop, false);
  self->begin = (char *)(uintptr_t)data + skipped;
  self->bytes = (bytes - skipped) / page * page;
  /* Signals of the process are not handled on this thread. */
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  int failed = pthread_create(&self->thread, NULL, prefault_main, self);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  if (!failed)
    return self;
  free(self);
  return NULL;
}

void rt_prefault_end(rt_prefault *self, bool finish) {
  if (!self)
    return;
  if (!finish)
    atomic_store(&self->stop, true);
  if (self->process == getpid())
    pthread_join(self->thread, NULL);
  free(self);
}
