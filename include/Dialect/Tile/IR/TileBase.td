// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The tile dialect itself.
#ifndef ADZE_DIALECT_TILE_IR_TILEBASE
#define ADZE_DIALECT_TILE_IR_TILEBASE

include "mlir/IR/OpBase.td"

def TileDialect : Dialect {
  let name = "tile";
  let cppNamespace = "::adze::tile";
  let summary = "Block programs on small tensors";
  let description = [{
    A kernel is a grid of independent programs. A program loads windows of its
    memory arguments as tiles (builtin tensors), computes on whole tiles and
    stores them. Arithmetic is `arith` and `math` on tiles of one shape, control
    flow is `scf`; this dialect adds what those lack. Sizes of tiles may be
    parameters (`tile.param`) until `tile-specialize` binds them; from then on
    every tile is static. Offsets and extents stay dynamic throughout.

    A window that leaves the memory is legal: loads give the pad there, stores
    are dropped. A layout map on an argument's memref is its packing; a kernel
    indexes it logically all the same.

    A module states what it is compiled for: `tile.targets` is a list of target
    attributes (`#tile.cpu`, `#tile.cuda`), which all passes and cost models
    read.
  }];
  let useDefaultAttributePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let extraClassDeclaration = "void registerTargetAttributes();";
}

#endif // ADZE_DIALECT_TILE_IR_TILEBASE
