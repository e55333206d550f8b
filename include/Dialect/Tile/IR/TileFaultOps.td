// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Ops that raise faults: errors that only the data shows (adze_module.h).
#ifndef ADZE_DIALECT_TILE_IR_TILEFAULTOPS
#define ADZE_DIALECT_TILE_IR_TILEFAULTOPS

include "Dialect/Tile/IR/TileOps.td"

def CheckOp : TileOp<"check", [MemoryEffects<[MemWrite]>]> {
  let summary = "Raise a fault unless positions are in a range";
  let description = [{
    Raises fault `fault` of the launch (`adze.checks`) if an element of
    `positions` is not in [0, `extent`). Positions are indices of which negative
    ones count from the end already: the record has the index as it was, and the
    range [-`extent`, `extent`). With `absolute`, negative positions are out of
    range as they are, the record has the range [0, `extent`), and the kernel is
    compiled operation by operation (`--check-bounds`). The kernel goes on, so what uses the positions
    stays in bounds by itself. convert-kernel-to-llvm keeps the greatest
    position and looks at it when the kernel is done, so that a loop has no
    branch for it.

    C1: the positions are of type index, or a tile or vector of it. C2: the fault is not
    negative.

    ```mlir
    tile.check %i below %n fault 0 : tensor<8x64xindex>
    ```
  }];
  let arguments = (ins AnyType:$positions, Index:$extent, I64Attr:$fault, UnitAttr:$absolute);
  let assemblyFormat = "(`absolute` $absolute^)? $positions `below` $extent `fault` $fault attr-dict `:` type($positions)";
  let hasVerifier = 1;
}

#endif // ADZE_DIALECT_TILE_IR_TILEFAULTOPS
