// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Schedules: how a kernel is run by a unit of its target. A part of
// TileTargets.td.

def Tile_ScheduleDimAttr : TileAttr<"ScheduleDim", "dim"> {
  let summary = "One dimension of a product and its block";
  let description = [{
    ```mlir
    #tile.dim<"m", 128>
    ```
  }];
  let parameters = (ins StringRefParameter<>:$name, "int64_t":$size);
  let assemblyFormat = "`<` $name `,` $size `>`";
}

def Tile_CopyKind : I32EnumAttr<"CopyKind", "what copies an operand to shared memory",
    [I32EnumAttrCase<"tma", 0>]> {
  let cppNamespace = "::adze::tile";
}

def Tile_ScheduleOperandAttr : TileAttr<"ScheduleOperand", "operand"> {
  let summary = "How an operand of a product comes to shared memory";
  let description = [{
    The number of the operand, what copies it, and the bytes of a row in shared
    memory, whose pieces of 16 bytes are permuted by the number of the row so
    that a column of pieces has no bank conflict.

    ```mlir
    #tile.operand<0, copy = tma, swizzle = 128>
    ```
  }];
  let parameters = (ins "int64_t":$number, "::adze::tile::CopyKind":$copy, "int64_t":$swizzle);
  let assemblyFormat = "`<` $number `,` `copy` `=` $copy `,` `swizzle` `=` $swizzle `>`";
}

def Tile_GpuScheduleAttr : TileAttr<"GpuSchedule", "gpu"> {
  let summary = "Roles of warps and the ring between them";
  let description = [{
    - `warps`: those that copy operands, and those that multiply.
    - `stages`: blocks of the operands that are in shared memory at a time.
    - `inflight`: groups of matrix instructions that still run when the next
      block is waited for.
    - `persistent`: blocks of threads stay and walk over the tiles of the result;
      this many rows of tiles are walked together.

    ```mlir
    #tile.gpu<warps = [4, 8], stages = 4, inflight = 1, persistent = 16>
    ```
  }];
  let parameters = (ins BracketedList<"int64_t">:$warps, "int64_t":$stages,
                        "int64_t":$inflight, "int64_t":$persistent);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Tile_ScheduleAttr : TileAttr<"Schedule", "schedule"> {
  let summary = "How a kernel is run by a unit of its target";
  let description = [{
    `tile.schedule` on a kernel says which unit computes its product, the blocks
    of the product's dimensions, how operands come to the unit, and which warps do
    what. tile-choose-schedule writes it where it is absent.

    ```mlir
    #tile.schedule<unit = "wgmma", dims = [#tile.dim<"m", 128>, #tile.dim<"n", 256>, #tile.dim<"k", 64>],
                   operands = [#tile.operand<0, copy = tma, swizzle = 128>, #tile.operand<1, copy = tma, swizzle = 128>],
                   gpu = #tile.gpu<warps = [4, 8], stages = 4, inflight = 1, persistent = 16>>
    ```
  }];
  let parameters = (ins StringRefParameter<>:$unit,
                        BracketedList<"::adze::tile::ScheduleDimAttr">:$dims,
                        BracketedList<"::adze::tile::ScheduleOperandAttr">:$operands,
                        "::adze::tile::GpuScheduleAttr":$gpu);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Returns the block of the dimension of this name; 0 if there is none.
    int64_t getBlock(::llvm::StringRef dim) const;
  }];
}
