// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Passes on the tile dialect.
#ifndef ADZE_DIALECT_TILE_TRANSFORMS_PASSES
#define ADZE_DIALECT_TILE_TRANSFORMS_PASSES

include "mlir/Pass/PassBase.td"

def TileChooseSchedule : Pass<"tile-choose-schedule", "mlir::ModuleOp"> {
  let summary = "Choose the matrix unit and the block sizes of products on a GPU";
  let description = [{
    Adds `tile.schedule` to each kernel that consists of one product, or of several
    with a common left operand, whose element types a matrix unit of the GPU
    multiplies, unless it has one, and binds its block sizes in
    `tile.params.cuda`. The block sizes are those with the least estimated time: the
    number of waves of tiles over the multiprocessors, times the cycles of a tile.
    If all tiles fit into one wave, several blocks of threads may compute one tile,
    each a part of its contracted dimension (a dim `split`).

    A product whose operands the warp-level unit (`mma`) reads from registers gets
    block sizes only. Other products get block sizes for threads without matrix
    units; `remarks` reports the reason. Existing `tile.params.cuda` are kept.

    A kernel with the parameter `PARTS` divides its work among that many warps. It
    gets a schedule of threads: a block has as many warps as the parameter states,
    and several blocks, a cluster, compute a program if the GPU has clusters and
    programs alone do not fill it. Then each block has parts of its own.

    ```mlir
    module attributes {tile.targets = [#tile.cuda<chip = "sm_90a", multiprocessors = 132, shared_bytes = 232448,
        units = [#tile.unit<"wgmma", f16 * f16 + f32, [64, 256, 16]>], features = [tma]>]} {
      tile.kernel @matmul(%a: memref<2048x512xf16>, %b: memref<512x4096xf16>, %c: memref<2048x4096xf16>)
          attributes {tile.params = {BLOCK_K = 512 : i64, BLOCK_M = 256 : i64, BLOCK_N = 32 : i64}} {
        ...
    ```
    becomes
    ```mlir
      tile.kernel @matmul(..) attributes {tile.params = {..},
          tile.params.cuda = {BLOCK_K = 64 : i64, BLOCK_M = 128 : i64, BLOCK_N = 256 : i64},
          tile.schedule = #tile.schedule<unit = "wgmma", dims = [#tile.dim<"m", 128>, #tile.dim<"n", 256>, #tile.dim<"k", 64>],
              operands = [#tile.operand<0, copy = tma, swizzle = 128>, #tile.operand<1, copy = tma, swizzle = 128>],
              gpu = <warps = [4, 8], stages = 4, inflight = 1, persistent = 16>>} {
    ```
  }];
  let options = [
    Option<"remarks", "remarks", "bool", /*default=*/"false",
           "Remark on products that no unit takes">,
    Option<"batchInvariant", "batch-invariant", "bool", /*default=*/"false",
           "The order of sums does not depend on dynamic sizes">,
    Option<"alternative", "alternative", "unsigned", /*default=*/"0",
           "Number of block sizes with less estimated time that are passed over, "
           "if the kernel has as many">];
  let statistics = [
    Statistic<"numScheduled", "scheduled", "Kernels that got a schedule">,
    Statistic<"numRefused", "refused", "Products that no unit takes">];
}

def TileSpecialize : Pass<"tile-specialize", "mlir::ModuleOp"> {
  let summary = "Bind the parameters of tile kernels, so that all tiles are static";
  let description = [{
    Replaces each `tile.param` by a constant, folds index arithmetic on it, and
    gives every tile a static type. A parameter is bound by the first of the
    following that names it: the option `params`; the dictionary
    `tile.params.TARGET` of the kernel, with the option `target`; its dictionary
    `tile.params`. The pass fails if none does, or if the value is not one of the
    choices of the parameter.

    ```mlir
    tile.kernel @k(%x: memref<?xf32>) attributes {tile.params = {B = 64 : i64}} {
      %b = tile.param "B" : index
      %t = tile.load %x[0] sizes [%b] : memref<?xf32> -> tensor<?xf32>
    ```
    becomes
    ```mlir
    tile.kernel @k(%x: memref<?xf32>) {
      %t = tile.load %x[0] sizes [64] : memref<?xf32> -> tensor<64xf32>
    ```
  }];
  let options = [
    Option<"params", "params", "std::string", /*default=*/"\"\"",
           "Bindings NAME=VALUE,NAME=VALUE that override those of the kernel">,
    Option<"target", "target", "std::string", /*default=*/"\"\"",
           "Target whose dictionary tile.params.TARGET is read">];
  let statistics = [
    Statistic<"numBound", "bound", "Parameters bound">];
  let dependentDialects = ["mlir::arith::ArithDialect"];
}

def TileFuseSteps : Pass<"tile-fuse-steps", "mlir::ModuleOp"> {
  let summary = "Loop over the steps of a kernel in its programs";
  let description = [{
    A launch of an ordered kernel runs one step on a GPU. If the programs of a
    group fit into a cluster of blocks of threads, which have a barrier, one launch
    runs all steps: each program loops over them and waits for its group after each.
    Kernels whose groups are larger or of dynamic size stay unchanged, and those for
    GPUs without clusters. Tiles are static, so `tile-specialize` has run.

    ```mlir
    tile.kernel @k(%x: memref<?x8x64xf32>) {
      ...
      %i, %j, %t = tile.program_id(%c4, %c1, %steps) ordered grouped : index, index, index
      %h = tile.load %x[%t, %j, %c0] sizes [1, 64] {tile.earlier} : memref<?x8x64xf32> -> tensor<1x64xf32>
      ...
    ```
    becomes
    ```mlir
      %i, %j = tile.program_id(%c4, %c1) : index, index
      scf.for %t = %c0 to %steps step %c1 {
        %h = tile.load ..
        ...
        tile.barrier {programs = 4 : i64}
      }
    ```
  }];
  let statistics = [
    Statistic<"numFused", "fused", "Kernels that loop over their steps">];
  let dependentDialects = ["mlir::arith::ArithDialect", "mlir::scf::SCFDialect"];
}

#endif // ADZE_DIALECT_TILE_TRANSFORMS_PASSES
