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
  let summary = "A kernel: the program that every point of its grid runs";
  let description = [{
    Arguments are memrefs (inputs, then outputs) or scalars. Distinct arguments
    do not overlap; a kernel that works in place names one argument twice in its
    windows. Facts that the caller guarantees stand on the arguments:
    `tile.align` (bytes) and `tile.divisible` (one divisor a dim). The
    dictionary `tile.params` holds default bindings of the parameters,
    `tile.params.TARGET` the ones for one target.

    C1: no results. C2: at most one `tile.program_id`; a kernel without one has
    a grid of one program. C3: in a kernel with phases, tiles are inside them.

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
    /// The op that states the grid; null if the grid is one program.
    ProgramIdOp getProgramId();
    bool hasPhases();
  }];
}

def ReturnOp : TileOp<"return", [Pure, Terminator, ReturnLike, ParentOneOf<["KernelOp", "PhaseOp"]>]> {
  let summary = "End of a kernel or a phase";
  let description = [{
    ```mlir
    tile.return
    ```
  }];
  let assemblyFormat = "attr-dict";
}

def ParamOp : TileOp<"param", [Pure]> {
  let summary = "A constant that is bound later";
  let description = [{
    A size or count chosen by `tile-specialize`. `in` lists the values a tuner
    may try; binding a value outside it is an error. Two ops of one name have
    the same value.

    ```mlir
    %b = tile.param "BLOCK_M" in [8, 64, 128] : index
    ```
  }];
  let arguments = (ins StrAttr:$name, OptionalAttr<DenseI64ArrayAttr>:$choices);
  let results = (outs Index:$result);
  let assemblyFormat = "$name (`in` $choices^)? attr-dict `:` type($result)";
}

def ProgramIdOp : TileOp<"program_id", [Pure]> {
  let summary = "This program's place in the grid";
  let description = [{
    States the grid (one operand a dimension, 0 counting fastest) and gives this
    program's place in it. Programs have no order; with `ordered` the last
    dimension counts steps, each of which sees what those before it stored.

    C1: one result for each grid dimension, 1 to 3.

    ```mlir
    %i, %j = tile.program_id (%gi, %gj) : index, index
    ```
  }];
  let arguments = (ins Variadic<Index>:$grid, UnitAttr:$ordered);
  let results = (outs Variadic<Index>:$ids);
  let assemblyFormat = "`(` $grid `)` (`ordered` $ordered^)? attr-dict `:` type($ids)";
  let hasVerifier = 1;
}

def PhaseOp : TileOp<"phase", [SingleBlockImplicitTerminator<"ReturnOp">, NoRegionArguments,
                               RecursiveMemoryEffects]> {
  let summary = "One of several passes of a program";
  let description = [{
    A program with phases runs them in order: what one stores, also to
    `tile.scratch`, the next ones load. Within a phase there is no order, as
    there is none in a kernel without phases. Around phases stand scalars,
    `scf.for` and `scf.if`: a phase may run for each part of what it covers.

    C1: it stands in a kernel, or there in `scf.for` or `scf.if` without results.

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

include "Dialect/Tile/IR/TileMemoryOps.td"

//===--- Computation ------------------------------------------------------===//

def DotOp : InferredTileOp<"dot"> {
  let summary = "Matrix product plus accumulator";
  let description = [{
    `acc + lhs * rhs` of tiles [m, k], [k, n] and [m, n], computed in the
    element type of the accumulator: narrower operands are extended first.
    The order of the sum over k is free but the same in every run.

    `compute` gives the element types of the product; without it they are those
    of the tiles, and integers have a sign. Operands of i32 whose `compute`
    types are narrower hold words: k counts words, and each of them holds
    several elements along the depth. Operands of f32 whose `compute` types are
    tf32 may be rounded to tf32: units of tf32 do, all else computes in f32.

    C1: operands have rank 2. C2: m, n and k agree. C3: the element types of the
    product are floats if the accumulator is, integers if it is. C4: with
    `compute`, the operands have elements of its widths (f32 for tf32), or both
    have words.

    ```mlir
    %d = tile.dot %a, %b, %acc : tensor<8x64xf32>, tensor<64x32xf32>, tensor<8x32xf32>
    %e = tile.dot %x, %w, %sum compute <si8 * ui8 + si32>
      : tensor<4x8xi32>, tensor<8x64xi32>, tensor<4x64xi32>
    ```

    ```mlir
    %d = tile.dot %a, %b, %acc : tensor<8x64xf32>, tensor<64x32xf32>, tensor<8x32xf32>
    ```
  }];
  let arguments = (ins Tile:$lhs, Tile:$rhs, Tile:$acc,
                       OptionalAttr<Tile_ProductAttr>:$compute);
  let results = (outs Tile:$result);
  let assemblyFormat = "$lhs `,` $rhs `,` $acc (`compute` $compute^)? attr-dict `:` type($lhs) `,` type($rhs) `,` type($acc)";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Returns the element types of the product, also where they are implied.
    ProductAttr getProduct();
    /// Returns how many elements along the depth an element of the operands
    /// holds: more than one are a word.
    int64_t getWordElements();
  }];
}

def ReduceKind : I32EnumAttr<"ReduceKind", "how a reduction combines two elements",
    [I32EnumAttrCase<"add", 0>, I32EnumAttrCase<"mul", 1>, I32EnumAttrCase<"max", 2>,
     I32EnumAttrCase<"min", 3>, I32EnumAttrCase<"umax", 4>, I32EnumAttrCase<"umin", 5>,
     I32EnumAttrCase<"and_", 6, "and">, I32EnumAttrCase<"or_", 7, "or">]> {
  let cppNamespace = "::adze::tile";
}

def ReduceOp : InferredTileOp<"reduce"> {
  let summary = "Combine the elements along one dimension";
  let description = [{
    Removes dimension `dim`. The order is free but the same in every run. `max`
    and `min` of floats give NaN if any element is NaN, with `nnan` NaN or the
    greatest or least of some of the others; on integers they are signed, `umax`
    and `umin` unsigned. `and` and `or` are bitwise.

    C1: `dim` is a dimension of the source. C2: `umax umin and or` take
    integers. C3: `nnan` stands with `max` and `min` of floats.

    ```mlir
    %m = tile.reduce max %t dim 1 : tensor<8x64xf32> -> tensor<8xf32>
    ```
  }];
  let arguments = (ins ReduceKind:$kind, Tile:$source, I64Attr:$dim, UnitAttr:$nnan);
  let results = (outs Tile:$result);
  let assemblyFormat = "$kind $source `dim` $dim (`nnan` $nnan^)? attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
}

def BroadcastOp : InferredTileOp<"broadcast"> {
  let summary = "Repeat a scalar or a tile along new dimensions";
  let description = [{
    Of a scalar: a tile full of it, which is also how constant tiles of
    parametric size are written. Of a tile: source dimension `i` becomes result
    dimension `dims[i]`, the others repeat.

    C1: a tile source has `dims`, one distinct result dimension a source
    dimension. C2: sizes of kept dimensions agree.

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
  let summary = "Positions along one dimension";
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
  let summary = "The same elements in another shape, in row-major order";
  let description = [{
    Merges or splits neighbouring dimensions. Merging the pixel dimensions of a
    loaded window costs nothing.

    C1: both shapes have one number of elements, once the sizes are known.

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

def TransposeOp : InferredTileOp<"transpose"> {
  let summary = "Permute the dimensions of a computed tile";
  let description = [{
    Result dimension `i` is source dimension `perm[i]`. A loaded tile is better
    transposed by the `dims` of its load.

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
