// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Measures the peak rates that the machine currently achieves.

#include "MachineLimits.h"

#include <cstdio>

#ifdef __x86_64__
#include "Support/FmaBurst.h"
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <pthread.h>
#include <sys/mman.h>
#include <vector>
#endif

namespace adze::run {

std::string MachineLimits::toJson() const {
  char text[128];
  std::snprintf(text, sizeof(text),
                "{\"threads\": %d, \"fma_gflops\": %.1f, \"copy_gb_s\": %.2f}",
                threads, gflops, gigabytes);
  return text;
}

#ifdef __x86_64__

static constexpr size_t kCopyBytes = 64 << 20, kHugePage = 2 << 20;
static constexpr size_t kSliceBytes = 1 << 20; // of a copy
static constexpr int kSteps = 20000;

namespace {
struct Worker {
  pthread_barrier_t *start;
  Rate rate;
  double seconds, copySeconds;
  double gflops = 0, gigabytes = 0;
  char *from, *to;
};
} // namespace

static double now() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

static void copy(char *to, const char *from, size_t bytes) {
  for (size_t i = 0; i < bytes; i += 16)
    _mm_stream_si128(
        reinterpret_cast<__m128i *>(to + i),
        _mm_load_si128(reinterpret_cast<const __m128i *>(from + i)));
  _mm_sfence();
  // Prevents the copy from being optimized away.
  __asm__ volatile("" : : "r"(to) : "memory");
}

/// Calls `slice`, which returns its amount of work, for some time; returns the
/// rate.
template <typename Slice>
static double measureRate(double seconds, Rate rate, Slice slice) {
  std::vector<double> rates;
  double begin = now(), last = begin, all = 0;
  do {
    double done = slice(), end = now();
    all += done;
    rates.push_back(done / (end - last));
    last = end;
  } while (last < begin + seconds);
  if (rate == Rate::Whole)
    return all / (last - begin);
  auto middle = rates.begin() + static_cast<ptrdiff_t>(rates.size() / 2);
  std::nth_element(rates.begin(), middle, rates.end());
  return *middle;
}

static void *work(void *argument) {
  auto *self = static_cast<Worker *>(argument);
  std::memset(self->from, 1, kCopyBytes);
  std::memset(self->to, 2, kCopyBytes);
  double (*burst)(int) = fmaBurst();
  // Powers up the wide vector units before the measurement starts.
  burst(kSteps);
  pthread_barrier_wait(self->start);
  self->gflops = 1e-9 * measureRate(self->seconds, self->rate,
                                    [&] { return burst(kSteps); });
  pthread_barrier_wait(self->start);
  size_t at = 0;
  self->gigabytes = 1e-9 * measureRate(self->copySeconds, self->rate, [&] {
                      copy(self->to + at, self->from + at, kSliceBytes);
                      at = (at + kSliceBytes) % kCopyBytes;
                      return 2.0 * kSliceBytes;
                    });
  return nullptr;
}

static char *makeArray() {
  void *array = std::aligned_alloc(kHugePage, kCopyBytes);
  if (array)
    madvise(array, kCopyBytes, MADV_HUGEPAGE);
  return static_cast<char *>(array);
}

/// Runs the workers concurrently and returns how many threads were started. If
/// some could not be started, the others only wait for each other.
static size_t runWorkers(std::vector<Worker> &workers) {
  std::vector<pthread_t> ids(workers.size());
  size_t started = 0;
  pthread_barrier_t start;
  // Threads wait for this lock until the count of the barrier is known.
  pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
  struct Task {
    Worker *worker;
    pthread_mutex_t *gate;
  };
  std::vector<Task> tasks;
  for (Worker &worker : workers)
    tasks.push_back({&worker, &gate});
  pthread_mutex_lock(&gate);
  auto enter = [](void *argument) -> void * {
    auto *task = static_cast<Task *>(argument);
    pthread_mutex_lock(task->gate);
    pthread_mutex_unlock(task->gate);
    return work(task->worker);
  };
  while (started < workers.size() &&
         !pthread_create(&ids[started], nullptr, enter, &tasks[started]))
    ++started;
  pthread_barrier_init(&start, nullptr,
                       static_cast<unsigned>(started ? started : 1));
  for (Worker &worker : workers)
    worker.start = &start;
  pthread_mutex_unlock(&gate);
  for (size_t i = 0; i < started; ++i)
    pthread_join(ids[i], nullptr);
  pthread_barrier_destroy(&start);
  return started;
}

std::optional<MachineLimits> measureMachine(int threads, int milliseconds,
                                            int copyMilliseconds, Rate rate) {
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma"))
    return std::nullopt;
  std::vector<Worker> workers(static_cast<size_t>(threads));
  bool hasMemory = true;
  for (Worker &worker : workers) {
    worker.rate = rate;
    worker.seconds = milliseconds * 1e-3;
    worker.copySeconds = copyMilliseconds * 1e-3;
    worker.from = makeArray();
    worker.to = makeArray();
    hasMemory &= worker.from && worker.to;
  }
  MachineLimits limits;
  limits.threads = threads;
  bool isWhole = hasMemory && runWorkers(workers) == workers.size();
  for (Worker &worker : workers) {
    limits.gflops += worker.gflops;
    limits.gigabytes += worker.gigabytes;
    std::free(worker.from);
    std::free(worker.to);
  }
  return isWhole ? std::optional(limits) : std::nullopt;
}

#else

std::optional<MachineLimits> measureMachine(int, int, int, Rate) {
  return std::nullopt;
}

#endif

} // namespace adze::run
