// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Matrix products and convolutions.
#ifndef ADZE_DIALECT_GRAPH_IR_GRAPHCONTRACTION
#define ADZE_DIALECT_GRAPH_IR_GRAPHCONTRACTION

include "Dialect/Graph/IR/GraphBase.td"

def Graph_MatmulOp : Graph_InferredOp<"matmul"> {
  let summary = "Matrix product, batched by numpy's rules";
  let description = [{
    `[.., M, K] x [.., K, N] -> [.., M, N]`; the leading dims broadcast. Both
    operands have at least two dims. `transpose_a` and `transpose_b` swap the
    last two dims of an operand before the product. f16 and bf16 are summed in
    f32, and the result is rounded to their type, or f32 with `wide_result`. A
    product of ui8 by si8 is si32.

    Example:
    ```mlir
    %z = graph.matmul %x, %w {transpose_b = true} : (tensor<2x5x8xf32>, tensor<16x8xf32>) -> tensor<2x5x16xf32>
    ```
  }];
  let arguments = (ins Graph_NumberTensor:$lhs, Graph_NumberTensor:$rhs,
                       DefaultValuedAttr<BoolAttr, "false">:$transpose_a,
                       DefaultValuedAttr<BoolAttr, "false">:$transpose_b,
                       UnitAttr:$wide_result);
  let results = (outs Graph_NumberTensor:$result);
}

def Graph_ConvOp : Graph_InferredOp<"conv", [WindowOpInterface]> {
  let summary = "Convolution (cross-correlation) over any number of spatial dims";
  let description = [{
    `layout` says where the channels of input and result are: nchw
    `[N, C, spatial..]`, nhwc `[N, spatial.., C]`. The filter is
    `[O, C / group, kernel..]` in both (packing permutes it for free), `bias`
    `[O]`. `pads` are zeros before and after each dim. ui8 by si8 is si32, and ui8
    by f32 is f32 where `group` is the number of channels of input and result. f16
    and bf16 are summed in f32, and the result is rounded to their type, or f32
    with `wide_result`; `bias` has the type of the result.

    Example:
    ```mlir
    %y = graph.conv %x, %w, %b {strides = array<i64: 2, 2>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>} : (tensor<1x3x224x224xf32>, tensor<64x3x3x3xf32>, tensor<64xf32>) -> tensor<1x64x112x112xf32>
    ```
  }];
  let arguments = (ins Graph_NumberTensor:$input, Graph_NumberTensor:$filter,
                       Optional<Graph_NumberTensor>:$bias,
                       DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$pads,
                       DenseI64ArrayAttr:$dilations,
                       DefaultValuedAttr<I64Attr, "1">:$group,
                       DefaultValuedAttr<Graph_LayoutAttr,
                                         "Layout::NCHW">:$layout,
                       UnitAttr:$wide_result);
  let results = (outs Graph_NumberTensor:$result);
}

def Graph_ConvTransposeOp
    : Graph_InferredOp<"conv_transpose", [WindowOpInterface]> {
  let summary = "Transposed convolution";
  let description = [{
    The adjoint of graph.conv: `out = stride * (in - 1) + output_padding +
    dilation * (kernel - 1) + 1 - pads`. The filter is `[C, O / group, kernel..]`
    in both layouts.

    Example:
    ```mlir
    %y = graph.conv_transpose %x, %w {strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, output_padding = array<i64: 0, 0>} : (tensor<1x8x4x4xf32>, tensor<8x3x2x2xf32>) -> tensor<1x3x8x8xf32>
    ```
  }];
  let arguments = (ins Graph_NumberTensor:$input, Graph_NumberTensor:$filter,
                       Optional<Graph_NumberTensor>:$bias,
                       DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$pads,
                       DenseI64ArrayAttr:$dilations,
                       DenseI64ArrayAttr:$output_padding,
                       DefaultValuedAttr<I64Attr, "1">:$group,
                       DefaultValuedAttr<Graph_LayoutAttr,
                                         "Layout::NCHW">:$layout);
  let results = (outs Graph_NumberTensor:$result);
}

#endif // ADZE_DIALECT_GRAPH_IR_GRAPHCONTRACTION
