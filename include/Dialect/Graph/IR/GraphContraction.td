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
    operands have at least rank 2, equal sizes K and equal element types, or
    elements of ui8 and i8, whose product is i32. `transpose_a` and `transpose_b`
    swap the last two dims of an operand before the product. f16 and bf16 are
    summed in f32; the result is rounded to their type, or stays f32 with
    `wide_result`. Source: ONNX MatMul-13.

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
    `layout` is that of input and result: nchw `[N, C, spatial..]` or nhwc
    `[N, spatial.., C]`. The filter is `[O, C / group, kernel..]` in both layouts
    (it is permuted when it is packed, at no cost), and `bias` is `[O]`. `strides`
    and `dilations` have one element for each spatial dim; `pads` has the number
    of zeros before each spatial dim, then after each.

    Input and filter have equal element types, or ui8 and i8 with a result of
    i32, or ui8 and f32 with a result of f32 if `group` is the number of channels
    of input and result. f16 and bf16 are summed in f32; the result is rounded to
    their type, or stays f32 with `wide_result`. `bias` has the element type of
    the result. Strides, dilations and `group` are at least 1, `group` divides C
    and O, and the kernel fits into the padded input. Source: ONNX Conv-22.

    With a `band`, which is at least 1, the filter is `[O, S, kernel..]`, and
    each run of `band` output channels has the same S input channels: those from
    the first channel of the group of the first output on. Channels at C and
    beyond are zero, so the filter has zeros where an output's group has no such
    channel.

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
                       UnitAttr:$wide_result,
                       OptionalAttr<I64Attr>:$band);
  let results = (outs Graph_NumberTensor:$result);
}

def Graph_ConvTransposeOp
    : Graph_InferredOp<"conv_transpose", [WindowOpInterface]> {
  let summary = "Transposed convolution";
  let description = [{
    The adjoint of graph.conv, whose attributes it has. A spatial dim of the
    result has the size `stride * (in - 1) + output_padding +
    dilation * (kernel - 1) + 1 - pads`, which is at least 0. The filter is
    `[C, O / group, kernel..]` in both layouts. Source: ONNX ConvTranspose-22.

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
