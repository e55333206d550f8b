// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The scheduler of emulated threads.
#include "EmulatedCluster.h"
#include "llvm/ADT/STLExtras.h"
#include <cstring>
#include <sys/mman.h>

namespace adze::test {

constexpr size_t kStackBytes = 256 << 10;
constexpr unsigned kWarpThreads = 32, kWarpgroupThreads = 128;

Cluster *cluster = nullptr;

static char *reserveMemory(size_t bytes) {
  return static_cast<char *>(mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                                  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
}

/// Returns the stack of a thread; all runs share them.
static char *getStack(size_t thread) {
  static std::vector<char *> stacks;
  while (stacks.size() <= thread)
    stacks.push_back(reserveMemory(kStackBytes));
  return stacks[thread];
}

/// Returns the shared memories of a cluster for a variable.
static char *getSharedMemory(int64_t variable) {
  static std::map<int64_t, char *> memories;
  char *&memory = memories[variable];
  if (!memory) {
    constexpr int64_t step = Cluster::kSharedBytes;
    char *all = reserveMemory((Cluster::kMostBlocks + 1) * step);
    memory = all + (step - reinterpret_cast<uintptr_t>(all) % step) % step;
  }
  return memory;
}

Cluster::Cluster(LaunchShape shape, int64_t number, ThreadOrder order)
    : threads(shape.threads * shape.blocks), shape(shape), number(number),
      order(order), random(number) {
  cluster = this;
}

Cluster::~Cluster() { cluster = nullptr; }

//===--- the scheduler ----------------------------------------------------===//

void Cluster::runThread() {
  cluster->body();
  cluster->endThread();
}

void Cluster::endThread() {
  Thread &me = self();
  for (const PendingProduct &product : products)
    if (product.warpgroup == getGroup(kWarpgroupThreads))
      fail("a thread ends while its matrix instructions are in flight");
  for (const PendingCopy &copy : copies)
    if (copy.thread == current && !copy.writesShared)
      fail("a thread ends while its copies read shared memory");
  me.state = Thread::done;
  me.kind = "end";
  auto *own = threads.begin().base() + getRank() * shape.threads;
  bool isLast = std::all_of(own, own + shape.threads, [](const Thread &t) {
    return t.state == Thread::done;
  });
  // Nobody may use the shared memory of a block that has ended.
  if (isLast) {
    for (const PendingCopy &copy : copies)
      if (copy.writesShared && copy.thread / shape.threads == getRank())
        fail("a block ends while copies write its shared memory");
    for (auto [variable, memory] : variables)
      memset(memory + getRank() * kSharedBytes, kPoison, kSharedBytes);
  }
  releaseCluster();
  switchToScheduler();
}

void Cluster::releaseCluster() {
  auto running = llvm::count_if(
      threads, [](const Thread &t) { return t.state != Thread::done; });
  if (atClusterBarrier.size() < size_t(running))
    return;
  for (unsigned thread : atClusterBarrier)
    threads[thread].state = Thread::ready;
  atClusterBarrier.clear();
}

void Cluster::switchToScheduler() { swapcontext(&self().context, &scheduler); }

int64_t Cluster::chooseThread() {
  int64_t count = threads.size(), first = 0, step = 1;
  if (order == ThreadOrder::backward)
    first = count - 1, step = count - 1;
  if (order == ThreadOrder::shuffled)
    first = random() % count;
  for (int64_t i = 0; i < count; ++i) {
    int64_t at = (first + i * step) % count;
    Thread &thread = threads[at];
    if (thread.state == Thread::ready ||
        (thread.state == Thread::waits && thread.holds()))
      return at;
  }
  return -1;
}

size_t Cluster::chooseCopy() {
  if (order == ThreadOrder::shuffled)
    return random() % copies.size();
  for (auto [number, copy] : llvm::enumerate(copies))
    for (const Thread &thread : threads)
      if (thread.state == Thread::waits && thread.signal == copy.signal)
        return number;
  return 0;
}

void Cluster::runCopy() {
  size_t which = chooseCopy();
  PendingCopy copy = std::move(copies[which]);
  copies.erase(copies.begin() + which);
  copy.run();
}

std::string Cluster::describeWaits() const {
  std::map<std::string, unsigned> counts;
  for (const Thread &thread : threads)
    ++counts[thread.kind];
  std::string text = "no thread can run:";
  for (const auto &[kind, count] : counts)
    text += (text.back() == ':' ? " " : ", ") + std::to_string(count) + " at " +
            kind;
  return text;
}

std::string Cluster::run(std::function<void()> function) {
  constexpr unsigned copyEvery = 8;
  body = std::move(function);
  for (auto [number, thread] : llvm::enumerate(threads)) {
    getcontext(&thread.context);
    thread.context.uc_stack.ss_sp = getStack(number);
    thread.context.uc_stack.ss_size = kStackBytes;
    thread.context.uc_link = nullptr;
    makecontext(&thread.context, runThread, 0);
  }
  auto isDone = [](const Thread &t) { return t.state == Thread::done; };
  while (problem.empty() && !llvm::all_of(threads, isDone)) {
    if (order == ThreadOrder::shuffled && !copies.empty() &&
        random() % copyEvery == 0)
      runCopy();
    int64_t next = chooseThread();
    if (next < 0) {
      if (copies.empty())
        return describeWaits();
      runCopy();
      continue;
    }
    current = next;
    self().state = Thread::ready;
    swapcontext(&scheduler, &self().context);
  }
  while (problem.empty() && !copies.empty())
    runCopy();
  return problem;
}

//===--- the running thread -----------------------------------------------===//

int64_t Cluster::getGroup(int64_t size) const {
  return getRank() * ((shape.threads + size - 1) / size) + getThread() / size;
}

unsigned Cluster::getWarpThreads() const {
  unsigned first = getThread() / kWarpThreads * kWarpThreads;
  return std::min<unsigned>(kWarpThreads, shape.threads - first);
}

char *Cluster::getShared(int64_t variable) {
  char *&memory = variables[variable];
  if (!memory) {
    memory = getSharedMemory(variable);
    memset(memory, kPoison, shape.blocks * kSharedBytes);
  }
  return memory + getRank() * kSharedBytes;
}

void Cluster::checkShared(ByteRange bytes, const char *what) {
  const char *own = getShared(0);
  if (bytes.begin < own || bytes.end > own + shape.sharedBytes)
    fail(llvm::Twine(what) + " is not within shared memory");
}

void Cluster::yield() { switchToScheduler(); }

void Cluster::waitUntil(const char *kind, const void *signal,
                        std::function<bool()> holds) {
  Thread &me = self();
  me.kind = kind;
  me.signal = signal;
  me.holds = std::move(holds);
  me.state = Thread::waits;
  switchToScheduler();
}

void Cluster::meet(const char *kind, int64_t group, unsigned count,
                   void *operands, Combine combine) {
  Thread &me = self();
  me.kind = kind;
  me.operands = operands;
  auto place = meetings.try_emplace({kind, group}).first;
  std::vector<unsigned> &waiting = place->second.waiting;
  waiting.push_back(current);
  if (++place->second.arrived < count) {
    me.state = Thread::meets;
    return switchToScheduler();
  }
  llvm::sort(waiting);
  if (combine) {
    std::vector<void *> all;
    for (unsigned thread : waiting)
      all.push_back(threads[thread].operands);
    combine(all);
  }
  release(place);
  yield();
}

void Cluster::arrive(const char *kind, int64_t group, unsigned count) {
  auto place = meetings.try_emplace({kind, group}).first;
  if (++place->second.arrived == count)
    release(place);
}

void Cluster::release(Meetings::iterator place) {
  for (unsigned thread : place->second.waiting)
    threads[thread].state = Thread::ready;
  meetings.erase(place);
}

void Cluster::meetCluster() {
  Thread &me = self();
  me.kind = "the barrier of a cluster";
  me.state = Thread::meets;
  atClusterBarrier.push_back(current);
  releaseCluster();
  switchToScheduler();
}

void Cluster::fail(const llvm::Twine &message) {
  problem = message.str();
  switchToScheduler();
  llvm_unreachable("the run has ended");
}

void Cluster::issue(PendingCopy copy) {
  if (order == ThreadOrder::forward)
    return copy.run();
  copies.push_back(std::move(copy));
}

} // namespace adze::test
