// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Replaces operations of GPUs by calls of the emulator's functions.
#ifndef ADZE_TESTS_TARGET_CUDA_DEVICECALLS_H
#define ADZE_TESTS_TARGET_CUDA_DEVICECALLS_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringRef.h"

namespace adze::test {

/// Replaces the operations of the `gpu` and `nvvm` dialects in a module of
/// device functions, and the addresses of shared memory.
void replaceByCalls(mlir::ModuleOp module);

/// A function that these calls need.
struct EmulatedFunction {
  const char *name;
  void *address;
};
llvm::ArrayRef<EmulatedFunction> getEmulatedFunctions();

} // namespace adze::test

#endif // ADZE_TESTS_TARGET_CUDA_DEVICECALLS_H
