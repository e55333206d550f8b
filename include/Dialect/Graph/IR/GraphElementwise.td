// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Elementwise ops: unary, binary with numpy broadcasting, compare, select, cast.

#ifndef ADZE_DIALECT_GRAPH_IR_GRAPHELEMENTWISE
#define ADZE_DIALECT_GRAPH_IR_GRAPHELEMENTWISE

include "Dialect/Graph/IR/GraphBase.td"

/// One element of the result from the elements of the operands at its place.
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

class Graph_UnaryOp<string mnemonic, TypeConstraint operand, string what,
                    string formula, list<Trait> traits = []>
    : Graph_ElementwiseOp<mnemonic, traits> {
  let summary = what;
  let description = [{
    Computes, for each element x:  }] # formula # [{

    Example:
    ```mlir
    %y = graph.}] # mnemonic # [{ %x : (tensor<4x8xT>) -> tensor<4x8xT>
    ```
  }];
  let arguments = (ins operand:$input);
  let results = (outs operand:$result);
  let inferFunction = "inferSameType";
}

def Graph_AbsOp : Graph_UnaryOp<"abs", Graph_NumberTensor,
    "Absolute value", "|x|; the least signed integer gives itself">;
def Graph_NegOp : Graph_UnaryOp<"neg", Graph_NumberTensor,
    "Negation", "-x">;
def Graph_SignOp : Graph_UnaryOp<"sign", Graph_NumberTensor,
    "Sign", "-1, 0 or 1; NaN gives NaN">;

class Graph_FloatUnaryOp<string mnemonic, string what, string formula,
                         list<Trait> traits = []>
    : Graph_UnaryOp<mnemonic, Graph_FloatTensor, what, formula, traits>;

def Graph_ExpOp : Graph_FloatUnaryOp<"exp", "Exponential", "e^x">;
def Graph_LogOp : Graph_FloatUnaryOp<"log", "Natural logarithm", "ln x">;
def Graph_SqrtOp : Graph_FloatUnaryOp<"sqrt", "Square root", "sqrt(x)">;
def Graph_ReciprocalOp
    : Graph_FloatUnaryOp<"reciprocal", "Reciprocal", "1 / x">;
def Graph_FloorOp : Graph_FloatUnaryOp<"floor", "Round down",
    "the greatest integer <= x">;
def Graph_CeilOp : Graph_FloatUnaryOp<"ceil", "Round up",
    "the least integer >= x">;
def Graph_RoundOp : Graph_FloatUnaryOp<"round", "Round to the nearest integer",
    "the nearest integer, halves to even">;
def Graph_SinOp : Graph_FloatUnaryOp<"sin", "Sine", "sin x">;
def Graph_CosOp : Graph_FloatUnaryOp<"cos", "Cosine", "cos x">;
def Graph_TanOp : Graph_FloatUnaryOp<"tan", "Tangent", "tan x">;
def Graph_AsinOp : Graph_FloatUnaryOp<"asin", "Arc sine", "asin x">;
def Graph_AcosOp : Graph_FloatUnaryOp<"acos", "Arc cosine", "acos x">;
def Graph_AtanOp : Graph_FloatUnaryOp<"atan", "Arc tangent", "atan x">;
def Graph_SinhOp : Graph_FloatUnaryOp<"sinh", "Hyperbolic sine", "sinh x">;
def Graph_CoshOp : Graph_FloatUnaryOp<"cosh", "Hyperbolic cosine", "cosh x">;
def Graph_TanhOp : Graph_FloatUnaryOp<"tanh", "Hyperbolic tangent", "tanh x">;
def Graph_AsinhOp
    : Graph_FloatUnaryOp<"asinh", "Inverse hyperbolic sine", "asinh x">;
def Graph_AcoshOp
    : Graph_FloatUnaryOp<"acosh", "Inverse hyperbolic cosine", "acosh x">;
def Graph_AtanhOp
    : Graph_FloatUnaryOp<"atanh", "Inverse hyperbolic tangent", "atanh x">;
def Graph_ErfOp : Graph_FloatUnaryOp<"erf", "Error function", "erf x">;
def Graph_SigmoidOp
    : Graph_FloatUnaryOp<"sigmoid", "Logistic function", "1 / (1 + e^-x)"> {
  let flops = 4;
}
def Graph_SoftplusOp : Graph_FloatUnaryOp<"softplus", "Smooth maximum with 0",
    "ln(1 + e^x), without overflow"> {
  let flops = 4;
}
def Graph_SoftsignOp
    : Graph_FloatUnaryOp<"softsign", "Softsign", "x / (1 + |x|)"> {
  let flops = 3;
}
def Graph_SiluOp : Graph_FloatUnaryOp<"silu", "Sigmoid linear unit (swish)",
    "x * sigmoid(x)"> {
  let flops = 5;
}
def Graph_HardSwishOp : Graph_FloatUnaryOp<"hard_swish", "Hard swish",
    "x * max(0, min(1, x / 6 + 0.5))"> {
  let flops = 5;
}
def Graph_MishOp : Graph_FloatUnaryOp<"mish", "Mish", "x * tanh(softplus(x))"> {
  let flops = 6;
}
def Graph_ReluOp : Graph_UnaryOp<"relu", Graph_NumberTensor,
    "Rectified linear unit", "max(x, 0); NaN gives NaN">;

class Graph_FloatDefault<string value> : DefaultValuedAttr<F64Attr, value>;

def Graph_GeluOp : Graph_FloatUnaryOp<"gelu", "Gaussian error linear unit",
    "x * Phi(x) by erf, or its approximation by tanh"> {
  let arguments = (ins Graph_FloatTensor:$input,
      DefaultValuedAttr<Graph_GeluModeAttr, "GeluMode::None">:$approximate);
  let flops = 5;
}
def Graph_HardSigmoidOp : Graph_FloatUnaryOp<"hard_sigmoid", "Hard sigmoid",
    "max(0, min(1, alpha * x + beta))"> {
  let arguments = (ins Graph_FloatTensor:$input,
                       Graph_FloatDefault<"0.2">:$alpha,
                       Graph_FloatDefault<"0.5">:$beta);
  let flops = 4;
}
def Graph_LeakyReluOp : Graph_FloatUnaryOp<"leaky_relu", "Leaky relu",
    "x where x >= 0, else alpha * x"> {
  let arguments = (ins Graph_FloatTensor:$input,
                       Graph_FloatDefault<"0.01">:$alpha);
  let flops = 2;
}
def Graph_EluOp : Graph_FloatUnaryOp<"elu", "Exponential linear unit",
    "x where x >= 0, else alpha * (e^x - 1)"> {
  let arguments = (ins Graph_FloatTensor:$input,
                       Graph_FloatDefault<"1.0">:$alpha);
  let flops = 4;
}
def Graph_SeluOp : Graph_FloatUnaryOp<"selu", "Scaled exponential linear unit",
    "gamma * (x where x > 0, else alpha * (e^x - 1))"> {
  let arguments = (ins Graph_FloatTensor:$input,
                       Graph_FloatDefault<"1.67326319217681884765625">:$alpha,
                       Graph_FloatDefault<"1.05070102214813232421875">:$gamma);
  let flops = 5;
}
def Graph_CeluOp : Graph_FloatUnaryOp<"celu",
    "Continuously differentiable exponential linear unit",
    "max(0, x) + min(0, alpha * (e^(x / alpha) - 1))"> {
  let arguments = (ins Graph_FloatTensor:$input,
                       Graph_FloatDefault<"1.0">:$alpha);
  let flops = 7;
}
def Graph_ThresholdedReluOp : Graph_FloatUnaryOp<"thresholded_relu",
    "Thresholded relu", "x where x > alpha, else 0"> {
  let arguments = (ins Graph_FloatTensor:$input,
                       Graph_FloatDefault<"1.0">:$alpha);
}
def Graph_NotOp : Graph_UnaryOp<"not", Graph_BoolTensor,
    "Logical negation", "not x">;
def Graph_BitwiseNotOp : Graph_UnaryOp<"bitwise_not", Graph_IntegerTensor,
    "Bitwise negation", "~x">;

class Graph_PredicateOp<string mnemonic, string what, string formula>
    : Graph_UnaryOp<mnemonic, Graph_FloatTensor, what, formula> {
  let results = (outs Graph_BoolTensor:$result);
  let description = [{
    Says for each element x:  }] # formula # [{

    Example:
    ```mlir
    %y = graph.}] # mnemonic # [{ %x : (tensor<4x8xf32>) -> tensor<4x8xi1>
    ```
  }];
  let inferFunction = "inferPredicate";
}
def Graph_IsNanOp : Graph_PredicateOp<"is_nan", "Is not a number", "x is NaN">;
def Graph_IsInfOp : Graph_PredicateOp<"is_inf", "Is infinite",
    "x is infinite, of a sign that is asked for"> {
  let arguments = (ins Graph_FloatTensor:$input,
      DefaultValuedAttr<BoolAttr, "true">:$detect_negative,
      DefaultValuedAttr<BoolAttr, "true">:$detect_positive);
}

def Graph_CastOp : Graph_TensorOp<"cast",
    [DeclareOpInterfaceMethods<ElementwiseOpInterface>]> {
  let summary = "Conversion of the elements";
  let description = [{
    Converts by ONNX's rules: float to integer truncates towards zero, integer
    to narrower integer keeps the low bits, anything to bool is `x != 0`, bool
    to number gives 0 or 1, to a narrower float rounds to nearest even. Floats of
    8 bits and less without infinities: what is too large gives the greatest
    number if `saturate` is set, else NaN; those with infinities give one then.
    f4 always saturates and has -0 for NaN. f8E8M0FNU, which has powers of two only, rounds as
    `round` says.

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

def Graph_BitcastOp : Graph_TensorOp<"bitcast",
    [DeclareOpInterfaceMethods<ElementwiseOpInterface>]> {
  let summary = "The same bits as elements of another type of that width";
  let description = [{
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

class Graph_BinaryOp<string mnemonic, TypeConstraint operand, string what,
                     string formula, list<Trait> traits = []>
    : Graph_ElementwiseOp<mnemonic, traits> {
  let summary = what;
  let description = [{
    Computes, for each pair of elements after numpy broadcasting:  }]
    # formula # [{

    Example:
    ```mlir
    %z = graph.}] # mnemonic # [{ %x, %y : (tensor<4x8xT>, tensor<8xT>) -> tensor<4x8xT>
    ```
  }];
  let arguments = (ins operand:$lhs, operand:$rhs);
  let results = (outs operand:$result);
  let inferFunction = "inferBroadcast";
}

def Graph_AddOp : Graph_BinaryOp<"add", Graph_NumberTensor,
    "Sum", "x + y; integers wrap", [Commutative]>;
def Graph_SubOp : Graph_BinaryOp<"sub", Graph_NumberTensor,
    "Difference", "x - y; integers wrap">;
def Graph_MulOp : Graph_BinaryOp<"mul", Graph_NumberTensor,
    "Product", "x * y; integers wrap", [Commutative]>;
def Graph_DivOp : Graph_BinaryOp<"div", Graph_NumberTensor, "Quotient",
    "x / y; integers truncate towards zero">;
def Graph_ModOp : Graph_BinaryOp<"mod", Graph_NumberTensor, "Remainder",
    "the remainder with the sign of the divisor, as Python's %">;
def Graph_FmodOp : Graph_BinaryOp<"fmod", Graph_NumberTensor, "C remainder",
    "the remainder with the sign of the dividend, as C's fmod and %">;
def Graph_PowOp : Graph_BinaryOp<"pow", Graph_NumberTensor, "Power", "x^y">;
def Graph_MinimumOp : Graph_BinaryOp<"minimum", Graph_NumberTensor,
    "Minimum", "min(x, y); NaN if either is", [Commutative]>;
def Graph_MaximumOp : Graph_BinaryOp<"maximum", Graph_NumberTensor,
    "Maximum", "max(x, y); NaN if either is", [Commutative]>;
def Graph_PreluOp : Graph_BinaryOp<"prelu", Graph_NumberTensor,
    "Relu with a learned slope", "x where x >= 0, else y * x"> {
  let flops = 2;
}
def Graph_AndOp : Graph_BinaryOp<"and", Graph_BoolTensor,
    "Logical and", "x and y", [Commutative]>;
def Graph_OrOp : Graph_BinaryOp<"or", Graph_BoolTensor,
    "Logical or", "x or y", [Commutative]>;
def Graph_XorOp : Graph_BinaryOp<"xor", Graph_BoolTensor,
    "Logical exclusive or", "x xor y", [Commutative]>;
def Graph_BitwiseAndOp : Graph_BinaryOp<"bitwise_and", Graph_IntegerTensor,
    "Bitwise and", "x & y", [Commutative]>;
def Graph_BitwiseOrOp : Graph_BinaryOp<"bitwise_or", Graph_IntegerTensor,
    "Bitwise or", "x | y", [Commutative]>;
def Graph_BitwiseXorOp : Graph_BinaryOp<"bitwise_xor", Graph_IntegerTensor,
    "Bitwise exclusive or", "x ^ y", [Commutative]>;
def Graph_ShiftLeftOp : Graph_BinaryOp<"shift_left", Graph_IntegerTensor,
    "Shift left", "x << y; 0 if y is at least the width">;
def Graph_ShiftRightOp : Graph_BinaryOp<"shift_right", Graph_IntegerTensor,
    "Shift right",
    "x >> y, arithmetic if signed; as if by one place at a time if y is at least the width">;

class Graph_CompareOp<string mnemonic, TypeConstraint operand, string what,
                      string formula, list<Trait> traits = []>
    : Graph_BinaryOp<mnemonic, operand, what, formula, traits> {
  let results = (outs Graph_BoolTensor:$result);
  let description = [{
    Says for each pair of elements after numpy broadcasting:  }] # formula # [{
    (false if either is NaN).

    Example:
    ```mlir
    %z = graph.}] # mnemonic # [{ %x, %y : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xi1>
    ```
  }];
  let inferFunction = "inferCompare";
}
def Graph_EqualOp : Graph_CompareOp<"equal", Graph_Tensor,
    "Equal", "x == y", [Commutative]>;
def Graph_LessOp
    : Graph_CompareOp<"less", Graph_NumberTensor, "Less", "x < y">;
def Graph_LessEqualOp : Graph_CompareOp<"less_equal", Graph_NumberTensor,
    "Less or equal", "x <= y">;
def Graph_GreaterOp
    : Graph_CompareOp<"greater", Graph_NumberTensor, "Greater", "x > y">;
def Graph_GreaterEqualOp : Graph_CompareOp<"greater_equal", Graph_NumberTensor,
    "Greater or equal", "x >= y">;

def Graph_SelectOp : Graph_ElementwiseOp<"select"> {
  let summary = "Choice between two tensors (ONNX Where)";
  let description = [{
    Computes `x if condition else y` for each place after numpy broadcasting of
    all three.

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
