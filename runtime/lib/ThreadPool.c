/* Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
 *
 * A pool of persistent threads. A job is open while its caller works on it.
 * Threads that wake in time join the job; the caller does not wait for threads
 * that wake later. A launch therefore takes no longer than on the calling
 * thread alone.
 * */
#include "Runtime.h"

#include <limits.h>
#include <linux/futex.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* `state` of a pool: the number of the job, whether it is open, and the number
 * of threads in it, without the caller. */
#define JOB_ONE ((uint64_t)1 << 32)
#define JOB_OPEN ((uint64_t)1 << 31)
#define JOB_INSIDE (JOB_OPEN - 1)

struct rt_pool {
  _Alignas(64) _Atomic uint64_t state;
  _Alignas(64) _Atomic uint32_t signal; /* changes with every job; futex */
  _Atomic uint32_t sleepers;
  _Atomic bool stop;
  _Alignas(64) _Atomic uint32_t finished; /* futex on which the caller waits */
  /* The job, written while it is closed and no thread is in it. */
  rt_lane_fn run;
  void *data;
  int32_t lanes;
  /* Constant after creation. */
  pthread_mutex_t busy; /* held by the thread whose job it is */
  int32_t num_workers;
  int32_t spin_us;
  struct worker {
    pthread_t thread;
    rt_pool *pool;
    int32_t lane;
  } workers[];
};

void rt_relax(void) {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#else
  __asm__ volatile("yield");
#endif
}

static void futex_wait(_Atomic uint32_t *word, uint32_t value) {
  syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, NULL, NULL, 0);
}

static void futex_wake(_Atomic uint32_t *word) {
  syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

/* Spins once; returns false when the time limit is reached. */
static bool spin(int32_t limit_us, uint32_t *steps, double *begin) {
  if (!limit_us)
    return false;
  rt_relax();
  if (++*steps % 64)
    return true;
  double now = rt_now_us();
  if (*steps == 64)
    *begin = now;
  return now - *begin < limit_us;
}

static void leave(rt_pool *pool) {
  uint64_t left = atomic_fetch_sub(&pool->state, 1) - 1;
  if (!(left & (JOB_OPEN | JOB_INSIDE))) {
    atomic_fetch_add(&pool->finished, 1);
    futex_wake(&pool->finished);
  }
}

/* Joins the job if it is open and not `last`; returns its number. A thread has
 * the same lane in all jobs, since its caches contain the data of that lane. */
static uint32_t take_part(rt_pool *pool, int32_t lane, uint32_t last) {
  uint64_t state = atomic_load(&pool->state);
  while ((state & JOB_OPEN) && (uint32_t)(state >> 32) != last)
    if (atomic_compare_exchange_weak(&pool->state, &state, state + 1)) {
      if (lane < pool->lanes)
        pool->run(pool->data, lane);
      leave(pool);
      return (uint32_t)(state >> 32);
    }
  return last;
}

static void *worker_main(void *argument) {
  const struct worker *self = argument;
  rt_pool *pool = self->pool;
  uint32_t last = 0, seen = 0;
  while (!atomic_load(&pool->stop)) {
    last = take_part(pool, self->lane, last);
    uint32_t steps = 0;
    double begin = 0;
    while (atomic_load(&pool->signal) == seen &&
           spin(pool->spin_us, &steps, &begin)) {
    }
    if (atomic_load(&pool->signal) == seen) {
      atomic_fetch_add(&pool->sleepers, 1);
      futex_wait(&pool->signal, seen);
      atomic_fetch_sub(&pool->sleepers, 1);
    }
    seen = atomic_load(&pool->signal);
  }
  return NULL;
}

static void ring(rt_pool *pool) {
  atomic_fetch_add(&pool->signal, 1);
  if (atomic_load(&pool->sleepers))
    futex_wake(&pool->signal);
}

static void wait_for_others(rt_pool *pool) {
  uint32_t steps = 0;
  double begin = 0;
  for (;;) {
    uint32_t finished = atomic_load(&pool->finished);
    if (!(atomic_load(&pool->state) & JOB_INSIDE))
      return;
    if (!spin(pool->spin_us, &steps, &begin))
      futex_wait(&pool->finished, finished);
  }
}

void rt_pool_run(rt_pool *pool, int32_t lanes, rt_lane_fn run, void *data) {
  if (!pool || lanes < 2 || pthread_mutex_trylock(&pool->busy)) {
    run(data, 0);
    return;
  }
  pool->run = run;
  pool->data = data;
  pool->lanes = lanes;
  uint64_t state = atomic_load(&pool->state);
  atomic_store(&pool->state, (state + JOB_ONE) | JOB_OPEN);
  ring(pool);
  run(data, 0);
  atomic_fetch_and(&pool->state, ~JOB_OPEN);
  wait_for_others(pool);
  pthread_mutex_unlock(&pool->busy);
}

rt_pool *rt_pool_create(int32_t threads, int32_t spin_us) {
  int32_t num_workers = threads > 1 ? threads - 1 : 0;
  size_t size = sizeof(rt_pool) + (size_t)num_workers * sizeof(struct worker);
  rt_pool *pool = NULL;
  if (posix_memalign((void **)&pool, 64, size))
    return NULL;
  atomic_init(&pool->state, 0);
  atomic_init(&pool->signal, 0);
  atomic_init(&pool->sleepers, 0);
  atomic_init(&pool->stop, false);
  atomic_init(&pool->finished, 0);
  pthread_mutex_init(&pool->busy, NULL);
  /* Spinning delays other lanes if there are more threads than processors. */
  pool->spin_us = threads > rt_usable_cpus() ? 0 : spin_us;
  pool->num_workers = 0;
  for (; pool->num_workers < num_workers; ++pool->num_workers) {
    struct worker *self = &pool->workers[pool->num_workers];
    self->pool = pool;
    self->lane = pool->num_workers + 1;
    if (pthread_create(&self->thread, NULL, worker_main, self)) {
      rt_pool_destroy(pool);
      return NULL;
    }
  }
  return pool;
}

void rt_pool_destroy(rt_pool *pool) {
  if (!pool)
    return;
  atomic_store(&pool->stop, true);
  atomic_fetch_add(&pool->signal, 1);
  futex_wake(&pool->signal);
  for (int32_t i = 0; i < pool->num_workers; ++i)
    pthread_join(pool->workers[i].thread, NULL);
  pthread_mutex_destroy(&pool->busy);
  free(pool);
}

int32_t rt_usable_cpus(void) {
  cpu_set_t set;
  if (!sched_getaffinity(0, sizeof(set), &set))
    return CPU_COUNT(&set);
  long online = sysconf(_SC_NPROCESSORS_ONLN);
  return online > 0 ? (int32_t)online : 1;
}

double rt_now_us(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec * 1e6 + (double)now.tv_nsec * 1e-3;
}
