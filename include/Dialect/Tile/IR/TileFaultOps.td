// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Ops that raise faults: data-dependent errors (adze_module.h).
#ifndef ADZE_DIALECT_TILE_IR_TILEFAULTOPS
#define ADZE_DIALECT_TILE_IR_TILEFAULTOPS

include "Dialect/Tile/IR/TileOps.td"

def CheckOp : TileOp<"check", [MemoryEffects<[MemWrite]>]> {
  let summary = "Raise a fault unless positions are in a range";
  let description = [{
    Raises fault `fault` of the launch (`adze.checks`) if an element of
    `positions` is not in [0, `extent`).

    `extent` has already been added to negative indices, so the fault record
    states the original index and the range [-`extent`, `extent`). With
    `absolute`, it has not: negative positions are out of range, the record states
    the range [0, `extent`), and the kernel is compiled op by op
    (`--check-bounds`).

    The kernel continues after a fault. So the ops that use the positions have to
    stay in bounds by themselves. convert-kernel-to-llvm accumulates the greatest
    position and tests it at the end of the kernel, so that loops have no branch
    for the check. On a GPU each thread tests the greatest of its positions.

    C1: the positions are of type index, or a tile or vector of it. C2: the fault
    is not negative.

    ```mlir
    tile.check %i below %n fault 0 : tensor<8x64xindex>
    ```
  }];
  let arguments = (ins AnyType:$positions, Index:$extent, I64Attr:$fault, UnitAttr:$absolute);
  let assemblyFormat = "(`absolute` $absolute^)? $positions `below` $extent `fault` $fault attr-dict `:` type($positions)";
  let hasVerifier = 1;
}

#endif // ADZE_DIALECT_TILE_IR_TILEFAULTOPS
