// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Passes on the tile dialect.
#ifndef ADZE_DIALECT_TILE_TRANSFORMS_PASSES
#define ADZE_DIALECT_TILE_TRANSFORMS_PASSES

include "mlir/Pass/PassBase.td"

def TileChooseSchedule : Pass<"tile-choose-schedule", "mlir::ModuleOp"> {
  let summary = "Choose by which unit of a GPU a product runs, and its blocks";
  let description = [{
    Writes `tile.schedule` on each kernel that is one product whose element types
    a matrix unit of the module's GPU multiplies, and that has none, and binds
    the parameters of its blocks in `tile.params.cuda`. Of the blocks that the
    unit takes, those win that need the least time: waves of tiles over the
    multiprocessors, times the cycles of a tile. Where tiles are so few that all
    run at a time, blocks of threads may share the depth of one (a dim `split`).
    A product whose operands a warp's unit (`mma`) takes from registers gets
    bindings of blocks alone; any other gets those of blocks that threads compute,
    and `remarks` says why. A kernel that has `tile.params.cuda` keeps them.

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
           "Remark on products that no unit takes">];
  let statistics = [
    Statistic<"numScheduled", "scheduled", "Kernels that got a schedule">,
    Statistic<"numRefused", "refused", "Products that no unit takes">];
}

def TileSpecialize : Pass<"tile-specialize", "mlir::ModuleOp"> {
  let summary = "Bind the parameters of tile kernels and make every tile static";
  let description = [{
    Replaces each `tile.param` by a constant, folds the index arithmetic that
    follows, and gives every tile its static type. The value of a parameter is
    the first of: the option `params`; the kernel's dictionary
    `tile.params.TARGET`, with the option `target`; its dictionary
    `tile.params`. It is an error if there is none, or if the value is not among
    the parameter's choices.

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
           "Bindings NAME=VALUE,NAME=VALUE that win over the kernel's own">,
    Option<"target", "target", "std::string", /*default=*/"\"\"",
           "Target whose dictionary tile.params.TARGET is read">];
  let statistics = [
    Statistic<"numBound", "bound", "Parameters bound">];
  let dependentDialects = ["mlir::arith::ArithDialect"];
}

#endif // ADZE_DIALECT_TILE_TRANSFORMS_PASSES
