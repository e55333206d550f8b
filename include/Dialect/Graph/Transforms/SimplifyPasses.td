// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Passes that simplify a graph: fewer operations, less data movement.
#ifndef ADZE_DIALECT_GRAPH_TRANSFORMS_SIMPLIFYPASSES
#define ADZE_DIALECT_GRAPH_TRANSFORMS_SIMPLIFYPASSES

include "mlir/Pass/PassBase.td"

def SpaceToDepthPass : Pass<"graph-space-to-depth", "::mlir::func::FuncOp"> {
  let summary = "Convert convolutions with few channels to ones with more channels";
  let description = [{
    Applies to convolutions whose element types a matrix unit of the target
    (tensor cores, AMX) multiplies, and whose pixels are not a multiple of 16
    bytes; on CPUs only with few channels and many taps. Blocks of s x s pixels,
    s being the stride, become one pixel, whose channels are padded to a multiple
    of 16 bytes (the granularity of tensor maps). The new convolution has stride
    1. The pads become part of the tensor, and the filter is padded with zeros.

    A convolution stays if a pixel would have more than 64 channels, unless the
    blocks are the windows of the convolution, which is then a matrix product of
    patches. On CPUs, all taps of a row become channels of one pixel if they are
    at most as many.

    Before (cuda=sm_90a):
    ```mlir
    %y = graph.conv %x, %w {strides = array<i64: 2, 2>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>} : (tensor<1x3x8x8xf16>, tensor<4x3x3x3xf16>) -> tensor<1x4x4x4xf16>
    ```
    After:
    ```mlir
    %0 = graph.pad %x {low = array<i64: 0, 0, 1, 1>, high = array<i64: 0, 1, 1, 1>} : (tensor<1x3x8x8xf16>) -> tensor<1x4x10x10xf16>
    %1 = graph.reshape %0 : (tensor<1x4x10x10xf16>) -> tensor<1x4x5x2x5x2xf16>
    %2 = graph.transpose %1 {perm = array<i64: 0, 2, 4, 3, 5, 1>} : (tensor<1x4x5x2x5x2xf16>) -> tensor<1x5x5x2x2x4xf16>
    %3 = graph.reshape %2 : (tensor<1x5x5x2x2x4xf16>) -> tensor<1x5x5x16xf16>
    %4 = graph.pad %w {low = array<i64: 0, 0, 0, 0>, high = array<i64: 0, 1, 1, 1>} : (tensor<4x3x3x3xf16>) -> tensor<4x4x4x4xf16>
    %5 = graph.reshape %4 : (tensor<4x4x4x4xf16>) -> tensor<4x4x2x2x2x2xf16>
    %6 = graph.transpose %5 {perm = array<i64: 0, 3, 5, 1, 2, 4>} : (tensor<4x4x2x2x2x2xf16>) -> tensor<4x2x2x4x2x2xf16>
    %7 = graph.reshape %6 : (tensor<4x2x2x4x2x2xf16>) -> tensor<4x16x2x2xf16>
    %8 = graph.conv %3, %7 {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, layout = #graph.layout<nhwc>} : (tensor<1x5x5x16xf16>, tensor<4x16x2x2xf16>) -> tensor<1x4x4x4xf16>
    %y = graph.transpose %8 {perm = array<i64: 0, 3, 1, 2>} : (tensor<1x4x4x4xf16>) -> tensor<1x4x4x4xf16>
    ```
  }];
  let statistics = [
    Statistic<"rewritten", "rewritten", "Convolutions rewritten">,
  ];
}

def BandGroupsPass : Pass<"graph-band-groups", "::mlir::func::FuncOp"> {
  let summary = "Give adjacent groups of convolutions one set of input channels";
  let description = [{
    Applies to 2-D convolutions by constant filters with groups, if all targets
    are GPUs with a matrix unit for their elements. A unit has 64 columns or
    more, which are those of several groups of few channels. The filter becomes
    one for all channels that these read, with zeros for the other groups: a
    band matrix. Zeros times infinity are NaN, so that infinite elements reach
    the results of adjacent groups.

    A convolution stays if the unit would multiply more than 16 elements for
    each one of the filter, as in depthwise convolutions, or if the channels of
    a band do not start at multiples of 16 bytes.

    Before (cuda=sm_90a):
    ```mlir
    %w = graph.constant dense<2.0> : tensor<128x64x1x1xf16>
    %y = graph.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, group = 2 : i64} : (tensor<1x128x8x8xf16>, tensor<128x64x1x1xf16>) -> tensor<1x128x8x8xf16>
    ```
    After:
    ```mlir
    %w = graph.constant dense<2.0> : tensor<128x64x1x1xf16>
    %y = graph.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, group = 2 : i64, band = 64 : i64} : (tensor<1x128x8x8xf16>, tensor<128x64x1x1xf16>) -> tensor<1x128x8x8xf16>
    ```
  }];
  let statistics = [
    Statistic<"rewritten", "rewritten", "Convolutions rewritten">,
  ];
}

def WinogradPass : Pass<"graph-winograd", "::mlir::func::FuncOp"> {
  let summary = "Compute 3x3 convolutions by Winograd's algorithm";
  let description = [{
    A channels-last convolution with 3x3 constant weights, without stride,
    dilation or groups, becomes a `graph.winograd_conv` with transformed weights,
    if its elements are f32, or f16 or bf16 that no unit multiplies as matrices.
    F(2x2, 3x3) has 2.25 times fewer multiplications, F(4x4, 3x3) 4 times; weights
    grow by 1.8 or 4. A cost model (WinogradPlan.cpp) chooses the algorithm.

    For GPUs, f32 convolutions of images of static height and width become ops
    that transform patches and filters, multiply them as one batch, and transform
    the products, if these are estimated to take less time. Filters are
    transformed in each run, which takes little time beside the products.

    For normally distributed values and 256 channels, the greatest error by range
    is 1e-6 for tiles of 4, 3e-7 for tiles of 2, and 5e-7 for direct convolution.
    f16 and bf16, whose transformed weights are rounded, have tiles of 2 only.

    Before:
    ```mlir
    %w = graph.constant dense<0.5> : tensor<64x64x3x3xf32>
    %0 = graph.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, layout = #graph.layout<nhwc>} : (tensor<1x56x56x64xf32>, tensor<64x64x3x3xf32>) -> tensor<1x56x56x64xf32>
    ```
    After, with `%u` made of `%w`:
    ```mlir
    %0 = graph.winograd_conv %x, %u {tile = 4 : i64, pads = array<i64: 1, 1, 1, 1>} : (tensor<1x56x56x64xf32>, tensor<36x64x64xf32>) -> tensor<1x56x56x64xf32>
    ```
  }];
  let options = [
    Option<"forced", "tile", "int64_t", /*default=*/"-1",
           "2 or 4: use this tile wherever it is legal; -1: choose by cost">,
  ];
  let dependentDialects = ["::adze::tile::TileDialect"];
  let statistics = [
    Statistic<"numSmall", "small", "Convolutions by F(2x2, 3x3)">,
    Statistic<"numLarge", "large", "Convolutions by F(4x4, 3x3)">,
  ];
}

def SimplifyAlgebraPass
    : Pass<"graph-simplify-algebra", "::mlir::func::FuncOp"> {
  let summary = "Simplify arithmetic";
  let description = [{
    Simplifies:

    - neutral and equal operands, inverse and idempotent ops, nested bounds,
      selections and results that are constant, redundant negations, and casts of
      lossless casts;
    - nested reductions, reductions of dims of size 1, and transposes before and
      after a reduction that cancel;
    - 2-D windows over a signal with one column, which become 1-D;
    - small constant powers, which become products, and divisions by powers of
      two, which become multiplications;
    - a weighted sum of a softmax, which is divided after the summation, so that
      the softmax is not stored.

    Results are bitwise equal, except for powers, which round as products do,
    merged or reordered reductions, which combine in another order, and weighted sums.

    Before:
    ```mlir
    %two = graph.constant dense<2.0> : tensor<f32>
    %0 = graph.neg %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
    %1 = graph.neg %0 : (tensor<4x8xf32>) -> tensor<4x8xf32>
    %2 = graph.pow %1, %two : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
    ```
    After:
    ```mlir
    %2 = graph.mul %x, %x : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
    ```
  }];
  let statistics = [Statistic<"simplified", "simplified", "Ops rewritten">];
}

def SimplifyMovementPass
    : Pass<"graph-simplify-movement", "::mlir::func::FuncOp"> {
  let summary = "Simplify chains of data movement";
  let description = [{
    Simplifies nested concatenations, concatenations of adjacent slices, slices
    of one operand of a concatenation, nested padding, padding that only crops,
    nested broadcasts, broadcasts that an elementwise op implies, and nested
    reversals. Gathers at evenly spaced constant indices become slices, and
    gathers of equal elements become broadcasts. Concatenations sink below
    elementwise ops, so that only the last one is stored. Dims of size 1 are
    added or removed before the arithmetic on the operands of a concatenation.
    `canonicalize` simplifies chains of reshapes, transposes and slices.

    Before:
    ```mlir
    %0 = graph.concat %x, %y {axis = 0 : i64} : (tensor<2x8xf32>, tensor<3x8xf32>) -> tensor<5x8xf32>
    %1 = graph.slice %0 {starts = array<i64: 3, 0>, steps = array<i64: 1, 1>} : (tensor<5x8xf32>) -> tensor<2x8xf32>
    ```
    After:
    ```mlir
    %1 = graph.slice %y {starts = array<i64: 1, 0>, steps = array<i64: 1, 1>} : (tensor<3x8xf32>) -> tensor<2x8xf32>
    ```
  }];
  let statistics = [Statistic<"simplified", "simplified", "Ops rewritten">];
}

def OrderViewsPass : Pass<"graph-order-views", "::mlir::func::FuncOp"> {
  let summary = "Canonicalize the order of reshapes, slices and transposes";
  let description = [{
    Data movement before and after attention becomes one reshape that splits dims,
    one slice, one transpose and one reshape that merges dims, however the model
    expresses it. The reshapes are views of stored tensors, and the kernel
    implements the slice and the transpose. Further rewrites serve this order:

    - Batch dims of attention and rows of a product are not merged.
    - Reshapes sink below arithmetic with constants, and below arithmetic on the
      result of a transpose, so that one kernel transposes and computes.
    - Repetition by a concatenation or gather becomes a broadcast, except along
      the last dim.
    - A reduction keeps the dims that a reshape adds back.

    Before:
    ```mlir
    %0 = graph.reshape %x : (tensor<16x2x128xf32>) -> tensor<16x8x32xf32>
    %1 = graph.transpose %0 {perm = array<i64: 1, 0, 2>} : (tensor<16x8x32xf32>) -> tensor<8x16x32xf32>
    %2 = graph.attention %1, %1, %1 {scale = 1.0 : f64} : (tensor<8x16x32xf32>, tensor<8x16x32xf32>, tensor<8x16x32xf32>) -> tensor<8x16x32xf32>
    ```
    After:
    ```mlir
    %0 = graph.reshape %x : (tensor<16x2x128xf32>) -> tensor<16x2x4x32xf32>
    %1 = graph.transpose %0 {perm = array<i64: 1, 2, 0, 3>} : (tensor<16x2x4x32xf32>) -> tensor<2x4x16x32xf32>
    %a = graph.attention %1, %1, %1 {scale = 1.0 : f64} : (tensor<2x4x16x32xf32>, tensor<2x4x16x32xf32>, tensor<2x4x16x32xf32>) -> tensor<2x4x16x32xf32>
    %2 = graph.reshape %a : (tensor<2x4x16x32xf32>) -> tensor<8x16x32xf32>
    ```
  }];
  let statistics = [Statistic<"ordered", "ordered", "Ops rewritten">];
}

def SimplifyControlFlowPass
    : Pass<"graph-simplify-control-flow", "::mlir::func::FuncOp"> {
  let summary = "Inline branches with constant conditions and unroll short loops";
  let description = [{
    A `graph.if` with a constant condition is replaced by the branch that runs. A
    `graph.loop` with a constant trip count is unrolled, and the slices that it
    collects are concatenated. Both apply only if the op binds no symbols. Values
    that both branches yield, and loop-invariant carried values, are replaced by
    the values from outside.

    Before:
    ```mlir
    %true = graph.constant dense<true> : tensor<i1>
    %0 = graph.if %true : (tensor<i1>) -> tensor<4xf32> {
      %1 = graph.exp %x : (tensor<4xf32>) -> tensor<4xf32>
      graph.yield %1 : tensor<4xf32>
    } else {
      graph.yield %x : tensor<4xf32>
    }
    ```
    After:
    ```mlir
    %0 = graph.exp %x : (tensor<4xf32>) -> tensor<4xf32>
    ```
  }];
  let options = [
    Option<"maxTrips", "max-trips", "int64_t", /*default=*/"16",
           "Greatest trip count of unrolled loops">,
    Option<"maxOps", "max-ops", "int64_t", /*default=*/"512",
           "Greatest number of ops that a loop is unrolled to">,
  ];
  let statistics = [
    Statistic<"decided", "decided", "Branches taken at compile time">,
    Statistic<"unrolled", "unrolled", "Loops unrolled">,
    Statistic<"forwarded", "forwarded",
              "Branches and loops of which results were replaced by values from outside">,
  ];
}

def ConvTransposeToConvPass
    : Pass<"graph-conv-transpose-to-conv", "::mlir::func::FuncOp"> {
  let summary = "Convert transposed convolutions to convolutions";
  let description = [{
    A transposed convolution of stride 1 is a convolution with the constant filter
    flipped along its spatial dims. With stride s in each of d dims, where s
    divides the size of the kernel, the results whose coordinates are congruent
    modulo s (a phase) are a convolution of the input. One convolution with output
    channels for all s^d phases computes all of them, and its results are
    transposed to their positions. This is done if the output channels alone would
    leave most vector lanes unused.

    Before:
    ```mlir
    %w = graph.constant dense<0.5> : tensor<64x3x4x4xf32>
    %0 = graph.conv_transpose %x, %w {strides = array<i64: 2, 2>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, output_padding = array<i64: 0, 0>} : (tensor<1x64x32x32xf32>, tensor<64x3x4x4xf32>) -> tensor<1x3x64x64xf32>
    ```
    After, with `%u` made of `%w`:
    ```mlir
    %0 = graph.conv %x, %u {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>} : (tensor<1x64x32x32xf32>, tensor<12x64x2x2xf32>) -> tensor<1x12x33x33xf32>
    %1 = graph.reshape %0 : (tensor<1x12x33x33xf32>) -> tensor<1x2x2x3x33x33xf32>
    %2 = graph.transpose %1 {perm = array<i64: 0, 3, 4, 1, 5, 2>} : (tensor<1x2x2x3x33x33xf32>) -> tensor<1x3x33x2x33x2xf32>
    %3 = graph.reshape %2 : (tensor<1x3x33x2x33x2xf32>) -> tensor<1x3x66x66xf32>
    %4 = graph.pad %3 {low = array<i64: 0, 0, -1, -1>, high = array<i64: 0, 0, -1, -1>} : (tensor<1x3x66x66xf32>) -> tensor<1x3x64x64xf32>
    ```
  }];
  let statistics = [
    Statistic<"turned", "turned", "Transposed convolutions of stride 1 converted">,
    Statistic<"merged", "merged", "Transposed convolutions converted with phases as channels">,
  ];
}

def SplitPoolsPass : Pass<"graph-split-pools", "::mlir::func::FuncOp"> {
  let summary = "Split pooling over large windows by dims";
  let description = [{
    The maximum over a window of k x k elements is the maximum along one dim of
    the maxima along the other, which reads 2 k elements instead of k^2. The same
    holds for the mean, except for that of 16-bit floats, which would round twice.
    The pass splits a pooling op if this leaves at most a third of the reads, so
    that the intermediate tensor pays off.

    Before:
    ```mlir
    %0 = graph.max_pool %x {kernel = array<i64: 13, 13>, strides = array<i64: 1, 1>, pads = array<i64: 6, 6, 6, 6>, dilations = array<i64: 1, 1>} : (tensor<1x64x20x20xf32>) -> tensor<1x64x20x20xf32>
    ```
    After:
    ```mlir
    %0 = graph.max_pool %x {kernel = array<i64: 13, 1>, strides = array<i64: 1, 1>, pads = array<i64: 6, 0, 6, 0>, dilations = array<i64: 1, 1>} : (tensor<1x64x20x20xf32>) -> tensor<1x64x20x20xf32>
    %1 = graph.max_pool %0 {kernel = array<i64: 1, 13>, strides = array<i64: 1, 1>, pads = array<i64: 0, 6, 0, 6>, dilations = array<i64: 1, 1>} : (tensor<1x64x20x20xf32>) -> tensor<1x64x20x20xf32>
    ```
  }];
  let statistics = [
    Statistic<"split", "split", "Pools over windows of several dims">,
  ];
}

def FoldBatchNormPass : Pass<"graph-fold-batch-norm", "::mlir::func::FuncOp"> {
  let summary = "Fold batch normalisation into weights";
  let description = [{
    A batch normalisation with constant statistics is `x * s + t`. It is folded
    into the convolution, transposed convolution or matmul before it, or into the
    matmul or unpadded convolution after it, if their weights are constants. It is
    also folded into a transposed convolution after it, with an image of the
    shifts as a summand. Other batch normalisations become a multiplication and an
    addition.

    Constant factors and summands of channels are folded into the convolution
    before them, and factors of columns into the matmul before or after them;
    divisors and subtrahends are handled alike. Convolutions of one input whose
    results are added become one convolution with the sum of their filters, of
    which smaller ones are padded with zeros. The new weights are ops on
    constants, which `graph-fold-constants` evaluates.

    Before:
    ```mlir
    %w = graph.constant dense<0.5> : tensor<4x8xf32>
    %s = graph.constant dense<2.0> : tensor<8xf32>
    %0 = graph.matmul %x, %w : (tensor<2x4xf32>, tensor<4x8xf32>) -> tensor<2x8xf32>
    %1 = graph.batch_norm %0, %s, %s, %s, %s : (tensor<2x8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<2x8xf32>
    ```
    After, with `%ws` and `%t` made of the constants:
    ```mlir
    %0 = graph.matmul %x, %ws : (tensor<2x4xf32>, tensor<4x8xf32>) -> tensor<2x8xf32>
    %1 = graph.add %0, %t : (tensor<2x8xf32>, tensor<8xf32>) -> tensor<2x8xf32>
    ```
  }];
  let statistics = [
    Statistic<"folded", "folded", "Ops folded into weights">,
    Statistic<"lowered", "lowered", "Normalisations lowered to a multiply-add">,
  ];
}

#endif // ADZE_DIALECT_GRAPH_TRANSFORMS_SIMPLIFYPASSES
