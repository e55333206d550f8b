// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Both ends of a convolution by minimal filtering; between them is a matmul.
#ifndef ADZE_DIALECT_GRAPH_IR_GRAPHWINOGRAD
#define ADZE_DIALECT_GRAPH_IR_GRAPHWINOGRAD

include "Dialect/Graph/IR/GraphBase.td"

def Graph_WinogradInputOp : Graph_InferredOp<"winograd_input"> {
  let summary = "Patches of an image, as Winograd's convolution multiplies them";
  let description = [{
    Cuts an image `[N, H, W, C]`, padded with `pads` zeros (top, left, bottom,
    right), into overlapping patches of `(tile + 2)^2` elements, `tile` apart,
    and multiplies each from both sides by the input matrix of F(tile, 3) (see
    Winograd.h). The result `[(tile + 2)^2, N, rows, columns, C]` has the
    elements of a patch outermost.

    Example:
    ```mlir
    %v = graph.winograd_input %x {tile = 4 : i64, pads = array<i64: 1, 1, 1, 1>} : (tensor<1x14x14x64xf32>) -> tensor<36x1x4x4x64xf32>
    ```
  }];
  let arguments = (ins Graph_FloatTensor:$input, I64Attr:$tile,
                       DenseI64ArrayAttr:$pads);
  let results = (outs Graph_FloatTensor:$result);
}

def Graph_WinogradOutputOp : Graph_InferredOp<"winograd_output"> {
  let summary = "The image of products of Winograd's patches";
  let description = [{
    Multiplies each patch of `[(tile + 2)^2, N, rows, columns, C]` from both
    sides by the output matrix of F(tile, 3), which gives `tile^2` pixels, and
    puts them side by side. The image `[N, H, W, C]` has `size` rows and
    columns; what the last patches have beyond them is dropped.

    Example:
    ```mlir
    %y = graph.winograd_output %m {tile = 4 : i64, size = array<i64: 14, 14>} : (tensor<36x1x4x4x64xf32>) -> tensor<1x14x14x64xf32>
    ```
  }];
  let arguments = (ins Graph_FloatTensor:$input, I64Attr:$tile,
                       DenseI64ArrayAttr:$size);
  let results = (outs Graph_FloatTensor:$result);
}

#endif // ADZE_DIALECT_GRAPH_IR_GRAPHWINOGRAD
