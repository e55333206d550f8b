// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Schedules of kernels for a unit of their target: a part of TileTargets.td.

def Tile_ScheduleDimAttr : TileAttr<"ScheduleDim", "dim"> {
  let summary = "A dimension of a product and its block size";
  let description = [{
    The name of a dimension of the product (m, n or k), and its size in the block
    that a block of threads computes at a time, in elements.

    ```mlir
    #tile.dim<"m", 128>
    ```
  }];
  let parameters = (ins StringRefParameter<>:$name, "int64_t":$size);
  let assemblyFormat = "`<` $name `,` $size `>`";
}

def Tile_CopyKind : I32EnumAttr<"CopyKind", "mechanism that writes an operand to shared memory",
    [I32EnumAttrCase<"tma", 0>, I32EnumAttrCase<"computed", 1>]> {
  let cppNamespace = "::adze::tile";
}

def Tile_ScheduleOperandAttr : TileAttr<"ScheduleOperand", "operand"> {
  let summary = "Copy of an operand of a product to shared memory";
  let description = [{
    The number of the operand, the mechanism that writes it to shared memory, and
    the swizzle: the bytes of a row there, whose segments of 16 bytes are permuted
    by the index of the row so that accesses to a column of segments have no bank
    conflict. With `tma`, tensor maps copy the operand. If it is `computed`, the
    warps that start copies compute it from what they load.

    ```mlir
    #tile.operand<0, copy = tma, swizzle = 128>
    ```
  }];
  let parameters = (ins "int64_t":$number, "::adze::tile::CopyKind":$copy, "int64_t":$swizzle);
  let assemblyFormat = "`<` $number `,` `copy` `=` $copy `,` `swizzle` `=` $swizzle `>`";
}

def Tile_GpuScheduleAttr : TileAttr<"GpuSchedule", "gpu"> {
  let summary = "Warp specialization and the ring of buffers between the warps";
  let description = [{
    - `warps`: the number of warps that copy or compute operands, and of those that
      multiply.
    - `stages`: blocks of the operands in shared memory at a time.
    - `inflight`: groups of matrix instructions that may be unfinished when a warp
      waits for the next block.
    - `persistent`: blocks of threads are persistent and iterate over the tiles of
      the result, in groups of this many rows of tiles (at least 1). If later rows
      have more keys, as in causal attention, they iterate over pairs of tiles in
      groups of this many matrices.

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
  let summary = "Schedule of a kernel for a unit of its target";
  let description = [{
    The attribute `tile.schedule` of a kernel states the unit that computes its
    product, the block sizes of the dimensions of the product, the copies of
    operands to shared memory, and the roles of warps. tile-choose-schedule adds
    it to kernels without one.

    If several products have the left operand in common, `n` is the block of each.
    With `#tile.dim<"split", N>`, up to N blocks of threads, a cluster, each compute a
    part of k of a tile. With `#tile.dim<"tiles", N>`, a block of threads has N tiles
    in flight: each is computed by warpgroups of its own, whose products are issued
    after those of the tile before, while other warpgroups store their results (the
    "ping-pong" kernels of CUTLASS).

    With the unit `threads`, `split` blocks of `threads` threads, a cluster, compute
    a program, and there are no operands and no `gpu`.

    ```mlir
    #tile.schedule<unit = "wgmma", dims = [#tile.dim<"m", 128>, #tile.dim<"n", 256>, #tile.dim<"k", 64>],
                   operands = [#tile.operand<0, copy = tma, swizzle = 128>, #tile.operand<1, copy = tma, swizzle = 128>],
                   gpu = #tile.gpu<warps = [4, 8], stages = 4, inflight = 1, persistent = 16>>
    #tile.schedule<unit = "threads", dims = [#tile.dim<"threads", 256>, #tile.dim<"split", 8>]>
    ```
  }];
  let parameters = (ins StringRefParameter<>:$unit,
                        BracketedList<"::adze::tile::ScheduleDimAttr">:$dims,
                        BracketedList<"::adze::tile::ScheduleOperandAttr">:$operands,
                        OptionalParameter<"::adze::tile::GpuScheduleAttr">:$gpu);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Returns the block size of the dimension of this name, or 0 without one.
    int64_t getBlock(::llvm::StringRef dim) const;
  }];
}
