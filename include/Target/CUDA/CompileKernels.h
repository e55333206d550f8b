// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Compiles kernels to one device image.
#ifndef ADZE_TARGET_CUDA_COMPILEKERNELS_H
#define ADZE_TARGET_CUDA_COMPILEKERNELS_H

#include "Target/CUDA/CudaTarget.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/StringMap.h"
#include <vector>

namespace adze::cuda {

/// The fields of adze_tensor_map.
struct TensorMap {
  uint32_t pointer = 0, type = 0, rowBytes = 0;
  llvm::SmallVector<uint32_t, 5> box, steps; ///< innermost first
};

/// One kernel of an image; the fields of adze_device_kernel.
struct CompiledKernel {
  std::string kernel; ///< symbol of the tile.kernel or function
  std::string entry;  ///< of the image
  std::string
      programs; ///< llvm.func @..(ptr symbols) -> i64 for the host module
  uint32_t blockThreads = 0, sharedBytes = 0;
  unsigned registers = 0, spillBytes = 0; ///< 0 in a PTX image
  uint32_t residentBlocks = 0, flags = 0, mostShared = 0;
  unsigned numSymbols = 0; ///< of the module, the first ones
  uint64_t symbolsRead = 0;
  std::vector<TensorMap> maps;
  std::string mapValues; ///< llvm.func @..(ptr symbols, ptr values), or empty
  /// How the iterations of loops are distributed, and why the kernel is not
  /// computed by tiles; empty if it is.
  std::string loops, reason;
};

/// The fields of adze_device_image.
struct CompiledImage {
  std::string bytes; ///< a cubin, or PTX ending in a null byte
  bool isPTX = false;
  /// The PTX for later SMs, if `bytes` is a cubin that they cannot load. Ends
  /// in a null byte.
  std::string ptx;
  /// Does not contain refused kernels, for which a remark has the reason.
  std::vector<CompiledKernel> kernels;
  /// The refused kernels by symbol, with the reason.
  llvm::StringMap<std::string> refused;
};

struct CompileOptions {
  CudaTarget target;
  Toolkit toolkit;
  bool forcePTX = false;       ///< PTX although there is a ptxas
  unsigned threads = 1;        ///< to compile with
  bool remarks = false;        ///< on products that no matrix unit takes
  bool batchInvariant = false; ///< no dynamic size changes the order of sums
  /// True if kernels of the reference path are compiled, too.
  bool loops = true;
};

/// Adds the passes from kernels of the reference path, after the linalg stage,
/// to entries of the gpu.module.
void buildLoopPipeline(mlir::OpPassManager &manager,
                       const CompileOptions &options);

/// The passes from kernels to LLVM dialect in a gpu.module.
void buildCudaPipeline(mlir::OpPassManager &manager,
                       const CompileOptions &options);

/// Compiles the module's kernels. Afterwards the module holds the
/// functions that count programs, in LLVM dialect, and nothing else. Errors are
/// emitted at the module or kernel.
mlir::LogicalResult compileKernels(mlir::ModuleOp module,
                                   const CompileOptions &options,
                                   CompiledImage &image);

} // namespace adze::cuda

#endif // ADZE_TARGET_CUDA_COMPILEKERNELS_H
