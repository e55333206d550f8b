/* Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
 *
 * What the machine gives at this moment:
 *   machine-limits THREADS MILLISECONDS [MILLISECONDS of the copy]
 *
 * Prints, as JSON, the rate of a register-only burst of f32 fused multiply-adds
 * (`fma_gflops`, two operations each) and of a copy between arrays out of cache
 * with stores past the cache (`copy_gb_s`, bytes read plus bytes written), both
 * summed over the threads. The arrays lie on huge pages where the system gives
 * them, as those of arun and of numpy do. Benchmarks run it beside their
 * samples: a figure is then a fraction of what the same cores gave in the same
 * second.
 */
#include "fma-burst.h"
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

enum { kCopyBytes = 64 << 20, kHugePage = 2 << 20, kSteps = 20000 };

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void copy(char *to, const char *from, size_t bytes) {
  for (size_t i = 0; i < bytes; i += 16)
    _mm_stream_si128((__m128i *)(to + i),
                     _mm_load_si128((const __m128i *)(from + i)));
  _mm_sfence();
  __asm__ volatile("" : : "r"(to) : "memory"); /* the bytes are wanted */
}

typedef struct {
  pthread_barrier_t *start;
  double seconds, copySeconds, gflops, gigabytes;
} worker;

static char *make_array(int value) {
  char *array = aligned_alloc(kHugePage, kCopyBytes);
  if (!array)
    exit(1);
  madvise(array, kCopyBytes, MADV_HUGEPAGE);
  return memset(array, value, kCopyBytes);
}

static void *work(void *argument) {
  worker *self = argument;
  char *from = make_array(1), *to = make_array(2);
  double (*burst)(int) = fmaBurst();
  burst(kSteps); /* wakes the wide units before the clock starts */
  pthread_barrier_wait(self->start);
  double begin = now(), operations = 0, end;
  do
    operations += burst(kSteps);
  while ((end = now()) < begin + self->seconds);
  self->gflops = operations / (end - begin) * 1e-9;
  pthread_barrier_wait(self->start);
  double bytes = 0;
  begin = now();
  do {
    copy(to, from, kCopyBytes);
    bytes += 2.0 * kCopyBytes;
  } while ((end = now()) < begin + self->copySeconds);
  self->gigabytes = bytes / (end - begin) * 1e-9;
  free(from);
  free(to);
  return NULL;
}

int main(int argc, char **argv) {
  int threads = argc > 1 ? atoi(argv[1]) : 1,
      milliseconds = argc > 2 ? atoi(argv[2]) : 100;
  int copyMilliseconds = argc > 3 ? atoi(argv[3]) : milliseconds;
  if (argc > 4 || threads < 1 || threads > 256 || milliseconds < 1 ||
      copyMilliseconds < 1) {
    fprintf(stderr, "usage: machine-limits THREADS MILLISECONDS [MILLISECONDS "
                    "of the copy], as in: machine-limits 2 100\n");
    return 2;
  }
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) {
    fprintf(stderr, "error: expected a CPU with AVX2 and FMA\n");
    return 1;
  }
  pthread_barrier_t start;
  pthread_barrier_init(&start, NULL, (unsigned)threads);
  pthread_t ids[256];
  worker workers[256];
  double gflops = 0, gigabytes = 0;
  for (int t = 0; t < threads; ++t) {
    workers[t] =
        (worker){&start, milliseconds * 1e-3, copyMilliseconds * 1e-3, 0, 0};
    if (pthread_create(&ids[t], NULL, work, &workers[t])) {
      fprintf(stderr,
              "error: expected %d threads, but only %d could be started\n",
              threads, t);
      return 1;
    }
  }
  for (int t = 0; t < threads; ++t) {
    pthread_join(ids[t], NULL);
    gflops += workers[t].gflops;
    gigabytes += workers[t].gigabytes;
  }
  printf("{\"threads\": %d, \"fma_gflops\": %.1f, \"copy_gb_s\": %.2f}\n",
         threads, gflops, gigabytes);
  return 0;
}
