// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Code that all threads of a block run together.
#ifndef ADZE_LIB_CONVERSION_LINALGTOGPU_BLOCKLOOPS_H
#define ADZE_LIB_CONVERSION_LINALGTOGPU_BLOCKLOOPS_H

#include "LoopNest.h"
#include "llvm/ADT/DenseSet.h"

namespace adze::togpu {

/// Distributes code over the threads of a block: the iterations of independent
/// loops are shared out, all other ops that write to memory run on thread 0,
/// and ops without such effects run on all threads. Barriers order accesses.
class BlockLoops {
public:
  BlockLoops(mlir::Value threadId, int64_t threads)
      : threadId(threadId), threads(threads) {}

  /// Distributes the ops of a block that all threads of the block of threads
  /// run.
  void distribute(mlir::Block &block);

  /// Returns true if each thread runs the op by itself, for iterations of its
  /// own.
  bool isOfOneThread(mlir::Operation *op) const;

  /// Returns the static number of iterations of the largest loop that
  /// `distribute` would share out, or nothing if a number is dynamic.
  static std::optional<int64_t> getMostIterations(mlir::Block &block);

private:
  enum class Writer { None, Thread0, All };

  void distributeOp(mlir::Operation &op);
  void share(LoopNest nest);
  void runOnThread0(mlir::Operation &op);
  void barrier(mlir::Operation &before);
  /// Waits until earlier accesses are complete.
  void prepareRead(mlir::Operation &op);
  void prepareWrite(mlir::Operation &op, Writer writer);

  mlir::Value threadId;
  int64_t threads;
  /// Accesses since the last barrier.
  Writer lastWriter = Writer::None;
  bool hasReads = false;
  llvm::DenseSet<mlir::Operation *> ofOneThread;
};

} // namespace adze::togpu

#endif // ADZE_LIB_CONVERSION_LINALGTOGPU_BLOCKLOOPS_H
