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
  let description = formula # [{ `kernel`, `strides`, `pads` and `dilations` as
    of graph.conv. `ceil_mode` rounds the number of windows up, as long as the
    last one starts inside the input or the padding before it.

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
    "The greatest element of each window; padding never wins.">;
def Graph_AvgPoolOp : Graph_PoolOp<"avg_pool", Graph_FloatTensor, "Average",
    "The mean of each window; padding counts with `count_include_pad` only."> {
  let arguments = !con(windowArguments,
      (ins DefaultValuedAttr<BoolAttr, "false">:$count_include_pad));
}

def Graph_MaxPoolIndexOp : Graph_PoolOp<"max_pool_index", Graph_NumberTensor,
    "Place of the maximum", [{The place of the greatest element of each window
    (the first of equal ones): its index in the whole input as i64, in row-major
    order or, with `column_major`, with the spatial dims the other way round.}]> {
  let arguments = !con(windowArguments,
      (ins DefaultValuedAttr<BoolAttr, "false">:$column_major));
  let results = (outs Graph_I64Tensor:$result);
}

def Graph_LRNOp : Graph_InferredOp<"lrn", [WindowOpInterface]> {
  let summary = "Local response normalisation";
  let description = [{
    `x / (bias + alpha / size * s)^beta`, where s is the sum of x^2 over the
    `size` neighbours along `axis` (from `(size - 1) / 2` before, rounded down).

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
