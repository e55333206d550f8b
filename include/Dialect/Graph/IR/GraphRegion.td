// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Pooling over regions of interest, whose places come with the data.
#ifndef ADZE_DIALECT_GRAPH_IR_GRAPHREGION
#define ADZE_DIALECT_GRAPH_IR_GRAPHREGION

include "Dialect/Graph/IR/GraphBase.td"

def Graph_RoiAlignOp : Graph_TensorOp<"roi_align"> {
  let summary = "Interpolated pooling over regions of interest";
  let description = [{
    Cuts each region [x1, y1, x2, y2] * `scale` of image `batch[r]` into the
    result's last two dims of bins and takes the mean (or, with `max`, the
    greatest weighted corner) of the bilinear samples in each: `samples` a dim,
    or as many as the bin is wide (0). With `half_pixel` coordinates are less
    0.5; without, regions are at least 1 wide.

    Example:
    ```mlir
    %y = graph.roi_align %x, %rois, %batch {samples = 2 : i64} : (tensor<1x3x10x10xf32>, tensor<5x4xf32>, tensor<5xi64>) -> tensor<5x3x7x7xf32>
    ```
  }];
  let arguments = (ins Graph_FloatTensor:$input, Graph_FloatTensor:$rois,
                       Graph_I64Tensor:$batch,
                       DefaultValuedAttr<I64Attr, "0">:$samples,
                       DefaultValuedAttr<F64Attr, "1.0">:$scale,
                       DefaultValuedAttr<BoolAttr, "true">:$half_pixel,
                       DefaultValuedAttr<BoolAttr, "false">:$max);
  let results = (outs Graph_FloatTensor:$result);
  let hasVerifier = 1;
}

def Graph_RoiPoolOp : Graph_TensorOp<"roi_pool"> {
  let summary = "Maximum over the bins of regions of interest";
  let description = [{
    Regions are rows [batch, x1, y1, x2, y2], which are scaled by `scale` and
    rounded, both ends in; bins overlap where their borders are no integers. 0
    for an empty bin.

    Example:
    ```mlir
    %y = graph.roi_pool %x, %rois : (tensor<1x3x10x10xf32>, tensor<5x5xf32>) -> tensor<5x3x7x7xf32>
    ```
  }];
  let arguments = (ins Graph_FloatTensor:$input, Graph_FloatTensor:$rois,
                       DefaultValuedAttr<F64Attr, "1.0">:$scale);
  let results = (outs Graph_FloatTensor:$result);
  let hasVerifier = 1;
}

#endif // ADZE_DIALECT_GRAPH_IR_GRAPHREGION
