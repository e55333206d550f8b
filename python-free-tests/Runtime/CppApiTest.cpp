// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The C++ API: handles, errors, runs and values through adze.hpp only.
#include "adze.hpp"

#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <thread>

using namespace adze;

namespace {

Module openFake(const Options &options = Options()) {
  return Module::open(ADZE_FAKE_MODULE, options);
}

/// Returns the code of the error that `call` throws, or ADZE_OK.
template <typename Call>
adze_code codeOf(Call call, std::string *message = nullptr) {
  try {
    call();
  } catch (const Error &error) {
    if (message)
      *message = error.what();
    return error.code();
  }
  return ADZE_OK;
}

TEST(CppApi, ModuleDescribesItsSignature) {
  Module module = openFake();
  std::vector<ValueInfo> inputs = module.inputs();
  ASSERT_EQ(inputs.size(), 2u);
  EXPECT_EQ(inputs[0].name, "x");
  EXPECT_EQ(inputs[0].dims, (Shape{-1, -1}));
  EXPECT_EQ(inputs[0].symbols.size(), 2u);
  EXPECT_TRUE(isSameType(inputs[0].dtype, dtypeOf<float>()));
  EXPECT_EQ(module.outputs().size(), 3u);
  EXPECT_NE(module.info().find("\"inputs\""), std::string::npos);
  uint64_t workspace = 0;
  std::vector<Shape> shapes = module.inferShapes({{2, 4}, {2, 4}}, &workspace);
  EXPECT_EQ(shapes, (std::vector<Shape>{{2, 4}, {2}, {2}}));
}

TEST(CppApi, RunsIntoMemoryOfTheCaller) {
  Context context = openFake().createContext();
  const std::vector<float> x = {1, 2, 3, 4, 5, 6, 7, 8}, y(8, 10.0f);
  std::vector<float> sum(8), total(2), tiny(2);
  context.run({view(x.data(), {2, 4}), view(y.data(), {2, 4})},
              {view(sum.data(), {2, 4}), view(total.data(), {2}),
               view(tiny.data(), {2})});
  EXPECT_EQ(sum, (std::vector<float>{21, 22, 23, 24, 25, 26, 27, 28}));
  EXPECT_EQ(total, (std::vector<float>{90, 106}));
}

TEST(CppApi, OutputsOutliveContextAndModule) {
  const std::vector<float> x = {1, 2, 3, 4}, y(4, 3.0f);
  std::vector<Tensor> outputs = openFake().createContext().run(
      {view(x.data(), {1, 4}), view(y.data(), {1, 4})});
  ASSERT_EQ(outputs.size(), 3u);
  Tensor sum = std::move(outputs[0]);
  EXPECT_EQ(sum.shape(), (Shape{1, 4}));
  Span<const float> elements = sum.elements<float>();
  EXPECT_EQ(std::vector<float>(elements.begin(), elements.end()),
            (std::vector<float>{7, 8, 9, 10}));
  EXPECT_EQ(codeOf([&] { sum.elements<int32_t>(); }), ADZE_INVALID_ARGUMENT);
  std::string message;
  EXPECT_EQ(codeOf([&] { sum.elements<bool>(); }, &message),
            ADZE_INVALID_ARGUMENT);
  EXPECT_EQ(message,
            "expected a tensor of bool in host memory, but got one of f32");
}

TEST(CppApi, ErrorsHaveCodeAndMessage) {
  std::string message;
  EXPECT_EQ(codeOf([] { Module::open("missing.so"); }, &message),
            ADZE_IO_ERROR);
  EXPECT_NE(message.find("missing.so"), std::string::npos);
  EXPECT_EQ(codeOf([] { Options().set("no such key", "1"); }),
            ADZE_INVALID_ARGUMENT);
  Context context = openFake().createContext();
  const std::vector<float> x(8), y(16);
  EXPECT_EQ(codeOf(
                [&] {
                  context.run({view(x.data(), {2, 4}), view(y.data(), {2, 8})});
                },
                &message),
            ADZE_INVALID_ARGUMENT);
  EXPECT_NE(message.find("'y'"), std::string::npos) << message;
  // The context remains usable.
  EXPECT_EQ(
      context.run({view(x.data(), {2, 4}), view(x.data(), {2, 4})}).size(), 3u);
}

TEST(CppApi, ClonesRunOnTheirThreads) {
  Context context = openFake(Options().setThreads(1)).createContext();
  std::vector<float> totals(4);
  std::vector<std::thread> threads;
  for (size_t i = 0; i < totals.size(); ++i)
    threads.emplace_back([&totals, i, own = context.clone()]() mutable {
      const std::vector<float> x(8, float(i)), y(8, 1.0f);
      totals[i] = own.run({view(x.data(), {1, 8}), view(y.data(), {1, 8})})[1]
                      .elements<float>()[0];
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(totals, (std::vector<float>{16, 24, 32, 40}));
}

TEST(CppApi, LogLivesAsLongAsItIsUsed) {
  auto lines = std::make_shared<std::vector<std::string>>();
  std::weak_ptr<std::vector<std::string>> alive = lines;
  {
    Options options;
    options.set("verify", "all")
        .setLog([lines](adze_log_level, const std::string &line) {
          lines->push_back(line);
        });
    lines.reset();
    Context context = openFake(options).createContext();
    options = Options();
    EXPECT_FALSE(alive.expired());
    const std::vector<float> x(4);
    context.run({view(x.data(), {1, 4}), view(x.data(), {1, 4})});
  }
  EXPECT_TRUE(alive.expired());
}

TEST(CppApi, ModuleOpensFromMemoryAndProfiles) {
  std::ifstream file(ADZE_FAKE_MODULE, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  Context context =
      Module::openMemory(bytes.data(), bytes.size()).createContext();
  const std::vector<float> x(4);
  context.beginProfile();
  context.run({view(x.data(), {1, 4}), view(x.data(), {1, 4})});
  EXPECT_NE(context.endProfile().find("traceEvents"), std::string::npos);
  EXPECT_GT(context.memoryStats().weights_bytes, 0u);
}

TEST(CppApi, ValuesOfEveryKind) {
  Value strings = Value::fromStrings({"a", std::string("b\0c", 3)}, {2});
  EXPECT_EQ(strings.kind(), ADZE_STRINGS);
  EXPECT_EQ(strings.strings()[1].size(), 3u);
  EXPECT_EQ(strings.shape(), (Shape{2}));
  EXPECT_EQ(codeOf([] { Value::fromStrings({"a"}, {2}); }),
            ADZE_INVALID_ARGUMENT);
  Value sequence = Value::fromSequence({strings, strings});
  ASSERT_EQ(sequence.sequence().size(), 2u);
  EXPECT_EQ(sequence.sequence()[1].strings()[0], "a");
  EXPECT_TRUE(Value::fromOptional(strings).hasElement());
  EXPECT_EQ(Value::fromOptional(strings).element().kind(), ADZE_STRINGS);
  EXPECT_FALSE(Value::fromOptional(Value()).hasElement());
  EXPECT_EQ(Value::fromMap(strings, {strings, strings}).map().first.strings(),
            strings.strings());

  const std::vector<float> x = {5, 5, 5, 5};
  std::vector<Tensor> outputs = openFake().createContext().run(
      {view(x.data(), {1, 4}), view(x.data(), {1, 4})});
  Value tensor = Value::fromTensor(std::move(outputs[0]));
  Context context = openFake().createContext();
  EXPECT_EQ(
      context.runValues({tensor, tensor})[0].tensor().elements<float>()[0],
      45.0f);
}

} // namespace
