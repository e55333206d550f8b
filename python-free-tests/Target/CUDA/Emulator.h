// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Runs kernels of a gpu.module, as conversions make them, on the CPU: the
// threads of a block are fibers that change over at barriers and shuffles. A
// block of a cluster runs until it waits for the other ones.
#ifndef ADZE_TESTS_TARGET_CUDA_EMULATOR_H
#define ADZE_TESTS_TARGET_CUDA_EMULATOR_H

#include "mlir/IR/BuiltinOps.h"
#include <memory>
#include <string>

namespace adze::test {

/// The order in which the threads of a block run.
enum class ThreadOrder { forward, backward, shuffled };

class Emulator {
public:
  /// Compiles the gpu.module of `module` for this CPU; returns null on failure,
  /// with a message on stderr.
  static std::unique_ptr<Emulator> create(mlir::ModuleOp module);
  virtual ~Emulator() = default;

  /// Returns the result of `NAME_cuda_programs`.
  virtual int64_t countPrograms(llvm::StringRef kernel,
                                const int64_t *symbols) = 0;

  /// The threads of a block, and the blocks of a cluster.
  struct Shape {
    int64_t threads, blocks = 1;
  };
  /// Runs the cluster of this number, or the block if a cluster has one.
  /// Returns false, with a message on stderr, if threads do not arrive at the
  /// same barriers.
  virtual bool runBlock(llvm::StringRef entry, Shape shape, int64_t number,
                        llvm::ArrayRef<int64_t> arguments,
                        ThreadOrder order) = 0;
};

} // namespace adze::test

#endif // ADZE_TESTS_TARGET_CUDA_EMULATOR_H
