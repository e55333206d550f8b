// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Barriers in shared memory and copies by tensor maps.
#include "EmulatedCopies.h"
#include "EmulatedCluster.h"
#include "EmulatedUnits.h"
#include "adze_module.h"
#include "llvm/ADT/STLExtras.h"
#include <cstring>

namespace adze::test {

//===--- barriers ---------------------------------------------------------===//

static std::string describe(const char *barrier) {
  return "the barrier at byte " +
         std::to_string(barrier - cluster->getShared(0)) + " of shared memory";
}

static TransactionBarrier &getBarrier(char *barrier) {
  auto found = cluster->barriers.find(barrier);
  if (found == cluster->barriers.end())
    cluster->fail(describe(barrier) + " is used before it is initialized");
  return found->second;
}

static void completePhase(TransactionBarrier &barrier) {
  if (barrier.pending || barrier.bytes)
    return;
  barrier.phase ^= 1;
  barrier.pending = barrier.count;
}

void initBarrier(char *barrier, uint32_t count) {
  unsigned me = cluster->getNumber();
  cluster->barriers.insert_or_assign(barrier,
                                     TransactionBarrier{count, count, me});
}

void fenceBarriers() {
  unsigned me = cluster->getNumber();
  for (auto &[address, barrier] : cluster->barriers)
    barrier.isVisible |= barrier.initializedBy == me;
}

void fenceProxy() { cluster->self().written.clear(); }

static void arriveAt(char *address, int64_t bytes) {
  TransactionBarrier &barrier = getBarrier(address);
  if (!barrier.pending)
    cluster->fail("more arrivals than expected at " + describe(address));
  barrier.bytes += bytes;
  --barrier.pending;
  completePhase(barrier);
  cluster->yield();
}

void arrive(char *barrier) { arriveAt(barrier, 0); }

void arriveExpecting(char *barrier, uint32_t bytes) {
  arriveAt(barrier, bytes);
}

void waitForPhase(char *address, uint32_t parity) {
  getBarrier(address);
  cluster->waitUntil("a barrier in shared memory", address, [=] {
    return cluster->barriers.at(address).phase != parity;
  });
}

//===--- tensor maps ------------------------------------------------------===//

TensorMap::TensorMap(char *data, llvm::ArrayRef<int64_t> row,
                     const int64_t *values)
    : data(data), rank((row.size() - 3) / 2), rowBytes(row[2]),
      roundsToTF32(row[1] == ADZE_TENSOR_MAP_TF32) {
  elementBytes = row[1] == ADZE_TENSOR_MAP_U8     ? 1
                 : row[1] == ADZE_TENSOR_MAP_F16  ? 2
                 : row[1] == ADZE_TENSOR_MAP_BF16 ? 2
                                                  : 4;
  for (unsigned i = 0; i < rank; ++i) {
    box[i] = row[3 + i];
    steps[i] = row[3 + rank + i];
    sizes[i] = values[i];
    strides[i] = i ? values[ADZE_TENSOR_MAP_RANK + i - 1] : elementBytes;
  }
}

int64_t TensorMap::getBoxBytes() const {
  int64_t bytes = elementBytes;
  for (unsigned i = 0; i < rank; ++i)
    bytes *= box[i];
  return bytes;
}

std::string TensorMap::findProblem() const {
  constexpr int64_t align = 16, mostBox = 256, mostSteps = 8;
  if (reinterpret_cast<uintptr_t>(data) % align)
    return "the address of a tensor map is not aligned";
  if (box[0] * elementBytes > rowBytes)
    return "the box of a tensor map has longer rows than its swizzle";
  for (unsigned i = 0; i < rank; ++i) {
    if (i && strides[i] % align)
      return "a stride of a tensor map is not a multiple of 16 bytes";
    if ((box[i] - 1) * steps[i] + 1 > mostBox || steps[i] > mostSteps)
      return "the box of a tensor map is too large";
  }
  return "";
}

/// Calls `visit` with each element of the box: its address in global memory, or
/// null outside of the tensor, and its address in shared memory.
static void forEachElement(const TensorMap &map,
                           llvm::ArrayRef<int32_t> coordinates, char *shared,
                           llvm::function_ref<void(char *, char *)> visit) {
  int64_t count = map.getBoxBytes() / map.elementBytes;
  auto begin = reinterpret_cast<uintptr_t>(shared);
  for (int64_t n = 0; n < count; ++n) {
    char *global = map.data;
    int64_t rest = n;
    for (unsigned i = 0; i < map.rank; ++i) {
      int64_t at = coordinates[i] + rest % map.box[i] * map.steps[i];
      rest /= map.box[i];
      if (at < 0 || at >= map.sizes[i])
        global = nullptr;
      else if (global)
        global += at * map.strides[i];
    }
    uintptr_t place = swizzle(begin + n * map.elementBytes, map.rowBytes);
    visit(global, reinterpret_cast<char *>(place));
  }
}

//===--- copies -----------------------------------------------------------===//

void noteWrite(const char *to, uint32_t bytes) {
  cluster->self().written.push_back({to, to + bytes});
}

void checkVisible(const char *begin, const char *end) {
  for (const Cluster::Thread &thread : cluster->threads)
    for (ByteRange written : thread.written)
      if (written.overlaps({begin, end}))
        cluster->fail("no proxy fence is between a store to shared memory and "
                      "an asynchronous access");
}

/// Fails if the bytes are outside of shared memory, or in use.
static void checkFree(ByteRange target) {
  cluster->checkShared(target, "a copy");
  for (const PendingCopy &copy : cluster->copies)
    if (copy.shared.overlaps(target))
      cluster->fail("a copy overwrites bytes of another one in flight");
  for (const PendingProduct &product : cluster->products)
    if (product.lhs.overlaps(target) || product.rhs.overlaps(target))
      cluster->fail("a copy overwrites an operand of a matrix instruction in "
                    "flight");
}

void copyToShared(char *to, const TensorMap *map, const int32_t *coordinates,
                  char *barrier) {
  constexpr uintptr_t align = 128;
  int64_t bytes = map->getBoxBytes();
  ByteRange target{to, to + bytes};
  if (!getBarrier(barrier).isVisible)
    cluster->fail(describe(barrier) + " is not visible to copies");
  if (reinterpret_cast<uintptr_t>(to) % align)
    cluster->fail("the target of a copy is not aligned");
  checkFree(target);
  checkVisible(target.begin, target.end);
  memset(to, Cluster::kPoison, bytes);
  std::vector<int32_t> place(coordinates, coordinates + map->rank);
  unsigned me = cluster->getNumber();
  cluster->issue({me, -1, target, /*writesShared=*/true, barrier, [=] {
                    forEachElement(*map, place, to, [&](char *from, char *at) {
                      if (!from)
                        memset(at, 0, map->elementBytes);
                      else
                        memcpy(at, from, map->elementBytes);
                      float value;
                      if (!map->roundsToTF32)
                        return;
                      memcpy(&value, at, sizeof(value));
                      uint32_t rounded = roundToTF32(value);
                      memcpy(at, &rounded, sizeof(rounded));
                    });
                    TransactionBarrier &done = cluster->barriers.at(barrier);
                    done.bytes -= bytes;
                    completePhase(done);
                  }});
}

void copyFromShared(const TensorMap *map, const char *from,
                    const int32_t *coordinates) {
  ByteRange source{from, from + map->getBoxBytes()};
  cluster->checkShared(source, "a copy");
  checkVisible(source.begin, source.end);
  std::vector<int32_t> place(coordinates, coordinates + map->rank);
  unsigned me = cluster->getNumber();
  cluster->issue({me, cluster->self().copyGroups, source,
                  /*writesShared=*/false, &cluster->self(), [=] {
                    forEachElement(*map, place, const_cast<char *>(from),
                                   [&](char *to, const char *at) {
                                     if (to)
                                       memcpy(to, at, map->elementBytes);
                                   });
                  }});
}

/// Waits until the running thread's copies that read or write shared memory, in
/// groups before `end`, are complete.
static void waitForGroups(const char *kind, bool writesShared, int64_t end) {
  unsigned me = cluster->getNumber();
  const void *signal = &cluster->self();
  cluster->waitUntil(kind, signal, [=] {
    return llvm::none_of(cluster->copies, [&](const PendingCopy &copy) {
      return copy.thread == me && copy.writesShared == writesShared &&
             copy.signal == signal && copy.group < end;
    });
  });
}

void commitCopies() { ++cluster->self().copyGroups; }

void waitForCopies(uint32_t groups) {
  waitForGroups("copies from shared memory", /*writesShared=*/false,
                cluster->self().copyGroups - groups);
}

void copyAsync(char *to, const char *from, uint32_t bytes, uint32_t read) {
  ByteRange target{to, to + bytes};
  if (reinterpret_cast<uintptr_t>(to) % bytes ||
      (read && reinterpret_cast<uintptr_t>(from) % bytes))
    cluster->fail("a copy is not aligned to its size");
  checkFree(target);
  memset(to, Cluster::kPoison, bytes);
  cluster->issue({cluster->getNumber(), cluster->self().asyncGroups, target,
                  /*writesShared=*/true, &cluster->self(), [=] {
                    memcpy(to, from, read);
                    memset(to + read, 0, bytes - read);
                  }});
}

void commitAsync() { ++cluster->self().asyncGroups; }

void waitForAsync(uint32_t groups) {
  waitForGroups("copies to shared memory", /*writesShared=*/true,
                cluster->self().asyncGroups - groups);
}

} // namespace adze::test
