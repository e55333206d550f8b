// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Packing of buffers: live buffers never overlap, and the size is near the
// lower bound.
#include "Transforms/ArenaPacking.h"
#include "gtest/gtest.h"
#include <random>
#include <vector>

using adze::LiveBuffer;

namespace {

/// Returns the greatest sum of live sizes at one step.
int64_t lowerBound(const std::vector<LiveBuffer> &buffers, unsigned steps) {
  int64_t best = 0;
  for (unsigned step = 0; step < steps; ++step) {
    int64_t sum = 0;
    for (const LiveBuffer &buffer : buffers)
      if (buffer.begin <= step && step <= buffer.end)
        sum += buffer.size;
    best = std::max(best, sum);
  }
  return best;
}

void expectDisjoint(const std::vector<LiveBuffer> &buffers, int64_t total) {
  for (size_t i = 0; i < buffers.size(); ++i) {
    const LiveBuffer &a = buffers[i];
    ASSERT_GE(a.offset, 0);
    ASSERT_LE(a.offset + a.size, total);
    for (size_t j = 0; j < i; ++j) {
      const LiveBuffer &b = buffers[j];
      bool together = a.begin <= b.end && b.begin <= a.end;
      bool apart =
          a.offset + a.size <= b.offset || b.offset + b.size <= a.offset;
      ASSERT_TRUE(!together || apart || !a.size || !b.size)
          << "buffers " << i << " and " << j;
    }
  }
}

TEST(ArenaPackingTest, ChainTakesTwo) {
  std::vector<LiveBuffer> buffers;
  for (unsigned i = 0; i < 10; ++i)
    buffers.push_back({100, i, i + 1});
  int64_t total = adze::packBuffers(buffers);
  EXPECT_EQ(total, 200);
  expectDisjoint(buffers, total);
}

TEST(ArenaPackingTest, RandomProgramsStayNearTheBound) {
  std::mt19937 random(1);
  for (int round = 0; round < 50; ++round) {
    std::vector<LiveBuffer> buffers;
    for (unsigned i = 0; i < 200; ++i)
      buffers.push_back(
          {1 + int64_t(random() % 1000), i, i + 1 + unsigned(random() % 5)});
    int64_t total = adze::packBuffers(buffers);
    expectDisjoint(buffers, total);
    EXPECT_LE(total, lowerBound(buffers, 210) * 1.02);
  }
}

/// Buffers whose sizes are functions of a symbol: linear and quadratic ones.
std::vector<LiveBuffer> makeSymbolic(unsigned seed, int64_t symbol) {
  std::mt19937 random(seed);
  std::vector<LiveBuffer> buffers;
  for (unsigned i = 0; i < 200; ++i) {
    int64_t factor = 1 + int64_t(random() % 20);
    bool isSquare = random() % 3 == 0;
    buffers.push_back(
        {isSquare ? symbol * symbol * factor / 10 : symbol * factor, i,
         i + 1 + unsigned(random() % 5)});
  }
  return buffers;
}

TEST(ArenaPackingTest, OrderOfOneSizeServesAll) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    // The better packing is near the bound at the size that it was computed
    // for.
    std::vector<LiveBuffer> made = makeSymbolic(seed, 128);
    int64_t best = INT64_MAX;
    for (const adze::PackingOrder &order : adze::getPackingOrders(made))
      best = std::min(best, adze::placeInOrder(order, made));
    EXPECT_LE(best, lowerBound(made, 210) * 1.02);
    for (const adze::PackingOrder &order :
         adze::getPackingOrders(makeSymbolic(seed, 128))) {
      size_t edges = 0;
      for (const auto &below : order.below)
        edges += below.size();
      EXPECT_LE(edges, 2u * 200);
      for (int64_t symbol : {0, 1, 7, 100, 128, 150, 5000}) {
        std::vector<LiveBuffer> buffers = makeSymbolic(seed, symbol);
        int64_t total = adze::placeInOrder(order, buffers);
        expectDisjoint(buffers, total);
        EXPECT_EQ(adze::getGreatestLiveSum(buffers), lowerBound(buffers, 210));
      }
    }
  }
}

TEST(ArenaPackingTest, OrderIsNoLargerThanItsPacking) {
  std::vector<LiveBuffer> buffers = makeSymbolic(3, 64), packed = buffers;
  int64_t best = INT64_MAX;
  for (const adze::PackingOrder &order : adze::getPackingOrders(buffers))
    best = std::min(best, adze::placeInOrder(order, buffers));
  EXPECT_LE(best, adze::packBuffers(packed));
}

TEST(ArenaPackingTest, HundredThousandBuffersTakeLinearTime) {
  std::vector<LiveBuffer> buffers;
  for (unsigned i = 0; i < 100000; ++i)
    buffers.push_back({64 + (i * 37) % 512, i, i + 1 + i % 3});
  EXPECT_LE(adze::packBuffers(buffers),
            lowerBound({buffers.begin(), buffers.begin() + 1000}, 1010) * 2);
  auto orders = adze::getPackingOrders(buffers);
  ASSERT_EQ(orders.size(), 1u);
  EXPECT_LE(adze::placeInOrder(orders.front(), buffers),
            adze::packBuffers(buffers));
}

} // namespace
