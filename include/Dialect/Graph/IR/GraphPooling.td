// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Pooling over windows, and local response normalisation.
#ifndef ADZE_DIALECT_GRAPH_IR_GRAPHPOOLING
#define ADZE_DIALECT_GRAPH_IR_GRAPHPOOLING

include "Dialect/Graph/IR/GraphBase.td"

class Graph_PoolOp<string mnemonic, TypeConstraint element, string word,
                   string formula>
    : Graph_InferredOp<mnemonic, [WindowOpInterface]> {
  let summary = word # " over windows";
  let description = formula # [{
    `kernel`, `strides` and `dilations` have one element for each spatial dim, and
    are at least 1; `pads`, in elements, has those before each spatial dim, then
    those after each. The window fits into the padded input. `ceil_mode` rounds
    the number of windows up, as long as the last one starts inside the input or
    the padding before it.

    Example:
    ```mlir
    %y = graph.}] # mnemonic # [{ %x {kernel = array<i64: 3, 3>, strides = array<i64: 2, 2>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>} : (tensor<1x64x112x112xf32>) -> tensor<1x64x56x56xf32>
    ```
  }];
  dag windowArguments = (ins element:$input, DenseI64ArrayAttr:$kernel,
                       DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$pads,
                       DenseI64ArrayAttr:$dilations,
                       DefaultValuedAttr<BoolAttr, "false">:$ceil_mode,
                       DefaultValuedAttr<Graph_LayoutAttr,
                                         "Layout::NCHW">:$layout);
  let arguments = windowArguments;
  let results = (outs element:$result);
}

def Graph_MaxPoolOp : Graph_PoolOp<"max_pool", Graph_NumberTensor, "Maximum",
    "Computes the greatest element of each window, without padding. Source: ONNX MaxPool-22.">;
def Graph_AvgPoolOp : Graph_PoolOp<"avg_pool", Graph_FloatTensor, "Average",
    "Computes the mean of each window. Padding counts as zeros with `count_include_pad`, and does not count without. Source: ONNX AveragePool-22."> {
  let arguments = !con(windowArguments,
      (ins DefaultValuedAttr<BoolAttr, "false">:$count_include_pad));
}

def Graph_MaxPoolIndexOp : Graph_PoolOp<"max_pool_index", Graph_NumberTensor,
    "Index of the maximum", [{Computes the index of the greatest element of each
    window (the first of equal ones) in the whole input, as i64. Indices count in
    row-major order or, with `column_major`, with the spatial dims in reverse
    order. Source: the second result of ONNX MaxPool-22.}]> {
  let arguments = !con(windowArguments,
      (ins DefaultValuedAttr<BoolAttr, "false">:$column_major));
  let results = (outs Graph_I64Tensor:$result);
}

def Graph_LRNOp : Graph_InferredOp<"lrn", [WindowOpInterface]> {
  let summary = "Local response normalisation";
  let description = [{
    Computes `x / (bias + alpha / size * s)^beta`, where s is the sum of x^2 over
    a window of `size` >= 1 elements along `axis` that begins
    `floor((size - 1) / 2)` elements before x. Source: ONNX LRN-13.

    Example:
    ```mlir
    %y = graph.lrn %x {size = 5 : i64} : (tensor<1x64x27x27xf32>) -> tensor<1x64x27x27xf32>
    ```
  }];
  let arguments = (ins Graph_FloatTensor:$input, I64Attr:$size,
                       DefaultValuedAttr<F64Attr, "0.0001">:$alpha,
                       DefaultValuedAttr<F64Attr, "0.75">:$beta,
                       DefaultValuedAttr<F64Attr, "1.0">:$bias,
                       DefaultValuedAttr<I64Attr, "1">:$axis);
  let results = (outs Graph_FloatTensor:$result);
}

#endif // ADZE_DIALECT_GRAPH_IR_GRAPHPOOLING
