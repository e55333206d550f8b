// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Partitions by levels.
#include "Partition.h"
#include <algorithm>
#include <map>

namespace adze::ep {

std::vector<std::vector<size_t>>
findPartitions(const std::vector<std::vector<size_t>> &producers,
               const std::vector<bool> &isSupported) {
  // The level of a node is the largest number of changes between supported and
  // unsupported nodes on any path to it, where each path begins unsupported:
  // levels of supported nodes are odd. A path from a level back to it through
  // an unsupported node would increase the level, so levels are convex. The
  // path to a node of the highest level crosses that many partitions, so no
  // grouping has fewer.
  std::vector<size_t> levels(producers.size());
  std::map<size_t, std::vector<size_t>> partitions;
  for (size_t node = 0; node < producers.size(); ++node) {
    size_t level = isSupported[node] ? 1 : 0;
    for (size_t producer : producers[node]) {
      bool isChange = isSupported[producer] != isSupported[node];
      level = std::max(level, levels[producer] + (isChange ? 1 : 0));
    }
    levels[node] = level;
    if (isSupported[node])
      partitions[level].push_back(node);
  }
  std::vector<std::vector<size_t>> result;
  for (auto &[level, members] : partitions)
    result.push_back(std::move(members));
  return result;
}

} // namespace adze::ep
