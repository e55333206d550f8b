// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Convolution by minimal filtering, on weights that are transformed already.
#ifndef ADZE_DIALECT_GRAPH_IR_GRAPHWINOGRAD
#define ADZE_DIALECT_GRAPH_IR_GRAPHWINOGRAD

include "Dialect/Graph/IR/GraphBase.td"

def Graph_WinogradConvOp
    : Graph_InferredOp<"winograd_conv", [WindowOpInterface]> {
  let summary = "3x3 convolution by Winograd's F(tile x tile, 3 x 3)";
  let description = [{
    Cuts an image `[N, H, W, C]`, padded with `pads` zeros (top, left, bottom,
    right), into overlapping patches of `(tile + 2)^2` elements, `tile` apart,
    and multiplies each from both sides by the input matrix of F(tile, 3) (see
    Winograd.h). Each of the elements of a patch, over all channels, is
    multiplied by its matrix of `filter` `[(tile + 2)^2, C, O]`; these products
    are multiplied from both sides by the output matrix, which gives `tile^2`
    pixels of the result `[N, H', W', O]`.

    The filter may have nine matrices more behind these: its taps themselves,
    row after row. An image of so few pixels that a run multiplies less without
    patches is a sum of products of what each tap sees.

    Example:
    ```mlir
    %y = graph.winograd_conv %x, %u {tile = 4 : i64, pads = array<i64: 1, 1, 1, 1>} : (tensor<1x14x14x64xf32>, tensor<36x64x32xf32>) -> tensor<1x14x14x32xf32>
    ```
  }];
  let arguments = (ins Graph_FloatTensor:$input, Graph_FloatTensor:$filter,
                       I64Attr:$tile, DenseI64ArrayAttr:$pads);
  let results = (outs Graph_FloatTensor:$result);
}

#endif // ADZE_DIALECT_GRAPH_IR_GRAPHWINOGRAD
