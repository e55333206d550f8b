// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Groups the supported nodes of a graph into convex partitions.
#ifndef ADZE_EP_PARTITION_H
#define ADZE_EP_PARTITION_H

#include <cstddef>
#include <vector>

namespace adze::ep {

/// Returns the partitions of a graph: lists of supported nodes, each in
/// ascending order. `producers[i]` are the nodes whose values node i reads;
/// nodes are in topological order.
///
/// Every partition is convex: no path leads from one of its nodes through a
/// node outside and back. Partitions have no cyclic dependencies, and no other
/// set of convex partitions is smaller. A partition need not be connected.
std::vector<std::vector<size_t>>
findPartitions(const std::vector<std::vector<size_t>> &producers,
               const std::vector<bool> &isSupported);

} // namespace adze::ep

#endif // ADZE_EP_PARTITION_H
