// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Runs modules from 16 threads for a given time while other threads load and
// unload the same modules:
//
//   context-soak MODULE.so [--seconds=N] [--seed=N] [--threads=N] [--cuda]
//
// Each result is compared bit for bit with one computed here. Invalid calls
// must fail with the expected status. The program exits with 1 after a wrong
// result, an unexpected status or a thread that makes no progress for five
// minutes.

#include "FakeCuda.h"
#include "adze.h"
#include "adze_module.h"

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

// The fake module, compiled into this program with its instrumentation.
extern "C" const adze_module_desc *adze_module_query(uint32_t abi);

namespace {

//===----------------------------------------------------------------------===//
// Counts
//===----------------------------------------------------------------------===//

struct Counts {
  std::atomic<uint64_t> opens{0}, unloads{0}, contexts{0}, runs{0}, refusals{0},
      profiles{0}, wrongAnswers{0}, wrongStatuses{0};
};
Counts counts;

struct ModuleRelease {
  void operator()(adze_module *module) const { adze_module_release(module); }
};
using ModulePtr = std::unique_ptr<adze_module, ModuleRelease>;
struct ContextRelease {
  void operator()(adze_context *context) const {
    adze_context_release(context);
  }
};
using ContextPtr = std::unique_ptr<adze_context, ContextRelease>;
struct TensorDelete {
  void operator()(DLManagedTensorVersioned *tensor) const {
    tensor->deleter(tensor);
  }
};
using TensorPtr = std::unique_ptr<DLManagedTensorVersioned, TensorDelete>;
struct ValueRelease {
  void operator()(adze_value *value) const { adze_value_release(value); }
};
using ValuePtr = std::unique_ptr<adze_value, ValueRelease>;

/// Frees the status; counts and prints one that is not `expected`.
bool expectCode(adze_status status, adze_code expected, const char *call) {
  adze_code code = adze_status_code(status);
  bool right = code == expected;
  if (!right && ++counts.wrongStatuses <= 20)
    std::fprintf(stderr, "context-soak: %s: expected status %d, got %d: %s\n",
                 call, expected, code, adze_status_message(status));
  if (right && status)
    ++counts.refusals;
  adze_status_free(status);
  return right;
}

bool expectOk(adze_status status, const char *call) {
  return expectCode(status, ADZE_OK, call);
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

constexpr DLDevice kCpu = {kDLCPU, 0};

struct Tensor {
  std::vector<float> data;
  std::vector<int64_t> shape;
  DLTensor dl;

  explicit Tensor(std::vector<int64_t> dims) : shape(std::move(dims)) {
    size_t count = 1;
    for (int64_t dim : shape)
      count *= static_cast<size_t>(dim);
    data.assign(count, -1.0f);
    dl = DLTensor{data.data(),
                  kCpu,
                  static_cast<int32_t>(shape.size()),
                  {kDLFloat, 32, 1},
                  shape.data(),
                  nullptr,
                  0};
  }
  Tensor(const Tensor &) = delete;
};

/// Inputs, buffers for the outputs, and the expected outputs of one call of the
/// fake module.
struct Call {
  Tensor x, y, sum, total, tiny;
  std::vector<float> expected[3];
  const DLTensor *inputs[2] = {&x.dl, &y.dl};
  DLTensor *outputs[3] = {&sum.dl, &total.dl, &tiny.dl};

  Call(int64_t batch, int64_t len, std::mt19937_64 &random)
      : x({batch, len}), y({batch, len}), sum({batch, len}), total({batch}),
        tiny({2}) {
    std::uniform_real_distribution<float> value(-100.0f, 100.0f);
    for (size_t i = 0; i < x.data.size(); ++i) {
      x.data[i] = value(random);
      y.data[i] = value(random);
    }
    expect();
  }

  /// Returns true if each output has the expected bits.
  bool isRight(const DLTensor *const results[3]) const {
    for (int i = 0; i < 3; ++i) {
      const auto *data =
          static_cast<const char *>(adze::test::fakeStorage(results[i]->data)) +
          results[i]->byte_offset;
      if (std::memcmp(data, expected[i].data(),
                      expected[i].size() * sizeof(float)))
        return false;
    }
    return true;
  }

private:
  void expect() {
    size_t len = static_cast<size_t>(x.shape[1]);
    for (size_t i = 0; i < x.data.size(); ++i)
      expected[0].push_back(x.data[i] + y.data[i] * 2.0f);
    for (size_t b = 0; b < total.data.size(); ++b) {
      float partial = 0;
      for (size_t l = 0; l < len; ++l)
        partial = partial + expected[0][b * len + l];
      expected[1].push_back(partial);
    }
    expected[2] = {1e-40f + 1e-40f, 1.5e-38f * 0.5f};
  }
};

void countAnswer(const Call &call, const DLTensor *const results[3],
                 const char *path) {
  ++counts.runs;
  if (!call.isRight(results) && ++counts.wrongAnswers <= 20)
    std::fprintf(stderr,
                 "context-soak: %s: wrong answer for batch %lld, len %lld\n",
                 path, static_cast<long long>(call.x.shape[0]),
                 static_cast<long long>(call.x.shape[1]));
}

//===----------------------------------------------------------------------===//
// Modules
//===----------------------------------------------------------------------===//

/// The modules that all threads share. A thread takes a reference to one, or
/// replaces one while others still run it.
class Shelf {
public:
  Shelf(std::string path, size_t places) : path(std::move(path)) {
    std::ifstream in(this->path, std::ios::binary);
    bytes.assign(std::istreambuf_iterator<char>(in), {});
    modules.resize(places);
  }

  ModulePtr take(std::mt19937_64 &random) {
    std::lock_guard<std::mutex> lock(mutex);
    adze_module *module = modules[random() % modules.size()].get();
    adze_module_retain(module);
    return ModulePtr(module);
  }

  void replace(size_t place, std::mt19937_64 &random) {
    ModulePtr module = open(random);
    if (!module)
      return;
    {
      std::lock_guard<std::mutex> lock(mutex);
      modules[place].swap(module);
    }
    // The old one is released outside of the lock.
    counts.unloads += module != nullptr;
  }

  void fill(std::mt19937_64 &random) {
    for (size_t place = 0; place < modules.size(); ++place)
      replace(place, random);
  }

  size_t size() const { return modules.size(); }
  void clear() { modules.clear(); }

private:
  ModulePtr open(std::mt19937_64 &random);
  static void setOptions(adze_options *options, std::mt19937_64 &random);

  std::string path;
  std::vector<char> bytes;
  std::mutex mutex;
  std::vector<ModulePtr> modules;
};

void Shelf::setOptions(adze_options *options, std::mt19937_64 &random) {
  static const char *const threads[] = {"1", "2", "3"};
  static const char *const spins[] = {"0", "20", "100"};
  static const char *const verify[] = {"all", "code", "off"};
  expectOk(adze_options_set(options, "threads", threads[random() % 3]), "set");
  expectOk(adze_options_set(options, "spin_us", spins[random() % 3]), "set");
  expectOk(adze_options_set(options, "verify", verify[random() % 3]), "set");
  if (random() % 4 == 0)
    expectOk(adze_options_set_parallel_for(
                 options,
                 [](void *, int64_t count, adze_task_fn task, void *data) {
                   for (int64_t i = count; i-- > 0;)
                     task(data, i, i + 1);
                 },
                 nullptr),
             "set_parallel_for");
}

ModulePtr Shelf::open(std::mt19937_64 &random) {
  adze_options *options = nullptr;
  if (!expectOk(adze_options_create(&options), "options_create"))
    return nullptr;
  setOptions(options, random);
  adze_module *module = nullptr;
  switch (random() % 4) {
  case 0:
    expectOk(adze_module_open(path.c_str(), options, &module), "open");
    break;
  case 1:
    expectOk(
        adze_module_link(reinterpret_cast<adze_query_fn>(adze_module_query),
                         options, &module),
        "link");
    break;
  default:
    expectOk(
        adze_module_open_memory(bytes.data(), bytes.size(), options, &module),
        "open_memory");
  }
  adze_options_release(options);
  counts.opens += module != nullptr;
  return ModulePtr(module);
}

//===----------------------------------------------------------------------===//
// Threads
//===----------------------------------------------------------------------===//

/// A thread's contexts, and the tensors that it keeps.
class Worker {
public:
  Worker(Shelf &shelf, bool cuda, uint64_t seed)
      : shelf(shelf), cuda(cuda), random(seed) {}

  void step();

private:
  Call makeCall() {
    int64_t batch = 1 + static_cast<int64_t>(random() % 12);
    int64_t len = 4 << (random() % 9);
    return Call(batch, len, random);
  }
  adze_context *pick() { return contexts[random() % contexts.size()].get(); }
  bool create();
  void clone();
  void run();
  void runAsync();
  void runAlloc();
  void runValues();
  void runWrongly();
  void profile();
  void ask();

  Shelf &shelf;
  bool cuda;
  std::mt19937_64 random;
  std::vector<ContextPtr> contexts;
  std::vector<TensorPtr> held;
};

bool Worker::create() {
  ModulePtr module = shelf.take(random);
  static const int devices[] = {0, 2, 3};
  DLDevice device = kCpu;
  if (cuda && random() % 4 == 0)
    device = {kDLCUDA, devices[random() % 3]};
  adze_context *context = nullptr;
  if (!expectOk(adze_context_create(module.get(), device, &context), "create"))
    return false;
  ++counts.contexts;
  contexts.emplace_back(context);
  return true;
}

void Worker::clone() {
  adze_context *made = nullptr;
  if (!expectOk(adze_context_clone(pick(), &made), "clone"))
    return;
  ++counts.contexts;
  contexts.emplace_back(made);
}

void Worker::run() {
  adze_context *context = pick();
  Call call = makeCall();
  for (uint64_t repeats = 1 + random() % 4; repeats; --repeats)
    if (expectOk(adze_run(context, call.inputs, 2, call.outputs, 3), "run"))
      countAnswer(call, call.outputs, "run");
}

void Worker::runAsync() {
  adze_context *context = pick();
  Call call = makeCall();
  // The next run of the context waits for this one.
  Call next = makeCall();
  if (expectOk(
          adze_run_async(context, call.inputs, 2, call.outputs, 3, nullptr),
          "run_async") &&
      expectOk(adze_run(context, next.inputs, 2, next.outputs, 3), "run")) {
    countAnswer(call, call.outputs, "run_async");
    countAnswer(next, next.outputs, "run after run_async");
  }
}

void Worker::runAlloc() {
  adze_context *context = pick();
  Call call = makeCall();
  DLManagedTensorVersioned *made[3] = {};
  if (!expectOk(adze_run_alloc(context, call.inputs, 2, made, 3), "run_alloc"))
    return;
  bool host = made[0]->dl_tensor.device.device_type == kDLCPU;
  const DLTensor *results[] = {&made[0]->dl_tensor, &made[1]->dl_tensor,
                               &made[2]->dl_tensor};
  // The fake driver returns the host address of its memory.
  if (host || cuda)
    countAnswer(call, results, "run_alloc");
  for (DLManagedTensorVersioned *tensor : made)
    held.emplace_back(tensor);
}

void deleteBorrowed(DLManagedTensorVersioned *tensor) { delete tensor; }

ValuePtr borrow(const Tensor &tensor) {
  auto *managed = new DLManagedTensorVersioned{};
  managed->version = {DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION};
  managed->deleter = deleteBorrowed;
  managed->dl_tensor = tensor.dl;
  adze_value *value = nullptr;
  expectOk(adze_value_from_dlpack(managed, &value), "from_dlpack");
  return ValuePtr(value);
}

void Worker::runValues() {
  adze_context *context = pick();
  Call call = makeCall();
  ValuePtr x = borrow(call.x), y = borrow(call.y);
  const adze_value *inputs[] = {x.get(), y.get()};
  adze_value *outputs[3] = {};
  if (!expectOk(adze_run_values(context, inputs, 2, outputs, 3), "run_values"))
    return;
  TensorPtr tensors[3];
  const DLTensor *results[3];
  for (int i = 0; i < 3; ++i) {
    ValuePtr owner(outputs[i]);
    DLManagedTensorVersioned *tensor = nullptr;
    if (!expectOk(adze_value_as_dlpack(owner.get(), &tensor), "as_dlpack"))
      return;
    tensors[i].reset(tensor);
    results[i] = &tensor->dl_tensor;
  }
  countAnswer(call, results, "run_values");
}

/// Calls that the run time or the module refuses; the context stays usable.
void Worker::runWrongly() {
  adze_context *context = pick();
  Call call(random() % 2 ? 13 : 3, 8, random);
  if (call.x.shape[0] == 13) {
    expectCode(adze_run(context, call.inputs, 2, call.outputs, 3),
               ADZE_RUN_ERROR, "run with a batch that the module refuses");
    return;
  }
  call.x.data[2 * 8 + 5] = 2e30f;
  expectCode(adze_run(context, call.inputs, 2, call.outputs, 3), ADZE_RUN_ERROR,
             "run with a fault");
  call.x.shape[1] = 6;
  expectCode(adze_run(context, call.inputs, 2, call.outputs, 3),
             ADZE_INVALID_ARGUMENT, "run with a wrong shape");
}

void Worker::profile() {
  adze_context *context = pick();
  Call call = makeCall();
  const char *json = nullptr;
  if (!expectOk(adze_profile_begin(context), "profile_begin"))
    return;
  if (expectOk(adze_run(context, call.inputs, 2, call.outputs, 3), "run"))
    countAnswer(call, call.outputs, "run with a profile");
  if (!expectOk(adze_profile_end(context, &json), "profile_end"))
    return;
  ++counts.profiles;
  if (!std::strstr(json, "\"kernel\": \"rows\"") &&
      !std::strstr(json, "\"name\": \"rows\"") && ++counts.wrongAnswers <= 20)
    std::fprintf(stderr, "context-soak: profile without a launch: %s\n", json);
}

/// Queries of a module and its memory.
void Worker::ask() {
  ModulePtr module = shelf.take(random);
  const char *json = nullptr;
  if (expectOk(adze_module_info(module.get(), &json), "info") &&
      !std::strstr(json, "\"model\": \"fake\"") && ++counts.wrongAnswers <= 20)
    std::fprintf(stderr, "context-soak: wrong info: %s\n", json);
  int64_t in[2] = {3, 8}, sum[2], total[1], tiny[1];
  adze_shape inputs[] = {{2, in}, {2, in}};
  adze_shape outputs[] = {{2, sum}, {1, total}, {1, tiny}};
  if (expectOk(adze_infer_shapes(module.get(), inputs, 2, outputs, 3, nullptr),
               "infer_shapes") &&
      (sum[0] != 3 || sum[1] != 8 || total[0] != 3 || tiny[0] != 2))
    ++counts.wrongAnswers;
  adze_memory_info memory;
  expectOk(adze_memory_stats(pick(), &memory, sizeof(memory)), "memory_stats");
}

void Worker::step() {
  if (contexts.empty() && !create())
    return;
  uint64_t choice = random() % 100;
  if (choice < 50)
    run();
  else if (choice < 55)
    runAsync();
  else if (choice < 63)
    runAlloc();
  else if (choice < 70)
    runValues();
  else if (choice < 75)
    runWrongly();
  else if (choice < 78)
    profile();
  else if (choice < 82)
    ask();
  else if (choice < 86)
    create();
  else if (choice < 89)
    clone();
  else if (choice < 97)
    contexts.erase(contexts.begin() +
                   static_cast<ptrdiff_t>(random() % contexts.size()));
  else
    shelf.replace(random() % shelf.size(), random);
  // Limits the numbers of contexts and tensors.
  while (contexts.size() > 4)
    contexts.erase(contexts.begin());
  while (held.size() > 9)
    held.erase(held.begin());
}

//===----------------------------------------------------------------------===//
// The program
//===----------------------------------------------------------------------===//

struct Options {
  const char *module = nullptr;
  uint64_t seconds = 5, seed = 1, threads = 16;
  bool cuda = false;
};

bool parse(int argc, char **argv, Options &options) {
  for (int i = 1; i < argc; ++i) {
    std::string argument = argv[i];
    auto number = [&](const char *name, uint64_t &value) {
      std::string prefix = std::string("--") + name + "=";
      if (argument.compare(0, prefix.size(), prefix))
        return false;
      char *end;
      value = std::strtoull(argument.c_str() + prefix.size(), &end, 10);
      return !*end && argument.size() > prefix.size();
    };
    if (argument == "--cuda")
      options.cuda = true;
    else if (argument[0] != '-' && !options.module)
      options.module = argv[i];
    else if (!number("seconds", options.seconds) &&
             !number("seed", options.seed) &&
             !number("threads", options.threads))
      return false;
  }
  return options.module && options.threads;
}

void printCounts(const Options &options, uint64_t seconds) {
  auto count = [](const std::atomic<uint64_t> &value) {
    return static_cast<unsigned long long>(value);
  };
  std::printf("context-soak: seed %llu, %llu threads, %llu seconds: %llu "
              "opens, %llu unloads, %llu contexts, %llu runs, %llu expected "
              "refusals, %llu profiles, %llu wrong answers, %llu wrong "
              "statuses\n",
              static_cast<unsigned long long>(options.seed),
              static_cast<unsigned long long>(options.threads),
              static_cast<unsigned long long>(seconds), count(counts.opens),
              count(counts.unloads), count(counts.contexts), count(counts.runs),
              count(counts.refusals), count(counts.profiles),
              count(counts.wrongAnswers), count(counts.wrongStatuses));
  std::fflush(stdout);
}

/// Ends the program if a thread makes no step for five minutes.
class Watch {
public:
  explicit Watch(std::vector<std::atomic<uint64_t>> &steps)
      : steps(steps), last(steps.size()), idle(steps.size()) {}

  void check() {
    for (size_t i = 0; i < steps.size(); ++i) {
      uint64_t now = steps[i];
      idle[i] = now == last[i] ? idle[i] + 1 : 0;
      last[i] = now;
      if (idle[i] < 300)
        continue;
      std::fprintf(stderr, "context-soak: thread %zu hangs\n", i);
      _exit(1);
    }
  }

private:
  std::vector<std::atomic<uint64_t>> &steps;
  std::vector<uint64_t> last, idle;
};

} // namespace

int main(int argc, char **argv) {
  Options options;
  if (!parse(argc, argv, options)) {
    std::fprintf(stderr,
                 "usage: %s MODULE.so [--seconds=N] [--seed=N] [--threads=N] "
                 "[--cuda]\n",
                 argv[0]);
    return 2;
  }
  std::mt19937_64 random(options.seed);
  Shelf shelf(options.module, 6);
  shelf.fill(random);
  if (counts.wrongStatuses)
    return 1;
  std::atomic<bool> stop{false};
  std::vector<std::atomic<uint64_t>> steps(options.threads);
  std::vector<std::thread> threads;
  for (uint64_t i = 0; i < options.threads; ++i)
    threads.emplace_back([&, i, seed = random()] {
      for (Worker worker(shelf, options.cuda, seed); !stop; ++steps[i])
        worker.step();
    });
  Watch watch(steps);
  auto begin = std::chrono::steady_clock::now();
  for (uint64_t second = 1; second <= options.seconds; ++second) {
    std::this_thread::sleep_until(begin + std::chrono::seconds(second));
    watch.check();
    if (second % 60 == 0 && second != options.seconds)
      printCounts(options, second);
  }
  stop = true;
  for (std::thread &thread : threads)
    thread.join();
  shelf.clear();
  printCounts(options, options.seconds);
  return counts.wrongAnswers || counts.wrongStatuses || !counts.runs;
}
