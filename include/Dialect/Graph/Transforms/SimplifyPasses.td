// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Passes that write the same computation with less work.
#ifndef ADZE_DIALECT_GRAPH_TRANSFORMS_SIMPLIFYPASSES
#define ADZE_DIALECT_GRAPH_TRANSFORMS_SIMPLIFYPASSES

include "mlir/Pass/PassBase.td"

def SpaceToDepthPass : Pass<"graph-space-to-depth", "::mlir::func::FuncOp"> {
  let summary = "Compute convolutions of few channels as ones of more";
  let description = [{
    A convolution whose elements a unit of the target multiplies as matrices
    (tensor cores, AMX), and whose pixels are no multiple of 16 bytes, becomes one
    of steps 1 (on CPUs where it has few channels and many taps): a block
    of as many rows and columns of pixels as the step, with channels up to a
    multiple of 16 bytes in all, is one pixel. Rows of 16 bytes are what tensor
    maps copy. Padding is part of the tensor then, taps are filled up with zeros.
    Not where a pixel would have more than 64 channels, unless the blocks are the
    windows: patches become rows of a product. On CPUs, where as many channels hold
    all taps of a row, these are channels of one pixel, too.

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
    Statistic<"rewritten", "rewritten", "Convolutions of few channels">,
  ];
}

def SimplifyAlgebraPass
    : Pass<"graph-simplify-algebra", "::mlir::func::FuncOp"> {
  let summary = "Arithmetic that is less work written otherwise";
  let description = [{
    Neutral operands, equal operands, ops that undo or repeat themselves, bounds
    of bounds, choices and results that are known, signs that come off, casts of
    lossless casts, reductions of reductions and of dims of size 1; windows along
    a signal that lies as an image of one column lose the column; small powers
    become products, division by
    a power of two a product. Numbers that weigh the elements of a softmax are
    summed before the division, so that the softmax is not stored. All give the
    same bits but powers, which round as products do, joined reductions, which
    combine in another order, and such sums.

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
  let summary = "Chains of data movement that move less written otherwise";
  let description = [{
    Concatenations of concatenations and of adjacent slices, slices of one
    part of a concatenation,
    padding of padding, padding that only cuts, repetition of what is repeated
    or of what an elementwise op repeats itself, reversal of a reversal, and
    look-ups at evenly spaced constant places, which are slices, or of equal
    elements. Concatenations
    sink below elementwise ops, so that only the last one is stored; dims of size
    1 come and go before the arithmetic of their pieces, not between. Chains of
    reshapes, transposes and slices are `canonicalize`'s.

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
  let summary = "Splits of dims, slices, transposes and merges in this order";
  let description = [{
    Before and after attention, data movement becomes one reshape that splits
    dims, one slice, one transpose and one reshape that merges dims, in any
    spelling of the model: the reshapes are views of stored tensors, and the
    kernel does the rest. Batch dims that are merged for attention stay apart, and so do rows
    that are merged for a product; reshapes sink below arithmetic with constants
    and below arithmetic on what a transpose has moved, which is then done by the
    kernel that moves it; repetition by concatenation or look-up is one, but for
    that of the last dim; a reduction keeps the dims that a reshape puts back.

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
  let summary = "Straight code for decided branches and short loops";
  let description = [{
    A `graph.if` whose condition is a constant becomes the branch that runs; a
    `graph.loop` that runs a constant number of times becomes its iterations,
    one after the other, with the slices that it collects concatenated. Both
    only where no size is decided by what runs. What both branches yield, and
    what each iteration hands on as it is, is read from outside.

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
           "Loops of more iterations stay">,
    Option<"maxOps", "max-ops", "int64_t", /*default=*/"512",
           "Loops of which more ops would come stay">,
  ];
  let statistics = [
    Statistic<"decided", "decided", "Branches taken at compile time">,
    Statistic<"unrolled", "unrolled", "Loops unrolled">,
    Statistic<"forwarded", "forwarded",
              "Branches and loops whose results are partly from outside">,
  ];
}

def ConvTransposeToConvPass
    : Pass<"graph-conv-transpose-to-conv", "::mlir::func::FuncOp"> {
  let summary = "Transposed convolutions as convolutions";
  let description = [{
    A transposed convolution without a stride is a convolution with its constant
    filter turned round. With a stride of s in each of d dims, and a kernel whose
    size it divides, the results whose places have one remainder by s, a phase,
    are a convolution of their own over the same input: with channels for all
    s^d phases, one convolution makes all of them, and its results are moved to
    their places. That is done where so few channels would leave most lanes of a
    vector without work.

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
    Statistic<"turned", "turned", "Those without a stride">,
    Statistic<"merged", "merged", "Those of which all phases are channels">,
  ];
}

def SplitPoolsPass : Pass<"graph-split-pools", "::mlir::func::FuncOp"> {
  let summary = "Maxima and means over large windows, one dim after the other";
  let description = [{
    The maximum (or mean, but of 16-bit floats) over a window of k x k is that
    along one dim of those along the other: 2 k elements for k^2. That is done where
    it leaves at most a third, so that what is between may be written and read.

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
    With known statistics a batch normalisation is `x * s + t`. It goes into the
    convolution, transposed convolution or matmul before it, or into the matmul
    or unpadded convolution after it, where their weights are constants, also,
    with the shifts of one image as a summand, into the transposed convolution
    after it; what is left becomes a multiplication and a sum. Constant factors
    and summands of the channels go into the convolution before them, factors of
    columns into the matmul before or after them; divisors and differences as
    these. Convolutions of one input that are added become one by the sum of
    their filters, a smaller window with zeros around it. The new weights are ops on constants: `graph-fold-constants` runs them.

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
    Statistic<"lowered", "lowered", "Normalisations made a multiply-add">,
  ];
}

#endif // ADZE_DIALECT_GRAPH_TRANSFORMS_SIMPLIFYPASSES
