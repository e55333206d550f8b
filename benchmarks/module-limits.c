/* Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
 *
 * One run of a module, between two bursts of multiply-adds:
 *   module-limits MODULE GFLOP [THREADS [ROUNDS]]
 *
 * In each round, a register-only burst (Support/FmaBurst.h) runs immediately
 * before and after the run, in the same process, on the same cores, for as long
 * as the run takes. Prints, as JSON, medians over the rounds: the run's time, and
 * GFLOP (2 m n k of a product) divided by that time as a fraction of the bursts'
 * rate. `make bench` measures sustained runs of whole processes instead, which
 * vary by some percent with the physical pages and the clock.
 * Inputs are f32 of static shapes, filled with numbers in [-.5, .5).
 */
#include "Support/FmaBurst.h"
#include "adze.h"
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { kMostTensors = 8, kMostThreads = 64, kMostRounds = 1000, kSteps = 500 };

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void require(adze_status status) {
  if (!status)
    return;
  fprintf(stderr, "error: %s\n", adze_status_message(status));
  exit(1);
}

/* ---- Bursts on as many cores as the run has threads ---------------------- */

static pthread_barrier_t begin, end;
static double seconds, rates[kMostThreads];

static void stay_on(int core) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(core, &set);
  sched_setaffinity(0, sizeof(set), &set);
}

static void burst_here(int thread) {
  double (*burst)(int) = fmaBurst();
  double operations = 0, from = now(), to;
  do
    operations += burst(kSteps);
  while ((to = now()) < from + seconds);
  rates[thread] = operations / (to - from) * 1e-9;
}

static void *help(void *argument) {
  int thread = (int)(intptr_t)argument;
  stay_on(thread);
  for (;;) {
    pthread_barrier_wait(&begin);
    burst_here(thread);
    pthread_barrier_wait(&end);
  }
  return NULL;
}

static double burst(int threads) {
  pthread_barrier_wait(&begin);
  burst_here(0);
  pthread_barrier_wait(&end);
  double sum = 0;
  for (int t = 0; t < threads; ++t)
    sum += rates[t];
  return sum;
}

/* ---- The module ---------------------------------------------------------- */

static void fill(DLTensor *tensor, const adze_value_info *info) {
  static int64_t shapes[2 * kMostTensors][8];
  static int used;
  size_t count = 1;
  int64_t *shape = shapes[used++];
  if (info->dtype.code != kDLFloat || info->dtype.bits != 32 || info->rank > 8)
    exit((fprintf(stderr, "error: expected tensors of f32\n"), 1));
  for (int d = 0; d < info->rank; ++d) {
    if (info->dims[d] < 0)
      exit((fprintf(stderr, "error: expected static shapes\n"), 1));
    shape[d] = info->dims[d];
    count *= (size_t)shape[d];
  }
  float *data = aligned_alloc(64, (count * 4 + 63) / 64 * 64);
  if (!data)
    exit((fprintf(stderr, "error: out of memory\n"), 1));
  for (size_t i = 0; i < count; ++i)
    data[i] = (float)((i * 2654435761u) >> 9 & 0xffff) / 65536.0f - 0.5f;
  *tensor = (DLTensor){.data = data,
                       .device = {kDLCPU, 0},
                       .ndim = info->rank,
                       .dtype = info->dtype,
                       .shape = shape};
}

static int compare(const void *x, const void *y) {
  double a = *(const double *)x, b = *(const double *)y;
  return (a > b) - (a < b);
}

static double median(double *values, int count) {
  qsort(values, (size_t)count, sizeof(*values), compare);
  return values[count / 2];
}

int main(int argc, char **argv) {
  int threads = argc > 3 ? atoi(argv[3]) : 1,
      rounds = argc > 4 ? atoi(argv[4]) : 50;
  double gflop = argc > 2 ? atof(argv[2]) : 0;
  if (argc < 3 || argc > 5 || gflop <= 0 || threads < 1 ||
      threads > kMostThreads || rounds < 1 || rounds > kMostRounds) {
    fprintf(stderr, "usage: module-limits MODULE GFLOP [THREADS [ROUNDS]], as "
                    "in: module-limits mm1024.so 2.147 2\n");
    return 2;
  }
  cpu_set_t set;
  CPU_ZERO(&set);
  for (int t = 0; t < threads; ++t)
    CPU_SET(t, &set);
  sched_setaffinity(0, sizeof(set), &set);
  adze_options *options;
  adze_module *module;
  adze_context *context;
  char text[16];
  snprintf(text, sizeof(text), "%d", threads);
  require(adze_options_create(&options));
  require(adze_options_set(options, "threads", text));
  require(adze_module_open(argv[1], options, &module));
  require(adze_context_create(module, (DLDevice){kDLCPU, 0}, &context));
  int32_t inputs = adze_module_num_inputs(module),
          outputs = adze_module_num_outputs(module);
  static DLTensor tensors[2 * kMostTensors];
  static const DLTensor *in[kMostTensors];
  static DLTensor *out[kMostTensors];
  if (inputs > kMostTensors || outputs > kMostTensors)
    exit(
        (fprintf(stderr, "error: expected 8 inputs and outputs at most\n"), 1));
  const adze_value_info *info;
  for (int32_t i = 0; i < inputs; ++i) {
    require(adze_module_input(module, i, &info));
    fill(&tensors[i], info);
    in[i] = &tensors[i];
  }
  for (int32_t i = 0; i < outputs; ++i) {
    require(adze_module_output(module, i, &info));
    fill(&tensors[kMostTensors + i], info);
    out[i] = &tensors[kMostTensors + i];
  }
  pthread_barrier_init(&begin, NULL, (unsigned)threads);
  pthread_barrier_init(&end, NULL, (unsigned)threads);
  pthread_t id;
  for (int t = 1; t < threads; ++t)
    if (pthread_create(&id, NULL, help, (void *)(intptr_t)t))
      exit((fprintf(stderr, "error: expected %d threads\n", threads), 1));
  static double times[kMostRounds], parts[kMostRounds];
  for (int r = -3; r < rounds; ++r) { /* the first three are warm-up */
    double before = r == -3 ? 0 : burst(threads), from = now();
    require(adze_run(context, in, inputs, out, outputs));
    seconds = now() - from;
    double after = burst(threads);
    if (r < 0)
      continue;
    times[r] = seconds * 1e3;
    parts[r] = gflop / seconds / ((before + after) / 2);
  }
  double time = median(times, rounds), part = median(parts, rounds);
  printf("{\"threads\": %d, \"milliseconds\": %.4g, \"part_of_burst\": %.3f, "
         "\"quartiles\": [%.3f, %.3f]}\n",
         threads, time, part, parts[rounds / 4], parts[rounds * 3 / 4]);
  fflush(stdout);
  _Exit(0); /* the helper threads never end */
}
