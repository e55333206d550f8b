// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Partitions of graphs: known ones, and the properties of random ones.
#include "Partition.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include <algorithm>
#include <random>

using namespace adze::ep;
using testing::ElementsAre;
using testing::IsEmpty;

namespace {

using Producers = std::vector<std::vector<size_t>>;
using Parts = std::vector<std::vector<size_t>>;

TEST(Partition, WholeGraph) {
  EXPECT_THAT(findPartitions({{}, {0}, {0, 1}}, {true, true, true}),
              ElementsAre(ElementsAre(0, 1, 2)));
  EXPECT_THAT(findPartitions({}, {}), IsEmpty());
  EXPECT_THAT(findPartitions({{}, {0}}, {false, false}), IsEmpty());
}

// 0 -> 1 -> 2: the node between divides them.
TEST(Partition, ChainWithUnsupportedNode) {
  EXPECT_THAT(findPartitions({{}, {0}, {1}}, {true, false, true}),
              ElementsAre(ElementsAre(0), ElementsAre(2)));
}

// 2 reads 0 and 1, where 1 is unsupported but does not read 0.
TEST(Partition, UnsupportedNodeBeside) {
  EXPECT_THAT(findPartitions({{}, {}, {0, 1}}, {true, false, true}),
              ElementsAre(ElementsAre(0, 2)));
}

// Two components that are not connected are one partition.
TEST(Partition, Unconnected) {
  EXPECT_THAT(findPartitions({{}, {}, {0}, {1}}, {true, true, true, true}),
              ElementsAre(ElementsAre(0, 1, 2, 3)));
}

// 0 -> 1 -> 3 and 0 -> 2 -> 3 with 1 unsupported: 2 may be in either.
TEST(Partition, Diamond) {
  EXPECT_THAT(findPartitions({{}, {0}, {0}, {1, 2}}, {true, false, true, true}),
              ElementsAre(ElementsAre(0, 2), ElementsAre(3)));
}

/// `reaches[a][b]`: there is a path from a to b.
std::vector<std::vector<bool>> getPaths(const Producers &producers) {
  size_t count = producers.size();
  std::vector<std::vector<bool>> reaches(count, std::vector<bool>(count));
  for (size_t node = 0; node < count; ++node)
    for (size_t producer : producers[node]) {
      reaches[producer][node] = true;
      for (size_t from = 0; from < producer; ++from)
        if (reaches[from][producer])
          reaches[from][node] = true;
    }
  return reaches;
}

/// Returns the most supported runs on any path: no grouping has fewer members.
size_t getLowerBound(const Producers &producers,
                     const std::vector<bool> &isSupported) {
  std::vector<size_t> runs(producers.size());
  size_t most = 0;
  for (size_t node = 0; node < producers.size(); ++node) {
    runs[node] = isSupported[node];
    for (size_t producer : producers[node])
      runs[node] =
          std::max(runs[node],
                   runs[producer] +
                       (isSupported[node] && !isSupported[producer] ? 1 : 0));
    most = std::max(most, runs[node]);
  }
  return most;
}

TEST(Partition, RandomGraphs) {
  std::mt19937 random(1);
  auto below = [&](size_t limit) { return size_t(random() % limit); };
  for (unsigned trial = 0; trial < 2000; ++trial) {
    Producers producers(1 + below(14));
    std::vector<bool> isSupported;
    for (size_t node = 0; node < producers.size(); ++node) {
      isSupported.push_back(below(3) != 0);
      for (size_t edge = below(3); node && edge; --edge)
        producers[node].push_back(below(node));
    }
    Parts parts = findPartitions(producers, isSupported);
    auto reaches = getPaths(producers);
    std::vector<int> partOf(producers.size(), -1);
    for (size_t part = 0; part < parts.size(); ++part)
      for (size_t node : parts[part]) {
        ASSERT_EQ(partOf[node], -1);
        partOf[node] = int(part);
      }
    for (size_t node = 0; node < producers.size(); ++node)
      ASSERT_EQ(partOf[node] >= 0, isSupported[node]);
    ASSERT_EQ(parts.size(), getLowerBound(producers, isSupported));
    for (size_t a = 0; a < producers.size(); ++a)
      for (size_t b = 0; b < producers.size(); ++b) {
        // Later partitions are no producers of earlier ones: there is no cycle.
        if (partOf[a] >= 0 && partOf[b] >= 0 && reaches[a][b]) {
          ASSERT_LE(partOf[a], partOf[b]);
        }
        if (partOf[a] < 0 || partOf[a] != partOf[b])
          continue;
        for (size_t middle = 0; middle < producers.size(); ++middle)
          ASSERT_FALSE(reaches[a][middle] && reaches[middle][b] &&
                       partOf[middle] != partOf[a])
              << "trial " << trial << ": " << a << " -> " << middle << " -> "
              << b;
      }
  }
}

} // namespace
