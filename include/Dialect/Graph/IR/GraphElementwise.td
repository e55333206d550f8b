// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Elementwise ops: unary, binary with numpy broadcasting, compare, select, cast.

#ifndef ADZE_DIALECT_GRAPH_IR_GRAPHELEMENTWISE
#define ADZE_DIALECT_GRAPH_IR_GRAPHELEMENTWISE

include "Dialect/Graph/IR/GraphBase.td"

/// An op that computes each element of its result from the elements of its
/// operands at the same position.
class Graph_ElementwiseOp<string mnemonic, list<Trait> traits = []>
    : Graph_InferredOp<mnemonic,
        [DeclareOpInterfaceMethods<ElementwiseOpInterface>] # traits> {
  int flops = 1;
  code inferFunction = "";
  let familyDefinition = [{
    ::llvm::LogicalResult $cppClass::inferReturnTypes(
        ::mlir::MLIRContext *context, std::optional<::mlir::Location> location,
        Adaptor adaptor, ::llvm::SmallVectorImpl<::mlir::Type> &types) {
      return ::adze::graph::op_detail::}] # inferFunction # [{(
          location, getOperationName(), adaptor.getOperands(), types);
    }
    ::mlir::AffineExpr $cppClass::getFlops() {
      return ::adze::graph::op_detail::getElementwiseFlops(
          getOperation(), }] # flops # [{);
    }
  }];
}

//===----------------------------------------------------------------------===//
// Unary
//===----------------------------------------------------------------------===//

/// `onnx` names the ONNX operator that the op imports, with its version.
class Graph_UnaryOp<string mnemonic, string onnx, TypeConstraint operand,
                    string what, string formula, list<Trait> traits = []>
    : Graph_ElementwiseOp<mnemonic, traits> {
  let summary = what;
  let description = [{
    Computes, for each element x: }] # formula # [{.
    Input and result have equal types. Source: ONNX }] # onnx # [{.

    Example:
    ```mlir
    %y = graph.}] # mnemonic # [{ %x : (tensor<4x8xT>) -> tensor<4x8xT>
    ```
  }];
  let arguments = (ins operand:$input);
  let results = (outs operand:$result);
  let inferFunction = "inferSameType";
}

def Graph_AbsOp : Graph_UnaryOp<"abs", "Abs-13", Graph_NumberTensor,
    "Absolute value", "|x|; the least signed integer is its own absolute value">;
def Graph_NegOp : Graph_UnaryOp<"neg", "Neg-13", Graph_NumberTensor,
    "Negation", "-x">;
def Graph_SignOp : Graph_UnaryOp<"sign", "Sign-13", Graph_NumberTensor,
    "Sign", "-1, 0 or 1; NaN for NaN">;

class Graph_FloatUnaryOp<string mnemonic, string onnx, string what,
                         string formula, list<Trait> traits = []>
    : Graph_UnaryOp<mnemonic, onnx, Graph_FloatTensor, what, formula, traits>;

def Graph_ExpOp : Graph_FloatUnaryOp<"exp", "Exp-13", "Exponential", "e^x">;
def Graph_LogOp : Graph_FloatUnaryOp<"log", "Log-13", "Natural logarithm", "ln x">;
def Graph_SqrtOp : Graph_FloatUnaryOp<"sqrt", "Sqrt-13", "Square root", "sqrt(x)">;
def Graph_ReciprocalOp
    : Graph_FloatUnaryOp<"reciprocal", "Reciprocal-13", "Reciprocal", "1 / x">;
def Graph_FloorOp : Graph_FloatUnaryOp<"floor", "Floor-13", "Round down",
    "the greatest integer <= x">;
def Graph_CeilOp : Graph_FloatUnaryOp<"ceil", "Ceil-13", "Round up",
    "the least integer >= x">;
def Graph_RoundOp : Graph_FloatUnaryOp<"round", "Round-22", "Round to the nearest integer",
    "the nearest integer; ties round to even">;
def Graph_SinOp : Graph_FloatUnaryOp<"sin", "Sin-22", "Sine", "sin x">;
def Graph_CosOp : Graph_FloatUnaryOp<"cos", "Cos-22", "Cosine", "cos x">;
def Graph_TanOp : Graph_FloatUnaryOp<"tan", "Tan-22", "Tangent", "tan x">;
def Graph_AsinOp : Graph_FloatUnaryOp<"asin", "Asin-22", "Arc sine", "asin x">;
def Graph_AcosOp : Graph_FloatUnaryOp<"acos", "Acos-22", "Arc cosine", "acos x">;
def Graph_AtanOp : Graph_FloatUnaryOp<"atan", "Atan-22", "Arc tangent", "atan x">;
def Graph_SinhOp : Graph_FloatUnaryOp<"sinh", "Sinh-22", "Hyperbolic sine", "sinh x">;
def Graph_CoshOp : Graph_FloatUnaryOp<"cosh", "Cosh-22", "Hyperbolic cosine", "cosh x">;
def Graph_TanhOp : Graph_FloatUnaryOp<"tanh", "Tanh-13", "Hyperbolic tangent", "tanh x">;
def Graph_AsinhOp
    : Graph_FloatUnaryOp<"asinh", "Asinh-22", "Inverse hyperbolic sine", "asinh x">;
def Graph_AcoshOp
    : Graph_FloatUnaryOp<"acosh", "Acosh-22", "Inverse hyperbolic cosine", "acosh x">;
def Graph_AtanhOp
    : Graph_FloatUnaryOp<"atanh", "Atanh-22", "Inverse hyperbolic tangent", "atanh x">;
def Graph_ErfOp : Graph_FloatUnaryOp<"erf", "Erf-13", "Error function", "erf x">;
def Graph_SigmoidOp
    : Graph_FloatUnaryOp<"sigmoid", "Sigmoid-13", "Logistic function", "1 / (1 + e^-x)"> {
  let flops = 4;
}
def Graph_SoftplusOp : Graph_FloatUnaryOp<"softplus", "Softplus-22", "Smooth maximum with 0",
    "ln(1 + e^x), without overflow"> {
  let flops = 4;
}
def Graph_SoftsignOp
    : Graph_FloatUnaryOp<"softsign", "Softsign-22", "Softsign", "x / (1 + |x|)"> {
  let flops = 3;
}
def Graph_SiluOp : Graph_FloatUnaryOp<"silu", "Swish-24 (alpha 1)", "Sigmoid linear unit (swish)",
    "x * sigmoid(x)"> {
  let flops = 5;
}
def Graph_HardSwishOp : Graph_FloatUnaryOp<"hard_swish", "HardSwish-22", "Hard swish",
    "x * max(0, min(1, x / 6 + 0.5))"> {
  let flops = 5;
}
def Graph_MishOp : Graph_FloatUnaryOp<"mish", "Mish-22", "Mish", "x * tanh(softplus(x))"> {
  let flops = 6;
}
def Graph_ReluOp : Graph_UnaryOp<"relu", "Relu-14", Graph_NumberTensor,
    "Rectified linear unit", "max(x, 0); NaN for NaN">;

class Graph_FloatDefault<string value> : DefaultValuedAttr<F64Attr, value>;

def Graph_GeluOp : Graph_FloatUnaryOp<"gelu", "Gelu-20", "Gaussian error linear unit",
    "x * Phi(x) with Phi computed by erf, or with `approximate` tanh its approximation by tanh"> {
  let arguments = (ins Graph_FloatTensor:$input,
      DefaultValuedAttr<Graph_GeluModeAttr, "GeluMode::None">:$approximate);
  let flops = 5;
}
def Graph_HardSigmoidOp : Graph_FloatUnaryOp<"hard_sigmoid", "HardSigmoid-22", "Hard sigmoid",
    "max(0, min(1, alpha * x + beta))"> {
  let arguments = (ins Graph_FloatTensor:$input,
                       Graph_FloatDefault<"0.2">:$alpha,
                       Graph_FloatDefault<"0.5">:$beta);
  let flops = 4;
}
def Graph_LeakyReluOp : Graph_FloatUnaryOp<"leaky_relu", "LeakyRelu-16", "Leaky relu",
    "x where x >= 0, else alpha * x"> {
  let arguments = (ins Graph_FloatTensor:$input,
                       Graph_FloatDefault<"0.01">:$alpha);
  let flops = 2;
}
def Graph_EluOp : Graph_FloatUnaryOp<"elu", "Elu-22", "Exponential linear unit",
    "x where x >= 0, else alpha * (e^x - 1)"> {
  let arguments = (ins Graph_FloatTensor:$input,
                       Graph_FloatDefault<"1.0">:$alpha);
  let flops = 4;
}
def Graph_SeluOp : Graph_FloatUnaryOp<"selu", "Selu-22", "Scaled exponential linear unit",
    "gamma * (x where x > 0, else alpha * (e^x - 1))"> {
  let arguments = (ins Graph_FloatTensor:$input,
                       Graph_FloatDefault<"1.67326319217681884765625">:$alpha,
                       Graph_FloatDefault<"1.05070102214813232421875">:$gamma);
  let flops = 5;
}
def Graph_CeluOp : Graph_FloatUnaryOp<"celu", "Celu-28",
    "Continuously differentiable exponential linear unit",
    "max(0, x) + min(0, alpha * (e^(x / alpha) - 1))"> {
  let arguments = (ins Graph_FloatTensor:$input,
                       Graph_FloatDefault<"1.0">:$alpha);
  let flops = 7;
}
def Graph_ThresholdedReluOp : Graph_FloatUnaryOp<"thresholded_relu", "ThresholdedRelu-22",
    "Thresholded relu", "x where x > alpha, else 0"> {
  let arguments = (ins Graph_FloatTensor:$input,
                       Graph_FloatDefault<"1.0">:$alpha);
}
def Graph_NotOp : Graph_UnaryOp<"not", "Not-1", Graph_BoolTensor,
    "Logical negation", "not x">;
def Graph_BitwiseNotOp : Graph_UnaryOp<"bitwise_not", "BitwiseNot-18", Graph_IntegerTensor,
    "Bitwise negation", "~x">;

class Graph_PredicateOp<string mnemonic, string onnx, string what,
                        string formula>
    : Graph_UnaryOp<mnemonic, onnx, Graph_FloatTensor, what, formula> {
  let results = (outs Graph_BoolTensor:$result);
  let description = [{
    Each element of the result is true if the condition holds for the element x
    of the input: }] # formula # [{. Source: ONNX }] # onnx # [{.

    Example:
    ```mlir
    %y = graph.}] # mnemonic # [{ %x : (tensor<4x8xf32>) -> tensor<4x8xi1>
    ```
  }];
  let inferFunction = "inferPredicate";
}
def Graph_IsNanOp : Graph_PredicateOp<"is_nan", "IsNaN-20", "Is not a number", "x is NaN">;
def Graph_IsInfOp : Graph_PredicateOp<"is_inf", "IsInf-20", "Is infinite",
    "x is -inf and `detect_negative`, or x is +inf and `detect_positive`"> {
  let arguments = (ins Graph_FloatTensor:$input,
      DefaultValuedAttr<BoolAttr, "true">:$detect_negative,
      DefaultValuedAttr<BoolAttr, "true">:$detect_positive);
}

def Graph_CastOp : Graph_TensorOp<"cast",
    [DeclareOpInterfaceMethods<ElementwiseOpInterface>]> {
  let summary = "Conversion of the elements";
  let description = [{
    Converts the elements by the rules of ONNX Cast-28:

    - A float becomes an integer by truncation towards zero.
    - An integer becomes a narrower integer by dropping the high bits.
    - A number becomes a bool by `x != 0`, and a bool becomes 0 or 1.
    - A number becomes a narrower float by rounding to nearest, ties to even.

    For floats of at most 8 bits, `saturate` decides about values out of range:
    if it is set, they become the greatest finite number of their sign, else an
    infinity, or NaN in a type without infinities. f4E2M1FN always saturates,
    and has no NaN: NaN becomes -0. f8E8M0FNU holds powers of two only; `round`
    states how other values are rounded. Input and result have equal shapes.

    Example:
    ```mlir
    %y = graph.cast %x : (tensor<4xf32>) -> tensor<4xi64>
    ```
  }];
  let arguments = (ins Graph_NumericTensor:$input,
                       DefaultValuedAttr<BoolAttr, "true">:$saturate,
                       DefaultValuedAttr<Graph_RoundingAttr,
                                         "Rounding::Up">:$round);
  let results = (outs Graph_NumericTensor:$result);
  let builders = [OpBuilder<(ins "::mlir::Value":$input,
                                 "::mlir::Type":$elementType), [{
    auto type = ::llvm::cast<::mlir::RankedTensorType>(input.getType());
    build($_builder, $_state, type.clone(elementType), input);
  }]>];
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Graph_ByteTensor : RankedTensorOf<[I8, UI8]>;

def Graph_ByteLookupOp : Graph_TensorOp<"byte_lookup",
    [DeclareOpInterfaceMethods<ElementwiseOpInterface>]> {
  let summary = "A function of bytes by a table of its values";
  let description = [{
    Element i of the result is element `u` of the table, where `u` is the byte of
    element i of the input as an unsigned integer. The table has 256 elements of
    the element type of the result. Input and result have equal shapes. No ONNX
    operator; graph-form-byte-tables creates it for functions of quantized
    values.

    Example:
    ```mlir
    %y = graph.byte_lookup %x {table = dense<7> : tensor<256xui8>} : (tensor<4x8xi8>) -> tensor<4x8xui8>
    ```
  }];
  let arguments = (ins Graph_ByteTensor:$input, ElementsAttr:$table);
  let results = (outs Graph_ByteTensor:$result);
  let hasVerifier = 1;
}

def Graph_BitcastOp : Graph_TensorOp<"bitcast",
    [DeclareOpInterfaceMethods<ElementwiseOpInterface>]> {
  let summary = "Reinterpretation of the bits of the elements";
  let description = [{
    The elements of the result have the bits of those of the input. Both element
    types have equal widths, and both shapes are equal. Source: ONNX BitCast-26.

    Example:
    ```mlir
    %y = graph.bitcast %x : (tensor<4xf32>) -> tensor<4xi32>
    ```
  }];
  let arguments = (ins Graph_NumericTensor:$input);
  let results = (outs Graph_NumericTensor:$result);
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Binary
//===----------------------------------------------------------------------===//

/// `onnx` names the ONNX operator that the op imports, with its version.
class Graph_BinaryOp<string mnemonic, string onnx, TypeConstraint operand,
                     string what, string formula, list<Trait> traits = []>
    : Graph_ElementwiseOp<mnemonic, traits> {
  let summary = what;
  let description = [{
    Computes, for each pair of elements after numpy broadcasting: }]
    # formula # [{.
    The operands have equal element types, and shapes that broadcast.
    Source: ONNX }] # onnx # [{.

    Example:
    ```mlir
    %z = graph.}] # mnemonic # [{ %x, %y : (tensor<4x8xT>, tensor<8xT>) -> tensor<4x8xT>
    ```
  }];
  let arguments = (ins operand:$lhs, operand:$rhs);
  let results = (outs operand:$result);
  let inferFunction = "inferBroadcast";
}

def Graph_AddOp : Graph_BinaryOp<"add", "Add-14", Graph_NumberTensor,
    "Sum", "x + y; integers wrap", [Commutative]>;
def Graph_SubOp : Graph_BinaryOp<"sub", "Sub-14", Graph_NumberTensor,
    "Difference", "x - y; integers wrap">;
def Graph_MulOp : Graph_BinaryOp<"mul", "Mul-14", Graph_NumberTensor,
    "Product", "x * y; integers wrap", [Commutative]>;
def Graph_DivOp : Graph_BinaryOp<"div", "Div-14", Graph_NumberTensor, "Quotient",
    "x / y; integers truncate towards zero">;
def Graph_ModOp : Graph_BinaryOp<"mod", "Mod-28 (fmod 0)", Graph_NumberTensor, "Remainder",
    "the remainder with the sign of the divisor, as Python's %">;
def Graph_FmodOp : Graph_BinaryOp<"fmod", "Mod-28 (fmod 1)", Graph_NumberTensor, "C remainder",
    "the remainder with the sign of the dividend, as C's fmod and %">;
def Graph_PowOp : Graph_BinaryOp<"pow", "Pow-15", Graph_NumberTensor, "Power", "x^y">;
def Graph_MinimumOp : Graph_BinaryOp<"minimum", "Min-13", Graph_NumberTensor,
    "Minimum", "min(x, y); NaN if either is", [Commutative]>;
def Graph_MaximumOp : Graph_BinaryOp<"maximum", "Max-13", Graph_NumberTensor,
    "Maximum", "max(x, y); NaN if either is", [Commutative]>;
def Graph_PreluOp : Graph_BinaryOp<"prelu", "PRelu-16", Graph_NumberTensor,
    "Relu with a learned slope", "x where x >= 0, else y * x"> {
  let flops = 2;
}
def Graph_AndOp : Graph_BinaryOp<"and", "And-7", Graph_BoolTensor,
    "Logical and", "x and y", [Commutative]>;
def Graph_OrOp : Graph_BinaryOp<"or", "Or-7", Graph_BoolTensor,
    "Logical or", "x or y", [Commutative]>;
def Graph_XorOp : Graph_BinaryOp<"xor", "Xor-7", Graph_BoolTensor,
    "Logical exclusive or", "x xor y", [Commutative]>;
def Graph_BitwiseAndOp : Graph_BinaryOp<"bitwise_and", "BitwiseAnd-18", Graph_IntegerTensor,
    "Bitwise and", "x & y", [Commutative]>;
def Graph_BitwiseOrOp : Graph_BinaryOp<"bitwise_or", "BitwiseOr-18", Graph_IntegerTensor,
    "Bitwise or", "x | y", [Commutative]>;
def Graph_BitwiseXorOp : Graph_BinaryOp<"bitwise_xor", "BitwiseXor-18", Graph_IntegerTensor,
    "Bitwise exclusive or", "x ^ y", [Commutative]>;
def Graph_ShiftLeftOp : Graph_BinaryOp<"shift_left", "BitShift-28 (direction LEFT)", Graph_IntegerTensor,
    "Shift left", "x << y; 0 if y is at least the width">;
def Graph_ShiftRightOp : Graph_BinaryOp<"shift_right", "BitShift-28 (direction RIGHT)", Graph_IntegerTensor,
    "Shift right",
    "x >> y, arithmetic if signed; if y is at least the width, 0 or, for a negative x, -1">;

class Graph_CompareOp<string mnemonic, string onnx, TypeConstraint operand,
                      string what, string formula, list<Trait> traits = []>
    : Graph_BinaryOp<mnemonic, onnx, operand, what, formula, traits> {
  let results = (outs Graph_BoolTensor:$result);
  let description = [{
    Each element of the result is true if the condition holds for the pair of
    elements after numpy broadcasting: }] # formula # [{. It is false if either
    element is NaN. The operands have equal element types, and shapes that
    broadcast. Source: ONNX }] # onnx # [{.

    Example:
    ```mlir
    %z = graph.}] # mnemonic # [{ %x, %y : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xi1>
    ```
  }];
  let inferFunction = "inferCompare";
}
def Graph_EqualOp : Graph_CompareOp<"equal", "Equal-19", Graph_Tensor,
    "Equal", "x == y", [Commutative]>;
def Graph_LessOp
    : Graph_CompareOp<"less", "Less-13", Graph_NumberTensor, "Less", "x < y">;
def Graph_LessEqualOp : Graph_CompareOp<"less_equal", "LessOrEqual-16", Graph_NumberTensor,
    "Less or equal", "x <= y">;
def Graph_GreaterOp
    : Graph_CompareOp<"greater", "Greater-13", Graph_NumberTensor, "Greater", "x > y">;
def Graph_GreaterEqualOp : Graph_CompareOp<"greater_equal", "GreaterOrEqual-16", Graph_NumberTensor,
    "Greater or equal", "x >= y">;

def Graph_SelectOp : Graph_ElementwiseOp<"select"> {
  let summary = "Choice between two tensors (ONNX Where)";
  let description = [{
    Computes `x if condition else y` for each position after numpy broadcasting
    of all three operands; x and y have equal element types. Source: ONNX
    Where-16.

    Example:
    ```mlir
    %z = graph.select %c, %x, %y : (tensor<8xi1>, tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
    ```
  }];
  let arguments = (ins Graph_BoolTensor:$condition, Graph_Tensor:$lhs,
                       Graph_Tensor:$rhs);
  let results = (outs Graph_Tensor:$result);
  let inferFunction = "inferSelect";
}

#endif // ADZE_DIALECT_GRAPH_IR_GRAPHELEMENTWISE
