// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Winograd convolution with transformed weights.
#ifndef ADZE_DIALECT_GRAPH_IR_GRAPHWINOGRAD
#define ADZE_DIALECT_GRAPH_IR_GRAPHWINOGRAD

include "Dialect/Graph/IR/GraphBase.td"

def Graph_WinogradConvOp
    : Graph_InferredOp<"winograd_conv", [WindowOpInterface]> {
  let summary = "3x3 convolution by Winograd's F(tile x tile, 3 x 3)";
  let description = [{
    The image `[N, H, W, C]` is padded with `pads` zeros (top, left, bottom,
    right) and divided into overlapping patches of `(tile + 2)^2` elements whose
    origins are `tile` pixels apart. Each patch is multiplied from both sides by
    the input matrix of F(tile, 3) (see Winograd.h). The vector of channels of
    each element of a patch is multiplied by the matrix of `filter`
    `[(tile + 2)^2, C, O]` of this element. The products of a patch are
    multiplied from both sides by the output matrix, which gives `tile^2` pixels
    of the result `[N, H', W', O]`. `tile` is 2 or 4.

    The filter may have nine more matrices after these: the untransformed taps
    in row-major order. A run uses them for an image of so few pixels that a sum
    of products over the taps has fewer multiplications.

    Patches and products are transformed in f32. Transformed patches of f16 and
    bf16 are rounded if a unit of the target multiplies them; products are summed
    in f32. The result has the type of the image, or is f32 with `wide_result`.

    Source: Lavin and Gray, "Fast Algorithms for Convolutional Neural Networks",
    2016. Passes make this op from graph.conv.

    Example:
    ```mlir
    %y = graph.winograd_conv %x, %u {tile = 4 : i64, pads = array<i64: 1, 1, 1, 1>} : (tensor<1x14x14x64xf32>, tensor<36x64x32xf32>) -> tensor<1x14x14x32xf32>
    ```
  }];
  let arguments = (ins Graph_FloatTensor:$input, Graph_FloatTensor:$filter,
                       I64Attr:$tile, DenseI64ArrayAttr:$pads,
                       UnitAttr:$wide_result);
  let results = (outs Graph_FloatTensor:$result);
}

def Graph_WinogradInputOp : Graph_InferredOp<"winograd_input", []> {
  let summary = "The patches of an image for Winograd's algorithm";
  let description = [{
    The image `[N, H, W, C]` is padded with `pads` zeros (top, left, bottom,
    right) and divided into R rows of Q overlapping patches of `(tile + 2)^2`
    elements whose origins are `tile` pixels apart; a 3x3 window fits `tile^2`
    times into each. The patches are multiplied from both sides by the input
    matrix of F(tile, 3) (see Winograd.h). The result `[(tile + 2)^2, N, R, Q,
    C]` has the element of each place of the patches. `tile` is 2 or 4.

    A matrix product by `graph.winograd_filter`, and `graph.winograd_output` of
    it, give a convolution. Passes make these for GPUs, on which the products of
    all patches are one batch. Source: Lavin and Gray, "Fast Algorithms for
    Convolutional Neural Networks", 2016.

    Example:
    ```mlir
    %p = graph.winograd_input %x {tile = 4 : i64, pads = array<i64: 1, 1, 1, 1>} : (tensor<1x14x14x64xf32>) -> tensor<36x1x4x4x64xf32>
    ```
  }];
  let arguments = (ins Graph_FloatTensor:$input, I64Attr:$tile,
                       DenseI64ArrayAttr:$pads);
  let results = (outs Graph_FloatTensor:$result);
}

def Graph_WinogradFilterOp : Graph_InferredOp<"winograd_filter", []> {
  let summary = "A filter for Winograd's algorithm";
  let description = [{
    Multiplies each window of the filter `[O, C, 3, 3]` from both sides by the
    filter matrix of F(tile, 3). The result is `[(tile + 2)^2, C, O]`.

    Example:
    ```mlir
    %u = graph.winograd_filter %w {tile = 4 : i64} : (tensor<32x64x3x3xf32>) -> tensor<36x64x32xf32>
    ```
  }];
  let arguments = (ins Graph_FloatTensor:$filter, I64Attr:$tile);
  let results = (outs Graph_FloatTensor:$result);
}

def Graph_WinogradOutputOp : Graph_InferredOp<"winograd_output", []> {
  let summary = "The pixels of products of Winograd's algorithm";
  let description = [{
    The elements of `products` `[(tile + 2)^2, N, R, Q, O]` at each patch are
    multiplied from both sides by the output matrix of F(tile, 3), which gives
    `tile^2` pixels. The patches are those of images of `size` (height, width),
    beyond which pixels are dropped: the result is `[N, height, width, O]`.

    Example:
    ```mlir
    %y = graph.winograd_output %m {tile = 4 : i64, size = array<i64: 14, 14>} : (tensor<36x1x4x4x32xf32>) -> tensor<1x14x14x32xf32>
    ```
  }];
  let arguments = (ins Graph_FloatTensor:$products, I64Attr:$tile,
                       DenseI64ArrayAttr:$size);
  let results = (outs Graph_FloatTensor:$result);
}

def Graph_TransformFilterOp : Graph_InferredOp<"transform_filter", []> {
  let summary = "Constant filter whose windows are multiplied by a matrix";
  let description = [{
    `filter` `[O, C, kernel..]` is a constant with windows of K elements. Each
    window is multiplied by `matrix` `[P, K]`, which gives `[P, C, O]`; sums are
    in f32. The module has the filter and the matrix, and the run time computes
    the result once, before the first run: it is larger than the filter.

    Example:
    ```mlir
    %w = graph.constant dense<0.5> : tensor<2x3x1x2xf32>
    %u = graph.transform_filter %w {matrix = dense<[[1.0, 0.0], [0.5, 0.5], [0.0, 1.0]]> : tensor<3x2xf32>} : (tensor<2x3x1x2xf32>) -> tensor<3x3x2xf32>
    ```
  }];
  let arguments = (ins Graph_FloatTensor:$filter, ElementsAttr:$matrix);
  let results = (outs Graph_FloatTensor:$result);
}

#endif // ADZE_DIALECT_GRAPH_IR_GRAPHWINOGRAD
