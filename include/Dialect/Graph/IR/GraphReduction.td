// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Reductions over whole dims.
#ifndef ADZE_DIALECT_GRAPH_IR_GRAPHREDUCTION
#define ADZE_DIALECT_GRAPH_IR_GRAPHREDUCTION

include "Dialect/Graph/IR/GraphBase.td"

class Graph_ReduceOp<string name, TypeConstraint element, string formula,
                     int flopsPerElement = 1>
    : Graph_InferredOp<"reduce_" # name,
                       [ReduceOpInterface]> {
  let summary = "Reduction: " # formula;
  let description = [{
    Computes }] # formula # [{ over the dims `axes`, which are >= 0 and ascending.
    With `keepdims` they stay as dims of size 1. Without axes, each element is
    reduced by itself. f16 and bf16 are reduced in f32. The reduction of no
    elements is the neutral element. Source: ONNX operator Reduce* of this name,
    in versions 13 to 28.

    Example:
    ```mlir
    %y = graph.reduce_}] # name # [{ %x {axes = array<i64: 1>, keepdims = false} : (tensor<2x9xf32>) -> tensor<2xf32>
    ```
  }];
  let arguments = (ins element:$input, DenseI64ArrayAttr:$axes,
                       DefaultValuedAttr<BoolAttr, "true">:$keepdims);
  let results = (outs element:$result);
  let extraClassDeclaration = [{
    ::adze::graph::Combiner getCombiner();
    bool subtractsMax();
    bool needsCount();
    ::mlir::Value buildPrepare(::adze::graph::ElementBuilder &builder,
                               ::mlir::Value x);
    ::mlir::Value buildFinish(::adze::graph::ElementBuilder &builder,
                              ::mlir::Value combined, ::mlir::Value count);
  }];
  let familyDefinition = [{
    ::llvm::LogicalResult $cppClass::inferReturnTypes(
        ::mlir::MLIRContext *context, std::optional<::mlir::Location> location,
        Adaptor adaptor, ::llvm::SmallVectorImpl<::mlir::Type> &types) {
      return ::adze::graph::op_detail::inferReduce(
          location, getOperationName(), adaptor.getInput(), adaptor.getAxes(),
          adaptor.getKeepdims(), types);
    }
    ::mlir::AffineExpr $cppClass::getFlops() {
      return ::adze::graph::op_detail::getElementCost(
          getContext(), getInput().getType(), }] # flopsPerElement # [{);
    }
  }];
}

def Graph_ReduceSumOp : Graph_ReduceOp<"sum", Graph_NumberTensor, "the sum">;
def Graph_ReduceMeanOp : Graph_ReduceOp<"mean", Graph_NumberTensor, "the mean">;
def Graph_ReduceMaxOp : Graph_ReduceOp<"max", Graph_NumericTensor,
    "the maximum (NaN if any is; of bools: or)">;
def Graph_ReduceMinOp : Graph_ReduceOp<"min", Graph_NumericTensor,
    "the minimum (NaN if any is; of bools: and)">;
def Graph_ReduceProdOp
    : Graph_ReduceOp<"prod", Graph_NumberTensor, "the product">;
def Graph_ReduceL1Op
    : Graph_ReduceOp<"l1", Graph_NumberTensor, "the sum of |x|", 2>;
def Graph_ReduceL2Op : Graph_ReduceOp<"l2", Graph_NumberTensor,
    "the square root of the sum of x^2", 2>;
def Graph_ReduceLogSumOp : Graph_ReduceOp<"log_sum", Graph_NumberTensor,
    "the logarithm of the sum">;
def Graph_ReduceLogSumExpOp : Graph_ReduceOp<"log_sum_exp", Graph_NumberTensor,
    "the logarithm of the sum of e^x, without overflow", 3>;
def Graph_ReduceSumSquareOp : Graph_ReduceOp<"sum_square", Graph_NumberTensor,
    "the sum of x^2", 2>;

def Graph_DetOp : Graph_InferredOp<"det"> {
  let summary = "Determinant of square matrices";
  let description = [{
    The matrices are the last two dims. The determinant is computed by Gaussian
    elimination with partial pivoting, in f32 or f64. Source: ONNX Det-22.

    Example:
    ```mlir
    %y = graph.det %x : (tensor<2x3x3xf32>) -> tensor<2xf32>
    ```
  }];
  let arguments = (ins Graph_FloatTensor:$input);
  let results = (outs Graph_FloatTensor:$result);
}

#endif // ADZE_DIALECT_GRAPH_IR_GRAPHREDUCTION
