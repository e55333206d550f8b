// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Ops on the memory of tile kernels: a part of TileOps.td.

def ScratchOp : TileOp<"scratch"> {
  let summary = "Scratch memory of a program";
  let description = [{
    Allocates memory for tiles that one phase stores and another one loads. Each
    program has its own memory, whose initial contents are undefined.

    C1: the sizes are those of the result.

    ```mlir
    %v = tile.scratch [36, %rows, 64] : memref<36x?x64xf32>
    ```
  }];
  let arguments = (ins Variadic<Index>:$sizes, DenseI64ArrayAttr:$static_sizes);
  let results = (outs Res<AnyMemRef, "", [MemAlloc]>:$result);
  let assemblyFormat = "custom<DynamicIndexList>($sizes, $static_sizes) attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def ViewOp : TileOp<"view", [Pure, DeclareOpInterfaceMethods<ViewLikeOpInterface>]> {
  let summary = "View of memory with other indices";
  let description = [{
    The layout map of the result maps indices of the view to indices of the
    source. Its results are sums of digits (`floordiv` and `mod` by constants) of
    the dims. Bounds of windows are those of the view. A program uses a view to
    store rows that are pixels of windows, or columns that are parts of larger
    pixels, to their positions in the result.

    C1: the map has one result for each dimension of the source. C2: the element
    types are equal. C3: the sizes are those of the result.

    ```mlir
    // blocks of 2 x 2 pixels: a channel of the view is a pixel and its channel
    %v = tile.view %y sizes [%n, 16, 16, 12] : memref<?x32x32x3xf32>
        to memref<?x16x16x12xf32, affine_map<(n, h, w, c) -> (n, h * 2 + c floordiv 6, w * 2 + c mod 6 floordiv 3, c mod 3)>>
    ```
  }];
  let arguments = (ins AnyMemRef:$source, Variadic<Index>:$sizes, DenseI64ArrayAttr:$static_sizes);
  let results = (outs AnyMemRef:$result);
  let assemblyFormat = [{ $source `sizes` custom<DynamicIndexList>($sizes, $static_sizes)
    attr-dict `:` type($source) `to` type($result) }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    mlir::SmallVector<mlir::OpFoldResult> getMixedSizes();
  }];
}

def LoadOp : TileOp<"load", [AttrSizedOperandSegments, InferTypeOpAdaptor]> {
  let summary = "Read a window of memory as a tile";
  let description = [{
    The window begins at `offsets`, one for each dimension of the memory, in
    elements and possibly negative. Tile dimension `i` runs along memory dimension
    `dims[i]` (default: the trailing ones) with the stride `strides[i]` in
    elements (default 1). The window has one element along all other memory
    dimensions. `dims [1, 0]` transposes. Elements outside of the memory are `pad`
    (default 0).

    Two attributes are hints. `tile.tail`, on a load or store, states that the
    window usually reaches beyond the end of the memory. `tile.ahead`, on a load,
    is an array of distances along the dimensions of the memory, in elements: the
    next program on the same thread reads at these distances.

    C1: there is one offset for each memory dimension. C2: the tile has no more
    dimensions than the memory. C3: `dims` has one distinct memory dimension for
    each tile dimension. C4: `strides` has one positive stride for each tile
    dimension. C5: `pad` has the element type.

    ```mlir
    %t = tile.load %x[%n, %iy, %ix, %c] sizes [%BP, %BC] dims [2, 3] strides [2, 1]
        pad 0.0 : f32 : memref<?x56x56x64xf32> -> tensor<?x?xf32>
    ```
  }];
  let arguments = (ins Arg<AnyMemRef, "", [MemRead]>:$memref, Variadic<Index>:$offsets,
    Variadic<Index>:$sizes, DenseI64ArrayAttr:$static_offsets, DenseI64ArrayAttr:$static_sizes,
    OptionalAttr<DenseI64ArrayAttr>:$dims, OptionalAttr<DenseI64ArrayAttr>:$strides,
    OptionalAttr<TypedAttrInterface>:$pad);
  let results = (outs Tile:$result);
  let assemblyFormat = [{ $memref `` custom<DynamicIndexList>($offsets, $static_offsets)
    `sizes` custom<DynamicIndexList>($sizes, $static_sizes)
    (`dims` $dims^)? (`strides` $strides^)? (`pad` $pad^)?
    attr-dict `:` type($memref) `->` type($result) }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Returns the memory dimension of each tile dimension.
    mlir::SmallVector<int64_t> getMemDims();
    /// Returns the stride of each tile dimension along its memory dimension.
    mlir::SmallVector<int64_t> getSteps();
    mlir::SmallVector<mlir::OpFoldResult> getMixedOffsets();
  }];
}

def StoreOp : TileOp<"store"> {
  let summary = "Write a tile to a window of memory";
  let description = [{
    Stores the elements of the tile to the window that `tile.load` with the same
    attributes reads. Elements outside of the memory are dropped.

    C1: there is one offset for each memory dimension. C2: the tile has no more
    dimensions than the memory. C3: `dims` has one distinct memory dimension for
    each tile dimension. C4: `strides` has one positive stride for each tile
    dimension. C5: tile and memory have equal element types.

    ```mlir
    tile.store %t, %y[%row, %col] : tensor<?x?xf32>, memref<?x?xf32>
    ```
  }];
  let arguments = (ins Tile:$value, Arg<AnyMemRef, "", [MemWrite]>:$memref,
    Variadic<Index>:$offsets, DenseI64ArrayAttr:$static_offsets,
    OptionalAttr<DenseI64ArrayAttr>:$dims, OptionalAttr<DenseI64ArrayAttr>:$strides);
  let assemblyFormat = [{ $value `,` $memref `` custom<DynamicIndexList>($offsets, $static_offsets)
    (`dims` $dims^)? (`strides` $strides^)? attr-dict `:` type($value) `,` type($memref) }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    mlir::SmallVector<int64_t> getMemDims();
    mlir::SmallVector<int64_t> getSteps();
    mlir::SmallVector<mlir::OpFoldResult> getMixedOffsets();
  }];
}

def GatherOp : TileOp<"gather", [InferTypeOpAdaptor]> {
  let summary = "Read elements of memory at computed positions";
  let description = [{
    The result has the shape of `indices`. Element `p` is read at
    `offsets[along] + indices[p]` along memory dimension `along`, and at
    `offsets[d] + p[i] * strides[i]` (default 1) along the memory dimension
    `d = dims[i]` of each tile dimension, or along none where `dims[i]` is -1.
    Elements outside of the memory are `pad` (default 0).

    C1: there is one offset for each memory dimension. C2: `dims` has one entry for
    each tile dimension, -1 or a distinct memory dimension other than `along`. C3:
    `along` is a memory dimension. C4: `pad` has the element type. C5: there is
    one positive stride for each tile dimension.

    ```mlir
    // y[i, j] = x[idx[i, j], col + j]
    %t = tile.gather %x[0, %col] at %idx along 0 dims [-1, 1] : memref<?x?xf32>, tensor<8x64xi32> -> tensor<8x64xf32>
    ```
  }];
  let arguments = (ins Arg<AnyMemRef, "", [MemRead]>:$memref, Variadic<Index>:$offsets,
    IntTile:$indices, DenseI64ArrayAttr:$static_offsets, I64Attr:$along,
    DenseI64ArrayAttr:$dims, OptionalAttr<DenseI64ArrayAttr>:$strides, OptionalAttr<TypedAttrInterface>:$pad);
  let results = (outs Tile:$result);
  let assemblyFormat = [{ $memref `` custom<DynamicIndexList>($offsets, $static_offsets)
    `at` $indices `along` $along `dims` $dims (`strides` $strides^)? (`pad` $pad^)?
    attr-dict `:` type($memref) `,` type($indices) `->` type($result) }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    mlir::SmallVector<int64_t> getSteps();
    mlir::SmallVector<mlir::OpFoldResult> getMixedOffsets();
  }];
}

def ScatterOp : TileOp<"scatter"> {
  let summary = "Write elements to memory at computed positions";
  let description = [{
    Element `p` of the tile is written at `offsets[along] + indices[p]` along memory
    dimension `along`, and at `offsets[d] + p[i]` along the memory dimension
    `d = dims[i]` of each tile dimension, or along none where `dims[i]` is -1.
    Elements outside of the memory are dropped. If several elements have the same
    position, one of them is written.

    With `combine`, elements are combined atomically with those in memory, also
    with those of other programs; the kinds are those of `tile.reduce`. The result
    does not depend on the order.

    C1: there is one offset for each memory dimension. C2: `dims` has one entry for
    each tile dimension, -1 or a distinct memory dimension other than `along`. C3:
    `along` is a memory dimension. C4: tile and memory have equal element types. C5:
    tile and indices have equal shapes. C6: the order does not change the result of
    `combine`: it is not `mul`, nor `add` of floats, and `umax`, `umin`, `and` and
    `or` combine integers.

    ```mlir
    // y[row, idx[i]] = t[i]
    tile.scatter %t, %y[%row, 0] at %idx along 1 dims [-1] : tensor<64xf32>, memref<?x?xf32>, tensor<64xi32>
    // n[idx[i]] = max(n[idx[i]], t[i])
    tile.scatter %t, %n[0] at %idx along 0 dims [-1] combine max : tensor<64xf32>, memref<?xf32>, tensor<64xi32>
    ```
  }];
  let arguments = (ins Tile:$value, Arg<AnyMemRef, "", [MemRead, MemWrite]>:$memref,
    Variadic<Index>:$offsets, IntTile:$indices, DenseI64ArrayAttr:$static_offsets,
    I64Attr:$along, DenseI64ArrayAttr:$dims, OptionalAttr<ReduceKind>:$combine);
  let assemblyFormat = [{ $value `,` $memref `` custom<DynamicIndexList>($offsets, $static_offsets)
    `at` $indices `along` $along `dims` $dims (`combine` $combine^)? attr-dict
    `:` type($value) `,` type($memref) `,` type($indices) }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    mlir::SmallVector<mlir::OpFoldResult> getMixedOffsets();
  }];
}
