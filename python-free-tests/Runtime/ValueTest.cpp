// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Values of every kind, and runs with them.

#include "RuntimeTest.h"

using namespace adze::test;

namespace {
struct ValueRelease {
  void operator()(adze_value *value) const { adze_value_release(value); }
};
using ValuePtr = std::unique_ptr<adze_value, ValueRelease>;

/// A tensor that counts its deletions.
struct Managed {
  DLManagedTensorVersioned tensor{};
  int deleted = 0;

  explicit Managed(const DLTensor &dl) {
    tensor.version = {DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION};
    tensor.manager_ctx = this;
    tensor.deleter = [](DLManagedTensorVersioned *self) {
      ++static_cast<Managed *>(self->manager_ctx)->deleted;
    };
    tensor.dl_tensor = dl;
  }
};

ValuePtr makeString(const char *text) {
  adze_value *value = nullptr;
  Outcome outcome(adze_value_from_strings(&text, nullptr, nullptr, 0, &value));
  EXPECT_TRUE(outcome.ok()) << outcome.message;
  return ValuePtr(value);
}

std::string textOf(const adze_value *value) {
  const char *const *strings;
  size_t count;
  Outcome outcome(adze_value_strings(value, &strings, nullptr, &count));
  EXPECT_TRUE(outcome.ok()) << outcome.message;
  return outcome.ok() && count == 1 ? strings[0] : "";
}
} // namespace

TEST(Value, TensorIsDeletedWithItsLastUser) {
  Tensor data({2, 2}, 3.0f);
  Managed managed(data.dl);
  adze_value *value;
  ASSERT_ADZE_OK(adze_value_from_dlpack(&managed.tensor, &value));
  EXPECT_EQ(adze_value_kind(value), ADZE_TENSOR);
  DLManagedTensorVersioned *view;
  ASSERT_ADZE_OK(adze_value_as_dlpack(value, &view));
  adze_value_release(value);
  EXPECT_EQ(managed.deleted, 0);
  EXPECT_EQ(view->dl_tensor.data, data.data.data());
  view->deleter(view);
  EXPECT_EQ(managed.deleted, 1);
}

TEST(Value, RefusedTensorIsDeleted) {
  Tensor data({2, 2});
  Managed managed(data.dl);
  managed.tensor.version.major = 9;
  adze_value *value = nullptr;
  EXPECT_ADZE_ERROR(adze_value_from_dlpack(&managed.tensor, &value),
                    ADZE_INVALID_ARGUMENT, "expected a tensor of DLPack 1");
  EXPECT_EQ(managed.deleted, 1);
}

TEST(Value, StringsKeepTheirBytes) {
  const char *strings[] = {"a\0b", "", "longer text"};
  size_t lengths[] = {3, 0, 11};
  int64_t dims[] = {3, 1};
  adze_value *value;
  ASSERT_ADZE_OK(adze_value_from_strings(strings, lengths, dims, 2, &value));
  ValuePtr owner(value);
  const char *const *got;
  const size_t *gotLengths;
  size_t count;
  ASSERT_ADZE_OK(adze_value_strings(value, &got, &gotLengths, &count));
  ASSERT_EQ(count, 3u);
  for (size_t i = 0; i < count; ++i)
    EXPECT_EQ(std::string(got[i], gotLengths[i]),
              std::string(strings[i], lengths[i]));
  EXPECT_EQ(got[2][11], 0);
  EXPECT_ADZE_ERROR(adze_value_sequence_size(value, &count),
                    ADZE_INVALID_ARGUMENT,
                    "expected a sequence, but got a string tensor");
}

/// Creates a map from `keys` to these scalars.
static ValuePtr makeMap(const ValuePtr &keys,
                        std::initializer_list<float> scores) {
  std::vector<ValuePtr> owners;
  std::vector<adze_value *> parts;
  for (float score : scores) {
    DLTensor tensor = {&score,  {kDLCPU, 0}, 0, {kDLFloat, 32, 1},
                       nullptr, nullptr,     0};
    adze_value *value = nullptr;
    EXPECT_EQ(adze_value_from_tensor(&tensor, &value), nullptr);
    owners.emplace_back(value);
    parts.push_back(value);
  }
  adze_value *map = nullptr;
  EXPECT_EQ(adze_value_from_map(keys.get(), parts.data(), parts.size(), &map),
            nullptr);
  return ValuePtr(map);
}

TEST(Value, MapsOfOneKeySetAreATable) {
  const char *labels[] = {"k", "l"};
  const int64_t two = 2;
  adze_value *raw;
  ASSERT_ADZE_OK(adze_value_from_strings(labels, nullptr, &two, 1, &raw));
  ValuePtr keys(raw);
  ASSERT_ADZE_OK(adze_value_from_strings(labels, nullptr, &two, 1, &raw));
  ValuePtr others(raw);
  ValuePtr a = makeMap(keys, {1, 2}), b = makeMap(keys, {3, 4}),
           c = makeMap(keys, {5, 6}), other = makeMap(others, {7, 8});
  adze_value *parts[] = {a.get(), b.get(), c.get()};
  ASSERT_ADZE_OK(adze_value_from_sequence(parts, 3, &raw));
  ValuePtr sequence(raw);
  adze_value *shared, *table;
  ASSERT_ADZE_OK(adze_value_sequence_table(sequence.get(), &shared, &table));
  ValuePtr sharedOwner(shared), tableOwner(table);
  EXPECT_EQ(shared, keys.get());
  int32_t rank;
  const int64_t *dims;
  ASSERT_ADZE_OK(adze_value_shape(table, &rank, &dims));
  ASSERT_EQ(rank, 2);
  EXPECT_EQ(dims[0], 3);
  EXPECT_EQ(dims[1], 2);
  DLManagedTensorVersioned *tensor;
  ASSERT_ADZE_OK(adze_value_as_dlpack(table, &tensor));
  auto *data = static_cast<const float *>(tensor->dl_tensor.data);
  EXPECT_EQ(std::vector<float>(data, data + 6),
            std::vector<float>({1, 2, 3, 4, 5, 6}));
  tensor->deleter(tensor);

  // Other keys, values other than maps, and an empty sequence are not a table.
  adze_value *mixed[] = {a.get(), other.get()};
  ASSERT_ADZE_OK(adze_value_from_sequence(mixed, 2, &raw));
  ValuePtr mixedOwner(raw);
  EXPECT_ADZE_ERROR(adze_value_sequence_table(raw, &shared, &table),
                    ADZE_UNSUPPORTED, "expected maps with the same keys");
  adze_value *strings[] = {keys.get()};
  ASSERT_ADZE_OK(adze_value_from_sequence(strings, 1, &raw));
  ValuePtr stringsOwner(raw);
  EXPECT_ADZE_ERROR(adze_value_sequence_table(raw, &shared, &table),
                    ADZE_UNSUPPORTED, "expected maps with the same keys");
  ASSERT_ADZE_OK(adze_value_from_sequence(nullptr, 0, &raw));
  ValuePtr emptyOwner(raw);
  EXPECT_ADZE_ERROR(adze_value_sequence_table(raw, &shared, &table),
                    ADZE_UNSUPPORTED, "expected maps with the same keys");
}

TEST(Value, ContainersHoldTheirParts) {
  ValuePtr a = makeString("a"), b = makeString("b");
  adze_value *parts[] = {a.get(), b.get()};
  adze_value *raw;
  ASSERT_ADZE_OK(adze_value_from_sequence(parts, 2, &raw));
  ValuePtr sequence(raw);
  const char *labels[] = {"k", "l"};
  const int64_t two = 2;
  ASSERT_ADZE_OK(adze_value_from_strings(labels, nullptr, &two, 1, &raw));
  ValuePtr keyStrings(raw);
  ASSERT_ADZE_OK(adze_value_from_map(keyStrings.get(), parts, 2, &raw));
  ValuePtr map(raw);
  ASSERT_ADZE_OK(adze_value_from_optional(b.get(), &raw));
  ValuePtr some(raw);
  ASSERT_ADZE_OK(adze_value_from_optional(nullptr, &raw));
  ValuePtr none(raw);
  a.reset();
  b.reset();

  size_t count;
  ASSERT_ADZE_OK(adze_value_sequence_size(sequence.get(), &count));
  EXPECT_EQ(count, 2u);
  ASSERT_ADZE_OK(adze_value_sequence_get(sequence.get(), 1, &raw));
  EXPECT_EQ(textOf(ValuePtr(raw).get()), "b");
  EXPECT_ADZE_ERROR(adze_value_sequence_get(sequence.get(), 2, &raw),
                    ADZE_INVALID_ARGUMENT, "below 2, but got 2");

  adze_value *keys, *values;
  ASSERT_ADZE_OK(adze_value_map_get(map.get(), &keys, &values));
  ValuePtr keysOwner(keys), valuesOwner(values);
  EXPECT_EQ(keys, keyStrings.get());
  ASSERT_ADZE_OK(adze_value_sequence_get(values, 0, &raw));
  EXPECT_EQ(textOf(ValuePtr(raw).get()), "a");

  int32_t has;
  ASSERT_ADZE_OK(adze_value_optional_has(some.get(), &has));
  EXPECT_TRUE(has);
  ASSERT_ADZE_OK(adze_value_optional_get(some.get(), &raw));
  EXPECT_EQ(textOf(ValuePtr(raw).get()), "b");
  ASSERT_ADZE_OK(adze_value_optional_has(none.get(), &has));
  EXPECT_FALSE(has);
  EXPECT_ADZE_ERROR(adze_value_optional_get(none.get(), &raw),
                    ADZE_INVALID_ARGUMENT, "the optional has no value");
}

TEST(Value, WrongMapsAreRefused) {
  Tensor data({2}, 3.0f);
  Managed managed(data.dl);
  adze_value *floats;
  ASSERT_ADZE_OK(adze_value_from_dlpack(&managed.tensor, &floats));
  const char *names[] = {"a", "b", "c"};
  const int64_t three = 3;
  adze_value *strings, *sequence, *map;
  ASSERT_ADZE_OK(adze_value_from_strings(names, nullptr, &three, 1, &strings));
  ASSERT_ADZE_OK(adze_value_from_sequence(&floats, 1, &sequence));
  adze_value *const values[] = {floats, floats};
  // Keys that are not integers, too many keys, and a value that is not a
  // tensor.
  for (adze_value *keys : {floats, strings, sequence})
    EXPECT_ADZE_ERROR(adze_value_from_map(keys, values, 2, &map),
                      ADZE_INVALID_ARGUMENT, "expected a vector of 2 integers");
  for (adze_value *value : {floats, strings, sequence})
    adze_value_release(value);
}

TEST(Value, DepthHasABound) {
  adze_value *value;
  ASSERT_ADZE_OK(adze_value_from_optional(nullptr, &value));
  adze_status status = nullptr;
  for (int i = 0; i < 2000 && !status; ++i) {
    adze_value *outer;
    if (!(status = adze_value_from_sequence(&value, 1, &outer))) {
      adze_value_release(value);
      value = outer;
    }
  }
  EXPECT_ADZE_ERROR(status, ADZE_INVALID_ARGUMENT,
                    "a nesting depth of at most 1000");
  adze_value_release(value);
}

TEST(RunTensorValues, GivesTensors) {
  ModulePtr module = openFake();
  ContextPtr context = makeContext(module.get());
  FakeCall call(3, 8);
  Managed x(call.x.dl), y(call.y.dl);
  adze_value *values[2], *outputs[3];
  ASSERT_ADZE_OK(adze_value_from_dlpack(&x.tensor, &values[0]));
  ASSERT_ADZE_OK(adze_value_from_dlpack(&y.tensor, &values[1]));
  ASSERT_ADZE_OK(adze_run_values(context.get(), values, 2, outputs, 3));
  DLManagedTensorVersioned *total;
  ASSERT_ADZE_OK(adze_value_as_dlpack(outputs[1], &total));
  ASSERT_EQ(total->dl_tensor.ndim, 1);
  ASSERT_ADZE_OK(call.run(context.get()));
  for (size_t i = 0; i < 3; ++i)
    EXPECT_EQ(static_cast<float *>(total->dl_tensor.data)[i],
              call.total.data[i]);
  total->deleter(total);
  for (adze_value *value : values)
    adze_value_release(value);
  for (adze_value *value : outputs)
    adze_value_release(value);
  EXPECT_EQ(x.deleted, 1);
  EXPECT_EQ(y.deleted, 1);
}

TEST(RunTensorValues, RefusesOtherKinds) {
  ModulePtr module = openFake();
  ContextPtr context = makeContext(module.get());
  ValuePtr text = makeString("a");
  adze_value *values[] = {text.get(), text.get()}, *outputs[3];
  EXPECT_ADZE_ERROR(adze_run_values(context.get(), values, 2, outputs, 3),
                    ADZE_INVALID_ARGUMENT,
                    "expected a tensor, but got a string tensor");
}
