// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Operators that are functions of the program: their arguments and results, and
// errors of both.

#include "FunctionCalls.h"
#include "adze.hpp"

#include <atomic>
#include <thread>

using namespace adze::test;

namespace {

const int64_t kAxes[] = {2, -1};
const int64_t kCount[] = {7};
const float kEpsilon[] = {0.5f};
const float kScales[] = {1.0f, 2.5f, -3.0f};
const adze_module_string kMode[] = {{"linear\0x", 8}};
const adze_module_string kNames[] = {{"a", 1}, {"", 0}};
const adze_module_attribute kAttributes[] = {
    {"axes", ADZE_ATTRIBUTE_INTS, 0, 2, kAxes},
    {"count", ADZE_ATTRIBUTE_INT, 0, 1, kCount},
    {"epsilon", ADZE_ATTRIBUTE_FLOAT, 0, 1, kEpsilon},
    {"mode", ADZE_ATTRIBUTE_STRING, 0, 1, kMode},
    {"names", ADZE_ATTRIBUTE_STRINGS, 0, 2, kNames},
    {"none", ADZE_ATTRIBUTE_INTS, 0, 0, nullptr},
    {"scales", ADZE_ATTRIBUTE_FLOATS, 0, 3, kScales}};
// The second input is absent.
const int32_t kInputs[] = {0, -1, 1};
const adze_module_operator kOperators[] = {
    {"com.example.Clip", "clip_1", 3, 7, kInputs, kAttributes}};

const adze_module_desc *queryOperators(uint32_t abi) {
  static adze_module_desc desc;
  desc = *queryProgram(abi);
  desc.operators = kOperators;
  desc.num_operators = 1;
  return &desc;
}

Operand floats(const std::vector<float> &values) { return vector(values); }

adze::Module linkOperators() {
  return adze::Module::link(reinterpret_cast<adze_query_fn>(queryOperators));
}

/// Runs the operator on (inputs), for (results).
adze_status runOperator(adze::Module &module, std::vector<Operand> inputs,
                        std::vector<Operand> &results) {
  gProgram = [&](const Calls &call) { return call("@0", inputs, results); };
  adze::Context context = module.createContext();
  return adze_run_values(context.get(), nullptr, 0, nullptr, 0);
}

Outcome runWith(std::function<void(adze::Call &)> run,
                std::vector<Operand> inputs, std::vector<Operand> results) {
  adze::Module module = linkOperators();
  module.registerOperator("com.example.Clip", std::move(run));
  return Outcome(runOperator(module, std::move(inputs), results));
}

} // namespace

TEST(Operators, SeeTheirAttributes) {
  int calls = 0;
  Outcome outcome = runWith(
      [&](adze::Call &call) {
        ++calls;
        EXPECT_EQ(call.operatorName(), "com.example.Clip");
        EXPECT_EQ(call.node(), "clip_1");
        EXPECT_EQ(call.attribute<int64_t>("count"), 7);
        EXPECT_EQ(call.attribute<float>("epsilon"), 0.5f);
        EXPECT_EQ(call.attribute<std::string>("mode"),
                  std::string("linear\0x", 8));
        EXPECT_EQ(call.attribute<std::vector<int64_t>>("axes"),
                  (std::vector<int64_t>{2, -1}));
        EXPECT_EQ(call.attribute<std::vector<float>>("scales"),
                  (std::vector<float>{1.0f, 2.5f, -3.0f}));
        EXPECT_EQ(call.attribute<std::vector<std::string>>("names"),
                  (std::vector<std::string>{"a", ""}));
        EXPECT_TRUE(call.attribute<std::vector<int64_t>>("none").empty());
        EXPECT_EQ(call.attribute<float>("other", 4.0f), 4.0f);
        EXPECT_THROW(call.attribute<float>("count"), adze::Error);
        EXPECT_THROW(call.attribute<float>("other"), adze::Error);
        size_t count = 0;
        EXPECT_STREQ(adze_call_attributes(call.get(), &count)[3].name, "mode");
        EXPECT_EQ(count, 7u);
      },
      {}, {});
  // By its row, the node has three inputs, of which the call passes none.
  EXPECT_EQ(outcome.code, ADZE_INVALID_MODULE);
  outcome = runWith([&](adze::Call &) { ++calls; },
                    {floats({1.0f}), floats({2.0f})}, {});
  EXPECT_TRUE(outcome.ok()) << outcome.message;
  EXPECT_EQ(calls, 1);
}

TEST(Operators, ReadInputsAndMakeOutputs) {
  adze::Module module = linkOperators();
  module.registerOperator("com.example.Clip", [](adze::Call &call) {
    ASSERT_EQ(call.numInputs(), 3);
    ASSERT_EQ(call.numOutputs(), 2);
    EXPECT_FALSE(call.hasInput(1));
    EXPECT_THROW(call.input(1), adze::Error);
    EXPECT_THROW(call.elements<int32_t>(0), adze::Error);
    adze::Span<const float> x = call.elements<float>(0);
    adze::Span<const float> y = call.elements<float>(2);
    EXPECT_EQ(call.outputShape(0), (adze::Shape{2}));
    EXPECT_EQ(call.outputShape(1), (adze::Shape{-1, 2}));
    adze::Span<float> sum = call.output<float>(0);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(sum.data()) % 64, 0u);
    adze::Span<int64_t> pairs = call.output<int64_t>(1, {3, 2});
    for (size_t i = 0; i < 2; ++i)
      sum[i] = x[i] + y[i];
    for (size_t i = 0; i < 6; ++i)
      pairs[i] = static_cast<int64_t>(i);
  });
  std::vector<Operand> results = {{kFloat, {2}}, {kInt, {-1, 2}}};
  ASSERT_ADZE_OK(runOperator(
      module, {floats({1.0f, 2.0f}), floats({3.0f, 4.0f})}, results));
  EXPECT_EQ(results[0].at<float>(1), 6.0f);
  EXPECT_EQ(results[1].dims, (std::vector<int64_t>{3, 2}));
  EXPECT_EQ(results[1].at<int64_t>(5), 5);
}

TEST(Operators, TakeAndGiveValues) {
  Operand texts = setStrings({"b", "a"});
  adze::Module module = linkOperators();
  module.registerOperator("com.example.Clip", [](adze::Call &call) {
    EXPECT_EQ(adze_call_input(call.get(), 0), nullptr); // strings
    EXPECT_EQ(call.inputValue(1).get(), nullptr);
    adze::Value strings = call.inputValue(0);
    EXPECT_EQ(strings.strings(), (std::vector<std::string>{"b", "a"}));
    call.setOutput(0, adze::Value::fromStrings({"new", "b"}, {2}));
    const float numbers[] = {1.5f, 2.5f};
    call.setOutput(1, adze::Value::copyOf(adze::view(numbers, {1, 2})));
  });
  std::vector<Operand> results = {{kString, {2}}, {kFloat, {-1, 2}}};
  ASSERT_ADZE_OK(runOperator(module, {texts, floats({1.0f})}, results));
  EXPECT_EQ(results[0].at<int64_t>(1), 1); // "b" of the module's table
  EXPECT_EQ(results[1].at<float>(1), 2.5f);
  setStrings({});
}

TEST(Operators, GiveOutputsWithoutElements) {
  std::vector<Operand> results = {{kFloat, {-1}}, {kFloat, {-1}}};
  adze::Module module = linkOperators();
  module.registerOperator("com.example.Clip", [](adze::Call &call) {
    EXPECT_TRUE(call.output<float>(0, {0}).empty());
    call.setOutput(
        1, adze::Value::copyOf(adze::view(static_cast<float *>(nullptr), {0})));
  });
  ASSERT_ADZE_OK(
      runOperator(module, {floats({1.0f}), floats({1.0f})}, results));
  EXPECT_EQ(results[1].dims, (std::vector<int64_t>{0}));
}

TEST(Operators, ErrorsNameOperatorAndNode) {
  std::vector<Operand> inputs = {floats({1.0f}), floats({2.0f})};
  Outcome outcome =
      runWith([](adze::Call &) { throw std::runtime_error("no such table"); },
              inputs, {});
  EXPECT_EQ(outcome.code, ADZE_RUN_ERROR);
  EXPECT_EQ(outcome.message, "node 'Node_0': com.example.Clip: no such table");
  // For any code of the function's status.
  outcome =
      runWith([](adze::Call &) { throw adze::Error(ADZE_IO_ERROR, "disk"); },
              inputs, {});
  EXPECT_EQ(outcome.code, ADZE_RUN_ERROR);
  outcome = runWith([](adze::Call &) { throw 1; }, inputs, {});
  EXPECT_EQ(outcome.code, ADZE_RUN_ERROR);
}

TEST(Operators, OutputsAreChecked) {
  std::vector<Operand> inputs = {floats({1.0f}), floats({2.0f})};
  struct {
    std::function<void(adze::Call &)> run;
    const char *message;
  } rows[] = {
      {[](adze::Call &) {}, "the function did not set output 0"},
      {[](adze::Call &call) { call.output<float>(0, {3}); },
       "expected dim 0 of result 0 to be 2, but got 3"},
      {[](adze::Call &call) { call.output<float>(1); },
       "expected the size of dim 0 of output 1"},
      {[](adze::Call &call) { call.output<float>(1, {-2}); },
       "expected the size of dim 0 of output 1"},
      {[](adze::Call &call) { call.output<double>(0); },
       "expected a tensor of f64, but got one of f32"},
      {[](adze::Call &call) { call.output<float>(0, {2, 1}); },
       "output 0: expected rank 1, but got 2"},
      {[](adze::Call &call) {
         call.output<float>(0);
         call.output<float>(0);
       },
       "output 0 is set twice"},
      {[](adze::Call &call) {
         DLTensor *tensor;
         adze::check(adze_call_output(call.get(), 2, nullptr, &tensor));
       },
       "expected the index of an output below 2, but got 2"},
      {[](adze::Call &call) {
         const int32_t wrong[] = {1, 2};
         call.setOutput(0, adze::Value::copyOf(adze::view(wrong, {2})));
       },
       "expected a tensor of f32 and rank 1, but got i32 and rank 1"},
      {[](adze::Call &call) { call.setOutput(0, adze::Value()); },
       "expected a value for output 0"},
  };
  for (auto &row : rows) {
    Outcome outcome = runWith(row.run, inputs, {{kFloat, {2}}, {kFloat, {-1}}});
    EXPECT_EQ(outcome.code, ADZE_RUN_ERROR) << row.message;
    EXPECT_NE(outcome.message.find(row.message), std::string::npos)
        << outcome.message;
  }
}

TEST(Operators, ContextsNeedAllOfThem) {
  adze::Module module = linkOperators();
  adze_context *context = nullptr;
  EXPECT_ADZE_ERROR(adze_context_create(module.get(), kCpu, &context),
                    ADZE_UNSUPPORTED,
                    "node 'clip_1' (com.example.Clip): the operator is a "
                    "function of the program");
  module.registerOperator("com.example.Other", [](adze::Call &) {});
  EXPECT_ADZE_ERROR(adze_context_create(module.get(), kCpu, &context),
                    ADZE_UNSUPPORTED, "adze_module_register_operator");
  EXPECT_NE(module.info().find("\"name\": \"com.example.Clip\", \"node\": "
                               "\"clip_1\""),
            std::string::npos);
  EXPECT_ADZE_ERROR(adze_module_register_operator(module.get(), "", nullptr,
                                                  nullptr, nullptr),
                    ADZE_INVALID_ARGUMENT, "the name of an operator");
}

TEST(Operators, TheLastFunctionCounts) {
  auto first = std::make_shared<int>(0), second = std::make_shared<int>(0);
  std::weak_ptr<int> alive = first;
  {
    adze::Module module = linkOperators();
    module.registerOperator("com.example.Clip",
                            [first](adze::Call &) { ++*first; });
    std::vector<Operand> none;
    std::vector<Operand> inputs = {floats({1.0f}), floats({2.0f})};
    gProgram = [&](const Calls &call) { return call("@0", inputs, none); };
    adze::Context older = module.createContext();
    module.registerOperator("com.example.Clip",
                            [second](adze::Call &) { ++*second; });
    adze::Context newer = module.createContext();
    ASSERT_ADZE_OK(adze_run_values(older.get(), nullptr, 0, nullptr, 0));
    ASSERT_ADZE_OK(adze_run_values(newer.get(), nullptr, 0, nullptr, 0));
    EXPECT_EQ(*first, 1);
    EXPECT_EQ(*second, 1);
    first.reset();
    EXPECT_FALSE(alive.expired());
  }
  // The functions are released with the module and its contexts.
  EXPECT_TRUE(alive.expired());
}

TEST(Operators, RunFromSeveralThreads) {
  adze::Module module = linkOperators();
  std::atomic<int> calls{0};
  module.registerOperator("com.example.Clip", [&](adze::Call &call) {
    ++calls;
    call.output<float>(0)[0] = call.elements<float>(0)[0];
  });
  gProgram = [](const Calls &call) {
    std::vector<Operand> results = {{kFloat, {1}}};
    int32_t code = call("@0", {floats({3.0f}), floats({4.0f})}, results);
    return code ? code : results[0].at<float>(0) == 3.0f ? 0 : -1;
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      adze::Context context = module.createContext();
      for (int run = 0; run < 50; ++run)
        EXPECT_TRUE(
            Outcome(adze_run_values(context.get(), nullptr, 0, nullptr, 0))
                .ok());
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(calls, 200);
}

TEST(Operators, DamagedTablesAreRefused) {
  static adze_module_desc desc;
  auto query = [](uint32_t) -> const adze_module_desc * { return &desc; };
  const adze_module_desc *(*plain)(uint32_t) = query;
  adze_module_operator row = kOperators[0];
  auto expectRefusal = [&] {
    desc = *queryOperators(ADZE_MODULE_ABI);
    desc.operators = &row;
    adze_module *module = nullptr;
    EXPECT_ADZE_ERROR(adze_module_link(reinterpret_cast<adze_query_fn>(plain),
                                       nullptr, &module),
                      ADZE_INVALID_MODULE, "damaged descriptor");
    row = kOperators[0];
  };
  row.name = nullptr;
  expectRefusal();
  row.inputs = nullptr;
  expectRefusal();
  adze_module_attribute attribute = {"x", 6, 0, 1, kCount};
  row.num_attributes = 1;
  row.attributes = &attribute;
  expectRefusal();
  attribute = {"x", ADZE_ATTRIBUTE_INT, 0, 1, nullptr};
  row.num_attributes = 1;
  row.attributes = &attribute;
  expectRefusal();
}
