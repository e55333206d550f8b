// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Overridable weights: a linked module, y = x + w, whose w has a default in the
// weights.

#include "LinkedModule.h"
#include "RuntimeTest.h"
#include "adze.hpp"
#include "adze_module.h"

#include <thread>

using namespace adze::test;

namespace {

constexpr size_t kOffset = 64;
alignas(64) float gWeights[32] = {0};

const adze_module_dim kDims[] = {{-1, 0, 0}};
const adze_module_value kInputs[] = {
    {"x", kDLFloat, 32, ADZE_TENSOR, 1, kDims},
    {"w", kDLFloat, 32, ADZE_TENSOR, 1, kDims}};
const adze_module_dim kOutputDims[] = {{-1, -1, 0}};
const adze_module_value kOutputs[] = {
    {"y", kDLFloat, 32, ADZE_TENSOR, 1, kOutputDims}};
const adze_module_symbol kSymbols[] = {{"n", 0, -1, 1}};
const adze_cpu_variant kVariants[] = {{0, "baseline", nullptr}};
const int64_t kDefaultDims[] = {3};
const adze_module_default kDefaults[] = {{kOffset, kDefaultDims}};

int32_t add(const adze_host_table *, adze_exec *, void *const *inputs,
            void *const *outputs, void *, const void *, const int64_t *syms) {
  for (int64_t i = 0; i < syms[0]; ++i)
    static_cast<float *>(outputs[0])[i] =
        static_cast<const float *>(inputs[0])[i] +
        static_cast<const float *>(inputs[1])[i];
  return 0;
}
void infer(const int64_t *syms, int64_t *dims) { dims[0] = syms[0]; }
int64_t noBytes(const int64_t *) { return 0; }

adze_module_desc gDesc;

const adze_module_desc *query(uint32_t) {
  gDesc = makeDescriptor();
  gDesc.num_inputs = 2;
  gDesc.inputs = kInputs;
  gDesc.num_outputs = 1;
  gDesc.outputs = kOutputs;
  gDesc.num_symbols = 1;
  gDesc.symbols = kSymbols;
  gDesc.num_variants = 1;
  gDesc.variants = kVariants;
  gDesc.weights = gWeights;
  gDesc.weights_size = sizeof(gWeights);
  gDesc.run = add;
  gDesc.infer = infer;
  gDesc.arena_bytes = noBytes;
  gDesc.defaults = kDefaults;
  gDesc.num_defaults = 1;
  for (int i = 0; i < 3; ++i)
    gWeights[kOffset / sizeof(float) + static_cast<size_t>(i)] =
        static_cast<float>(10 * (i + 1));
  return &gDesc;
}

adze::Module linkModule() {
  return adze::Module::link(reinterpret_cast<adze_query_fn>(query));
}

adze::Value makeWeight(std::vector<float> values) {
  return adze::Value::copyOf(
      adze::view(values.data(), {static_cast<int64_t>(values.size())}));
}

std::vector<float> run(adze::Context &context,
                       std::vector<float> x = {1, 2, 3}) {
  std::vector<adze::Tensor> outputs =
      context.run({adze::view(x.data(), {static_cast<int64_t>(x.size())})});
  adze::Span<const float> y = outputs[0].elements<float>();
  return {y.begin(), y.end()};
}

using Floats = std::vector<float>;

} // namespace

TEST(Overrides, AreNoInputs) {
  adze::Module module = linkModule();
  ASSERT_EQ(module.inputs().size(), 1u);
  EXPECT_EQ(module.inputs()[0].name, "x");
  ASSERT_EQ(module.overridable().size(), 1u);
  EXPECT_EQ(module.overridable()[0].name, "w");
  EXPECT_EQ(module.inferShapes({{3}}), (std::vector<adze::Shape>{{3}}));
  EXPECT_EQ(module.inferShapes({{4}, {4}}), (std::vector<adze::Shape>{{4}}));
  EXPECT_NE(module.info().find("\"overridable\""), std::string::npos);
}

TEST(Overrides, BelongToAContext) {
  adze::Module module = linkModule();
  adze::Context first = module.createContext(), second = module.createContext();
  EXPECT_EQ(run(first), (Floats{11, 22, 33}));
  adze::Value weight = makeWeight({100, 200, 300});
  first.overrideWeight("w", weight);
  EXPECT_EQ(run(first), (Floats{101, 202, 303}));
  EXPECT_EQ(run(second), (Floats{11, 22, 33}));
  second.overrideWeight("w", weight);
  EXPECT_EQ(run(second), (Floats{101, 202, 303}));
  adze::Context clone = first.clone();
  EXPECT_EQ(run(clone), (Floats{11, 22, 33}));
  first.overrideWeight("w", makeWeight({0, 0, 1}));
  EXPECT_EQ(run(first), (Floats{1, 2, 4}));
  first.restoreWeight("w");
  EXPECT_EQ(run(first), (Floats{11, 22, 33}));
  EXPECT_EQ(run(second), (Floats{101, 202, 303}));
}

TEST(Overrides, MayHaveOtherSizes) {
  adze::Module module = linkModule();
  adze::Context context = module.createContext();
  context.overrideWeight("w", makeWeight({1, 1}));
  EXPECT_EQ(run(context, {5, 6}), (Floats{6, 7}));
  EXPECT_THROW(run(context), adze::Error); // x has three elements
}

TEST(Overrides, OfOneRun) {
  adze::Module module = linkModule();
  adze::Context context = module.createContext();
  Floats x = {1, 2, 3}, w = {7, 8, 9}, y(3);
  context.run({adze::view(x.data(), {3}), adze::view(w.data(), {3})},
              {adze::view(y.data(), {3})});
  EXPECT_EQ(y, (Floats{8, 10, 12}));
  EXPECT_EQ(run(context), (Floats{11, 22, 33}));
  // NULL selects the value of the context.
  DLTensor in = adze::view(x.data(), {3}).dlpack();
  adze::View output = adze::view(y.data(), {3});
  DLTensor out = output.dlpack();
  int64_t shape[] = {3};
  in.shape = out.shape = shape;
  const DLTensor *inputs[] = {&in, nullptr};
  DLTensor *outputs[] = {&out};
  ASSERT_ADZE_OK(adze_run(context.get(), inputs, 2, outputs, 1));
  EXPECT_EQ(y, (Floats{11, 22, 33}));
  EXPECT_ADZE_ERROR(adze_run(context.get(), inputs, 3, outputs, 1),
                    ADZE_INVALID_ARGUMENT,
                    "expected 1 inputs, or 2 with the overridable weights");
  const DLTensor *none[] = {nullptr, nullptr};
  EXPECT_ADZE_ERROR(adze_run(context.get(), none, 1, outputs, 1),
                    ADZE_INVALID_ARGUMENT, "input 'x'");
}

TEST(Overrides, OfValues) {
  adze::Module module = linkModule();
  adze::Context context = module.createContext();
  context.overrideWeight("w", makeWeight({1, 1, 1}));
  std::vector<adze::Value> outputs = context.runValues({makeWeight({1, 2, 3})});
  EXPECT_EQ(outputs[0].tensor().elements<float>()[2], 4.0f);
  outputs = context.runValues({makeWeight({1, 2, 3}), makeWeight({5, 5, 5})});
  EXPECT_EQ(outputs[0].tensor().elements<float>()[2], 8.0f);
  outputs = context.runValues({makeWeight({1, 2, 3}), adze::Value()});
  EXPECT_EQ(outputs[0].tensor().elements<float>()[2], 4.0f);
}

TEST(Overrides, AreChecked) {
  adze::Module module = linkModule();
  adze::Context context = module.createContext();
  adze::Value weight = makeWeight({1, 2, 3});
  EXPECT_ADZE_ERROR(
      adze_context_override(context.get(), "v", weight.get()),
      ADZE_INVALID_ARGUMENT,
      "expected the name of an overridable weight ('w'), but got 'v'");
  EXPECT_ADZE_ERROR(adze_context_override(context.get(), "x", weight.get()),
                    ADZE_INVALID_ARGUMENT, "but got 'x'");
  EXPECT_ADZE_ERROR(adze_context_override(context.get(), nullptr, nullptr),
                    ADZE_INVALID_ARGUMENT, "but got NULL");
  const int32_t integers[] = {1, 2, 3};
  adze::Value wrong = adze::Value::copyOf(adze::view(integers, {3}));
  EXPECT_ADZE_ERROR(adze_context_override(context.get(), "w", wrong.get()),
                    ADZE_INVALID_ARGUMENT, "input 'w': expected f32");
  const float rows[] = {1, 2};
  wrong = adze::Value::copyOf(adze::view(rows, {2, 1}));
  EXPECT_ADZE_ERROR(adze_context_override(context.get(), "w", wrong.get()),
                    ADZE_INVALID_ARGUMENT, "expected rank 1, but got 2");
  adze::Value strings = adze::Value::fromStrings({"a"}, {1});
  EXPECT_ADZE_ERROR(adze_context_override(context.get(), "w", strings.get()),
                    ADZE_INVALID_ARGUMENT, "expected a tensor");
  EXPECT_EQ(run(context), (Floats{11, 22, 33}));
}

TEST(Overrides, RunSideBySide) {
  adze::Module module = linkModule();
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&, i] {
      adze::Context context = module.createContext();
      float add = static_cast<float>(i);
      context.overrideWeight("w", makeWeight({add, add, add}));
      for (int j = 0; j < 100; ++j)
        EXPECT_EQ(run(context), (Floats{1 + add, 2 + add, 3 + add}));
    });
  for (std::thread &thread : threads)
    thread.join();
}

TEST(Overrides, DamagedTablesAreRefused) {
  static adze_module_default row;
  auto damaged = [](uint32_t abi) -> const adze_module_desc * {
    (void)query(abi);
    gDesc.defaults = &row;
    return &gDesc;
  };
  const adze_module_desc *(*plain)(uint32_t) = damaged;
  for (adze_module_default wrong :
       {adze_module_default{sizeof(gWeights), kDefaultDims},
        adze_module_default{4, kDefaultDims},
        adze_module_default{0, nullptr}}) {
    row = wrong;
    adze_module *module = nullptr;
    EXPECT_ADZE_ERROR(adze_module_link(reinterpret_cast<adze_query_fn>(plain),
                                       nullptr, &module),
                      ADZE_INVALID_MODULE, "damaged descriptor");
  }
}
