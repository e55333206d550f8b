// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The tile dialect: block programs on small tensors (tiles).

include "mlir/IR/OpBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/FunctionInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"

def TileDialect : Dialect {
  let name = "tile";
  let cppNamespace = "::adze::tile";
}
class TileOp<string m, list<Trait> t = []> : Op<TileDialect, m, t>;
class InferredTileOp<string m, list<Trait> t = []>
    : TileOp<m, !listconcat([Pure, InferTypeOpAdaptor], t)>;
def ScalarLike : Type<CPred<"$_self.isIntOrIndexOrFloat()">, "scalar">;
def TileOrScalar : AnyTypeOf<[AnyRankedTensor, ScalarLike]>;

def KernelOp : TileOp<"kernel", [IsolatedFromAbove, Symbol, FunctionOpInterface,
                                 SingleBlockImplicitTerminator<"ReturnOp">]> {
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttrOf<FunctionType>:$function_type,
                       OptionalAttr<DictArrayAttr>:$arg_attrs, OptionalAttr<DictArrayAttr>:$res_attrs);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let extraClassDeclaration = [{
    mlir::ArrayRef<mlir::Type> getArgumentTypes() { return getFunctionType().getInputs(); }
    mlir::ArrayRef<mlir::Type> getResultTypes() { return getFunctionType().getResults(); }
    mlir::Region *getCallableRegion() { return &getBody(); }
  }];
}
def ReturnOp : TileOp<"return", [Pure, Terminator, ReturnLike, HasParent<"KernelOp">]> {
  let assemblyFormat = "attr-dict";
}
def ParamOp : TileOp<"param", [Pure]> {
  let arguments = (ins StrAttr:$name, OptionalAttr<DenseI64ArrayAttr>:$choices);
  let results = (outs Index:$result);
  let assemblyFormat = "$name (`in` $choices^)? attr-dict `:` type($result)";
}
def ProgramIdOp : TileOp<"program_id", [Pure]> {
  let arguments = (ins Variadic<Index>:$grid);
  let results = (outs Variadic<Index>:$ids);
  let assemblyFormat = "`(` $grid `)` attr-dict `:` type($ids)";
  let hasVerifier = 1;
}

def LoadOp : TileOp<"load", [AttrSizedOperandSegments, InferTypeOpAdaptor, MemoryEffects<[MemRead]>]> {
  let arguments = (ins Arg<AnyMemRef, "", [MemRead]>:$memref, Variadic<Index>:$offsets, Variadic<Index>:$sizes,
    DenseI64ArrayAttr:$static_offsets, DenseI64ArrayAttr:$static_sizes,
    OptionalAttr<DenseI64ArrayAttr>:$dims, OptionalAttr<DenseI64ArrayAttr>:$strides,
    OptionalAttr<TypedAttrInterface>:$pad);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{ $memref `` custom<DynamicIndexList>($offsets, $static_offsets)
    `sizes` custom<DynamicIndexList>($sizes, $static_sizes) (`dims` $dims^)? (`strides` $strides^)? (`pad` $pad^)?
    attr-dict `:` type($memref) `->` type($result) }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{ mlir::SmallVector<int64_t> getMemDims(); }];
}
def StoreOp : TileOp<"store", [MemoryEffects<[MemWrite]>]> {
  let arguments = (ins AnyRankedTensor:$value, Arg<AnyMemRef, "", [MemWrite]>:$memref, Variadic<Index>:$offsets,
    DenseI64ArrayAttr:$static_offsets, OptionalAttr<DenseI64ArrayAttr>:$dims, OptionalAttr<DenseI64ArrayAttr>:$strides);
  let assemblyFormat = [{ $value `,` $memref `` custom<DynamicIndexList>($offsets, $static_offsets)
    (`dims` $dims^)? (`strides` $strides^)? attr-dict `:` type($value) `,` type($memref) }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{ mlir::SmallVector<int64_t> getMemDims(); }];
}
def DotOp : InferredTileOp<"dot"> {
  let arguments = (ins AnyRankedTensor:$lhs, AnyRankedTensor:$rhs, AnyRankedTensor:$acc);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$lhs `,` $rhs `,` $acc attr-dict `:` type($lhs) `,` type($rhs) `,` type($acc)";
  let hasVerifier = 1;
}
def Kind : I32EnumAttr<"ReduceKind", "", [I32EnumAttrCase<"add",0>, I32EnumAttrCase<"mul",1>,
    I32EnumAttrCase<"max",2>, I32EnumAttrCase<"min",3>]> { let cppNamespace = "::adze::tile"; }
def ReduceOp : InferredTileOp<"reduce"> {
  let arguments = (ins Kind:$kind, AnyRankedTensor:$source, I64Attr:$dim);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$kind $source `dim` $dim attr-dict `:` type($source) `->` type($result)";
}
def BroadcastOp : InferredTileOp<"broadcast"> {
  let arguments = (ins TileOrScalar:$source, Variadic<Index>:$sizes, DenseI64ArrayAttr:$static_sizes,
                       OptionalAttr<DenseI64ArrayAttr>:$dims);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{ $source `to` custom<DynamicIndexList>($sizes, $static_sizes) (`dims` $dims^)?
     attr-dict `:` type($source) `->` type($result) }];
  let hasVerifier = 1;
}
