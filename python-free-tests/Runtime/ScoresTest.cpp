// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Numbers of libadze_generate: conversion of logits, the greatest one, and sums
// of exponentials.

#include "adze.h"
#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <limits>
#include <random>
#include <vector>

// Of runtime/generate/Generate.h, which is in C.
extern "C" {
void gen_convert_scores(float *scores, const void *data, DLDataType dtype,
                        int64_t count);
int64_t gen_find_best(const float *scores, int64_t count);
float gen_weigh(float score, float greatest);
double gen_sum_weights(const float *scores, int64_t count, float greatest);
}

namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

std::vector<float> convertAll(uint8_t code) {
  std::vector<uint16_t> narrow(1 << 16);
  for (size_t i = 0; i < narrow.size(); ++i)
    narrow[i] = uint16_t(i);
  std::vector<float> scores(narrow.size());
  gen_convert_scores(scores.data(), narrow.data(), {code, 16, 1},
                     int64_t(narrow.size()));
  return scores;
}

} // namespace

TEST(Scores, HalvesAreExact) {
  std::vector<float> scores = convertAll(kDLFloat);
  for (uint32_t bits = 0; bits < scores.size(); ++bits) {
    int exponent = int(bits >> 10 & 31), fraction = int(bits & 1023);
    double value = exponent == 31 ? fraction ? kNaN : kInfinity
                   : exponent     ? std::ldexp(1024 + fraction, exponent - 25)
                                  : std::ldexp(fraction, -24);
    if (std::isnan(value))
      EXPECT_TRUE(std::isnan(scores[bits])) << bits;
    else
      EXPECT_EQ(scores[bits], float(bits >> 15 ? -value : value)) << bits;
  }
}

TEST(Scores, BfloatsAreExact) {
  std::vector<float> scores = convertAll(kDLBfloat);
  for (uint32_t bits = 0; bits < scores.size(); ++bits) {
    uint32_t got;
    memcpy(&got, &scores[bits], sizeof(got));
    EXPECT_EQ(got, bits << 16);
  }
}

TEST(Scores, TheFirstOfEqualOnesIsBest) {
  for (int64_t count : {1, 2, 15, 16, 17, 100})
    for (int64_t at = 0; at < count; ++at) {
      std::vector<float> scores(count, -2);
      scores[at] = scores[count - 1] = -1;
      EXPECT_EQ(gen_find_best(scores.data(), count), at);
      if (at)
        scores[0] = kNaN;
      EXPECT_EQ(gen_find_best(scores.data(), count), at);
    }
  std::vector<float> least(20, -kInfinity), none(20, kNaN);
  EXPECT_EQ(gen_find_best(least.data(), 20), 0);
  EXPECT_EQ(gen_find_best(none.data(), 20), 0);
}

TEST(Scores, WeightsAreExponentials) {
  for (float x = 0; x >= -87; x -= 1e-3f) {
    double want = std::exp(double(x));
    EXPECT_NEAR(gen_weigh(x, 0) / want, 1, 2e-7) << x;
  }
  EXPECT_EQ(gen_weigh(5, 5), 1);
  EXPECT_LT(gen_weigh(-kInfinity, 0), 2e-38f);
  EXPECT_LT(gen_weigh(-1e6f, 0), 2e-38f);
  EXPECT_TRUE(std::isnan(gen_weigh(kNaN, 0)));
}

TEST(Scores, SumsAreThoseInF64) {
  std::mt19937 random(1);
  std::normal_distribution<float> normal(0, 5);
  for (int64_t count : {1, 7, 255, 256, 257, 32000, 151936}) {
    std::vector<float> scores(count);
    for (float &score : scores)
      score = normal(random);
    float greatest = scores[gen_find_best(scores.data(), count)];
    double want = 0;
    for (float score : scores)
      want += std::exp(double(score) - greatest);
    EXPECT_NEAR(gen_sum_weights(scores.data(), count, greatest) / want, 1,
                3e-7);
    scores[count / 2] = kNaN;
    EXPECT_TRUE(std::isnan(gen_sum_weights(scores.data(), count, greatest)));
  }
}
