// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Runs kernels of a gpu.module, as conversions make them, on the CPU: the
// threads of a cluster are fibers that change over when they wait. Copies by
// tensor maps, barriers in shared memory and matrix instructions are emulated
// with what is asynchronous about them.
#ifndef ADZE_TESTS_TARGET_CUDA_EMULATOR_H
#define ADZE_TESTS_TARGET_CUDA_EMULATOR_H

#include "EmulatedCluster.h"
#include "mlir/IR/BuiltinOps.h"
#include <memory>
#include <string>

namespace adze::test {

class Emulator {
public:
  /// Compiles the gpu.module of `module` for this CPU; returns null on failure,
  /// with a message on stderr.
  static std::unique_ptr<Emulator> create(mlir::ModuleOp module);
  virtual ~Emulator() = default;

  /// Returns the result of `NAME_cuda_programs`.
  virtual int64_t countPrograms(llvm::StringRef kernel,
                                const int64_t *symbols) = 0;

  /// Computes the values of `NAME_cuda_maps`.
  virtual void getMapSizes(llvm::StringRef kernel, const int64_t *symbols,
                           int64_t *values) = 0;

  /// Runs the cluster of this number, or the block if a cluster has one.
  /// Returns the reason why its threads cannot complete, or an empty string.
  virtual std::string run(llvm::StringRef entry, LaunchShape shape,
                          int64_t number, llvm::ArrayRef<int64_t> arguments,
                          ThreadOrder order) = 0;
};

} // namespace adze::test

#endif // ADZE_TESTS_TARGET_CUDA_EMULATOR_H
