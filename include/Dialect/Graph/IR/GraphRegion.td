// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Pooling over regions of interest, whose coordinates are data.
#ifndef ADZE_DIALECT_GRAPH_IR_GRAPHREGION
#define ADZE_DIALECT_GRAPH_IR_GRAPHREGION

include "Dialect/Graph/IR/GraphBase.td"

def Graph_RoiAlignOp : Graph_TensorOp<"roi_align"> {
  let summary = "Interpolated pooling over regions of interest";
  let description = [{
    Divides region r, [x1, y1, x2, y2] * `scale` of image `batch[r]`, into as many
    bins as the last two dims of the result state. The result for a bin is the
    mean of its bilinear samples or, with `max`, the greatest weighted corner of
    them. A bin has `samples` samples along each dim or, if that is 0, as many as
    it is wide, in pixels. With `half_pixel`, 0.5 is subtracted from coordinates;
    without, regions are at least 1 pixel wide. Source: ONNX RoiAlign-22.

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
    Regions are rows [batch, x1, y1, x2, y2], whose coordinates are multiplied by
    `scale` and rounded; both ends belong to the region. Bins overlap where their
    borders are not integers. The result for an empty bin is 0. Source: ONNX
    MaxRoiPool-22.

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
