// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Runs with values of every kind: a linked module that doubles strings, appends
// numbers to a sequence, and returns an optional and a map unchanged.

#include "ValueTypes.h"

#include "LinkedModule.h"
#include "RuntimeTest.h"

using namespace adze::test;

namespace {

//===----------------------------------------------------------------------===//
// The module
//===----------------------------------------------------------------------===//

const float kNumbers[] = {1.5f, 2.5f};
const char *gFunction = "string_concat"; // that the program requests
int64_t gPlace = 0;                      // of the element to return

int32_t run(const adze_host_table *host, adze_exec *exec, void *const *inputs,
            void *const *outputs, void *, const void *, const int64_t *syms) {
  const uint64_t bytes = uint64_t(syms[0]) * 8;
  int64_t both[] = {kString, 1, syms[0], kString, 1, syms[0], kString, 1, -1};
  void *twice[] = {inputs[0], inputs[0]};
  if (int32_t code = host->call(exec, "Concat_0", gFunction, twice, 2, 1, both))
    return code;
  if (int32_t code = host->fetch(exec, 0, outputs[0], bytes))
    return code;
  int64_t insert[] = {kSequence, 0, kFloat, 1, 2, kSequence, 0};
  void *parts[] = {inputs[1], const_cast<float *>(kNumbers)};
  if (int32_t code =
          host->call(exec, "Insert_1", "sequence_insert", parts, 2, 1, insert))
    return code;
  if (int32_t code = host->fetch(exec, 0, outputs[1], 8))
    return code;
  int64_t at[] = {kSequence, 0, kInt, 0, kFloat, 1, -1};
  void *place[] = {outputs[1], &gPlace};
  if (int32_t code = host->call(exec, "At_2", "sequence_at", place, 2, 1, at))
    return code;
  void *element = host->output(exec, 4, &at[6]);
  if (!element)
    return 1;
  if (int32_t code = host->fetch(exec, 0, element, uint64_t(at[6]) * 4))
    return code;
  if (int32_t code = host->copy(exec, outputs[2], inputs[2], 8))
    return code;
  return host->copy(exec, outputs[3], inputs[3], 8);
}

void infer(const int64_t *syms, int64_t *dims) {
  dims[0] = syms[0];
  dims[1] = -1;
}

int64_t zero(const int64_t *) { return 0; }

const adze_module_dim kCount[] = {{-1, 0, 0}};
const adze_module_dim kUnknown[] = {{-1, -1, 0}};
const adze_module_symbol kSymbols[] = {{"n", 0, -1, 1}};
const adze_module_value kInputs[] = {
    {"text", kDLInt, 64, ADZE_STRINGS, 1, kCount},
    {"list", kDLInt, 64, ADZE_SEQUENCE, 0, nullptr},
    {"maybe", kDLInt, 64, ADZE_OPTIONAL, 0, nullptr},
    {"table", kDLInt, 64, ADZE_MAP, 0, nullptr}};
const adze_module_value kOutputs[] = {
    {"twice", kDLInt, 64, ADZE_STRINGS, 1, kUnknown},
    {"longer", kDLInt, 64, ADZE_SEQUENCE, 0, nullptr},
    {"same", kDLInt, 64, ADZE_OPTIONAL, 0, nullptr},
    {"map", kDLInt, 64, ADZE_MAP, 0, nullptr},
    {"element", kDLFloat, 32, ADZE_TENSOR, 1, kUnknown}};
const char *const kTypes[] = {nullptr,
                              "seq(tensor(float))",
                              "optional(tensor(int64))",
                              "map(string,tensor(float))",
                              nullptr,
                              "seq(tensor(float))",
                              "optional(tensor(int64))",
                              "map(string,tensor(float))",
                              nullptr};
const adze_module_string kStrings[] = {{"", 0}, {"a", 1}};
const adze_cpu_variant kVariants[] = {{0, "baseline", nullptr}};

adze_module_desc makeDesc() {
  adze_module_desc desc = makeDescriptor();
  desc.num_inputs = 4;
  desc.num_outputs = 5;
  desc.num_symbols = desc.num_variants = 1;
  desc.inputs = kInputs;
  desc.outputs = kOutputs;
  desc.symbols = kSymbols;
  desc.variants = kVariants;
  desc.run = run;
  desc.infer = infer;
  desc.arena_bytes = zero;
  desc.types = kTypes;
  desc.strings = kStrings;
  desc.num_strings = 2;
  return desc;
}

const adze_module_desc *query(uint32_t) {
  static const adze_module_desc desc = makeDesc();
  return &desc;
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

struct ValueRelease {
  void operator()(adze_value *value) const { adze_value_release(value); }
};
using ValuePtr = std::unique_ptr<adze_value, ValueRelease>;

template <typename Make>
ValuePtr make(Make call) {
  adze_value *value = nullptr;
  Outcome outcome(call(&value));
  EXPECT_TRUE(outcome.ok()) << outcome.message;
  return ValuePtr(value);
}

ValuePtr makeStrings(std::vector<const char *> texts) {
  int64_t dim = static_cast<int64_t>(texts.size());
  return make([&](adze_value **value) {
    return adze_value_from_strings(texts.data(), nullptr, &dim, 1, value);
  });
}

/// A tensor that lives as long as its value.
ValuePtr makeTensor(DLDataType dtype, std::vector<int64_t> dims) {
  struct Owner {
    DLManagedTensorVersioned tensor{};
    std::vector<int64_t> dims;
    int64_t data[16] = {};
  };
  auto *owner = new Owner;
  owner->dims = std::move(dims);
  owner->tensor.version = {DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION};
  owner->tensor.manager_ctx = owner;
  owner->tensor.deleter = [](DLManagedTensorVersioned *self) {
    delete static_cast<Owner *>(self->manager_ctx);
  };
  owner->tensor.dl_tensor = {owner->data,
                             kCpu,
                             static_cast<int32_t>(owner->dims.size()),
                             dtype,
                             owner->dims.data(),
                             nullptr,
                             0};
  return make([&](adze_value **value) {
    return adze_value_from_dlpack(&owner->tensor, value);
  });
}

constexpr DLDataType kF32 = {kDLFloat, 32, 1}, kI64 = {kDLInt, 64, 1};

ValuePtr makeSequence(const std::vector<adze_value *> &parts) {
  return make([&](adze_value **value) {
    return adze_value_from_sequence(parts.data(), parts.size(), value);
  });
}

class RunValues : public testing::Test {
protected:
  RunValues() {
    gFunction = "string_concat";
    gPlace = 0;
    adze_module *opened = nullptr;
    Outcome outcome(adze_module_link(reinterpret_cast<adze_query_fn>(query),
                                     nullptr, &opened));
    EXPECT_TRUE(outcome.ok()) << outcome.message;
    module.reset(opened);
    context = makeContext(opened);
    text = makeStrings({"ab", "", "a"});
    list = makeSequence({});
    maybe = make([](adze_value **value) {
      return adze_value_from_optional(nullptr, value);
    });
    ValuePtr keys = makeStrings({"k"}), score = makeTensor(kF32, {});
    adze_value *scores[] = {score.get()};
    table = make([&](adze_value **value) {
      return adze_value_from_map(keys.get(), scores, 1, value);
    });
  }

  adze_status runOnce() {
    const adze_value *inputs[] = {text.get(), list.get(), maybe.get(),
                                  table.get()};
    adze_value *made[5];
    adze_status status = adze_run_values(context.get(), inputs, 4, made, 5);
    for (size_t i = 0; i < 5; ++i)
      outputs[i].reset(made[i]);
    return status;
  }

  ModulePtr module;
  ContextPtr context;
  ValuePtr text, list, maybe, table, outputs[5];
};

} // namespace

TEST_F(RunValues, EveryKind) {
  // Tables of one run are not those of the next.
  for (int times = 0; times < 3; ++times) {
    ASSERT_ADZE_OK(runOnce());
    const char *const *strings;
    size_t count;
    ASSERT_ADZE_OK(
        adze_value_strings(outputs[0].get(), &strings, nullptr, &count));
    ASSERT_EQ(count, 3u);
    EXPECT_STREQ(strings[0], "abab");
    EXPECT_STREQ(strings[1], "");
    EXPECT_STREQ(strings[2], "aa");
    ASSERT_ADZE_OK(adze_value_sequence_size(outputs[1].get(), &count));
    EXPECT_EQ(count, 1u);
    EXPECT_EQ(outputs[2].get(), maybe.get());
    EXPECT_EQ(outputs[3].get(), table.get());
    int32_t rank;
    const int64_t *dims;
    ASSERT_ADZE_OK(adze_value_shape(outputs[4].get(), &rank, &dims));
    ASSERT_EQ(rank, 1);
    EXPECT_EQ(dims[0], 2);
  }
}

TEST_F(RunValues, ShapesAreThoseOfTensors) {
  int32_t rank;
  const int64_t *dims;
  ASSERT_ADZE_OK(adze_value_shape(text.get(), &rank, &dims));
  EXPECT_EQ(rank, 1);
  EXPECT_EQ(dims[0], 3);
  EXPECT_ADZE_ERROR(adze_value_shape(list.get(), &rank, &dims),
                    ADZE_INVALID_ARGUMENT, "expected a tensor");
}

TEST_F(RunValues, SignatureSaysKindsAndTypes) {
  const adze_value_info *info;
  ASSERT_ADZE_OK(adze_module_input(module.get(), 0, &info));
  EXPECT_EQ(info->kind, ADZE_STRINGS);
  EXPECT_STREQ(info->type, "tensor(string)");
  ASSERT_ADZE_OK(adze_module_input(module.get(), 3, &info));
  EXPECT_EQ(info->kind, ADZE_MAP);
  EXPECT_STREQ(info->type, "map(string,tensor(float))");
  ASSERT_ADZE_OK(adze_module_output(module.get(), 4, &info));
  EXPECT_EQ(info->kind, ADZE_TENSOR);
  EXPECT_EQ(info->type, nullptr);
}

TEST_F(RunValues, WrongKindsAreRefused) {
  std::swap(text, list);
  EXPECT_ADZE_ERROR(runOnce(), ADZE_INVALID_ARGUMENT,
                    "input 'text': expected a string tensor, but got a "
                    "sequence");
  std::swap(text, list);
  list = makeTensor(kF32, {2});
  EXPECT_ADZE_ERROR(runOnce(), ADZE_INVALID_ARGUMENT,
                    "input 'list': expected a sequence, but got a tensor");
  list.reset();
  EXPECT_ADZE_ERROR(runOnce(), ADZE_INVALID_ARGUMENT,
                    "input 'list': expected a value, but got NULL");
}

TEST_F(RunValues, WrongElementsAreRefused) {
  ValuePtr integers = makeTensor(kI64, {2}), floats = makeTensor(kF32, {2});
  list = makeSequence({floats.get(), integers.get()});
  EXPECT_ADZE_ERROR(runOnce(), ADZE_INVALID_ARGUMENT,
                    "expected a value of type seq(tensor(float))");
  list = makeSequence({});
  maybe = make([&](adze_value **value) {
    return adze_value_from_optional(floats.get(), value);
  });
  EXPECT_ADZE_ERROR(runOnce(), ADZE_INVALID_ARGUMENT, "input 'maybe'");
  maybe = make([&](adze_value **value) {
    return adze_value_from_optional(integers.get(), value);
  });
  ASSERT_ADZE_OK(runOnce());
}

TEST_F(RunValues, WrongShapesAreRefused) {
  int64_t dims[] = {1, 1};
  const char *one = "x";
  text = make([&](adze_value **value) {
    return adze_value_from_strings(&one, nullptr, dims, 2, value);
  });
  EXPECT_ADZE_ERROR(runOnce(), ADZE_INVALID_ARGUMENT,
                    "input 'text': expected rank 1, but got 2");
}

TEST_F(RunValues, OtherCountsAreRefused) {
  const adze_value *inputs[] = {text.get()};
  adze_value *made[5];
  EXPECT_ADZE_ERROR(adze_run_values(context.get(), inputs, 1, made, 5),
                    ADZE_INVALID_ARGUMENT, "expected 4 inputs and 5 outputs");
}

TEST_F(RunValues, TensorsAloneAreNotEnough) {
  Tensor x({2});
  const DLTensor *inputs[] = {&x.dl, &x.dl, &x.dl, &x.dl};
  DLManagedTensorVersioned *made[5];
  EXPECT_ADZE_ERROR(adze_run_alloc(context.get(), inputs, 4, made, 5),
                    ADZE_INVALID_ARGUMENT, "input 'text': is not a tensor");
}

TEST_F(RunValues, ErrorsNameTheNode) {
  gPlace = 5;
  EXPECT_ADZE_ERROR(runOnce(), ADZE_RUN_ERROR,
                    "node 'At_2': expected a place in a sequence of 1");
  // The element has another rank than at compile time.
  gPlace = 0;
  ValuePtr matrix = makeTensor(kF32, {2, 2});
  list = makeSequence({matrix.get()});
  EXPECT_ADZE_ERROR(runOnce(), ADZE_RUN_ERROR, "node 'At_2'");
  list = makeSequence({});
  ASSERT_ADZE_OK(runOnce());
}

TEST_F(RunValues, UnknownFunctionsNeedANewerRunTime) {
  gFunction = "string_reverse";
  EXPECT_ADZE_ERROR(runOnce(), ADZE_UNSUPPORTED,
                    "needs a newer run time, with 'string_reverse'");
}
