// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The tile dialect: block programs on small tensors (tiles).
#ifndef ADZE_DIALECT_TILE_IR_TILEOPS
#define ADZE_DIALECT_TILE_IR_TILEOPS

include "Dialect/Tile/IR/TileAttrs.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/FunctionInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/ViewLikeInterface.td"

class TileOp<string m, list<Trait> t = []> : Op<TileDialect, m, t>;
class InferredTileOp<string m, list<Trait> t = []>
    : TileOp<m, !listconcat([Pure, InferTypeOpAdaptor], t)>;
def ScalarLike : Type<CPred<"$_self.isIntOrIndexOrFloat()">, "scalar">;
def Tile : RankedTensorOf<[F32, F64, F16, BF16, I1, I8, I16, I32, I64, Index]>;
def TileOrScalar : AnyTypeOf<[Tile, ScalarLike]>;
def IntTile : RankedTensorOf<[I8, I16, I32, I64, Index]>;

//===--- Structure --------------------------------------------------------===//

def KernelOp : TileOp<"kernel", [IsolatedFromAbove, Symbol, FunctionOpInterface,
                                 SingleBlockImplicitTerminator<"ReturnOp">]> {
  let summary = "A kernel: the program that runs for each point of a grid";
  let description = [{
    Arguments are memrefs (inputs, then outputs) or scalars. Distinct arguments do
    not overlap in memory; a kernel that works in place loads from and stores to
    the same argument. Argument attributes state what the caller guarantees:
    `tile.align` is the alignment in bytes, `tile.divisible` has one divisor for
    each dim. The dictionary `tile.params` holds the default bindings of the
    parameters, and `tile.params.TARGET` those for one target.

    C1: a kernel has no results. C2: a kernel has at most one `tile.program_id`;
    without one, the grid is one program. C3: in a kernel with phases, all tiles
    are inside of phases.

    ```mlir
    tile.kernel @neg(%x: memref<?xf32>, %y: memref<?xf32>)
        attributes {tile.params = {BLOCK = 1024 : i64}} {
      %B = tile.param "BLOCK" : index
      %c0 = arith.constant 0 : index
      %n = memref.dim %x, %c0 : memref<?xf32>
      %g = arith.ceildivui %n, %B : index
      %p = tile.program_id (%g) : index
      %o = arith.muli %p, %B : index
      %t = tile.load %x[%o] sizes [%B] : memref<?xf32> -> tensor<?xf32>
      %r = arith.negf %t : tensor<?xf32>
      tile.store %r, %y[%o] : tensor<?xf32>, memref<?xf32>
      tile.return
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttrOf<FunctionType>:$function_type,
                       OptionalAttr<DictArrayAttr>:$arg_attrs, OptionalAttr<DictArrayAttr>:$res_attrs);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    mlir::ArrayRef<mlir::Type> getArgumentTypes() { return getFunctionType().getInputs(); }
    mlir::ArrayRef<mlir::Type> getResultTypes() { return getFunctionType().getResults(); }
    mlir::Region *getCallableRegion() { return &getBody(); }
    /// Returns the op that states the grid, or null if the grid is one program.
    ProgramIdOp getProgramId();
    /// Returns true if the programs run one after another.
    bool isOrdered();
    bool hasPhases();
  }];
}

def ReturnOp : TileOp<"return", [Pure, Terminator, ReturnLike, ParentOneOf<["KernelOp", "PhaseOp"]>]> {
  let summary = "Terminator of a kernel or a phase";
  let description = [{
    Ends a kernel or a phase. It has no operands.

    ```mlir
    tile.return
    ```
  }];
  let assemblyFormat = "attr-dict";
}

def ParamOp : TileOp<"param", [Pure]> {
  let summary = "A parameter that tile-specialize binds to a constant";
  let description = [{
    A size or count that `tile-specialize` binds. `in` lists the values that the
    autotuner may try; binding another value is an error. Parameters of one name
    have one value.

    ```mlir
    %b = tile.param "BLOCK_M" in [8, 64, 128] : index
    ```
  }];
  let arguments = (ins StrAttr:$name, OptionalAttr<DenseI64ArrayAttr>:$choices);
  let results = (outs Index:$result);
  let assemblyFormat = "$name (`in` $choices^)? attr-dict `:` type($result)";
}

def ProgramIdOp : TileOp<"program_id", [Pure]> {
  let summary = "Coordinates of the program in the grid";
  let description = [{
    The operands are the sizes of the grid, dimension 0 being the fastest; the
    results are the coordinates of the program. Programs run in any order. With
    `ordered`, the last dimension counts steps: a step starts after all programs
    of the steps before it have ended, and sees what they stored. With `grouped`,
    too, the programs that differ in dimension 0 and the step only are a group, and
    programs read only what those of their group stored in earlier steps.

    C1: the grid has 1 to 3 dimensions, with one result for each. C2: a grid of
    groups is ordered, and has 2 dimensions or more.

    ```mlir
    %i, %j = tile.program_id (%gi, %gj) : index, index
    ```
  }];
  let arguments = (ins Variadic<Index>:$grid, UnitAttr:$ordered, UnitAttr:$grouped);
  let results = (outs Variadic<Index>:$ids);
  let assemblyFormat = "`(` $grid `)` (`ordered` $ordered^)? (`grouped` $grouped^)? attr-dict `:` type($ids)";
  let hasVerifier = 1;
}

def BarrierOp : TileOp<"barrier", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Wait for the programs of a group";
  let description = [{
    The programs of the kernel that differ in dimension 0 of the grid only are a
    group. Each waits until all programs of its group have reached the op, and
    then sees what they have stored. `tile-fuse-steps` emits the op for GPUs, where
    the programs of a group are the blocks of threads of a cluster.

    C1: `programs` is the size of dimension 0 of the grid of the kernel, which is
    unordered.

    ```mlir
    tile.barrier {programs = 8 : i64}
    ```
  }];
  let arguments = (ins ConfinedAttr<I64Attr, [IntPositive]>:$programs);
  let assemblyFormat = "attr-dict";
  let hasVerifier = 1;
}

def PhaseOp : TileOp<"phase", [SingleBlockImplicitTerminator<"ReturnOp">, NoRegionArguments,
                               RecursiveMemoryEffects]> {
  let summary = "A part of a program that runs after earlier parts";
  let description = [{
    The phases of a program run in order: a phase may load what earlier ones
    stored, also to `tile.scratch`. Stores and loads within a phase, or within a
    kernel without phases, are unordered. Outside of phases, a kernel has only
    ops on scalars, `scf.for` and `scf.if`. A phase in a loop runs in each
    iteration.

    C1: the parent of a phase is a kernel, or an `scf.for` or `scf.if` without
    results in a kernel.

    ```mlir
    tile.phase {
      tile.store %b, %v[0, 0] : tensor<4x64xf32>, memref<4x64xf32>
    }
    ```
  }];
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$body attr-dict";
  let hasVerifier = 1;
}

def ReduceKind : I32EnumAttr<"ReduceKind", "function that combines two elements",
    [I32EnumAttrCase<"add", 0>, I32EnumAttrCase<"mul", 1>, I32EnumAttrCase<"max", 2>,
     I32EnumAttrCase<"min", 3>, I32EnumAttrCase<"umax", 4>, I32EnumAttrCase<"umin", 5>,
     I32EnumAttrCase<"and_", 6, "and">, I32EnumAttrCase<"or_", 7, "or">]> {
  let cppNamespace = "::adze::tile";
}

include "Dialect/Tile/IR/TileMemoryOps.td"

//===--- Computation ------------------------------------------------------===//

def DotOp : InferredTileOp<"dot"> {
  let summary = "Matrix product plus accumulator";
  let description = [{
    Computes `acc + lhs * rhs` of tiles [m, k], [k, n] and [m, n] in the element
    type of the accumulator, to which narrower operands are extended. The order of
    the sum over k is unspecified, but equal in all runs.

    `compute` states the element types of the multiply-add; by default they are
    those of the tiles, with signed integers. Operands of i32 with narrower
    `compute` types hold words (`#tile.product`): k counts words, each of which
    holds several elements along the contracted dimension. Operands of f32 with
    the `compute` type tf32 may be rounded to tf32; units of tf32 round, and all
    other code computes in f32.

    C1: operands have rank 2. C2: m, n and k agree. C3: the element types of the
    product are floats if the accumulator is, integers if it is. C4: with
    `compute`, the operands have elements of its widths (f32 for tf32), or both
    have words.

    ```mlir
    %d = tile.dot %a, %b, %acc : tensor<8x64xf32>, tensor<64x32xf32>, tensor<8x32xf32>
    %e = tile.dot %x, %w, %sum compute <si8 * ui8 + si32>
      : tensor<4x8xi32>, tensor<8x64xi32>, tensor<4x64xi32>
    ```
  }];
  let arguments = (ins Tile:$lhs, Tile:$rhs, Tile:$acc,
                       OptionalAttr<Tile_ProductAttr>:$compute);
  let results = (outs Tile:$result);
  let assemblyFormat = "$lhs `,` $rhs `,` $acc (`compute` $compute^)? attr-dict `:` type($lhs) `,` type($rhs) `,` type($acc)";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Returns the element types of the multiply-add, also without `compute`.
    ProductAttr getProduct();
    /// Returns how many elements along the contracted dimension an element of
    /// the operands holds: more than 1 for words.
    int64_t getWordElements();
  }];
}

def ReduceOp : InferredTileOp<"reduce"> {
  let summary = "Combine the elements along one dimension";
  let description = [{
    Reduces dimension `dim`, which the result does not have. The order of the
    reduction is unspecified, but equal in all runs. `max` and `min` of floats are
    NaN if any element is NaN; with `nnan`, they are then NaN, or the maximum or
    minimum of some of the other elements. `max` and `min` of integers are signed,
    `umax` and `umin` unsigned. `and` and `or` are bitwise.

    C1: `dim` is a dimension of the source. C2: the source of `umax`, `umin`,
    `and` and `or` has integers. C3: `nnan` is used with `max` and `min` of floats
    only.

    ```mlir
    %m = tile.reduce max %t dim 1 : tensor<8x64xf32> -> tensor<8xf32>
    ```
  }];
  let arguments = (ins ReduceKind:$kind, Tile:$source, I64Attr:$dim, UnitAttr:$nnan);
  let results = (outs Tile:$result);
  let assemblyFormat = "$kind $source `dim` $dim (`nnan` $nnan^)? attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
}

def ScanOp : TileOp<"scan", [Pure, SameOperandsAndResultType]> {
  let summary = "Combine each element with those before it along one dimension";
  let description = [{
    Element i of the result along dimension `dim` combines elements 0 to i of the
    source, or with `exclusive` elements 0 to i - 1; element 0 is then the neutral
    element of the kind. The kinds are those of `tile.reduce`. The order of the
    combinations is unspecified, but equal in all runs.

    C1: `dim` is a dimension of the source. C2: the source of `umax`, `umin`,
    `and` and `or` has integers.

    ```mlir
    %s = tile.scan add %t dim 1 : tensor<8x64xf32>
    ```
  }];
  let arguments = (ins ReduceKind:$kind, Tile:$source, I64Attr:$dim, UnitAttr:$exclusive);
  let results = (outs Tile:$result);
  let assemblyFormat = "$kind $source `dim` $dim (`exclusive` $exclusive^)? attr-dict `:` type($source)";
  let hasVerifier = 1;
}

def BroadcastOp : InferredTileOp<"broadcast"> {
  let summary = "Repeat a scalar or a tile along new dimensions";
  let description = [{
    All elements of the broadcast of a scalar are that scalar; constant tiles of
    parametric size are written in this way. In the broadcast of a tile, source
    dimension `i` becomes result dimension `dims[i]`, and the tile is repeated
    along the other dimensions.

    C1: with a tile as source, `dims` has one distinct result dimension for each
    source dimension. C2: the sizes of these dimensions are equal.

    ```mlir
    %z = tile.broadcast %f0 to [%BM, %BN] : f32 -> tensor<?x?xf32>
    %b = tile.broadcast %bias to [%BM, %BN] dims [1] : tensor<?xf32> -> tensor<?x?xf32>
    ```
  }];
  let arguments = (ins TileOrScalar:$source, Variadic<Index>:$sizes, DenseI64ArrayAttr:$static_sizes,
                       OptionalAttr<DenseI64ArrayAttr>:$dims);
  let results = (outs Tile:$result);
  let assemblyFormat = [{ $source `to` custom<DynamicIndexList>($sizes, $static_sizes)
    (`dims` $dims^)? attr-dict `:` type($source) `->` type($result) }];
  let hasVerifier = 1;
}

def IotaOp : TileOp<"iota", [Pure]> {
  let summary = "Coordinates along one dimension";
  let description = [{
    Element `p` is `p[dim]`, in the result's element type (integer or index).

    C1: `dim` is a dimension of the result. C2: the result has the given sizes.

    ```mlir
    %i = tile.iota dim 1 to [%BM, %BN] : tensor<?x?xindex>
    ```
  }];
  let arguments = (ins I64Attr:$dim, Variadic<Index>:$sizes, DenseI64ArrayAttr:$static_sizes);
  let results = (outs IntTile:$result);
  let assemblyFormat = [{ `dim` $dim `to` custom<DynamicIndexList>($sizes, $static_sizes)
    attr-dict `:` type($result) }];
  let hasVerifier = 1;
}

def ReshapeOp : InferredTileOp<"reshape"> {
  let summary = "Change of the shape of a tile";
  let description = [{
    The result has the elements of the source in the same row-major order.
    Merging the pixel dimensions of a loaded window is free.

    C1: static shapes have equal numbers of elements.

    ```mlir
    %m = tile.reshape %w to [14, 64] : tensor<2x7x64xf32> -> tensor<14x64xf32>
    ```
  }];
  let arguments = (ins Tile:$source, Variadic<Index>:$sizes, DenseI64ArrayAttr:$static_sizes);
  let results = (outs Tile:$result);
  let assemblyFormat = [{ $source `to` custom<DynamicIndexList>($sizes, $static_sizes)
    attr-dict `:` type($source) `->` type($result) }];
  let hasVerifier = 1;
}

def BitcastOp : InferredTileOp<"bitcast"> {
  let summary = "Split the bits of elements into narrower elements";
  let description = [{
    Divides the bits of each element of the source among the elements of a new last
    dimension, in the type `element` and lowest bits first.

    C1: the elements of the source are integers with a multiple of the bits of
    `element`.

    ```mlir
    %h = tile.bitcast %w to f16 : tensor<8x4xi32> -> tensor<8x4x2xf16>
    ```
  }];
  let arguments = (ins IntTile:$source, TypeAttr:$element);
  let results = (outs Tile:$result);
  let assemblyFormat = "$source `to` $element attr-dict `:` type($source) `->` type($result)";
}

def ByteTable : SignlessIntElementsAttr<8>;
def Bytes : AnyTypeOf<[RankedTensorOf<[I8]>, VectorOfRankAndType<[1], [I8]>, I8], "bytes">;

def ByteLookupOp : TileOp<"byte_lookup", [Pure, SameOperandsAndResultType] # ElementwiseMappable.traits> {
  let summary = "Look up each byte in a constant table";
  let description = [{
    Element i of the result is element `u` of the table, where `u` is element i of
    the operand as an unsigned integer. Registers and scalars of kernels have the
    op, too, until convert-byte-lookup-to-llvm.

    C1: the table has 256 elements.

    ```mlir
    %r = tile.byte_lookup %b in dense<7> : tensor<256xi8> : tensor<8x64xi8>
    ```
  }];
  let arguments = (ins Bytes:$source, ByteTable:$table);
  let results = (outs Bytes:$result);
  let assemblyFormat = "$source `in` $table attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def TransposeOp : InferredTileOp<"transpose"> {
  let summary = "Permute the dimensions of a computed tile";
  let description = [{
    Result dimension `i` is source dimension `perm[i]`. To transpose a loaded tile,
    the `dims` of its load are cheaper.

    C1: `perm` is a permutation of the source's dimensions.

    ```mlir
    %t = tile.transpose %a perm [1, 0] : tensor<8x32xf32> -> tensor<32x8xf32>
    ```
  }];
  let arguments = (ins Tile:$source, DenseI64ArrayAttr:$perm);
  let results = (outs Tile:$result);
  let assemblyFormat = "$source `perm` $perm attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
}

#endif // ADZE_DIALECT_TILE_IR_TILEOPS
