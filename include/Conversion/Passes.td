// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The conversions between levels, in the pipeline's order.
#ifndef ADZE_CONVERSION_PASSES
#define ADZE_CONVERSION_PASSES

include "mlir/Pass/PassBase.td"

//===--- tile -> gpu ------------------------------------------------------===//

def ConvertTileToGPU : Pass<"convert-tile-to-gpu", "mlir::ModuleOp"> {
  let summary = "Lower specialised tile kernels to kernels of one gpu.module";
  let description = [{
    Every `tile.kernel` becomes an `llvm.func` in the `gpu.module` @cuda_kernels,
    called with one device pointer a tensor argument, all symbols of the module
    and the number of programs. A block of threads runs one program; grid
    dimension 0 is the fastest.

    Tiles live in registers: each class of tile dimensions (dimensions that
    move together) is spread over the block's threads once, and every tile is
    computed on demand at the positions that a thread owns. Operands of a dot,
    and tiles needed in another spread than their own, go through shared memory.

    ```mlir
    tile.kernel @neg(%x: memref<1024xf32>, %y: memref<1024xf32>) {
      %p = tile.program_id (%c1) : index
      %t = tile.load %x[%p] sizes [1024] : memref<1024xf32> -> tensor<1024xf32>
      %n = arith.negf %t : tensor<1024xf32>
      tile.store %n, %y[%p] : tensor<1024xf32>, memref<1024xf32>
      tile.return
    }
    ```
    becomes
    ```mlir
    gpu.module @cuda_kernels {
      llvm.func @neg(%x: !llvm.ptr<1>, %y: !llvm.ptr<1>, %programs: i64)
          attributes {gpu.kernel, nvvm.kernel, nvvm.maxntid = array<i32: 256, 1, 1>} {
        %t = gpu.thread_id x
        ...
    ```
    The attributes `adze.threads` and `adze.shared_bytes` of the function are
    the launch facts; `@neg_cuda_programs` beside the module counts programs.
    A kernel that this conversion does not take stays as it is, with a remark.
  }];
  let options = [
    Option<"threads", "threads", "int64_t", /*default=*/"0",
           "Threads a block; 0: chosen from the kernel's tiles">,
    Option<"numSymbols", "num-symbols", "int64_t", /*default=*/"-1",
           "Symbols of the module; -1: as many as the kernels name">,
    Option<"sharedLimit", "shared-limit", "int64_t", /*default=*/"232448",
           "Bytes of shared memory a block may use">];
  let statistics = [
    Statistic<"numKernels", "kernels", "Kernels converted">,
    Statistic<"numRefused", "refused", "Kernels left to the host">];
  let dependentDialects = [
    "mlir::arith::ArithDialect", "mlir::gpu::GPUDialect", "mlir::LLVM::LLVMDialect",
    "mlir::math::MathDialect", "mlir::NVVM::NVVMDialect", "mlir::scf::SCFDialect"];
}

#endif // ADZE_CONVERSION_PASSES
