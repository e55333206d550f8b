// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// arun's values: round trips through the run time and files, damaged files.

#include "Value.h"

#include <cstring>
#include <gtest/gtest.h>

using namespace adze::run;

namespace {
Value makeTensor(std::vector<int64_t> dims, const std::vector<float> &numbers) {
  Value value;
  value.tensor.dtype = {kDLFloat, 32, 1};
  value.tensor.dims = std::move(dims);
  value.tensor.resize();
  if (!numbers.empty())
    std::memcpy(value.tensor.bytes.data(), numbers.data(), numbers.size() * 4);
  return value;
}

Value makeStrings(std::vector<std::string> strings) {
  Value value;
  value.kind = ADZE_STRINGS;
  value.tensor.dims = {static_cast<int64_t>(strings.size())};
  value.strings = std::move(strings);
  return value;
}

Value makeIntegers(const std::vector<int64_t> &numbers) {
  Value value;
  value.tensor.dtype = {kDLInt, 64, 1};
  value.tensor.dims = {static_cast<int64_t>(numbers.size())};
  value.tensor.resize();
  if (!numbers.empty())
    std::memcpy(value.tensor.bytes.data(), numbers.data(), numbers.size() * 8);
  return value;
}

Value make(adze_kind kind, std::vector<Value> elements) {
  Value value;
  value.kind = kind;
  value.elements = std::move(elements);
  return value;
}

Value makeMap(Value keys, std::vector<Value> elements) {
  Value map = make(ADZE_MAP, std::move(elements));
  map.keys = {std::move(keys)};
  return map;
}

/// One value of each kind, and its contents.
std::vector<Value> makeAll() {
  Value tensor = makeTensor({2, 2}, {1, 2, 3, 4});
  Value strings = makeStrings({"a", std::string("b\0c", 3), ""});
  Value list = make(ADZE_SEQUENCE, {tensor, makeTensor({0}, {})});
  return {tensor,
          strings,
          list,
          makeMap(makeStrings({"k", "l"}), {tensor, tensor}),
          makeMap(makeIntegers({-3, 1LL << 40}), {strings, strings}),
          make(ADZE_SEQUENCE, {}),
          make(ADZE_SEQUENCE, {strings}),
          make(ADZE_SEQUENCE, {list, make(ADZE_SEQUENCE, {})}),
          make(ADZE_SEQUENCE, {makeMap(makeStrings({"k"}), {tensor})}),
          make(ADZE_OPTIONAL, {}),
          make(ADZE_OPTIONAL, {tensor}),
          make(ADZE_OPTIONAL, {make(ADZE_SEQUENCE, {})}),
          make(ADZE_OPTIONAL, {list})};
}

Error compareBits(const Tensor &got, const Tensor &expected) {
  std::string summary;
  return compare(got, expected, {0, 0, {}}, summary);
}

adze::run::Bytes proto(const std::string &bytes) {
  return adze::run::Bytes(bytes.begin(), bytes.end());
}
} // namespace

TEST(Values, GoToTheRunTimeAndBack) {
  for (const Value &value : makeAll()) {
    ValueHandle handle;
    ASSERT_EQ(toRuntime(value, handle), "");
    Value back;
    ASSERT_EQ(fromRuntime(handle.get(), back), "");
    EXPECT_EQ(compare(back, value, compareBits), "");
  }
}

TEST(Values, GoToFilesAndBack) {
  for (const Value &value : makeAll()) {
    adze::run::Bytes file;
    ASSERT_EQ(writeValueProto(value, "v", file), "");
    Value back;
    std::string name;
    ASSERT_EQ(readValueProto(file, value.kind, back, name), "");
    EXPECT_EQ(name, "v");
    EXPECT_EQ(compare(back, value, compareBits), "");
    // A truncated file is an error, or a smaller value.
    for (size_t size = 0; size < file.size(); ++size) {
      Value part;
      (void)readValueProto({file.begin(), file.begin() + long(size)},
                           value.kind, part, name);
    }
    // Any byte may be damaged.
    for (size_t i = 0; i < file.size(); ++i)
      for (char bit : {1, 8, 64, -128}) {
        Value other;
        file[i] = static_cast<char>(file[i] ^ bit);
        (void)readValueProto(file, value.kind, other, name);
        file[i] = static_cast<char>(file[i] ^ bit);
      }
  }
}

TEST(Values, DamagedFilesAreTold) {
  Value value;
  std::string name;
  auto read = [&](const std::string &bytes, adze_kind kind) {
    value = Value();
    return readValueProto(proto(bytes), kind, value, name);
  };
  EXPECT_EQ(read("\x5a\1x", ADZE_SEQUENCE), "not a SequenceProto");
  EXPECT_EQ(read("\x5a\1x", ADZE_MAP), "not a MapProto");
  // Two keys, no values.
  EXPECT_EQ(read("\x10\7\x1a\2\1\2", ADZE_MAP),
            "a MapProto of 2 keys and 0 values");
  // Three strings, one of which is present.
  EXPECT_EQ(read("\x08\3\x10\x08\x32\1a", ADZE_STRINGS),
            "expected 3 strings, but got 1");
  // A sequence nested many times.
  std::string deep;
  for (int i = 0; i < 40; ++i)
    deep = "\x2a" + std::string(1, char(deep.size())) + deep;
  EXPECT_NE(read(deep, ADZE_SEQUENCE), "");
  EXPECT_EQ(describe(value).substr(0, 8), "sequence");
}

TEST(Values, AreDescribed) {
  Value tensor = makeTensor({2, 2}, {1, 2, 3, 4});
  EXPECT_EQ(describe(tensor), "f32 2x2");
  EXPECT_EQ(describe(makeStrings({"a", "b"})), "string 2");
  EXPECT_EQ(describe(make(ADZE_SEQUENCE, {tensor})), "sequence of 1");
  EXPECT_EQ(describe(make(ADZE_OPTIONAL, {tensor})), "optional f32 2x2");
  EXPECT_EQ(describe(make(ADZE_OPTIONAL, {})), "optional without a value");
}
