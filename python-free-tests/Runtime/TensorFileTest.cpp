// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// arun's tensors: round trips through files of each kind, damaged files, random
// contents, comparisons.

#include "Tensor.h"

#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <limits>

using namespace adze::run;

namespace {
Tensor make(DLDataType dtype, std::vector<int64_t> dims, uint64_t seed = 1) {
  Tensor tensor;
  tensor.dtype = dtype;
  tensor.dims = std::move(dims);
  EXPECT_EQ(fillRandom(tensor, seed, 100), "");
  return tensor;
}

Tensor makeFloats(const std::vector<float> &values) {
  Tensor tensor;
  tensor.dtype = {kDLFloat, 32, 1};
  tensor.dims = {static_cast<int64_t>(values.size())};
  tensor.resize();
  std::memcpy(tensor.bytes.data(), values.data(), tensor.bytes.size());
  return tensor;
}

const DLDataType kTypes[] = {
    {kDLFloat, 16, 1}, {kDLFloat, 32, 1}, {kDLFloat, 64, 1}, {kDLBfloat, 16, 1},
    {kDLInt, 4, 1},    {kDLInt, 8, 1},    {kDLInt, 16, 1},   {kDLInt, 32, 1},
    {kDLInt, 64, 1},   {kDLUInt, 2, 1},   {kDLUInt, 8, 1},   {kDLUInt, 16, 1},
    {kDLUInt, 32, 1},  {kDLUInt, 64, 1},  {kDLBool, 8, 1}};

/// A message of fields written by hand.
adze::run::Bytes proto(const std::string &bytes) {
  return adze::run::Bytes(bytes.begin(), bytes.end());
}
} // namespace

TEST(TensorFile, NpyThereAndBack) {
  for (DLDataType dtype : kTypes) {
    for (const std::vector<int64_t> &dims :
         {std::vector<int64_t>{}, {5}, {2, 0, 3}, {3, 4, 5}}) {
      Tensor tensor = make(dtype, dims), back;
      adze::run::Bytes file;
      std::string error = writeNpy(tensor, file);
      if (dtype.bits < 8) {
        EXPECT_NE(error.find("use --format pb"), std::string::npos);
        continue;
      }
      ASSERT_EQ(error, "");
      ASSERT_EQ(readNpy(file, back), "");
      EXPECT_EQ(back.dims, dims);
      EXPECT_EQ(back.bytes, tensor.bytes);
      EXPECT_EQ(back.dtype.bits, dtype.bits);
      EXPECT_TRUE(back.untyped || back.dtype.code == dtype.code);
    }
  }
}

TEST(TensorFile, NpyOfColumnsBecomesRows) {
  std::string header = "{'descr': '<i4', 'fortran_order': True, 'shape': (2, "
                       "3), }\n";
  std::string text = std::string("\x93NUMPY\x01\x00", 8) +
                     static_cast<char>(header.size()) + '\0' + header;
  adze::run::Bytes file(text.begin(), text.end());
  for (char value : {1, 4, 2, 5, 3, 6})
    file.insert(file.end(), {value, 0, 0, 0});
  Tensor tensor;
  ASSERT_EQ(readNpy(file, tensor), "");
  for (int i = 0; i < 6; ++i)
    EXPECT_EQ(tensor.element(i), std::to_string(i + 1));
}

TEST(TensorFile, ProtoThereAndBack) {
  for (DLDataType dtype : kTypes) {
    Tensor tensor = make(dtype, {3, 7}), back;
    adze::run::Bytes file;
    std::string name;
    ASSERT_EQ(writeTensorProto(tensor, "a/b", file), "");
    ASSERT_EQ(readTensorProto(file, back, name), "");
    EXPECT_EQ(name, "a/b");
    EXPECT_EQ(back.dims, tensor.dims);
    EXPECT_EQ(back.bytes, tensor.bytes);
    EXPECT_EQ(back.dtype.code, dtype.code);
    EXPECT_EQ(back.dtype.bits, dtype.bits);
  }
}

TEST(TensorFile, ProtoWithTypedData) {
  Tensor tensor;
  std::string name;
  // dims 2 (packed); f32; float_data 1.0, -2.0 (packed)
  ASSERT_EQ(readTensorProto(proto(std::string("\x0a\x01\x02\x10\x01\x22\x08"
                                              "\0\0\x80\x3f\0\0\0\xc0",
                                              15)),
                            tensor, name),
            "");
  EXPECT_EQ(tensor.element(0), "1");
  EXPECT_EQ(tensor.element(1), "-2");
  // dims 1; i8; int32_data -3 (ten bytes, not packed)
  ASSERT_EQ(
      readTensorProto(proto("\x08\x01\x10\x03\x28\xfd\xff\xff\xff\xff\xff\xff"
                            "\xff\xff\x01"),
                      tensor, name),
      "");
  EXPECT_EQ(tensor.element(0), "-3");
}

TEST(TensorFile, DamagedFilesAreRefused) {
  Tensor tensor = make({kDLFloat, 32, 1}, {3, 4});
  adze::run::Bytes npy, message;
  ASSERT_EQ(writeNpy(tensor, npy), "");
  ASSERT_EQ(writeTensorProto(tensor, "x", message), "");
  std::string name;
  for (size_t size = 0; size < npy.size(); ++size) {
    Tensor back;
    adze::run::Bytes cut(npy.begin(), npy.begin() + size);
    EXPECT_NE(readNpy(cut, back), "") << size;
  }
  for (size_t size = 0; size < message.size(); ++size) {
    Tensor back;
    adze::run::Bytes cut(message.begin(), message.begin() + size);
    EXPECT_NE(readTensorProto(cut, back, name), "") << size;
  }
  // Changed bytes may still be valid: they only must not crash.
  for (size_t at = 0; at < npy.size(); ++at)
    for (char flip : {1, 64, -128}) {
      Tensor back;
      adze::run::Bytes changed = npy;
      changed[at] ^= flip;
      readNpy(changed, back);
      changed = message;
      changed[at % message.size()] ^= flip;
      readTensorProto(changed, back, name);
    }
}

TEST(TensorFile, StringsAndOtherFilesAreTold) {
  Tensor tensor;
  std::string name;
  EXPECT_EQ(readTensorProto(proto("\x10\x08\x32\x01"
                                  "a"),
                            tensor, name),
            "expected a tensor of numbers, but got strings");
  EXPECT_NE(
      readTensorProto(proto(std::string("\x10\x01\x6a\x00", 4)), tensor, name)
          .find("another file"),
      std::string::npos);
}

TEST(Random, SameSeedSameBits) {
  for (DLDataType dtype : kTypes) {
    EXPECT_EQ(make(dtype, {64}, 5).bytes, make(dtype, {64}, 5).bytes);
    EXPECT_NE(make(dtype, {64}, 5).bytes, make(dtype, {64}, 6).bytes);
  }
}

TEST(Random, NumbersAreStandardNormal) {
  Tensor tensor = make({kDLFloat, 64, 1}, {20000});
  double sum = 0, squares = 0;
  for (int64_t i = 0; i < 20000; ++i) {
    double value = *tensor.number(i);
    sum += value;
    squares += value * value;
  }
  EXPECT_NEAR(sum / 20000, 0, 0.03);
  EXPECT_NEAR(squares / 20000, 1, 0.05);
}

TEST(Number, HalvesRoundTripByAllTheirBits) {
  Tensor tensor;
  tensor.dtype = {kDLFloat, 16, 1};
  tensor.dims = {1};
  tensor.resize();
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    auto half = static_cast<uint16_t>(bits);
    std::memcpy(tensor.bytes.data(), &half, 2);
    double value = *tensor.number(0);
    if (!std::isnan(value)) {
      ASSERT_EQ(toHalf(value), half);
    } else {
      ASSERT_EQ(toHalf(value) & 0x7e00, 0x7e00);
    }
  }
  EXPECT_EQ(toHalf(1 + 0x1p-11), 0x3c00); // ties to even
  EXPECT_EQ(toHalf(1 + 0x3p-11), 0x3c02);
  EXPECT_EQ(toHalf(65519), 0x7bff);
  EXPECT_EQ(toHalf(65520), 0x7c00);
  EXPECT_EQ(toBfloat(1 + 0x1p-8), 0x3f80);
  EXPECT_EQ(toBfloat(1 + 0x3p-8), 0x3f82);
}

TEST(Compare, TolerancesAreKept) {
  Tensor want = makeFloats({1, 2, -4}), got = makeFloats({1, 2.001f, -4});
  std::string summary;
  EXPECT_EQ(compare(got, want, {}, summary), "");
  EXPECT_NE(compare(got, want, {1e-4, 0, {}}, summary), "");
  EXPECT_EQ(compare(got, want, {0, 2e-3, {}}, summary), "");
  EXPECT_EQ(compare(got, want, {0, 0, 2e-4}, summary), "");
  std::string error = compare(got, want, {0, 0, 1e-4}, summary);
  EXPECT_NE(error.find("1 of 3 elements"), std::string::npos) << error;
  EXPECT_NE(error.find("at [1]: expected 2, but got 2.0"), std::string::npos)
      << error;
  EXPECT_NE(summary.find("of the range"), std::string::npos) << summary;
}

TEST(Compare, NansAndInfinitiesMustBeInTheSamePlaces) {
  float nan = std::numeric_limits<float>::quiet_NaN(), inf = INFINITY;
  Tolerance wide{1, 1e30, {}};
  std::string summary;
  Tensor want = makeFloats({nan, inf, -inf, 0});
  EXPECT_EQ(compare(want, want, wide, summary), "");
  for (const std::vector<float> &values : {std::vector<float>{0, inf, -inf, 0},
                                           {nan, -inf, -inf, 0},
                                           {nan, inf, -inf, nan},
                                           {nan, 3e38f, -inf, 0}})
    EXPECT_NE(compare(makeFloats(values), want, wide, summary)
                  .find("in the place of a NaN or infinity"),
              std::string::npos);
}

TEST(Compare, IntegersMustBeEqual) {
  Tensor want = make({kDLInt, 64, 1}, {2, 3}), got = want;
  std::string summary;
  Tolerance wide{1, 1e9, {}};
  EXPECT_EQ(compare(got, want, wide, summary), "");
  got.bytes[8 * 4] ^= 1;
  EXPECT_NE(compare(got, want, wide, summary).find("at [1, 1]: expected"),
            std::string::npos);
}

TEST(Compare, TypeAndShapeMustBeEqual) {
  std::string summary;
  Tensor want = make({kDLInt, 64, 1}, {2, 3});
  EXPECT_EQ(compare(make({kDLInt, 64, 1}, {3, 2}), want, {}, summary),
            "expected shape 2x3, but got 3x2");
  EXPECT_EQ(compare(make({kDLInt, 32, 1}, {2, 3}), want, {}, summary),
            "expected type i64, but got i32");
}

TEST(Shape, IsParsed) {
  EXPECT_EQ(parseShape("1x3x224"), (std::vector<int64_t>{1, 3, 224}));
  EXPECT_EQ(parseShape(""), std::vector<int64_t>{});
  for (const char *wrong : {"1x", "x1", "1xx2", "a", "1,2", "-1"})
    EXPECT_FALSE(parseShape(wrong)) << wrong;
}
