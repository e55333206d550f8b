// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The conversions between levels, in the pipeline's order.
#ifndef ADZE_CONVERSION_PASSES
#define ADZE_CONVERSION_PASSES

include "mlir/Pass/PassBase.td"

//===--- graph -> tile ----------------------------------------------------===//

def ConvertGraphToTile : Pass<"convert-graph-to-tile", "mlir::ModuleOp"> {
  let summary = "Write kernel functions as parametric tile kernels";
  let description = [{
    Replaces every function with the attribute `adze.kernel` that has a tile
    form by a `tile.kernel` of the same name: inputs, then outputs, as memory.
    The anchor (contraction, window, row, reduction, or none) determines how
    the kernel is tiled into programs and blocks. Its prologue and epilogue are
    emitted on the same tiles, so no intermediate tensor is stored. Block sizes
    stay parameters; `tile.params` holds their default bindings. Constant
    filters are packed into panels of columns. Kernels without products whose
    results may not fit the caches have `tile.stream_bytes`: larger results use
    non-temporal stores.

    ```mlir
    func.func private @relu_0(%x: tensor<4096xf32>) -> tensor<4096xf32> attributes {adze.kernel} {
      %0 = graph.relu %x : (tensor<4096xf32>) -> tensor<4096xf32>
      return %0 : tensor<4096xf32>
    }
    ```
    becomes
    ```mlir
    tile.kernel @relu_0(%x: memref<4096xf32>, %y: memref<4096xf32>) attributes {tile.params = {BLOCK_N = 512 : i64}} {
      %block = tile.param "BLOCK_N" : index
      ...
      %i = tile.program_id (%programs) : index
      %offset = arith.muli %i, %block : index
      %t = tile.load %x[%offset] sizes [%block] : memref<4096xf32> -> tensor<?xf32>
      ...
      tile.store %r, %y[%offset] : tensor<?xf32>, memref<4096xf32>
      tile.return
    }
    ```
    If all targets are CPUs, kernels take forms that pay there: channels of several
    small groups of a convolution in one vector, and unknown numbers of rows of a
    product in equal parts that end at dynamic places (loads and stores
    go through views that end there). Otherwise the forms are right for any
    target.

    A function without a tile form stays for convert-graph-to-linalg; `remarks`
    says why, and so does its attribute `adze.refusal` without `for-cpu`.
  }];
  let options = [
    Option<"packConstants", "pack-constants", "bool", /*default=*/"true",
           "Choose a packed layout for constant filters">,
    Option<"remarks", "remarks", "bool", /*default=*/"false",
           "Remark on functions that are left to the reference path">,
    Option<"batchInvariant", "batch-invariant", "bool", /*default=*/"false",
           "Choose blocks without a look at how many rows there are">];
  let statistics = [
    Statistic<"numKernels", "kernels", "Kernels written">,
    Statistic<"numRefused", "refused", "Functions left to the reference path">];
  let dependentDialects = [
    "mlir::arith::ArithDialect", "mlir::math::MathDialect",
    "mlir::memref::MemRefDialect", "mlir::scf::SCFDialect",
    "adze::tile::TileDialect", "::adze::host::HostDialect"];
}

//===--- graph -> linalg --------------------------------------------------===//

def ConvertGraphToLinalg : Pass<"convert-graph-to-linalg", "mlir::ModuleOp"> {
  let summary = "Lower kernels of graph ops to linalg and loops, the reference path";
  let description = [{
    Every function with `adze.kernel` that still holds graph ops on tensors is
    rewritten on memrefs: its operands, then its results as trailing arguments
    that it writes. An argument with dynamic dims keeps their expressions as
    `adze.dims`; sizes that no argument has are `host.size`. Elements become signless. Only kernels of several ops have
    temporaries (`memref.alloc`), for what is between the ops.

    ```mlir
    func.func private @k(%x: tensor<4xf32>) -> tensor<4xf32> attributes {adze.kernel} {
      %0 = graph.exp %x : (tensor<4xf32>) -> tensor<4xf32>
      return %0 : tensor<4xf32>
    }
    ```
    becomes
    ```mlir
    func.func private @k(%x: memref<4xf32>, %y: memref<4xf32>) attributes {adze.kernel} {
      linalg.generic {..} ins(%x : memref<4xf32>) outs(%y : memref<4xf32>) {
      ^bb0(%in: f32, %out: f32):
        %0 = math.exp %in : f32
        linalg.yield %0 : f32
      }
      return
    }
    ```
  }];
  let statistics = [Statistic<"numKernels", "kernels", "Kernels converted">];
  let dependentDialects = [
    "::adze::host::HostDialect", "::adze::tile::TileDialect",
    "mlir::affine::AffineDialect", "mlir::arith::ArithDialect",
    "mlir::linalg::LinalgDialect", "mlir::LLVM::LLVMDialect",
    "mlir::math::MathDialect", "mlir::memref::MemRefDialect",
    "mlir::scf::SCFDialect", "mlir::vector::VectorDialect"];
}

//===--- tile -> vector ---------------------------------------------------===//

def ConvertTileToVector : Pass<"convert-tile-to-vector", "mlir::ModuleOp"> {
  let summary = "Lower specialised tile kernels to scf and vector on memrefs";
  let description = [{
    Every `tile.kernel @k` becomes `func.func @k(args.., %lo, %hi)`, which runs
    the programs [lo, hi) of the linear ids (grid dimension 0 fastest), and
    `func.func @k_programs(args..) -> index`, their number. Packed arguments
    become the memref that the layout map makes; bools become bytes.

    Tiles are never built whole. Dimensions that move together form a class; a
    class that every dot, reduction and store carries is split: a loop around
    the whole body in steps of a register block. Other classes become loops
    inside the ops that need them. Loads and elementwise ops are computed by
    slices, on demand. The right operand of a dot that many blocks of rows read
    is packed into panels first, unless it is packed already. If the panels
    would be too deep, the depth is split outside of the loop over blocks, and
    accumulators stay in scratch memory between its parts. Bytes interleaved in
    groups of four along the depth are multiplied and summed by groups. Where the target has
    a unit that multiplies matrices (AMX), and the right operand is packed and
    padded to its depth, sums lie in registers of that unit, are handed over
    there by loops and from dot to dot, and go to scratch for the epilogue, which
    takes a few rows at once, or to the memory that they fill. Windows not proven
    to lie inside their memory get a run-time test: an unchecked body, and a
    masked one for borders.
    Results of more than `tile.stream_bytes` bytes are written by non-temporal stores
    where a test at the start finds them aligned.

    A kernel with a `tile.print` is refused, as it has to be lowered by
    convert-tile-to-linalg: no tile is whole here, and ops run once a slice.

    ```mlir
    tile.kernel @neg(%x: memref<1024xf32>, %y: memref<1024xf32>) {
      %t = tile.load %x[0] sizes [1024] : memref<1024xf32> -> tensor<1024xf32>
      %n = arith.negf %t : tensor<1024xf32>
      tile.store %n, %y[0] : tensor<1024xf32>, memref<1024xf32>
      tile.return
    }
    ```
    becomes
    ```mlir
    func.func @neg(%x: memref<1024xf32>, %y: memref<1024xf32>, %lo: index, %hi: index) {
      scf.for %p = %lo to %hi step %c1 {
        scf.for %i = %c0 to %c1024 step %c64 {
          %0 = vector.load %x[%i] : memref<1024xf32>, vector<16xf32>
          ...
          vector.store %n3, %y[%i3] : memref<1024xf32>, vector<16xf32>
    ```
  }];
  let options = [
    Option<"keepRefused", "keep-refused", "bool", /*default=*/"false",
           "Leave a kernel that is not taken as it is, with a remark">];
  let statistics = [
    Statistic<"numKernels", "kernels", "Kernels converted">,
    Statistic<"numRefused", "refused", "Kernels not taken">];
  let dependentDialects = [
    "mlir::affine::AffineDialect", "mlir::amx::AMXDialect",
    "mlir::arith::ArithDialect",
    "mlir::func::FuncDialect", "mlir::LLVM::LLVMDialect",
    "mlir::math::MathDialect", "mlir::memref::MemRefDialect",
    "mlir::scf::SCFDialect", "mlir::vector::VectorDialect",
    "adze::tile::TileDialect"];
}

//===--- tile -> linalg ---------------------------------------------------===//

def ConvertTileToLinalg : Pass<"convert-tile-to-linalg", "mlir::ModuleOp"> {
  let summary = "Lower specialised tile kernels op by op to linalg on whole tiles";
  let description = [{
    The same functions as convert-tile-to-vector makes, with the meaning of each
    tile op written down plainly: a tile is a tensor, loads and stores go element
    by element with a bounds check, the rest is linalg. Slow, and independent of
    the fast road: the second opinion in tests, and the road for kernels that
    convert-tile-to-vector does not take. Bufferise each function afterwards.

    ```mlir
    %d = tile.dot %a, %b, %c : tensor<8x4xf32>, tensor<4x8xf32>, tensor<8x8xf32>
    ```
    becomes
    ```mlir
    %d = linalg.generic {indexing_maps = [..], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%a, %b : tensor<8x4xf32>, tensor<4x8xf32>) outs(%c : tensor<8x8xf32>) { .. }
    ```
  }];
  let statistics = [
    Statistic<"numKernels", "kernels", "Kernels converted">];
  let dependentDialects = [
    "mlir::affine::AffineDialect", "mlir::arith::ArithDialect",
    "mlir::func::FuncDialect", "mlir::linalg::LinalgDialect",
    "mlir::memref::MemRefDialect", "mlir::scf::SCFDialect",
    "mlir::tensor::TensorDialect"];
}

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
    the launch facts; `@neg_cuda_programs`, next to the GPU module, returns the
    number of programs. A kernel that this conversion does not support is left
    unchanged, with a remark, as is one that a host program in the same module
    launches.
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

//===--- host -> llvm -----------------------------------------------------===//

def ConvertKernelToLLVM : Pass<"convert-kernel-to-llvm", "mlir::ModuleOp"> {
  let summary = "Give kernel functions the module's calling convention, in the LLVM dialect";
  let description = [{
    Expects kernels in `func`, `cf`, `arith`, `memref` and `llvm`; ops of higher
    levels are lowered before. The kernel's body becomes an internal function
    whose pointers do not alias. Dynamic dims come from `adze.dims` and the
    symbols. `memref.alloc` and `memref.alloca` over 4 KiB become parts of the
    call's scratch memory, whose size `@k_scratch` returns.

    ```mlir
    func.func @k(%x: memref<?xf32> {adze.dims = affine_map<()[s0] -> (s0)>}, %y: memref<4xf32>)
        attributes {adze.kernel}
    ```
    becomes
    ```mlir
    llvm.func @k(%ptrs: !llvm.ptr, %syms: !llvm.ptr, %lo: i64, %hi: i64, %scratch: !llvm.ptr)
    llvm.func internal @k.body(!llvm.ptr {llvm.noalias}, !llvm.ptr {llvm.noalias}, ...)
    llvm.func @k_programs(%syms: !llvm.ptr) -> i64
    ```
  }];
  let dependentDialects = ["mlir::arith::ArithDialect", "mlir::cf::ControlFlowDialect", "mlir::LLVM::LLVMDialect",
                           "mlir::vector::VectorDialect"];
  let statistics = [
    Statistic<"numKernels", "kernels", "Kernels converted">,
    Statistic<"numScratch", "scratch-buffers", "Allocations moved to scratch memory">];
}

def ConvertHostToLLVM : Pass<"convert-host-to-llvm", "mlir::ModuleOp"> {
  let summary = "Lower the host program to the functions of a module";
  let description = [{
    The function that carries `adze.num_inputs`, after `plan-memory`, becomes
    `@adze_run` of adze_module.h: one call through the host table for each
    launch, whose number is its place in the program; an error code is returned
    at once. `@adze_infer`, `@adze_arena_bytes` and `@adze_arena_lower_bound`
    are made beside it.

    ```mlir
    host.launch @k(%x, %y) : (memref<4xf32>, memref<4xf32>) -> ()
    ```
    becomes
    ```mlir
    %0 = llvm.alloca 2 x !llvm.ptr  // and two stores
    %1 = llvm.call %launch(%exec, %c0, %0) : !llvm.ptr, (!llvm.ptr, i32, !llvm.ptr) -> i32
    llvm.cond_br ..                 // not 0: return it
    ```
  }];
  let dependentDialects = ["mlir::LLVM::LLVMDialect"];
  let statistics = [
    Statistic<"numLaunches", "launches", "Launches lowered">];
}

#endif // ADZE_CONVERSION_PASSES
