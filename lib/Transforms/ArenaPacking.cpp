// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Packing of buffers with known lives: two greedy orders, the better one wins.
#include "Transforms/ArenaPacking.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include <map>
#include <vector>

using namespace llvm;

namespace adze {

/// Above this many buffers only the linear order is tried.
static constexpr size_t quadraticLimit = 4096;

/// Largest first, each into the tightest gap between those placed already that
/// live at the same time. Quadratic; near the optimum in practice.
static int64_t packBySize(MutableArrayRef<LiveBuffer> buffers) {
  SmallVector<LiveBuffer *> order = to_vector(make_pointer_range(buffers));
  sort(order, [](LiveBuffer *a, LiveBuffer *b) {
    return a->size != b->size ? a->size > b->size : a < b;
  });
  int64_t total = 0;
  std::vector<LiveBuffer *> placed; // by offset
  for (LiveBuffer *buffer : order) {
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

/// In program order, each into the tightest hole that the ended ones left.
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
    // A hole at the end may grow.
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

int64_t packBuffers(MutableArrayRef<LiveBuffer> buffers) {
  int64_t byTime = packByTime(buffers);
  if (buffers.size() > quadraticLimit)
    return byTime;
  SmallVector<LiveBuffer> other(buffers);
  int64_t bySize = packBySize(other);
  if (bySize >= byTime)
    return byTime;
  copy(other, buffers.begin());
  return bySize;
}

} // namespace adze
