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
    flow is `scf`, and this dialect has the other ops. Sizes of tiles may be
    parameters (`tile.param`) until `tile-specialize` binds them; afterwards all
    tiles are static. Offsets and extents may be dynamic at any stage.

    A window may reach out of bounds: loads return the pad for elements outside
    of the memory, and stores drop them. The layout map of a memref argument is
    its packed layout; a kernel uses logical indices in any case.

    A module states its targets: `tile.targets` is a list of target attributes
    (`#tile.cpu`, `#tile.cuda`), which passes and cost models read.
  }];
  let useDefaultAttributePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let extraClassDeclaration = "void registerTargetAttributes();";
}

#endif // ADZE_DIALECT_TILE_IR_TILEBASE
