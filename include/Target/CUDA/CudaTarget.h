// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// CUDA targets: their properties, PTX from LLVM IR, and cubins from PTX.
#ifndef ADZE_TARGET_CUDA_CUDATARGET_H
#define ADZE_TARGET_CUDA_CUDATARGET_H

#include "Dialect/Tile/IR/Targets.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <memory>
#include <string>

namespace llvm {
class Module;
class TargetMachine;
} // namespace llvm

namespace adze::cuda {

/// An SM that code is generated for.
struct CudaTarget {
  /// Resolves "cuda:sm_90a" or "sm_90a".
  static llvm::Expected<CudaTarget> resolve(llvm::StringRef name);

  /// Creates a target machine, one for each thread; owned by the caller.
  std::unique_ptr<llvm::TargetMachine> createMachine() const;

  /// Returns the target attribute.
  tile::CudaTargetAttr getAttr(mlir::MLIRContext &context) const;

  std::string chip;     ///< "sm_90a"
  std::string features; ///< the PTX version: "+ptx84"
  unsigned sm = 90;
  bool archExact = true; ///< an 'a' target: its code runs on this SM only
  int64_t sharedLimit = 232448;  ///< bytes of shared memory a block may use
  int64_t multiprocessors = 132; ///< of the largest chip of this SM
};

/// The parts of a CUDA toolkit that are used, all of which are optional.
struct Toolkit {
  /// Searches CUDA_HOME and CUDA_PATH or, if neither is set, /usr/local/cuda
  /// and PATH.
  static Toolkit find();

  std::string ptxas;     ///< empty: PTX, which the driver assembles
  std::string libdevice; ///< empty: no functions of f64
};

/// Links libdevice if required, optimises `module` and returns its PTX.
llvm::Expected<std::string>
emitPTX(llvm::Module &module, const CudaTarget &target, const Toolkit &toolkit);

/// Concatenates PTX texts with the same header.
std::string concatenatePTX(llvm::ArrayRef<std::string> texts);

/// The output of ptxas for a kernel.
struct KernelReport {
  std::string entry;
  unsigned registers = 0, spillBytes = 0;
};

/// Assembles a cubin. Fails if ptxas does, or if it reports serialised wgmma
/// (C751x).
llvm::Expected<std::string> assemble(llvm::StringRef ptx,
                                     const CudaTarget &target,
                                     const Toolkit &toolkit, unsigned threads,
                                     std::vector<KernelReport> &reports);

} // namespace adze::cuda

#endif // ADZE_TARGET_CUDA_CUDATARGET_H
