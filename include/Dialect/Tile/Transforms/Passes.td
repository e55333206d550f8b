// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Passes on the tile dialect.
#ifndef ADZE_DIALECT_TILE_TRANSFORMS_PASSES
#define ADZE_DIALECT_TILE_TRANSFORMS_PASSES

include "mlir/Pass/PassBase.td"

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
