// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Runs kernels of a gpu.module, as conversions make them, on the CPU: a block's
// threads are fibers that change over at barriers and shuffles.
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

  /// Runs one block. Returns false, with a message on stderr, if its threads do
  /// not arrive at the same barriers.
  virtual bool runBlock(llvm::StringRef entry, int64_t threads, int64_t block,
                        llvm::ArrayRef<int64_t> arguments,
                        ThreadOrder order) = 0;
};

} // namespace adze::test

#endif // ADZE_TESTS_TARGET_CUDA_EMULATOR_H
