// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Makes each allocation of the run time fail once, alone and with all later
// ones of the same call. The call must end with ADZE_OUT_OF_MEMORY or with the
// correct result, and must succeed when it is repeated.

#include "FailAllocations.h"
#include "FakeCuda.h"
#include "FunctionCalls.h"

#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>

using namespace adze::test;

namespace {

/// One run of a scenario in which one allocation fails.
class Trial {
public:
  Trial(long at, bool alsoLater) : at(at), alsoLater(alsoLater) {}

  /// Makes the call with the failure; repeats it without one if it failed.
  template <typename StepT>
  void attempt(const char *name, StepT step) {
    if (Outcome outcome = attemptOnce(name, step); !outcome.ok()) {
      Outcome again(step());
      EXPECT_TRUE(again.ok()) << name << " after a failure of allocation " << at
                              << ": " << again.message;
    }
  }

  /// The same for a call that cannot be repeated.
  template <typename StepT>
  Outcome attemptOnce(const char *name, StepT step) {
    if (done)
      return Outcome(step());
    fail_allocations(at - passed, alsoLater);
    adze_status status = step();
    passed += fail_counted();
    done = fail_no_more() > 0;
    Outcome outcome(status);
    if (!outcome.ok()) {
      EXPECT_TRUE(done) << name << ": " << outcome.message;
      EXPECT_EQ(outcome.code, ADZE_OUT_OF_MEMORY)
          << name << ", allocation " << at << ": " << outcome.message;
      EXPECT_NE(outcome.message, "");
    }
    return outcome;
  }

  /// Returns true if an allocation has failed.
  bool hasFailed() const { return done; }

private:
  long at, passed = 0;
  bool alsoLater, done = false;
};

/// Runs the scenario once for each of its allocations, and once more without a
/// failure; then the same with all later allocations of the call.
template <typename ScenarioT>
void failEach(ScenarioT scenario, long least) {
  for (bool alsoLater : {false, true}) {
    long at = 0;
    for (bool failed = true; failed && !testing::Test::HasFailure();) {
      Trial trial(++at, alsoLater);
      scenario(trial);
      failed = trial.hasFailed();
    }
    EXPECT_GE(at, least) << "allocations were not seen";
    std::printf("%ld allocations failed, %s\n", at - 1,
                alsoLater ? "each with all later ones of its call"
                          : "one each");
  }
}

/// The memory of the run time's allocator callback. Calls of posix_memalign in
/// this file fail as well.
struct Hook {
  int64_t held = 0;

  static void *allocate(void *user, size_t bytes, size_t alignment) {
    void *data = nullptr;
    if (posix_memalign(&data, alignment, bytes))
      return nullptr;
    static_cast<Hook *>(user)->held += static_cast<int64_t>(bytes);
    return data;
  }
  static void deallocate(void *user, void *data, size_t bytes) {
    static_cast<Hook *>(user)->held -= static_cast<int64_t>(bytes);
    std::free(data);
  }
};

OptionsPtr attemptOptions(Trial &trial, Hook *hook) {
  adze_options *made = nullptr;
  trial.attempt("options_create", [&] { return adze_options_create(&made); });
  OptionsPtr options(made);
  trial.attempt("options_set",
                [&] { return adze_options_set(made, "threads", "3"); });
  if (hook)
    EXPECT_TRUE(Outcome(adze_options_set_allocator(made, Hook::allocate,
                                                   Hook::deallocate, hook))
                    .ok());
  return options;
}

ContextPtr attemptContext(Trial &trial, adze_module *module,
                          DLDevice device = kCpu) {
  adze_context *made = nullptr;
  trial.attempt("context_create",
                [&] { return adze_context_create(module, device, &made); });
  return ContextPtr(made);
}

void attemptRuns(Trial &trial, adze_context *context) {
  // A batch of 5 allocates memory through the host table.
  for (int64_t batch : {3, 5, 64}) {
    FakeCall call(batch, 256);
    trial.attempt("run", [&] { return call.run(context); });
    call.expectRight();
  }
  FakeCall call(3, 8);
  DLManagedTensorVersioned *made[3] = {};
  trial.attempt("run_alloc", [&] {
    return adze_run_alloc(context, call.inputs.data(), 2, made, 3);
  });
  if (made[0]->dl_tensor.device.device_type == kDLCPU) {
    for (size_t i = 0; i < call.x.data.size(); ++i)
      ASSERT_EQ(static_cast<float *>(made[0]->dl_tensor.data)[i],
                call.x.data[i] + call.y.data[i] * 2);
  }
  for (DLManagedTensorVersioned *tensor : made)
    tensor->deleter(tensor);
}

adze_status borrow(const DLTensor &tensor, adze_value **value) {
  auto *managed = new DLManagedTensorVersioned{};
  managed->version = {DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION};
  managed->deleter = [](DLManagedTensorVersioned *self) { delete self; };
  managed->dl_tensor = tensor;
  return adze_value_from_dlpack(managed, value);
}

void attemptRunValues(Trial &trial, adze_context *context) {
  FakeCall call(3, 8);
  adze_value *x = nullptr, *y = nullptr, *made[3] = {};
  trial.attempt("from_dlpack", [&] { return borrow(call.x.dl, &x); });
  trial.attempt("from_dlpack", [&] { return borrow(call.y.dl, &y); });
  const adze_value *inputs[] = {x, y};
  trial.attempt("run_values",
                [&] { return adze_run_values(context, inputs, 2, made, 3); });
  DLManagedTensorVersioned *sum = nullptr;
  trial.attempt("as_dlpack",
                [&] { return adze_value_as_dlpack(made[0], &sum); });
  for (size_t i = 0; i < call.x.data.size(); ++i)
    EXPECT_EQ(static_cast<const float *>(fakeStorage(sum->dl_tensor.data))[i],
              call.x.data[i] + call.y.data[i] * 2);
  sum->deleter(sum);
  for (adze_value *value : {x, y, made[0], made[1], made[2]})
    adze_value_release(value);
}

void attemptProfile(Trial &trial, adze_context *context) {
  FakeCall call(3, 8);
  const char *json = nullptr;
  trial.attempt("profile_begin", [&] { return adze_profile_begin(context); });
  bool before = trial.hasFailed();
  trial.attempt("run", [&] { return call.run(context); });
  call.expectRight();
  Outcome outcome = trial.attemptOnce(
      "profile_end", [&] { return adze_profile_end(context, &json); });
  if (outcome.ok()) {
    EXPECT_NE(std::string(json).find("\"nodes\": [\"Mul_0\""),
              std::string::npos);
    return;
  }
  // The profile has ended; the next one is complete.
  EXPECT_FALSE(before) << outcome.message;
  EXPECT_EQ(outcome.code, ADZE_OUT_OF_MEMORY) << outcome.message;
  ASSERT_ADZE_OK(adze_profile_begin(context));
  ASSERT_ADZE_OK(call.run(context));
  ASSERT_ADZE_OK(adze_profile_end(context, &json));
}

void attemptQuestions(Trial &trial, adze_module *module,
                      adze_context *context) {
  const char *json = nullptr;
  trial.attempt("info", [&] { return adze_module_info(module, &json); });
  EXPECT_NE(std::string(json).find("\"arena_at\""), std::string::npos);
  int64_t in[2] = {3, 8}, sum[2], total[1], tiny[1];
  adze_shape inputs[] = {{2, in}, {2, in}};
  adze_shape outputs[] = {{2, sum}, {1, total}, {1, tiny}};
  trial.attempt("infer_shapes", [&] {
    return adze_infer_shapes(module, inputs, 2, outputs, 3, nullptr);
  });
  EXPECT_EQ(sum[1], 8);
  // The module has no upper bound.
  uint64_t bytes;
  adze_status status = adze_context_workspace_size(context, &bytes);
  EXPECT_EQ(adze_status_code(status), ADZE_UNSUPPORTED);
  adze_status_free(status);
  adze_memory_info memory;
  trial.attempt("memory_stats", [&] {
    return adze_memory_stats(context, &memory, sizeof(memory));
  });
}

/// A module from opening to release.
template <typename OpenT>
void attemptLife(Trial &trial, Hook *hook, OpenT open, DLDevice device = kCpu) {
  OptionsPtr options = attemptOptions(trial, hook);
  adze_module *opened = nullptr;
  trial.attempt("open", [&] { return open(options.get(), &opened); });
  ModulePtr module(opened);
  ContextPtr context = attemptContext(trial, opened, device);
  ASSERT_NE(context, nullptr);
  attemptRuns(trial, context.get());
  adze_context *made = nullptr;
  trial.attempt("clone",
                [&] { return adze_context_clone(context.get(), &made); });
  ContextPtr clone(made);
  attemptRunValues(trial, made);
  attemptProfile(trial, made);
  attemptQuestions(trial, opened, made);
}

} // namespace

TEST(Allocation, OpenFromAFileAndRun) {
  failEach(
      [](Trial &trial) {
        attemptLife(trial, nullptr,
                    [](const adze_options *options, adze_module **module) {
                      return adze_module_open(ADZE_FAKE_MODULE, options,
                                              module);
                    });
      },
      60);
}

TEST(Allocation, OpenFromMemoryAndRunWithTheAllocatorHook) {
  FILE *file = std::fopen(ADZE_FAKE_MODULE, "rb");
  ASSERT_NE(file, nullptr);
  std::vector<char> bytes(1 << 20);
  bytes.resize(std::fread(bytes.data(), 1, bytes.size(), file));
  std::fclose(file);
  failEach(
      [&](Trial &trial) {
        Hook hook;
        attemptLife(trial, &hook,
                    [&](const adze_options *options, adze_module **module) {
                      return adze_module_open_memory(bytes.data(), bytes.size(),
                                                     options, module);
                    });
        EXPECT_EQ(hook.held, 0);
      },
      60);
}

/// With the fake driver, whose own allocations do not fail. Device 2 lacks a
/// kernel, which runs on the CPU.
TEST(Allocation, RunOnADevice) {
  void *driver = dlopen("libcuda.so.1", RTLD_NOW);
  if (!driver || !dlsym(driver, "fake_cuda_launches"))
    GTEST_SKIP() << "no fake driver";
  for (int32_t device : {0, 2})
    failEach(
        [=](Trial &trial) {
          attemptLife(trial, nullptr,
                      [](const adze_options *options, adze_module **module) {
                        return adze_module_open(ADZE_FAKE_MODULE, options,
                                                module);
                      },
                      {kDLCUDA, device});
        },
        60);
}

TEST(Allocation, ValuesAreMadeAndTakenApart) {
  failEach(
      [](Trial &trial) {
        const char *texts[] = {"a", "", "bc"};
        const int64_t three = 3;
        adze_value *keys = nullptr, *list = nullptr, *map = nullptr,
                   *maybe = nullptr, *first = nullptr, *all = nullptr;
        trial.attempt("from_strings", [&] {
          return adze_value_from_strings(texts, nullptr, &three, 1, &keys);
        });
        adze_value *parts[] = {keys, keys, keys};
        trial.attempt("from_sequence", [&] {
          return adze_value_from_sequence(parts, 3, &list);
        });
        trial.attempt("from_map", [&] {
          return adze_value_from_map(keys, parts, 3, &map);
        });
        trial.attempt("from_optional",
                      [&] { return adze_value_from_optional(map, &maybe); });
        trial.attempt("map_get",
                      [&] { return adze_value_map_get(map, &first, &all); });
        size_t count = 0;
        trial.attempt("sequence_size",
                      [&] { return adze_value_sequence_size(all, &count); });
        EXPECT_EQ(count, 3u);
        for (adze_value *value : {keys, list, map, maybe, first, all})
          adze_value_release(value);
      },
      8);
}

namespace {

/// Calls a function of the host table, with results of these types and ranks.
struct FunctionCall {
  const char *name;
  std::vector<Operand> inputs, results;
};

/// The calls of the program in order; the results of the last one are returned.
void failEachCall(const std::vector<FunctionCall> &calls) {
  auto runAll = [&](std::vector<Operand> &answer) {
    return runProgram([&](const Calls &call) {
      std::vector<Operand> before;
      for (const FunctionCall &step : calls) {
        std::vector<Operand> inputs = step.inputs;
        // A sequence is the result of the last call.
        for (Operand &input : inputs)
          if (input.type == kSequence && input.data.empty())
            input = before.at(0);
        answer = step.results;
        if (int32_t code = call(step.name, inputs, answer))
          return code;
        before = answer;
      }
      return 0;
    });
  };
  std::vector<Operand> expected;
  ASSERT_ADZE_OK(runAll(expected));
  failEach(
      [&](Trial &trial) {
        std::vector<Operand> answer;
        trial.attempt(calls.back().name, [&] { return runAll(answer); });
        ASSERT_EQ(answer.size(), expected.size());
        for (size_t i = 0; i < answer.size(); ++i) {
          EXPECT_EQ(answer[i].dims, expected[i].dims);
          if (answer[i].type != kSequence) {
            EXPECT_EQ(answer[i].data, expected[i].data);
          }
        }
      },
      3);
}

} // namespace

TEST(Allocation, FunctionsOfStrings) {
  Operand x = setStrings({"a,b,,c", "d", ",", "abc", "1.5", "[a-c]+(d|e)*"});
  Operand words = make<int64_t>(kString, {4}, {1, 2, 3, 4});
  Operand comma = make<int64_t>(kString, {}, {3});
  failEachCall({{"string_split",
                 {words, comma, scalar(-1)},
                 {{kString, {4, -1}}, {kInt, {4}}}}});
  failEachCall({{"string_concat", {words, words}, {{kString, {4}}}}});
  failEachCall({{"string_normalize",
                 {words, make<int64_t>(kString, {1}, {2}),
                  vector(std::vector<int64_t>{1, 1})},
                 {{kString, {-1}}}}});
  failEachCall({{"regex_full_match",
                 {words, make<int64_t>(kString, {}, {6})},
                 {{kBool, {4}}}}});
  failEachCall({{"tokenize",
                 {words, make<int64_t>(kString, {2}, {3, 4}),
                  vector(std::vector<int64_t>{0, 1, 1}), comma},
                 {{kString, {4, -1}}}}});
  failEachCall(
      {{"cast", {make<int64_t>(kString, {2}, {5, 5})}, {{kFloat, {2}}}}});
  failEachCall({{"cast",
                 {vector(std::vector<float>{1.5f, 2, 1e30f})},
                 {{kString, {3}}}}});
  failEachCall({{"unique",
                 {words, vector(std::vector<int64_t>{1, -1})},
                 {{kString, {-1}}, {kInt, {-1}}, {kInt, {4}}, {kInt, {-1}}}}});
}

TEST(Allocation, FunctionsOfTensors) {
  gStrings = {""};
  Operand x = vector(std::vector<float>{3, 1, 3, -2, 1, 7});
  failEachCall({{"unique",
                 {x, vector(std::vector<int64_t>{1, -1})},
                 {{kFloat, {-1}}, {kInt, {-1}}, {kInt, {6}}, {kInt, {-1}}}}});
  std::vector<float> corners, scores;
  for (int i = 0; i < 100; ++i) {
    for (float at : {0.0f, 2.0f * float(i), 1.0f, 2.0f * float(i) + 1})
      corners.push_back(at);
    scores.push_back(float(i % 7));
  }
  failEachCall({{"non_max_suppression",
                 {make<float>(kFloat, {1, 100, 4}, corners),
                  make<float>(kFloat, {1, 1, 100}, scores), scalar(INT64_MAX),
                  make<float>(kFloat, {}, {0.5f}),
                  make<float>(kFloat, {}, {-1.0f}), scalar(0)},
                 {{kInt, {-1, 3}}}}});
  constexpr int64_t kDouble = ADZE_VALUE_TYPE(kDLFloat, 64, ADZE_TENSOR);
  failEachCall({{"random_uniform", {scalar(5)}, {{kDouble, {2, 650}}}}});
}

TEST(Allocation, FunctionsOfSequences) {
  gStrings = {""};
  Operand x = vector(std::vector<float>{1, 2, 3});
  Operand sequence{kSequence, {}};
  FunctionCall construct = {"sequence_construct", {x, x}, {sequence}};
  failEachCall({construct, {"sequence_length", {sequence}, {{kInt, {}}}}});
  failEachCall(
      {construct, {"sequence_at", {sequence, scalar(1)}, {{kFloat, {-1}}}}});
  failEachCall({construct,
                {"sequence_insert", {sequence, x}, {sequence}},
                {"sequence_erase", {sequence, scalar(0)}, {sequence}},
                {"sequence_length", {sequence}, {{kInt, {}}}}});
  failEachCall({construct,
                {"concat_from_sequence",
                 {sequence, vector(std::vector<int64_t>{0, 0})},
                 {{kFloat, {-1}}}}});
  failEachCall({{"split_to_sequence",
                 {x, vector(std::vector<int64_t>{0, 1}),
                  vector(std::vector<int64_t>{1, 2})},
                 {sequence}},
                {"sequence_at", {sequence, scalar(1)}, {{kFloat, {-1}}}}});
}

TEST(Allocation, OperatorsOfTheProgram) {
  static const int32_t inputs[] = {0};
  static const adze_module_operator row = {"com.example.F", "f",    1, 0,
                                           inputs,          nullptr};
  const adze_module_desc *(*query)(uint32_t) = [](uint32_t abi) {
    static adze_module_desc desc;
    desc = *queryProgram(abi);
    desc.operators = &row;
    desc.num_operators = 1;
    return const_cast<const adze_module_desc *>(&desc);
  };
  adze_operator_fn run = [](void *, adze_call *call) {
    DLTensor *tensor = nullptr;
    const int64_t dims[] = {2};
    adze_status status = adze_call_output(call, 0, dims, &tensor);
    adze_value *value = nullptr;
    if (!status)
      status = adze_call_input_value(call, 0, &value);
    if (!status)
      status = adze_call_set_output(call, 1, value);
    adze_value_release(value);
    return status;
  };
  gProgram = [](const Calls &call) {
    std::vector<Operand> results = {{kFloat, {-1}}, {kFloat, {2}}};
    return call("@0", {vector(std::vector<float>{1, 2})}, results);
  };
  failEach(
      [&](Trial &trial) {
        adze_module *module = nullptr;
        adze_context *context = nullptr;
        trial.attempt("link", [&] {
          return adze_module_link(reinterpret_cast<adze_query_fn>(query),
                                  nullptr, &module);
        });
        trial.attempt("register", [&] {
          return adze_module_register_operator(module, row.name, run, nullptr,
                                               nullptr);
        });
        trial.attempt("context", [&] {
          return adze_context_create(module, kCpu, &context);
        });
        trial.attempt("run", [&] {
          return adze_run_values(context, nullptr, 0, nullptr, 0);
        });
        adze_context_release(context);
        adze_module_release(module);
      },
      12);
}
