// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Memory of tile kernels: a part of TileOps.td.

def ScratchOp : TileOp<"scratch"> {
  let summary = "Memory of one program";
  let description = [{
    Holds what phases hand on. Each program has its own, undefined when it
    begins. C1: the sizes are those of the result.

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
  let summary = "Memory whose elements are indexed in another order";
  let description = [{
    The layout map of the result says where its elements lie in the source: as
    that of a packed constant, but from indices of the view to indices of the
    source, by digits (`floordiv` and `mod` of constants) and sums of them.
    Windows of the view end where the view does. So a program whose rows are
    pixels of windows, or whose columns are the parts of larger pixels, stores
    them to where they belong.

    C1: the map has one result a dimension of the source. C2: the element types
    are one. C3: the sizes are those of the result.

    ```mlir
    // pixels of 2 x 2: channels of the view are the places in each, and channels
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
    One offset, in elements and possibly negative, for each dimension of the
    memory. Tile dimension `i` runs along memory dimension `dims[i]` (default:
    the trailing ones) in steps of `strides[i]` (default 1); along the other
    memory dimensions the window is a point. `dims [1, 0]` transposes. Elements
    outside the memory are `pad` (default 0). The hint `tile.tail` on a load or
    store says that it reaches over the memory's end as a rule; `tile.ahead` on
    a load, an array of distances along the memory's dimensions, how much
    further on the program reads that runs next on this thread.

    C1: one offset a memory dimension. C2: no more tile than memory dimensions.
    C3: `dims` has one distinct memory dimension a tile dimension. C4: `strides`
    has one positive step a tile dimension. C5: `pad` has the element type.

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
    /// The memory dimension of each tile dimension.
    mlir::SmallVector<int64_t> getMemDims();
    /// The step of each tile dimension along its memory dimension.
    mlir::SmallVector<int64_t> getSteps();
    mlir::SmallVector<mlir::OpFoldResult> getMixedOffsets();
  }];
}

def StoreOp : TileOp<"store"> {
  let summary = "Write a tile to a window of memory";
  let description = [{
    The inverse of `tile.load`; elements outside the memory are dropped.

    C1: one offset a memory dimension. C2: no more tile than memory dimensions.
    C3: `dims` has one distinct memory dimension a tile dimension. C4: `strides`
    has one positive step a tile dimension. C5: tile and memory have one element
    type.

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
    Elements outside the memory are `pad` (default 0).

    C1: one offset a memory dimension. C2: `dims` has one entry a tile
    dimension, -1 or a distinct memory dimension other than `along`. C3: `along`
    is a memory dimension. C4: `pad` has the element type. C5: `strides` are positive, one a tile dimension.

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
