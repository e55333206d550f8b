// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Data-dependent sizes: a linked module that returns the even numbers of its
// input, and the sum of all in a box that grows during the run.

#include "LinkedModule.h"
#include "RuntimeTest.h"

#include "adze_module.h"

#include <atomic>
#include <thread>

using namespace adze::test;

namespace {

//===----------------------------------------------------------------------===//
// The module
//===----------------------------------------------------------------------===//

enum { LEN, EVENS }; // a symbol of the input, one that is data-dependent

void countEvens(void *const *ptrs, const int64_t *syms, int64_t, int64_t,
                void *, adze_fault *) {
  const auto *x = static_cast<const int64_t *>(ptrs[0]);
  int64_t count = 0;
  for (int64_t i = 0; i < syms[LEN]; ++i)
    count += x[i] % 2 == 0;
  *static_cast<int64_t *>(ptrs[1]) = count;
}

/// Uses scratch memory of a size that is known during the run.
void pickEvens(void *const *ptrs, const int64_t *syms, int64_t, int64_t,
               void *scratch, adze_fault *) {
  const auto *x = static_cast<const int64_t *>(ptrs[0]);
  auto *aside = static_cast<int64_t *>(scratch);
  int64_t next = 0;
  for (int64_t i = 0; i < syms[LEN]; ++i)
    if (x[i] % 2 == 0)
      aside[next++] = x[i];
  for (int64_t i = 0; i < syms[EVENS]; ++i)
    static_cast<int64_t *>(ptrs[1])[i] = aside[i];
}

int64_t one(const int64_t *) { return 1; }
int64_t zero(const int64_t *) { return 0; }
int64_t eight(const int64_t *) { return 8; }
int64_t evenBytes(const int64_t *syms) { return syms[EVENS] * 8; }

/// Box 0 gets the input's elements one by one; its contents must be kept.
int32_t growBox(const adze_host_table *host, adze_exec *exec, const int64_t *x,
                int64_t count) {
  for (uint64_t i = 0; i < uint64_t(count); ++i) {
    void *box = host->reserve(exec, 0, (i + 1) * 8, i * 8);
    if (!box)
      return 1;
    if (int32_t code =
            host->write(exec, static_cast<char *>(box) + i * 8, x + i, 8))
      return code;
  }
  return 0;
}

int32_t run(const adze_host_table *host, adze_exec *exec, void *const *inputs,
            void *const *outputs, void *arena, const void *,
            const int64_t *syms) {
  const auto *x = static_cast<const int64_t *>(inputs[0]);
  void *countPtrs[] = {inputs[0], arena};
  if (int32_t code = host->launch(exec, 0, countPtrs))
    return code;
  int64_t values[2] = {0, 7};
  const int64_t symbols[2] = {EVENS, -1};
  if (int32_t code = host->read(exec, values, arena, 8))
    return code;
  if (int32_t code = host->bind(exec, "NonZero_3", values, symbols, 2))
    return code;
  if (int32_t code = growBox(host, exec, x, syms[LEN]))
    return code;
  void *box = host->reserve(exec, 0, 0, 0);
  int64_t sum = 0;
  for (int64_t i = 0; i < syms[LEN]; ++i)
    sum += static_cast<const int64_t *>(box)[i];
  *static_cast<int64_t *>(outputs[1]) = sum;
  void *place = host->output(exec, 0, &syms[EVENS]);
  if (!place)
    return 1;
  void *pickPtrs[] = {box, place};
  return host->launch(exec, 1, pickPtrs);
}

void infer(const int64_t *, int64_t *dims) { dims[0] = -1; }

const adze_module_symbol kSymbols[] = {{"len", 0, -1, 1}, {"", 0, 100, 1}};
const adze_module_dim kLen[] = {{-1, LEN, 0}};
const adze_module_dim kEvens[] = {{-1, -1, 0}};
const adze_module_value kInputs[] = {{"x", kDLInt, 64, 0, 1, kLen}};
const adze_module_value kOutputs[] = {{"evens", kDLInt, 64, 0, 1, kEvens},
                                      {"sum", kDLInt, 64, 0, 0, nullptr}};
const adze_cpu_kernel kCpuKernels[] = {{countEvens, one, nullptr},
                                       {pickEvens, one, evenBytes}};
const adze_module_kernel kKernels[] = {
    {"count", "NonZero_3", 2, 1, nullptr, nullptr, nullptr, nullptr, 0, 0},
    {"pick", "NonZero_3", 2, 1, nullptr, nullptr, nullptr, nullptr, 0, 0}};
const adze_cpu_variant kVariants[] = {{0, "baseline", kCpuKernels}};

adze_module_desc makeDesc() {
  adze_module_desc desc = makeDescriptor();
  desc.build_id = "0";
  desc.model_name = "evens";
  desc.num_inputs = 1;
  desc.num_outputs = 2;
  desc.num_symbols = 1;
  desc.num_kernels = 2;
  desc.inputs = kInputs;
  desc.outputs = kOutputs;
  desc.symbols = kSymbols;
  desc.kernels = kKernels;
  desc.num_variants = 1;
  desc.variants = kVariants;
  desc.run = run;
  desc.infer = infer;
  desc.arena_bytes = eight;
  desc.arena_lower_bound = zero;
  desc.num_data_symbols = 1;
  desc.num_boxes = 1;
  return desc;
}

const adze_module_desc *query(uint32_t) {
  static const adze_module_desc desc = makeDesc();
  return &desc;
}

/// The descriptor of a module from before data-dependent symbols.
void countEvensOld(void *const *ptrs, const int64_t *syms, int64_t begin,
                   int64_t end, void *scratch) {
  countEvens(ptrs, syms, begin, end, scratch, nullptr);
}

const adze_module_desc *queryOld(uint32_t) {
  static adze_cpu_kernel kernels[] = {kCpuKernels[0], kCpuKernels[1]};
  static const adze_cpu_variant variant = {0, "baseline", kernels};
  static const adze_module_desc desc = [] {
    auto any = reinterpret_cast<void (*)()>(&countEvensOld);
    kernels[0].body = reinterpret_cast<adze_kernel_fn>(any);
    adze_module_desc old = makeDesc();
    old.size = offsetof(adze_module_desc, num_data_symbols);
    old.abi = 1;
    old.variants = &variant;
    return old;
  }();
  return &desc;
}

ModulePtr link(const adze_module_desc *(*function)(uint32_t)) {
  adze_module *module = nullptr;
  Outcome outcome(adze_module_link(reinterpret_cast<adze_query_fn>(function),
                                   nullptr, &module));
  EXPECT_TRUE(outcome.ok()) << outcome.message;
  return ModulePtr(module);
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

struct Integers {
  std::vector<int64_t> data;
  int64_t shape[1];
  DLTensor dl;

  explicit Integers(std::vector<int64_t> values, bool scalar = false)
      : data(std::move(values)), shape{int64_t(data.size())} {
    dl = DLTensor{data.data(), kCpu, scalar ? 0 : 1, {kDLInt, 64, 1}, shape,
                  nullptr,     0};
  }
  Integers(const Integers &) = delete;
};

std::vector<int64_t> runAlloc(adze_context *context, Integers &x,
                              int64_t *sum = nullptr) {
  const DLTensor *inputs[] = {&x.dl};
  DLManagedTensorVersioned *outputs[2] = {};
  Outcome outcome(adze_run_alloc(context, inputs, 1, outputs, 2));
  EXPECT_TRUE(outcome.ok()) << outcome.message;
  if (!outcome.ok())
    return {};
  const DLTensor &evens = outputs[0]->dl_tensor;
  const auto *data = static_cast<const int64_t *>(evens.data);
  std::vector<int64_t> result(data, data + evens.shape[0]);
  if (sum)
    *sum = *static_cast<const int64_t *>(outputs[1]->dl_tensor.data);
  for (DLManagedTensorVersioned *output : outputs)
    output->deleter(output);
  return result;
}

} // namespace

TEST(Data, OutputsAreAsLargeAsTheDataSays) {
  ModulePtr module = link(query);
  ContextPtr context = makeContext(module.get());
  int64_t sum = 0;
  Integers x({4, 5, 6, 7, 8, 9});
  EXPECT_EQ(runAlloc(context.get(), x, &sum), (std::vector<int64_t>{4, 6, 8}));
  EXPECT_EQ(sum, 39);
  Integers longer({2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 23});
  EXPECT_EQ(runAlloc(context.get(), longer, &sum).size(), 11u);
  EXPECT_EQ(sum, 155);
}

TEST(Data, AnOutputMayBeEmpty) {
  ModulePtr module = link(query);
  ContextPtr context = makeContext(module.get());
  Integers odd({1, 3}), none({});
  EXPECT_TRUE(runAlloc(context.get(), odd).empty());
  EXPECT_TRUE(runAlloc(context.get(), none).empty());
}

TEST(Data, GivenOutputsMustHaveTheSize) {
  ModulePtr module = link(query);
  ContextPtr context = makeContext(module.get());
  Integers x({4, 5, 6}), two({0, 0}), three({0, 0, 0}), sum({0}, true);
  const DLTensor *inputs[] = {&x.dl};
  DLTensor *right[] = {&two.dl, &sum.dl}, *wrong[] = {&three.dl, &sum.dl};
  ASSERT_ADZE_OK(adze_run(context.get(), inputs, 1, right, 2));
  EXPECT_EQ(two.data, (std::vector<int64_t>{4, 6}));
  EXPECT_ADZE_ERROR(adze_run(context.get(), inputs, 1, wrong, 2),
                    ADZE_INVALID_ARGUMENT,
                    "output 'evens': expected dim 0 = 2, but got 3");
  // The context remains usable.
  ASSERT_ADZE_OK(adze_run(context.get(), inputs, 1, right, 2));
}

TEST(Data, SizesOutOfRangeNameTheNode) {
  ModulePtr module = link(query);
  ContextPtr context = makeContext(module.get());
  Integers x(std::vector<int64_t>(101, 2)), sum({0}, true);
  const DLTensor *inputs[] = {&x.dl};
  DLManagedTensorVersioned *outputs[2] = {};
  EXPECT_ADZE_ERROR(adze_run_alloc(context.get(), inputs, 1, outputs, 2),
                    ADZE_RUN_ERROR,
                    "node 'NonZero_3': expected a size in [0, 100], but got "
                    "101");
}

TEST(Data, InferredDimsAreUnknown) {
  ModulePtr module = link(query);
  int64_t in[] = {3}, out[] = {0};
  adze_shape input = {1, in}, outputs[] = {{1, out}, {0, nullptr}};
  ASSERT_ADZE_OK(
      adze_infer_shapes(module.get(), &input, 1, outputs, 2, nullptr));
  EXPECT_EQ(out[0], -1);
}

TEST(Data, BoxesStayAndGoWithTheContext) {
  ModulePtr module = link(query);
  ContextPtr context = makeContext(module.get());
  Integers x(std::vector<int64_t>(90, 2));
  EXPECT_EQ(runAlloc(context.get(), x).size(), 90u);
  adze_memory_info before = {}, after = {};
  ASSERT_ADZE_OK(adze_memory_stats(context.get(), &before, sizeof(before)));
  EXPECT_EQ(runAlloc(context.get(), x).size(), 90u);
  ASSERT_ADZE_OK(adze_memory_stats(context.get(), &after, sizeof(after)));
  EXPECT_EQ(before.current_bytes, after.current_bytes);
  // Only the two outputs.
  EXPECT_EQ(after.allocations - before.allocations, 2u);
}

TEST(Data, ContextsOfSeveralThreadsHaveTheirOwnSizes) {
  ModulePtr module = link(query);
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int64_t t = 1; t <= 4; ++t)
    threads.emplace_back([&, t] {
      ContextPtr context = makeContext(module.get());
      for (int64_t i = 0; i < 50; ++i) {
        Integers x(std::vector<int64_t>(size_t(t * 7 + i % 5), 2 * t));
        if (runAlloc(context.get(), x) != x.data)
          ++wrong;
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST(Data, OlderModulesHaveNoSymbolsOfTheData) {
  ModulePtr module = link(queryOld);
  ContextPtr context = makeContext(module.get());
  Integers x({2});
  const DLTensor *inputs[] = {&x.dl};
  DLManagedTensorVersioned *outputs[2] = {};
  EXPECT_ADZE_ERROR(adze_run_alloc(context.get(), inputs, 1, outputs, 2),
                    ADZE_INVALID_MODULE, "symbol 1 is not the program's");
}
