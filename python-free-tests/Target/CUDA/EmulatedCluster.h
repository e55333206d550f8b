// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The threads of an emulated GPU, the points at which they wait for each other,
// and their asynchronous work.
#ifndef ADZE_TESTS_TARGET_CUDA_EMULATEDCLUSTER_H
#define ADZE_TESTS_TARGET_CUDA_EMULATEDCLUSTER_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/Twine.h"
#include <cstdint>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <ucontext.h>
#include <vector>

namespace adze::test {

/// The order in which the threads of a cluster run: the first, the last or any
/// one of those that do not wait. Asynchronous copies take effect when they are
/// issued (forward), when no thread can run and one waits for the copy
/// (backward), or at any time between (shuffled).
enum class ThreadOrder { forward, backward, shuffled };

/// The size of a launch.
struct LaunchShape {
  int64_t threads;               ///< of a block
  int64_t blocks = 1;            ///< of a cluster
  int64_t gridBlocks = 0;        ///< of all clusters
  int64_t sharedBytes = 1 << 18; ///< of a block
};

/// Bytes of memory.
struct ByteRange {
  const char *begin, *end;
  bool overlaps(ByteRange other) const {
    return begin < other.end && other.begin < end;
  }
};

/// A copy of the asynchronous proxy that has not taken effect.
struct PendingCopy {
  unsigned thread;  ///< that issued it
  int64_t group;    ///< of those that the thread commits, or -1
  ByteRange shared; ///< that it reads or writes
  bool writesShared;
  const void *signal; ///< what threads wait for: a barrier, or the thread
  std::function<void()> run;
};

/// A barrier in shared memory (PTX ISA, mbarrier).
struct TransactionBarrier {
  uint32_t count, pending; ///< arrivals of a phase
  unsigned initializedBy;
  int64_t bytes = 0; ///< expected of copies in this phase
  uint32_t phase = 0;
  bool isVisible = false; ///< to the asynchronous proxy
};

/// A matrix instruction that no thread of its warpgroup has waited for.
struct PendingProduct {
  int64_t warpgroup;
  int64_t group;      ///< of those that the warpgroup commits
  ByteRange lhs, rhs; ///< the first is empty if it is in registers
};

/// A thread's accumulators of a matrix instruction, whose group completes
/// later.
struct Accumulators {
  int64_t group;
  std::vector<uint32_t> sums;
};

/// A cluster of blocks that runs; blocks that are not in one form clusters of
/// one block. Threads are fibers that change over when they wait.
class Cluster {
public:
  /// The distance between the shared memories of adjacent blocks, which are
  /// aligned to it.
  static constexpr int64_t kSharedBytes = 1 << 18;
  static constexpr int64_t kMostBlocks = 8;
  /// The bytes of memory without contents: NaN in all float types.
  static constexpr int kPoison = 0xff;

  struct Thread {
    ucontext_t context;
    enum { ready, meets, waits, done } state = ready;
    const char *kind = "start";   ///< of the point at which it waits
    std::function<bool()> holds;  ///< set while it waits for a condition
    const void *signal = nullptr; ///< of the copies that it waits for
    void *operands = nullptr;     ///< of a common operation
    int64_t copyGroups = 0, asyncGroups = 0, productGroups = 0; ///< committed
    bool isFenced = false; ///< for matrix instructions
    int64_t productGroupsDone = 0;
    /// By the word that stands for them in registers until they are read.
    std::map<uint32_t, Accumulators> accumulators;
    uint32_t numProducts = 0;
    std::vector<ByteRange> written; ///< not visible to the asynchronous proxy
  };

  Cluster(LaunchShape shape, int64_t number, ThreadOrder order);
  ~Cluster();
  Cluster(const Cluster &) = delete;

  /// Runs `body` in all threads. Returns the reason why they cannot complete,
  /// or an empty string.
  std::string run(std::function<void()> body);

  //===--- for the running thread -----------------------------------------===//

  Thread &self() { return threads[current]; }
  /// Returns the number of the thread in the cluster.
  unsigned getNumber() const { return current; }
  unsigned getThread() const { return current % shape.threads; }
  unsigned getRank() const { return current / shape.threads; }
  /// Returns the number of the thread's warp or warpgroup in the cluster.
  int64_t getGroup(int64_t size) const;
  /// Returns the number of threads in the running thread's warp.
  unsigned getWarpThreads() const;
  /// Returns this block's shared memory of variable `variable`.
  char *getShared(int64_t variable);
  /// Fails if the bytes of `what` are not within this block's shared memory.
  void checkShared(ByteRange bytes, const char *what);

  /// Lets other threads run.
  void yield();
  /// Waits until `holds` returns true, which copies with `signal` may cause.
  void waitUntil(const char *kind, const void *signal,
                 std::function<bool()> holds);
  /// Waits until `count` threads have arrived at the same kind of point with
  /// the same `group`; the last one calls `combine` with the operands of all,
  /// in their order.
  using Combine = llvm::function_ref<void(llvm::ArrayRef<void *>)>;
  void meet(const char *kind, int64_t group, unsigned count,
            void *operands = nullptr, Combine combine = nullptr);
  template <typename Operands>
  void meet(const char *kind, int64_t group, unsigned count, Operands &mine,
            llvm::function_ref<void(llvm::ArrayRef<Operands *>)> combine) {
    meet(kind, group, count, &mine, [&](llvm::ArrayRef<void *> all) {
      std::vector<Operands *> typed;
      for (void *operands : all)
        typed.push_back(static_cast<Operands *>(operands));
      combine(typed);
    });
  }
  /// Arrives at such a point without waiting.
  void arrive(const char *kind, int64_t group, unsigned count);
  /// Waits until all threads of the cluster that have not ended have arrived
  /// (PTX ISA, barrier.cluster).
  void meetCluster();
  /// Ends the run with a message.
  [[noreturn]] void fail(const llvm::Twine &message);
  /// Starts an asynchronous copy.
  void issue(PendingCopy copy);

  std::vector<Thread> threads;
  std::vector<PendingCopy> copies;
  std::vector<PendingProduct> products;
  std::map<const char *, TransactionBarrier> barriers;
  const LaunchShape shape;
  const int64_t number; ///< in the grid

private:
  static void runThread();
  void switchToScheduler();
  /// Returns the number of a thread that can run, or -1.
  int64_t chooseThread();
  size_t chooseCopy();
  /// Performs a pending copy.
  void runCopy();
  void endThread();
  /// Releases the threads at the cluster's barrier if all have arrived.
  void releaseCluster();
  std::string describeWaits() const;

  const ThreadOrder order;
  std::function<void()> body;
  ucontext_t scheduler;
  unsigned current = 0;
  std::string problem;
  /// A point at which threads meet.
  struct Meeting {
    std::vector<unsigned> waiting; ///< threads
    unsigned arrived = 0;          ///< threads that wait, and others
  };
  using Meetings = std::map<std::pair<std::string, int64_t>, Meeting>;
  /// Lets the threads that wait at a point go on.
  void release(Meetings::iterator place);
  Meetings meetings;
  std::vector<unsigned> atClusterBarrier;
  std::map<int64_t, char *> variables;
  std::mt19937 random;
};

/// The cluster that runs now.
extern Cluster *cluster;

} // namespace adze::test

#endif // ADZE_TESTS_TARGET_CUDA_EMULATEDCLUSTER_H
