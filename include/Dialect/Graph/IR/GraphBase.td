// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The graph dialect, its type constraints and the classes its ops derive from.

#ifndef ADZE_DIALECT_GRAPH_IR_GRAPHBASE
#define ADZE_DIALECT_GRAPH_IR_GRAPHBASE

include "Dialect/Graph/IR/GraphInterfaces.td"
include "mlir/IR/CommonAttrConstraints.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Graph_Dialect : Dialect {
  let name = "graph";
  let summary = "Tensor algebra of a model";
  let description = [{
    A small closed set of operations on immutable tensors, into which ONNX is
    imported. Dims are integers or affine expressions of the symbols of the
    function (see Shape.h): the encoding of a tensor with dynamic dims holds one
    expression for each dim. Element types are floats (f64, f32, f16, bf16 and
    the floats of at most 8 bits), i1 (bool), iN (signed), uiN (unsigned) and
    si64 (string).

    A string is represented by its index in a table of strings that exists for
    the time of a run. The table has no duplicates, so two strings are equal if
    their indices are. Its first entries are those of the function attribute
    `graph.strings`, the first of which is "". Ops compare and move strings as
    integers; only `graph.call` reads their characters.

    Sequences, optionals and maps are tensors of rank 0 whose element type is the
    container type.

    Constants of more than 1 KiB are references to the files that they were read
    from (`#graph.blob`).
  }];
  let cppNamespace = "::adze::graph";
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
  let hasConstantMaterializer = 1;
  let extraClassDeclaration = [{
    /// Returns the table of the files that #graph.blob attributes refer to. It
    /// lives as long as the context.
    BlobTable &getBlobs() { return *blobs; }
    /// Returns the known normal forms of expressions of the context.
    NormalForms &getNormalForms() { return *normalForms; }

    /// Function attribute: the names of the symbols, "" for an unnamed one.
    static constexpr ::llvm::StringLiteral getSymbolsAttrName() {
      return "graph.symbols";
    }
    /// Function attribute: the first strings of the run's table.
    static constexpr ::llvm::StringLiteral getStringsAttrName() {
      return "graph.strings";
    }
    /// Argument and result attribute: the name in the ONNX model.
    static constexpr ::llvm::StringLiteral getNameAttrName() {
      return "graph.name";
    }

  private:
    std::unique_ptr<BlobTable> blobs = std::make_unique<BlobTable>();
    std::unique_ptr<NormalForms> normalForms = std::make_unique<NormalForms>();
  }];
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

def Graph_Bool : Type<CPred<"$_self.isSignlessInteger(1)">, "bool (i1)">;
def Graph_Integer
    : Type<CPred<"::llvm::isa<::mlir::IntegerType>($_self) && "
                 "!$_self.isSignedInteger() && !$_self.isInteger(1)">,
           "signed (iN) or unsigned (uiN) integer">;
def Graph_Index : Type<CPred<"$_self.isSignlessInteger(32) || "
                             "$_self.isSignlessInteger(64)">,
                       "i32 or i64">;

def Graph_String : Type<CPred<"::adze::graph::isString($_self)">,
                        "string (si64)">;
def Graph_Container : Type<CPred<"::adze::graph::isContainer($_self)">,
                           "sequence, optional or map">;

def Graph_Tensor
    : RankedTensorOf<[AnyFloat, Graph_Integer, Graph_Bool, Graph_String], [],
                     "ranked tensor of floats, integers, bools or strings">;
/// A tensor of any element type but strings.
def Graph_NumericTensor
    : RankedTensorOf<[AnyFloat, Graph_Integer, Graph_Bool], [],
                     "ranked tensor of floats, integers or bools">;
def Graph_NumberTensor : RankedTensorOf<[AnyFloat, Graph_Integer]>;
def Graph_FloatTensor : RankedTensorOf<[AnyFloat]>;
def Graph_IntegerTensor : RankedTensorOf<[Graph_Integer]>;
def Graph_BoolTensor : RankedTensorOf<[Graph_Bool]>;
def Graph_IndexTensor : RankedTensorOf<[Graph_Index]>;
def Graph_I32Tensor : RankedTensorOf<[I32]>;
def Graph_I64Tensor : RankedTensorOf<[I64]>;
/// A sequence, optional or map: a tensor of rank 0.
def Graph_Handle : 0DTensorOf<[Graph_Container]>;
/// A value that a branch or a loop can yield.
def Graph_Value : AnyTypeOf<[Graph_Tensor, Graph_Handle]>;

//===----------------------------------------------------------------------===//
// Enums
//===----------------------------------------------------------------------===//

class Graph_Enum<string name, string summary, list<I32EnumCase> cases>
    : I32Enum<name, summary, cases> {
  let cppNamespace = "::adze::graph";
}
class Graph_EnumAttr<EnumInfo info, string mnemonic>
    : EnumAttr<Graph_Dialect, info, mnemonic> {
  let assemblyFormat = "`<` $value `>`";
}

def Graph_Layout : Graph_Enum<"Layout", "Position of the channel dim", [
  I32EnumCase<"NCHW", 0, "nchw">, I32EnumCase<"NHWC", 1, "nhwc">]>;
def Graph_LayoutAttr : Graph_EnumAttr<Graph_Layout, "layout">;

def Graph_Causal : Graph_Enum<"Causal", "Which keys are masked for a query", [
  I32EnumCase<"None", 0, "none">, I32EnumCase<"UpperLeft", 1, "upper_left">,
  I32EnumCase<"LowerRight", 2, "lower_right">]>;
def Graph_CausalAttr : Graph_EnumAttr<Graph_Causal, "causal">;

def Graph_StateKind
    : Graph_Enum<"StateKind", "How a result updates the state that an argument holds", [
  I32EnumCase<"Rows", 0, "rows">, I32EnumCase<"Whole", 1, "whole">,
  I32EnumCase<"Keep", 2, "keep">]>;
def Graph_StateKindAttr : Graph_EnumAttr<Graph_StateKind, "state_kind">;

def Graph_GeluMode : Graph_Enum<"GeluMode", "Approximation of gelu", [
  I32EnumCase<"None", 0, "none">, I32EnumCase<"Tanh", 1, "tanh">]>;
def Graph_GeluModeAttr : Graph_EnumAttr<Graph_GeluMode, "gelu">;

def Graph_PadMode : Graph_Enum<"PadMode", "Values of the elements outside of a tensor", [
  I32EnumCase<"Constant", 0, "constant">, I32EnumCase<"Reflect", 1, "reflect">,
  I32EnumCase<"Edge", 2, "edge">, I32EnumCase<"Wrap", 3, "wrap">]>;
def Graph_PadModeAttr : Graph_EnumAttr<Graph_PadMode, "pad_mode">;

def Graph_ScatterReduction
    : Graph_Enum<"ScatterReduction", "How an update is combined with the element that it updates", [
  I32EnumCase<"None", 0, "none">, I32EnumCase<"Add", 1, "add">,
  I32EnumCase<"Mul", 2, "mul">, I32EnumCase<"Max", 3, "max">,
  I32EnumCase<"Min", 4, "min">]>;
def Graph_ScatterReductionAttr
    : Graph_EnumAttr<Graph_ScatterReduction, "scatter">;

def Graph_ResizeMode : Graph_Enum<"ResizeMode", "Interpolation", [
  I32EnumCase<"Nearest", 0, "nearest">, I32EnumCase<"Linear", 1, "linear">,
  I32EnumCase<"Cubic", 2, "cubic">]>;
def Graph_ResizeModeAttr : Graph_EnumAttr<Graph_ResizeMode, "resize_mode">;

def Graph_CoordinateMode
    : Graph_Enum<"CoordinateMode", "ONNX coordinate_transformation_mode", [
  I32EnumCase<"HalfPixel", 0, "half_pixel">,
  I32EnumCase<"HalfPixelSymmetric", 1, "half_pixel_symmetric">,
  I32EnumCase<"PytorchHalfPixel", 2, "pytorch_half_pixel">,
  I32EnumCase<"AlignCorners", 3, "align_corners">,
  I32EnumCase<"Asymmetric", 4, "asymmetric">,
  I32EnumCase<"TfCropAndResize", 5, "tf_crop_and_resize">,
  I32EnumCase<"TfHalfPixelForNN", 6, "tf_half_pixel_for_nn">]>;
def Graph_CoordinateModeAttr
    : Graph_EnumAttr<Graph_CoordinateMode, "coordinates">;

def Graph_NearestMode : Graph_Enum<"NearestMode", "ONNX nearest_mode", [
  I32EnumCase<"RoundPreferFloor", 0, "round_prefer_floor">,
  I32EnumCase<"RoundPreferCeil", 1, "round_prefer_ceil">,
  I32EnumCase<"Floor", 2, "floor">, I32EnumCase<"Ceil", 3, "ceil">]>;
def Graph_NearestModeAttr : Graph_EnumAttr<Graph_NearestMode, "nearest_mode">;

def Graph_Rounding : Graph_Enum<"Rounding", "Direction of rounding to a power of two", [
  I32EnumCase<"Up", 0, "up">, I32EnumCase<"Down", 1, "down">,
  I32EnumCase<"Nearest", 2, "nearest">]>;
def Graph_RoundingAttr : Graph_EnumAttr<Graph_Rounding, "rounding">;

//===----------------------------------------------------------------------===//
// Op classes
//===----------------------------------------------------------------------===//

class Graph_Op<string mnemonic, list<Trait> traits = []>
    : Op<Graph_Dialect, mnemonic, traits>;

/// An op on tensors without side effects. The assembly format of all is
///   graph.name %x, %y {attributes} : (type, type) -> type
class Graph_TensorOp<string mnemonic, list<Trait> traits = []>
    : Graph_Op<mnemonic, [Pure, DeclareOpInterfaceMethods<CostOpInterface>]
                             # traits> {
  let assemblyFormat = [{
    operands attr-dict `:` functional-type(operands, results)
  }];
}

/// A tensor op whose result types are inferred from its operands and
/// attributes. `inferReturnTypes` both verifies the operands and infers the
/// types. The verifier requires that the inferred and the actual types are
/// compatible: equal element types, equal ranks, and no two dims that are known
/// to differ.
class Graph_InferredOp<string mnemonic, list<Trait> traits = []>
    : Graph_TensorOp<mnemonic, [InferTypeOpAdaptorWithIsCompatible] # traits> {
  code familyDefinition = "";
  let extraClassDefinition = [{
    bool $cppClass::isCompatibleReturnTypes(::mlir::TypeRange inferred,
                                            ::mlir::TypeRange written) {
      return ::adze::graph::areCompatible(inferred, written);
    }
  }] # familyDefinition;
}

#endif // ADZE_DIALECT_GRAPH_IR_GRAPHBASE
