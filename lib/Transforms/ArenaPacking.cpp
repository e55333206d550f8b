// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Packing of buffers with known live ranges: greedy orders, and a search from
// the best of them.
#include "Transforms/ArenaPacking.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include <map>
#include <numeric>
#include <set>

using namespace llvm;

namespace adze {

/// For more buffers, only the linear algorithm is tried.
static constexpr size_t quadraticLimit = 4096;

/// Places buffers in this order, each into the tightest gap between the placed
/// ones that are live at the same time. The time is quadratic.
static int64_t packInOrder(MutableArrayRef<LiveBuffer> buffers,
                           ArrayRef<unsigned> order) {
  int64_t total = 0;
  std::vector<LiveBuffer *> placed; // by offset
  for (unsigned place : order) {
    LiveBuffer *buffer = &buffers[place];
    int64_t end = 0, best = -1, bestGap = INT64_MAX;
    for (LiveBuffer *other : placed) {
      if (other->end < buffer->begin || buffer->end < other->begin)
        continue;
      int64_t gap = other->offset - end;
      if (gap >= buffer->size && gap < bestGap) {
        best = end;
        bestGap = gap;
      }
      end = std::max(end, other->offset + other->size);
    }
    buffer->offset = best >= 0 ? best : end;
    total = std::max(total, buffer->offset + buffer->size);
    auto after = upper_bound(placed, buffer, [](LiveBuffer *a, LiveBuffer *b) {
      return a->offset < b->offset;
    });
    placed.insert(after, buffer);
  }
  return total;
}

/// Places buffers in program order, each into the tightest gap that dead ones
/// left.
static int64_t packByTime(MutableArrayRef<LiveBuffer> buffers) {
  SmallVector<LiveBuffer *> order = to_vector(make_pointer_range(buffers));
  sort(order, [](LiveBuffer *a, LiveBuffer *b) {
    return a->begin != b->begin ? a->begin < b->begin : a < b;
  });
  std::multimap<unsigned, LiveBuffer *> alive; // by end
  std::map<int64_t, int64_t> holes;            // offset -> size
  int64_t total = 0;
  auto release = [&](LiveBuffer *buffer) {
    auto hole = holes.emplace(buffer->offset, buffer->size).first;
    auto next = std::next(hole);
    if (next != holes.end() && hole->first + hole->second == next->first) {
      hole->second += next->second;
      holes.erase(next);
    }
    if (hole == holes.begin())
      return;
    auto previous = std::prev(hole);
    if (previous->first + previous->second == hole->first) {
      previous->second += hole->second;
      holes.erase(hole);
    }
  };
  for (LiveBuffer *buffer : order) {
    while (!alive.empty() && alive.begin()->first < buffer->begin) {
      release(alive.begin()->second);
      alive.erase(alive.begin());
    }
    auto best = holes.end();
    for (auto hole = holes.begin(); hole != holes.end(); ++hole)
      if (hole->second >= buffer->size &&
          (best == holes.end() || hole->second < best->second))
        best = hole;
    // A gap at the end may grow.
    if (best == holes.end() && !holes.empty()) {
      auto last = std::prev(holes.end());
      if (last->first + last->second == total) {
        total = last->first + buffer->size;
        last->second = buffer->size;
        best = last;
      }
    }
    if (best == holes.end()) {
      buffer->offset = total;
      total += buffer->size;
    } else {
      buffer->offset = best->first;
      int64_t rest = best->second - buffer->size;
      holes.erase(best);
      if (rest)
        holes.emplace(buffer->offset + buffer->size, rest);
    }
    alive.emplace(buffer->end, buffer);
  }
  return total;
}

//===--- Search -----------------------------------------------------------===//

/// Sorts by decreasing keys.
static std::vector<unsigned>
getOrderBy(ArrayRef<LiveBuffer> buffers,
           function_ref<int64_t(const LiveBuffer &)> key) {
  std::vector<unsigned> order(buffers.size());
  std::iota(order.begin(), order.end(), 0);
  llvm::sort(order, [&](unsigned a, unsigned b) {
    int64_t x = key(buffers[a]), y = key(buffers[b]);
    return x != y ? x > y : a < b;
  });
  return order;
}

static int64_t getLife(const LiveBuffer &buffer) {
  return int64_t(buffer.end) - buffer.begin + 1;
}

/// Returns the best packing of several orders and of a local search, which
/// repeatedly moves the buffer with the greatest end to an earlier position.
/// Stops at the lower bound.
static int64_t packBySearch(MutableArrayRef<LiveBuffer> buffers) {
  constexpr size_t mostWork = 40'000'000, mostSteps = 400;
  size_t pairs = std::max<size_t>(1, buffers.size() * buffers.size());
  size_t steps = std::min(mostSteps, mostWork / pairs);
  int64_t bound = getGreatestLiveSum(buffers), best = INT64_MAX;
  SmallVector<LiveBuffer> trial(buffers);
  auto attempt = [&](ArrayRef<unsigned> order) {
    int64_t total = packInOrder(trial, order);
    if (total < best) {
      best = total;
      copy(trial, buffers.begin());
    }
    return total;
  };
  using Key = int64_t (*)(const LiveBuffer &);
  constexpr Key keys[] = {
      [](const LiveBuffer &b) { return b.size; },
      [](const LiveBuffer &b) { return b.size * getLife(b); },
      [](const LiveBuffer &b) { return getLife(b); }};
  for (Key key : keys) {
    std::vector<unsigned> order = getOrderBy(buffers, key);
    for (size_t step = 0; best > bound && step <= steps; ++step) {
      int64_t total = attempt(order);
      auto top = llvm::find_if(order, [&](unsigned buffer) {
        return trial[buffer].offset + trial[buffer].size == total;
      });
      if (top == order.begin() || top == order.end())
        break;
      auto to = order.begin() + (top - order.begin()) / 2;
      std::rotate(to, top, top + 1);
    }
  }
  return best;
}

int64_t packBuffers(MutableArrayRef<LiveBuffer> buffers) {
  int64_t byTime = packByTime(buffers);
  if (buffers.size() > quadraticLimit || buffers.empty())
    return byTime;
  SmallVector<LiveBuffer> other(buffers);
  int64_t searched = packBySearch(other);
  if (searched >= byTime)
    return byTime;
  copy(other, buffers.begin());
  return searched;
}

//===--- Orders -----------------------------------------------------------===//

/// Returns the order of a packing, by a sweep over the steps with the live
/// buffers sorted by offset. Adjacent buffers get an edge when one of them
/// begins. Buffers that become adjacent when the one between them ends are
/// connected through it.
static PackingOrder getOrder(ArrayRef<LiveBuffer> buffers) {
  PackingOrder result;
  result.below.resize(buffers.size());
  auto sortedBy = [&](auto key) {
    std::vector<unsigned> order(buffers.size());
    std::iota(order.begin(), order.end(), 0);
    llvm::sort(order, [&](unsigned a, unsigned b) {
      return std::pair(key(buffers[a]), a) < std::pair(key(buffers[b]), b);
    });
    return order;
  };
  result.order = sortedBy([](const LiveBuffer &b) { return b.offset; });
  std::vector<unsigned> byBegin =
      sortedBy([](const LiveBuffer &b) { return b.begin; });
  std::vector<unsigned> byEnd =
      sortedBy([](const LiveBuffer &b) { return b.end; });
  std::vector<unsigned> rank(buffers.size());
  for (auto [position, buffer] : llvm::enumerate(result.order))
    rank[buffer] = position;

  std::set<unsigned> alive; // ranks
  auto ended = byEnd.begin();
  for (unsigned buffer : byBegin) {
    for (; buffers[*ended].end < buffers[buffer].begin; ++ended)
      alive.erase(rank[*ended]);
    auto here = alive.insert(rank[buffer]).first;
    if (here != alive.begin())
      result.below[buffer].push_back(result.order[*std::prev(here)]);
    if (auto next = std::next(here); next != alive.end())
      result.below[result.order[*next]].push_back(buffer);
  }
  return result;
}

SmallVector<PackingOrder> getPackingOrders(ArrayRef<LiveBuffer> buffers) {
  SmallVector<PackingOrder> orders;
  SmallVector<LiveBuffer> packed(buffers);
  packByTime(packed);
  orders.push_back(getOrder(packed));
  if (buffers.size() <= quadraticLimit && !buffers.empty()) {
    packInOrder(packed, getOrderBy(packed, [](const LiveBuffer &buffer) {
                  return buffer.size;
                }));
    orders.push_back(getOrder(packed));
    packBySearch(packed);
    orders.push_back(getOrder(packed));
  }
  return orders;
}

int64_t placeInOrder(const PackingOrder &order,
                     MutableArrayRef<LiveBuffer> buffers) {
  int64_t total = 0;
  for (unsigned buffer : order.order) {
    int64_t offset = 0;
    for (unsigned other : order.below[buffer])
      offset = std::max(offset, buffers[other].offset + buffers[other].size);
    buffers[buffer].offset = offset;
    total = std::max(total, offset + buffers[buffer].size);
  }
  return total;
}

int64_t getGreatestLiveSum(ArrayRef<LiveBuffer> buffers) {
  std::map<unsigned, int64_t> changes;
  for (const LiveBuffer &buffer : buffers) {
    changes[buffer.begin] += buffer.size;
    changes[buffer.end + 1] -= buffer.size;
  }
  int64_t sum = 0, greatest = 0;
  for (auto [step, change] : changes)
    greatest = std::max(greatest, sum += change);
  return greatest;
}

} // namespace adze
