// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Tests the comparison of results: it must detect injected faults.
#include "Judge.h"
#include "gtest/gtest.h"
#include <cmath>
#include <cstring>
#include <vector>

using namespace property;

namespace {

template <typename T>
Tensor makeTensor(std::vector<int64_t> dims, const std::vector<T> &data) {
  Tensor tensor;
  tensor.dtype = {std::is_integral_v<T> ? uint8_t(kDLInt) : uint8_t(kDLFloat),
                  sizeof(T) * 8, 1};
  tensor.dims = std::move(dims);
  tensor.resize();
  std::memcpy(tensor.bytes.data(), data.data(), tensor.bytes.size());
  return tensor;
}

/// Positive numbers, so that one of many terms is small relative to their sum.
std::vector<float> makeTerms() {
  std::vector<float> terms;
  for (int i = 0; i < 10000; ++i)
    terms.push_back(0.5f + float(i * 37 % 101) / 101);
  return terms;
}

/// The sum in one or in eight parts, as in vector code.
template <typename T>
T sum(const std::vector<float> &terms, size_t parts, size_t dropped) {
  std::vector<T> sums(parts);
  for (size_t i = 0; i < terms.size(); ++i)
    if (i != dropped)
      sums[i % parts] += T(terms[i]);
  T total = 0;
  for (T part : sums)
    total += part;
  return total;
}

bool areSame(const Tensor &reference, const Tensor &other,
             const Tensor &exact) {
  Distance distance;
  return compareResults(reference, other, exact, distance).empty() &&
         distance.isWithin();
}

constexpr size_t kNone = SIZE_MAX;

TEST(Judge, AnotherOrderOfASumIsTheSame) {
  std::vector<float> terms = makeTerms();
  EXPECT_TRUE(areSame(makeTensor<float>({1}, {sum<float>(terms, 1, kNone)}),
                      makeTensor<float>({1}, {sum<float>(terms, 8, kNone)}),
                      makeTensor<double>({1}, {sum<double>(terms, 1, kNone)})));
}

/// x - mean(x) of equal numbers: the reference path's error is 0.
TEST(Judge, WhatCancelsMayRoundOnceAnOp) {
  Distance distance;
  distance.other = 0x1p-22;
  EXPECT_FALSE(distance.isWithin());
  distance.noise = getNoise(0x1p-23, 0x1.1p-27);
  EXPECT_TRUE(distance.isWithin());
  distance.other = 0x1p-12;
  EXPECT_FALSE(distance.isWithin());
}

TEST(Judge, StepsAreNoNoise) {
  EXPECT_EQ(getNoise(1, 1), 0);
  EXPECT_EQ(getNoise(1, 0), 0);
  EXPECT_EQ(getNoise(0, 0), 0);
}

TEST(Judge, OneDroppedTermOfTenThousandIsNot) {
  std::vector<float> terms = makeTerms();
  for (size_t dropped : {0, 1, 4711, 9999})
    EXPECT_FALSE(
        areSame(makeTensor<float>({1}, {sum<float>(terms, 1, kNone)}),
                makeTensor<float>({1}, {sum<float>(terms, 8, dropped)}),
                makeTensor<double>({1}, {sum<double>(terms, 1, kNone)})));
}

TEST(Judge, ASwappedAxisIsNot) {
  std::vector<float> right, swapped;
  std::vector<double> exact;
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j) {
      right.push_back(float(std::sin(i * 4 + j)));
      swapped.push_back(float(std::sin(j * 4 + i)));
      exact.push_back(std::sin(i * 4 + j));
    }
  Tensor reference = makeTensor<float>({4, 4}, right);
  EXPECT_TRUE(areSame(reference, reference, makeTensor<double>({4, 4}, exact)));
  EXPECT_FALSE(areSame(reference, makeTensor<float>({4, 4}, swapped),
                       makeTensor<double>({4, 4}, exact)));
}

/// -3e38 - 3e38 + 3e38 + 3e38 + 1e38 - 4e38 by lanes and in order.
TEST(Judge, OverflowOfASumInOneOrderIsTheSame) {
  Tensor low = makeTensor<float>({1}, {-INFINITY}),
         nan = makeTensor<float>({1}, {NAN}), one = makeTensor<float>({1}, {1});
  Tensor sum = makeTensor<double>({1}, {-3e38});
  EXPECT_TRUE(areSame(low, nan, sum));
  EXPECT_TRUE(areSame(nan, low, sum));
  // Only one of them overflows.
  EXPECT_FALSE(areSame(one, nan, makeTensor<double>({1}, {1})));
  EXPECT_FALSE(areSame(low, one, sum));
  // NaN in the inputs.
  EXPECT_FALSE(areSame(low, nan, makeTensor<double>({1}, {NAN})));
}

TEST(Judge, NaNsInfinitiesAndIntegersAreEqual) {
  Tensor exact = makeTensor<double>({2}, {1, NAN});
  Tensor nan = makeTensor<float>({2}, {1, NAN});
  EXPECT_TRUE(areSame(nan, nan, exact));
  EXPECT_FALSE(areSame(nan, makeTensor<float>({2}, {1, 2}), exact));
  EXPECT_FALSE(areSame(makeTensor<float>({2}, {1, INFINITY}),
                       makeTensor<float>({2}, {1, -INFINITY}), exact));
  Tensor seven = makeTensor<int32_t>({1}, {7});
  EXPECT_TRUE(areSame(seven, seven, seven));
  EXPECT_FALSE(areSame(seven, makeTensor<int32_t>({1}, {8}), seven));
  EXPECT_FALSE(areSame(seven, makeTensor<float>({1}, {7}), seven));
  EXPECT_FALSE(areSame(seven, makeTensor<int32_t>({1, 1}, {7}), seven));
}

TEST(Judge, NearNeedsNoExactResult) {
  Tensor one = makeTensor<float>({2}, {1, NAN});
  EXPECT_TRUE(areNear({one}, {one}));
  EXPECT_TRUE(areNear({one}, {makeTensor<float>({2}, {1 + 0x1p-21f, NAN})}));
  EXPECT_FALSE(areNear({one}, {makeTensor<float>({2}, {1 + 0x1p-20f, NAN})}));
  EXPECT_FALSE(areNear({one}, {makeTensor<float>({2}, {1, 1})}));
  EXPECT_FALSE(areNear({one}, {makeTensor<float>({1, 2}, {1, NAN})}));
  EXPECT_FALSE(areNear({one}, {one, one}));
  Tensor seven = makeTensor<int32_t>({1}, {7});
  EXPECT_TRUE(areNear({seven}, {seven}));
  EXPECT_FALSE(areNear({seven}, {makeTensor<int32_t>({1}, {8})}));
}

} // namespace
