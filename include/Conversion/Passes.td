// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The conversions between levels, in the pipeline's order.
#ifndef ADZE_CONVERSION_PASSES
#define ADZE_CONVERSION_PASSES

include "mlir/Pass/PassBase.td"

//===--- graph -> tile ----------------------------------------------------===//

def ConvertGraphToTile : Pass<"convert-graph-to-tile", "mlir::ModuleOp"> {
  let summary = "Convert kernel functions to parametric tile kernels";
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
    If all targets are CPUs, two schedules are specific to CPUs: channels of
    several small groups of a convolution share a vector, and a dynamic number of
    rows of a product is divided into equal parts with dynamic ends (loads and
    stores go through views that end there). Otherwise kernels are valid for any
    target.

    A function without a tile form falls back to the reference path
    (convert-graph-to-linalg). `remarks` reports the reason, which is also its
    attribute `adze.refusal`.
  }];
  let options = [
    Option<"packConstants", "pack-constants", "bool", /*default=*/"true",
           "Choose a packed layout for constant filters">,
    Option<"remarks", "remarks", "bool", /*default=*/"false",
           "Remark on functions that fall back to the reference path">,
    Option<"batchInvariant", "batch-invariant", "bool", /*default=*/"false",
           "Choose block sizes independently of the number of rows">];
  let statistics = [
    Statistic<"numKernels", "kernels", "Kernels written">,
    Statistic<"numRefused", "refused", "Functions that fall back to the reference path">];
  let dependentDialects = [
    "mlir::arith::ArithDialect", "mlir::math::MathDialect",
    "mlir::memref::MemRefDialect", "mlir::scf::SCFDialect",
    "mlir::tensor::TensorDialect", "adze::tile::TileDialect",
    "::adze::host::HostDialect"];
}

//===--- graph -> linalg --------------------------------------------------===//

def ConvertGraphToLinalg : Pass<"convert-graph-to-linalg", "mlir::ModuleOp"> {
  let summary = "Lower kernels of graph ops to linalg and loops, the reference path";
  let description = [{
    Every function with `adze.kernel` that has graph ops on tensors is rewritten to
    memrefs: its arguments are the operands, then the results, which it writes.
    An argument with dynamic dims keeps their expressions in `adze.dims`; sizes
    that no argument has are `host.size`. Element types become signless. Only
    kernels of several ops allocate intermediate tensors (`memref.alloc`).

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
    the programs with linear ids [lo, hi) (grid dimension 0 fastest), and
    `func.func @k_programs(args..) -> index`, which returns their number. Packed
    arguments become memrefs of the packed layout; bools become bytes.

    Tiles are not materialized. Tile dimensions that are iterated together form a
    class. A class that every dot, reduction and store has is split: it becomes a
    loop around the whole body, in steps of a register block. Other classes become
    loops inside the ops that need them. Loads and elementwise ops are emitted on
    demand, for one slice at a time.

    The right operand of a dot that many blocks of rows read is packed into panels
    first, unless it is packed already. If the panels would exceed the cache, the
    contracted dimension is split outside of the loop over blocks, and
    accumulators are kept in scratch memory between its parts. Bytes in groups of
    four along the contracted dimension are multiplied and summed by groups. If
    the target has a matrix unit (AMX), and the right operand is packed and padded
    for it, accumulators are tile registers, also across loops and dots. They are
    stored to the result, or to scratch memory for the epilogue, which runs on a
    few rows at a time.

    Windows that are not provably in bounds are tested at run time: the body
    exists in an unchecked version, and in a masked version for borders. Results
    of more than `tile.stream_bytes` bytes are written by non-temporal stores if a
    test at the start finds them aligned.

    A kernel with a `tile.print` is refused, since tiles are not materialized and
    ops run once for each slice. convert-tile-to-linalg lowers it.

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
           "Leave unsupported kernels unchanged, with a remark">];
  let statistics = [
    Statistic<"numKernels", "kernels", "Kernels converted">,
    Statistic<"numRefused", "refused", "Unsupported kernels">];
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
  let summary = "Lower specialised tile kernels op by op to linalg on tensors";
  let description = [{
    Makes the same functions as convert-tile-to-vector by a direct translation of
    each tile op: a tile is a tensor, loads and stores access single elements with
    a bounds check, and all other ops become linalg. The code is slow, and
    independent of convert-tile-to-vector. It is the reference in tests, and the
    lowering of kernels that convert-tile-to-vector does not support. Functions
    have to be bufferized afterwards.

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
    called with one device pointer for each tensor argument, all symbols of the
    module and the number of programs. A block of threads runs one program; grid
    dimension 0 is the fastest.

    Tiles are in registers: each class of tile dimensions (dimensions that are
    iterated together) is distributed over the threads of the block, and a thread
    computes the elements that it owns on demand. Operands of a dot, and tiles
    that are used with another distribution, go through shared memory.

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
    The function attributes `adze.threads` and `adze.shared_bytes` are the launch
    configuration; `@neg_cuda_programs`, in the module that contains the GPU
    module, returns the number of programs, or of blocks of `adze.packed_programs`
    programs each, which have few threads and do not wait. A kernel that this
    conversion does not support, or that a host program in the same module
    launches, is not changed, with a remark.
  }];
  let options = [
    Option<"threads", "threads", "int64_t", /*default=*/"0",
           "Threads of a block; 0: chosen from the tiles of the kernel">,
    Option<"sharedLimit", "shared-limit", "int64_t", /*default=*/"232448",
           "Bytes of shared memory that a block may use">];
  let statistics = [
    Statistic<"numKernels", "kernels", "Kernels converted">,
    Statistic<"numRefused", "refused", "Unsupported kernels">];
  let dependentDialects = [
    "mlir::arith::ArithDialect", "mlir::gpu::GPUDialect", "mlir::LLVM::LLVMDialect",
    "mlir::math::MathDialect", "mlir::NVVM::NVVMDialect", "mlir::scf::SCFDialect",
    "mlir::vector::VectorDialect"];
}

//===--- linalg -> gpu ----------------------------------------------------===//

def ConvertLinalgToGPU : Pass<"convert-linalg-to-gpu", "mlir::ModuleOp"> {
  let summary = "Lower kernels of the reference path to kernels of one gpu.module";
  let description = [{
    Every `func.func` with `adze.kernel` on memrefs becomes an `llvm.func` in the
    `gpu.module` @cuda_kernels, with the signature of tile kernels. Its linalg ops
    have become loops before, and `adze.independent`, `adze.programs` or
    `scf.parallel` state which of them may run in any order.

    If a kernel is one nest of independent loops, each iteration is a thread. If
    the body of the nest has independent loops itself, or uses more scratch memory
    than threads have, each iteration is a block of threads. Any other kernel is
    one block of threads: it shares out the iterations of independent loops, and
    thread 0 runs other ops that write to memory. Scratch memory of a block is
    shared memory.

    ```mlir
    func.func @neg(%x: memref<1024xf32>, %y: memref<1024xf32>) attributes {adze.kernel} {
      scf.for %i = %c0 to %c1024 step %c1 {
        %0 = memref.load %x[%i] : memref<1024xf32>
        %1 = arith.negf %0 : f32
        memref.store %1, %y[%i] : memref<1024xf32>
      } {adze.independent}
      return
    }
    ```
    becomes
    ```mlir
    gpu.module @cuda_kernels {
      llvm.func @neg(%x: !llvm.ptr<1>, %y: !llvm.ptr<1>, %programs: i64)
          attributes {gpu.kernel, nvvm.kernel, nvvm.maxntid = array<i32: 256, 1, 1>} {
        %b = gpu.block_id x
        %t = gpu.thread_id x
        ...
        scf.if %exists {
          %0 = memref.load %memref[%i] : memref<1024xf32>
          ...
    ```
    The attributes and `@neg_cuda_programs` are those of convert-tile-to-gpu;
    `adze.loops` describes the distribution. A kernel that this conversion does not support stays, with a remark and the
    reason in `adze.refusal`.
  }];
  let options = [
    Option<"sharedLimit", "shared-limit", "int64_t", /*default=*/"232448",
           "Bytes of shared memory that a block may use">];
  let statistics = [
    Statistic<"numKernels", "kernels", "Kernels converted">,
    Statistic<"numRefused", "refused", "Unsupported kernels">];
  let dependentDialects = [
    "mlir::arith::ArithDialect", "mlir::gpu::GPUDialect", "mlir::LLVM::LLVMDialect",
    "mlir::memref::MemRefDialect", "mlir::NVVM::NVVMDialect", "mlir::scf::SCFDialect",
    "mlir::vector::VectorDialect"];
}

//===--- host -> llvm -----------------------------------------------------===//

def ConvertKernelToLLVM : Pass<"convert-kernel-to-llvm", "mlir::ModuleOp"> {
  let summary = "Convert kernel functions to the calling convention of modules, in the LLVM dialect";
  let description = [{
    Kernels have ops of `func`, `cf`, `arith`, `memref` and `llvm` only. The body
    of a kernel becomes an internal function whose pointers do not alias. Dynamic
    dims are computed from `adze.dims` and the symbols. `memref.alloc` and
    `memref.alloca` of more than 4 KiB become parts of the scratch memory of the
    call, whose size `@k_scratch` returns.

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

//===--- byte_lookup -> llvm -----------------------------------------------===//

def ConvertByteLookupToLLVM : Pass<"convert-byte-lookup-to-llvm", "mlir::ModuleOp"> {
  let summary = "Lower lookups in tables of bytes";
  let description = [{
    A lookup of a scalar becomes a load from a constant of the module. Vectors are
    permuted by `vpermi2b` where the CPU has it (`byte_permute`), 64 bytes by four
    instructions; otherwise each lane is loaded.

    ```mlir
    %r = tile.byte_lookup %b in dense<7> : tensor<256xi8> : i8
    ```
    becomes
    ```mlir
    %table = llvm.mlir.addressof @byte_table_0 : !llvm.ptr
    %u = arith.extui %b : i8 to i64
    %0 = llvm.getelementptr inbounds %table[%u] : (!llvm.ptr, i64) -> !llvm.ptr, i8
    %r = llvm.load %0 invariant : !llvm.ptr -> i8
    ```
  }];
  let dependentDialects = ["mlir::arith::ArithDialect", "mlir::LLVM::LLVMDialect",
                           "mlir::vector::VectorDialect"];
  let statistics = [
    Statistic<"numLookups", "lookups", "Lookups lowered">];
}

def ConvertHostToLLVM : Pass<"convert-host-to-llvm", "mlir::ModuleOp"> {
  let summary = "Lower the host program to the functions of a module";
  let description = [{
    The function with `adze.num_inputs`, after `plan-memory`, becomes `@adze_run`
    of adze_module.h: one call through the host table for each launch, with the
    index of the launch in the program. It returns at the first error code. The
    pass also makes `@adze_infer`, `@adze_arena_bytes` and
    `@adze_arena_lower_bound`.

    ```mlir
    host.launch @k(%x, %y) : (memref<4xf32>, memref<4xf32>) -> ()
    ```
    becomes
    ```mlir
    %0 = llvm.alloca 2 x !llvm.ptr  // and two stores
    %1 = llvm.call %launch(%exec, %c0, %0) : !llvm.ptr, (!llvm.ptr, i32, !llvm.ptr) -> i32
    llvm.cond_br ..                 // returns an error code other than 0
    ```
  }];
  let dependentDialects = ["mlir::LLVM::LLVMDialect"];
  let statistics = [
    Statistic<"numLaunches", "launches", "Launches lowered">];
}

#endif // ADZE_CONVERSION_PASSES
