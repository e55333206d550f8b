// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The op that prints values of a running kernel.
#ifndef ADZE_DIALECT_TILE_IR_TILEPRINTOPS
#define ADZE_DIALECT_TILE_IR_TILEPRINTOPS

include "Dialect/Tile/IR/TileFaultOps.td"

def PrintOp : TileOp<"print", [MemoryEffects<[MemWrite]>]> {
  let summary = "Print a value from a running kernel";
  let description = [{
    Writes a line to standard output: the name of the kernel, the coordinates of
    the program in the grid, `label` and the value. A tile of two or more
    dimensions is printed as one line for each row. Elements outside of the memory
    that the tile was loaded from are printed, too. Lines of programs that run at
    the same time are not interleaved, and are unordered.

    A kernel that prints is compiled op by op, for CPUs only:
    convert-tile-to-linalg stores the value to memory as f64 or i64 and adds the
    coordinates of the program (`of`), and convert-kernel-to-llvm calls the run
    time.

    C1: the value is a scalar or a tile, or memory of static shape. C2: its elements
    are index, floats or integers of at most 64 bits. C3: the label is one line.

    ```mlir
    tile.print "x", %x : tensor<?xf32>
    ```
  }];
  let arguments = (ins StrAttr:$label, AnyType:$value, Variadic<Index>:$programs);
  let assemblyFormat = "$label (`of` `[` $programs^ `]`)? `,` $value attr-dict `:` type($value)";
  let hasVerifier = 1;
}

#endif // ADZE_DIALECT_TILE_IR_TILEPRINTOPS
