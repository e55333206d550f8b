// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Launches in steps: a linked module whose programs sum all results of the
// previous step, or those of their group.

#include "LinkedModule.h"
#include "RuntimeTest.h"

#include "adze_module.h"

#include <atomic>
#include <thread>
#include <tuple>

using namespace adze::test;

namespace {

enum { STEPS, WIDTH }; // symbols: the dims of the output
int64_t groups = 1;    // of a step; WIDTH is a multiple
int64_t work = 0;      // of a launch, a third
std::atomic<int64_t> firstBegun{-1};

/// Program p of step t: the sum of its group in step t - 1, plus its own
/// number.
void addUp(void *const *ptrs, const int64_t *syms, int64_t begin, int64_t end,
           void *, adze_fault *) {
  auto *y = static_cast<int64_t *>(ptrs[1]);
  int64_t nothing = -1;
  firstBegun.compare_exchange_strong(nothing, begin);
  int64_t each = syms[WIDTH] / groups;
  for (int64_t i = begin; i < end; ++i) {
    int64_t step = i / syms[WIDTH], sum = i;
    int64_t first = i % syms[WIDTH] / each * each;
    for (int64_t p = first; step && p < first + each; ++p)
      sum += y[(step - 1) * syms[WIDTH] + p];
    y[i] = sum % 1000003;
  }
}

int64_t programs(const int64_t *syms) { return syms[STEPS] * syms[WIDTH]; }
int64_t much(const int64_t *) { return work; }
int64_t zero(const int64_t *) { return 0; }

int32_t run(const adze_host_table *host, adze_exec *exec, void *const *inputs,
            void *const *outputs, void *, const void *, const int64_t *syms) {
  void *ptrs[] = {inputs[0], outputs[0]};
  return groups == 1 ? host->launch_steps(exec, 0, ptrs, syms[STEPS])
                     : host->launch_groups(exec, 0, ptrs, syms[STEPS], groups);
}

void infer(const int64_t *syms, int64_t *dims) {
  dims[0] = syms[STEPS];
  dims[1] = syms[WIDTH];
}

const adze_module_symbol kSymbols[] = {{"steps", 0, -1, 1},
                                       {"width", 1, -1, 1}};
const adze_module_dim kIn[] = {{-1, STEPS, 0}, {-1, WIDTH, 0}};
const adze_module_dim kOut[] = {{-1, -1, 0}, {-1, -1, 0}};
const adze_module_value kInputs[] = {{"x", kDLInt, 64, 0, 2, kIn}};
const adze_module_value kOutputs[] = {{"y", kDLInt, 64, 0, 2, kOut}};
const adze_cpu_kernel kCpuKernels[] = {{addUp, programs, nullptr}};
const adze_module_kernel kKernels[] = {
    {"add", "LSTM_0", 2, 1, much, much, much, nullptr, 0, 0}};
const adze_cpu_variant kVariants[] = {{0, "baseline", kCpuKernels}};

const adze_module_desc *query(uint32_t) {
  static const adze_module_desc desc = [] {
    adze_module_desc desc = makeDescriptor();
    desc.build_id = "0";
    desc.model_name = "steps";
    desc.num_inputs = desc.num_outputs = desc.num_kernels = 1;
    desc.num_symbols = 2;
    desc.inputs = kInputs;
    desc.outputs = kOutputs;
    desc.symbols = kSymbols;
    desc.kernels = kKernels;
    desc.num_variants = 1;
    desc.variants = kVariants;
    desc.run = run;
    desc.infer = infer;
    desc.arena_bytes = desc.arena_lower_bound = zero;
    return desc;
  }();
  return &desc;
}

std::vector<int64_t> expected(int64_t steps, int64_t width) {
  std::vector<int64_t> y(size_t(steps * width));
  void *ptrs[] = {nullptr, y.data()};
  const int64_t syms[] = {steps, width};
  addUp(ptrs, syms, 0, steps * width, nullptr, nullptr);
  return y;
}

void check(adze_options *options, int64_t steps, int64_t width,
           int64_t parts = 1, int64_t all = int64_t(1) << 40) {
  groups = parts;
  work = all;
  adze_module *module = nullptr;
  Outcome linked(adze_module_link(reinterpret_cast<adze_query_fn>(query),
                                  options, &module));
  ASSERT_TRUE(linked.ok()) << linked.message;
  ModulePtr owner(module);
  adze_context *context = nullptr;
  Outcome created(adze_context_create(module, kCpu, &context));
  ASSERT_TRUE(created.ok()) << created.message;
  ContextPtr kept(context);
  std::vector<int64_t> x(size_t(steps * width)), y(x.size(), -1);
  int64_t shape[] = {steps, width};
  DLTensor in{x.data(), kCpu, 2, {kDLInt, 64, 1}, shape, nullptr, 0}, out = in;
  out.data = y.data();
  const DLTensor *inputs[] = {&in};
  DLTensor *outputs[] = {&out};
  for (int i = 0; i < 20; ++i) {
    std::fill(y.begin(), y.end(), -1);
    Outcome outcome(adze_run(context, inputs, 1, outputs, 1));
    ASSERT_TRUE(outcome.ok()) << outcome.message;
    ASSERT_EQ(y, expected(steps, width)) << steps << " steps of " << width;
  }
}

class Steps : public testing::TestWithParam<const char *> {};

TEST_P(Steps, SeeWhatTheOnesBeforeStored) {
  for (auto [steps, width] : {std::pair<int64_t, int64_t>{0, 4},
                              {1, 5},
                              {100, 1},
                              {100, 2},
                              {37, 19},
                              {9, 500}}) {
    adze_options *options = nullptr;
    ASSERT_TRUE(Outcome(adze_options_create(&options)).ok());
    ASSERT_TRUE(Outcome(adze_options_set(options, "threads", GetParam())).ok());
    check(options, steps, width);
    adze_options_release(options);
  }
}

TEST_P(Steps, SeeWhatTheirGroupStored) {
  for (auto [steps, width, parts] :
       {std::tuple<int64_t, int64_t, int64_t>{0, 4, 2},
        {1, 6, 3},
        {100, 2, 2},
        {50, 12, 3},
        {40, 12, 4},
        {37, 38, 19},
        {20, 300, 100}})
    for (int64_t all : {int64_t(1) << 40, int64_t(20000), int64_t(100)}) {
      adze_options *options = nullptr;
      ASSERT_TRUE(Outcome(adze_options_create(&options)).ok());
      ASSERT_TRUE(
          Outcome(adze_options_set(options, "threads", GetParam())).ok());
      check(options, steps, width, parts, all);
      adze_options_release(options);
    }
}

INSTANTIATE_TEST_SUITE_P(Threads, Steps, testing::Values("1", "2", "5", "70"));

/// With a pool of the caller, which runs the lanes in any order.
OptionsPtr makePool(const char *threads, adze_parallel_for_fn run) {
  OptionsPtr options = makeOptions("threads", threads);
  EXPECT_TRUE(
      Outcome(adze_options_set_parallel_for(options.get(), run, nullptr)).ok());
  return options;
}

/// One after the other, from the last one to the first.
TEST(Steps, NeedNoOtherLane) {
  OptionsPtr options =
      makePool("3", [](void *, int64_t count, adze_task_fn task, void *data) {
        while (count-- > 0)
          task(data, count, count + 1);
      });
  check(options.get(), 11, 40);
  check(options.get(), 11, 40, 2);
  check(options.get(), 11, 40, 8);
  check(options.get(), 11, 40, 8, /*all=*/20000);
}

/// The rows in the caches of a core are the same in all launches.
TEST(Steps, BeginWithAShareOfTheLanesOwn) {
  OptionsPtr options =
      makePool("4", [](void *, int64_t count, adze_task_fn task, void *data) {
        firstBegun = -1;
        EXPECT_EQ(count, 4);
        for (int64_t lane : {2, 0, 1, 3})
          task(data, lane, lane + 1);
      });
  check(options.get(), 1, 400);
  EXPECT_EQ(firstBegun, 200);
  // In one step, a share has the pieces of one program.
  check(options.get(), 1, 401);
  EXPECT_EQ(firstBegun, 200);
  check(options.get(), 3, 400);
  EXPECT_EQ(firstBegun, 200);
}

} // namespace
