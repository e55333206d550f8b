// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Internal functions of the run time: the thread pool, the checksum, CPU
// features, and the checker of module files with random damage.

#include "RuntimeTest.h"
#include "Stamp.h"

#include <array>
#include <atomic>
#include <chrono>
#include <cstring>
#include <random>
#include <set>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

// From the run time's Runtime.h, which is C11.
extern "C" {
struct rt_pool;
rt_pool *rt_pool_create(int32_t threads, int32_t spin_us);
void rt_pool_destroy(rt_pool *pool);
void rt_pool_run(rt_pool *pool, int32_t lanes, void (*run)(void *, int32_t),
                 void *data);
uint32_t rt_crc32(uint32_t crc, const void *data, size_t size);
struct rt_prefault;
rt_prefault *rt_prefault_start(const void *data, uint64_t bytes);
void rt_prefault_end(rt_prefault *prefault, bool finish);
uint64_t rt_cpu_features(void);
struct rt_memory;
rt_memory *rt_memory_create(const adze_options *options);
void rt_memory_release(rt_memory *memory);
void *rt_memory_take_output(rt_memory *memory, uint64_t bytes);
void rt_memory_give_output(rt_memory *memory, void *data, uint64_t bytes);
adze_status rt_check_module_file(int fd, const char *name, bool verify,
                                 adze_module_note *note);
}

using namespace adze::test;

namespace {
/// Every item is processed once, by any number of lanes.
struct Job {
  std::atomic<int> next{0};
  std::vector<int> taken;
  std::vector<std::atomic<int>> lanes;

  Job(int items, int numLanes)
      : taken(static_cast<size_t>(items)),
        lanes(static_cast<size_t>(numLanes)) {}

  static void run(void *data, int32_t lane) {
    auto *job = static_cast<Job *>(data);
    EXPECT_EQ(job->lanes[static_cast<size_t>(lane)]++, 0) << "lane ran twice";
    for (size_t i; (i = static_cast<size_t>(job->next++)) < job->taken.size();)
      ++job->taken[i];
  }
  void expectDone() const {
    for (int count : taken)
      ASSERT_EQ(count, 1);
  }
};

void runMany(rt_pool *pool, int jobs, int lanes) {
  for (int i = 0; i < jobs; ++i) {
    Job job(1 + i % 50, lanes);
    rt_pool_run(pool, lanes, Job::run, &job);
    // Written by any lane, read here without a lock: the pool orders the
    // accesses.
    job.expectDone();
  }
}
} // namespace

TEST(Pool, RunsEveryItemOnce) {
  for (int spin : {0, 50}) {
    rt_pool *pool = rt_pool_create(4, spin);
    ASSERT_TRUE(pool);
    runMany(pool, 2000, 4);
    runMany(pool, 500, 2);
    runMany(pool, 500, 9);
    rt_pool_destroy(pool);
  }
}

TEST(Pool, SleepersAreWoken) {
  rt_pool *pool = rt_pool_create(3, 10);
  ASSERT_TRUE(pool);
  for (int i = 0; i < 20; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    runMany(pool, 5, 3);
  }
  rt_pool_destroy(pool);
}

// Lanes that wait for each other: only concurrent threads finish.
TEST(Pool, LanesRunAtOnce) {
  rt_pool *pool = rt_pool_create(2, 1000);
  ASSERT_TRUE(pool);
  std::atomic<int> arrived{0};
  rt_pool_run(
      pool, 2,
      [](void *data, int32_t) {
        auto *count = static_cast<std::atomic<int> *>(data);
        ++*count;
        auto begin = std::chrono::steady_clock::now();
        while (*count < 2 && std::chrono::steady_clock::now() - begin <
                                 std::chrono::seconds(20))
          std::this_thread::yield();
      },
      &arrived);
  EXPECT_EQ(arrived, 2);
  rt_pool_destroy(pool);
}

// A core has data of its lane of the previous job in its caches.
TEST(Pool, AThreadsLaneStays) {
  rt_pool *pool = rt_pool_create(4, 20);
  ASSERT_TRUE(pool);
  std::vector<std::set<std::thread::id>> threads(4);
  for (int i = 0; i < 300; ++i)
    rt_pool_run(
        pool, i % 2 ? 4 : 3,
        [](void *data, int32_t lane) {
          (*static_cast<decltype(&threads)>(data))[size_t(lane)].insert(
              std::this_thread::get_id());
          std::this_thread::sleep_for(std::chrono::microseconds(50));
        },
        &threads);
  for (const auto &ids : threads)
    EXPECT_LE(ids.size(), 1u);
  EXPECT_EQ(*threads[0].begin(), std::this_thread::get_id());
  rt_pool_destroy(pool);
}

TEST(Pool, ServesManyThreadsAtOnce) {
  rt_pool *pool = rt_pool_create(3, 20);
  ASSERT_TRUE(pool);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([pool] { runMany(pool, 500, 3); });
  for (std::thread &thread : threads)
    thread.join();
  rt_pool_destroy(pool);
}

TEST(Pool, OfOneThreadIsTheCaller) {
  rt_pool *pool = rt_pool_create(1, 20);
  ASSERT_TRUE(pool);
  runMany(pool, 10, 1);
  rt_pool_destroy(pool);
  runMany(nullptr, 10, 4);
}

TEST(Crc, IsTheOneOfZlib) {
  EXPECT_EQ(rt_crc32(0, "123456789", 9), 0xcbf43926u);
  EXPECT_EQ(rt_crc32(rt_crc32(0, "1234", 4), "56789", 5), 0xcbf43926u);
  EXPECT_EQ(rt_crc32(0, "", 0), 0u);
}

#if defined(__x86_64__)
TEST(CpuFeatures, AgreeWithTheCompilers) {
  uint64_t features = rt_cpu_features();
  EXPECT_EQ(!!(features & ADZE_X86_SSE42), !!__builtin_cpu_supports("sse4.2"));
  EXPECT_EQ(!!(features & ADZE_X86_AVX2), !!__builtin_cpu_supports("avx2"));
  EXPECT_EQ(!!(features & ADZE_X86_FMA), !!__builtin_cpu_supports("fma"));
  EXPECT_EQ(!!(features & ADZE_X86_BMI2), !!__builtin_cpu_supports("bmi2"));
  EXPECT_EQ(!!(features & ADZE_X86_AVX512F),
            !!__builtin_cpu_supports("avx512f"));
  EXPECT_EQ(!!(features & ADZE_X86_AVX512VL),
            !!__builtin_cpu_supports("avx512vl"));
  EXPECT_EQ(!!(features & ADZE_X86_AVX512VNNI),
            !!__builtin_cpu_supports("avx512vnni"));
  EXPECT_EQ(!!(features & ADZE_X86_AVX512BF16),
            !!__builtin_cpu_supports("avx512bf16"));
  EXPECT_EQ(!!(features & ADZE_X86_AVX512VBMI),
            !!__builtin_cpu_supports("avx512vbmi"));
  EXPECT_EQ(!!(features & ADZE_X86_AVX512VBMI2),
            !!__builtin_cpu_supports("avx512vbmi2"));
  EXPECT_EQ(!!(features & ADZE_X86_AVX512IFMA),
            !!__builtin_cpu_supports("avx512ifma"));
  EXPECT_EQ(!!(features & ADZE_X86_AVX512BITALG),
            !!__builtin_cpu_supports("avx512bitalg"));
  EXPECT_EQ(!!(features & ADZE_X86_AVX512VPOPCNTDQ),
            !!__builtin_cpu_supports("avx512vpopcntdq"));
  EXPECT_EQ(!!(features & ADZE_X86_GFNI), !!__builtin_cpu_supports("gfni"));
  EXPECT_EQ(!!(features & ADZE_X86_BMI), !!__builtin_cpu_supports("bmi"));
  EXPECT_EQ(!!(features & ADZE_X86_POPCNT), !!__builtin_cpu_supports("popcnt"));
}
#endif

// The hand-written module is linked into this program as well.
extern "C" const adze_module_desc *adze_module_query(uint32_t abi);

TEST(LinkedModule, Runs) {
  adze_module *module = nullptr;
  ASSERT_ADZE_OK(adze_module_link(
      reinterpret_cast<adze_query_fn>(adze_module_query), nullptr, &module));
  ModulePtr owner(module);
  ContextPtr context = makeContext(module);
  FakeCall call(3, 8);
  ASSERT_ADZE_OK(call.run(context.get()));
  call.expectRight();
}

// A query that supports no known ABI, and a descriptor that is smaller than
// that of the first modules.
TEST(LinkedModule, OtherAbisAreRefused) {
  adze_module *module = nullptr;
  auto none = [](uint32_t) -> const adze_module_desc * { return nullptr; };
  auto small = [](uint32_t abi) -> const adze_module_desc * {
    static adze_module_desc desc;
    desc = *adze_module_query(abi);
    desc.size = offsetof(adze_module_desc, num_data_symbols) - 8;
    return &desc;
  };
  EXPECT_ADZE_ERROR(adze_module_link(reinterpret_cast<adze_query_fn>(+none),
                                     nullptr, &module),
                    ADZE_INVALID_MODULE, "does not serve ABI 2");
  EXPECT_ADZE_ERROR(adze_module_link(reinterpret_cast<adze_query_fn>(+small),
                                     nullptr, &module),
                    ADZE_INVALID_MODULE,
                    "expected a descriptor of ABI 1 to 2 and at least");
}

/// The kernels of the hand-written module with the arguments of ABI 1.
template <int kernel>
void oldKernel(void *const *ptrs, const int64_t *syms, int64_t begin,
               int64_t end, void *scratch) {
  adze_fault ignored[2] = {};
  adze_module_query(2)->variants[1].kernels[kernel].body(ptrs, syms, begin, end,
                                                         scratch, ignored);
}

template <int kernel>
adze_cpu_kernel makeOld() {
  adze_cpu_kernel result = adze_module_query(2)->variants[1].kernels[kernel];
  auto any = reinterpret_cast<void (*)()>(&oldKernel<kernel>);
  result.body = reinterpret_cast<adze_kernel_fn>(any);
  return result;
}

/// The host program with the table of ABI 1, which checks no ranges.
int32_t runOld(const adze_host_table *host, adze_exec *exec,
               void *const *inputs, void *const *outputs, void *arena,
               const void *weights, const int64_t *syms) {
  adze_host_table table = *host;
  table.check_range = [](adze_exec *, uint32_t, const void *, const void *,
                         uint32_t, int64_t, int64_t) { return int32_t(0); };
  return adze_module_query(2)->run(&table, exec, inputs, outputs, arena,
                                   weights, syms);
}

/// The rows of kernels of ABI 1.
constexpr size_t firstKernelBytes = offsetof(adze_module_kernel, places);
const adze_module_kernel *makeOldRows() {
  static std::array<char, 3 * firstKernelBytes> rows;
  for (size_t i = 0; i < 3; ++i)
    memcpy(&rows[i * firstKernelBytes], &adze_module_query(2)->kernels[i],
           firstKernelBytes);
  return reinterpret_cast<const adze_module_kernel *>(rows.data());
}

/// The hand-written module in the format of the first release.
const adze_module_desc *queryOld(uint32_t abi) {
  static const adze_cpu_kernel kernels[] = {makeOld<0>(), makeOld<1>(),
                                            makeOld<2>()};
  static const adze_cpu_variant variant = {0, "baseline", kernels};
  static adze_module_desc desc;
  desc = *adze_module_query(2);
  desc.size = offsetof(adze_module_desc, row_sizes);
  desc.abi = 1;
  desc.num_variants = 1;
  desc.variants = &variant;
  desc.kernels = makeOldRows();
  desc.run = &runOld;
  // The following bytes do not belong to the module.
  memset(&desc.row_sizes, 0xff, sizeof(desc) - desc.size);
  return abi == 1 ? &desc : nullptr;
}

TEST(LinkedModule, OfTheFirstAbiRuns) {
  adze_module *module = nullptr;
  ASSERT_ADZE_OK(adze_module_link(reinterpret_cast<adze_query_fn>(&queryOld),
                                  nullptr, &module));
  ModulePtr owner(module);
  const char *info = nullptr;
  ASSERT_ADZE_OK(adze_module_info(module, &info));
  EXPECT_NE(std::string(info).find("\"abi\": 1"), std::string::npos) << info;
  ContextPtr context = makeContext(module);
  FakeCall call(3, 8);
  ASSERT_ADZE_OK(call.run(context.get()));
  call.expectRight();
}

TEST(LinkedModule, FaultsBehindTheTableAreRefused) {
  auto wrong = [](uint32_t abi) -> const adze_module_desc * {
    static adze_module_kernel kernels[3];
    static adze_module_desc desc;
    desc = *adze_module_query(abi);
    for (size_t i = 0; i < 3; ++i)
      kernels[i] = desc.kernels[i];
    kernels[2].first_fault = uint32_t(desc.num_faults);
    kernels[2].num_faults = 1;
    desc.kernels = kernels;
    return &desc;
  };
  adze_module *module = nullptr;
  EXPECT_ADZE_ERROR(adze_module_link(reinterpret_cast<adze_query_fn>(+wrong),
                                     nullptr, &module),
                    ADZE_INVALID_MODULE, "damaged descriptor");
}

/// Rows with fields that a newer compiler appends.
template <typename T>
struct Wider {
  T row;
  uint64_t later[2] = {~uint64_t(0), 7};
};

template <typename T>
const T *widen(const T *rows, size_t count) {
  auto *result = new Wider<T>[count];
  for (size_t i = 0; i < count; ++i)
    result[i].row = rows[i];
  return &result->row;
}

const adze_module_value *widenValues(const adze_module_value *rows,
                                     size_t count) {
  std::vector<adze_module_value> values(rows, rows + count);
  for (adze_module_value &value : values)
    value.dims = widen(value.dims, value.rank);
  return widen(values.data(), count);
}

adze_module_row_sizes widerRows() {
  adze_module_row_sizes rows = ADZE_MODULE_ROW_SIZES;
  for (uint32_t *size = &rows.value; size <= &rows.fault; ++size)
    *size += 16;
  return rows;
}

const adze_module_desc *queryWider(uint32_t abi) {
  static const adze_module_row_sizes rows = widerRows();
  static const adze_module_desc desc = [] {
    adze_module_desc desc = *adze_module_query(2);
    adze_cpu_variant variant = desc.variants[1];
    variant.kernels = widen(variant.kernels, desc.num_kernels);
    desc.num_variants = 1;
    desc.variants = widen(&variant, 1);
    std::vector<adze_device_image> images(desc.images,
                                          desc.images + desc.num_images);
    for (adze_device_image &image : images)
      image.kernels = widen(image.kernels, desc.num_kernels);
    desc.images = widen(images.data(), images.size());
    desc.inputs = widenValues(desc.inputs, desc.num_inputs);
    desc.outputs = widenValues(desc.outputs, desc.num_outputs);
    desc.symbols = widen(desc.symbols, desc.num_symbols);
    desc.kernels = widen(desc.kernels, desc.num_kernels);
    desc.faults = widen(desc.faults, desc.num_faults);
    desc.row_sizes = &rows;
    return desc;
  }();
  return abi == 2 ? &desc : nullptr;
}

TEST(LinkedModule, RowsMayBeWiderThanOurs) {
  adze_module *module = nullptr;
  ASSERT_ADZE_OK(adze_module_link(reinterpret_cast<adze_query_fn>(&queryWider),
                                  nullptr, &module));
  ModulePtr owner(module);
  ContextPtr context = makeContext(module);
  FakeCall call(3, 8);
  ASSERT_ADZE_OK(call.run(context.get()));
  call.expectRight();
}

TEST(LinkedModule, DamagedRowSizesAreRefused) {
  static adze_module_row_sizes rows;
  auto query = [](uint32_t) -> const adze_module_desc * {
    static adze_module_desc desc;
    desc = *adze_module_query(2);
    desc.row_sizes = &rows;
    return &desc;
  };
  for (uint32_t size : {0u, 8u, 50u}) {
    rows = ADZE_MODULE_ROW_SIZES;
    rows.kernel = size;
    adze_module *module = nullptr;
    EXPECT_ADZE_ERROR(adze_module_link(reinterpret_cast<adze_query_fn>(+query),
                                       nullptr, &module),
                      ADZE_INVALID_MODULE, "damaged descriptor");
  }
}

// Headers and notes with random bytes, sizes and offsets: the checker must
// neither crash nor read beyond the file.
TEST(ModuleFileFuzz, RandomDamageIsNeverFatal) {
  Bytes whole = readFile(ADZE_FAKE_MODULE);
  ASSERT_GT(whole.size(), 4096u);
  std::mt19937 random(7);
  int fd = memfd_create("fuzz", 0);
  ASSERT_GE(fd, 0);
  int refused = 0;
  for (int i = 0; i < 4000; ++i) {
    Bytes file = whole;
    int changes = 1 + static_cast<int>(random() % 6);
    for (int k = 0; k < changes; ++k) {
      // Mostly in the headers, by fields of their sizes.
      size_t limit = random() % 4 ? 700 : file.size() - 8;
      size_t at = random() % limit & ~size_t(3);
      uint64_t value = random() % 2 ? random() : uint64_t(random()) << 32;
      if (random() % 4 == 0)
        value = random() % 65536;
      std::memcpy(&file[at], &value, random() % 2 ? 4 : 8);
    }
    if (random() % 8 == 0)
      file.resize(random() % file.size());
    ASSERT_EQ(ftruncate(fd, 0), 0);
    ASSERT_EQ(pwrite(fd, file.data(), file.size(), 0),
              static_cast<ssize_t>(file.size()));
    adze_module_note note;
    refused += !Outcome(rt_check_module_file(fd, "fuzz", true, &note)).ok();
  }
  close(fd);
  // Nearly all changes are detected: some only change the weights or write the
  // same byte.
  EXPECT_GT(refused, 3500);
}

namespace {
/// A mapping of a file of zeros that begins in the middle of a page.
struct MappedFile {
  static constexpr size_t bytes = size_t(32) << 20, begin = 1000;
  int fd = memfd_create("weights", 0);
  char *data = nullptr;

  MappedFile() {
    EXPECT_EQ(ftruncate(fd, bytes), 0);
    void *mapped = mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, fd, 0);
    EXPECT_NE(mapped, MAP_FAILED);
    data = static_cast<char *>(mapped);
  }
  ~MappedFile() {
    munmap(data, bytes);
    close(fd);
  }
  rt_prefault *start() const {
    return rt_prefault_start(data + begin, bytes - begin);
  }
};

/// Sanitizers would map additional memory for each page.
__attribute__((no_sanitize("address", "thread"))) unsigned
readEachPage(const volatile char *data) {
  unsigned sum = 0;
  for (size_t at = 4096; at < MappedFile::bytes; at += 4096)
    sum += static_cast<unsigned char>(data[at]);
  return sum;
}

/// Page faults of this thread while it reads a byte of each page.
long faultsOfReading(const MappedFile &file) {
  auto count = [] {
    rusage usage;
    getrusage(RUSAGE_THREAD, &usage);
    return usage.ru_minflt;
  };
  long before = count();
  EXPECT_EQ(readEachPage(file.data), 0u);
  return count() - before;
}
} // namespace

TEST(Prefault, PagesAreThereWhenItEnds) {
  MappedFile file;
  constexpr int populateRead = 22;
  if (madvise(file.data, 4096, populateRead))
    GTEST_SKIP() << "this system has no MADV_POPULATE_READ";
  rt_prefault *prefault = file.start();
  ASSERT_NE(prefault, nullptr);
  rt_prefault_end(prefault, /*finish=*/true);
  EXPECT_LE(faultsOfReading(file), 1); // the page in which it begins
}

TEST(Prefault, EndsInTheMiddleAndInAFork) {
  MappedFile file;
  rt_prefault_end(file.start(), /*finish=*/false);
  rt_prefault *prefault = file.start();
  ASSERT_NE(prefault, nullptr);
  pid_t child = fork();
  if (child == 0) { // on which that thread does not run
    rt_prefault_end(prefault, /*finish=*/false);
    _exit(7);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 7);
  rt_prefault_end(prefault, /*finish=*/true);
}

TEST(Prefault, LittleIsLeftAlone) {
  MappedFile file;
  EXPECT_EQ(rt_prefault_start(file.data, 1 << 20), nullptr);
  EXPECT_EQ(rt_prefault_start(nullptr, 1 << 30), nullptr);
  rt_prefault_end(nullptr, /*finish=*/false);
}

TEST(OutputMemory, LargeBlocksAreKeptForTheirSize) {
  constexpr uint64_t large = uint64_t(4) << 20, other = uint64_t(41) << 20;
  adze_options *options = nullptr;
  ASSERT_ADZE_OK(adze_options_create(&options));
  rt_memory *memory = rt_memory_create(options);
  void *first = rt_memory_take_output(memory, large);
  void *second = rt_memory_take_output(memory, large);
  EXPECT_NE(first, second);
  rt_memory_give_output(memory, first, large);
  void *third = rt_memory_take_output(memory, other);
  EXPECT_NE(third, first);
  EXPECT_EQ(rt_memory_take_output(memory, large), first);
  rt_memory_give_output(memory, third, other);
  rt_memory_give_output(memory, second, large);
  rt_memory_give_output(memory, first, large);
  EXPECT_EQ(rt_memory_take_output(memory, large), first); // the latest
  // The oldest block is released when there are four later ones.
  std::array<void *, 3> others;
  for (size_t k = 0; k < others.size(); ++k)
    others[k] = rt_memory_take_output(memory, other + k + 1);
  rt_memory_give_output(memory, first, large);
  for (size_t k = 0; k < others.size(); ++k)
    rt_memory_give_output(memory, others[k], other + k + 1);
  EXPECT_EQ(rt_memory_take_output(memory, large), first);
  rt_memory_give_output(memory, first, large);
  rt_memory_release(memory); // with what it keeps
  adze_options_release(options);
}

TEST(OutputMemory, BlocksOfAHookAreReturned) {
  struct Hook {
    int taken = 0, given = 0;
  } hook;
  adze_options *options = nullptr;
  ASSERT_ADZE_OK(adze_options_create(&options));
  adze_options_set_allocator(
      options,
      [](void *user, size_t bytes, size_t alignment) {
        ++static_cast<Hook *>(user)->taken;
        return aligned_alloc(alignment, bytes);
      },
      [](void *user, void *data, size_t) {
        ++static_cast<Hook *>(user)->given;
        free(data);
      },
      &hook);
  rt_memory *memory = rt_memory_create(options);
  for (int i = 0; i < 2; ++i) {
    constexpr uint64_t large = uint64_t(40) << 20;
    rt_memory_give_output(memory, rt_memory_take_output(memory, large), large);
  }
  EXPECT_EQ(hook.taken, 2);
  EXPECT_EQ(hook.given, 2);
  rt_memory_release(memory);
  adze_options_release(options);
}
