// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Passes that make one op of what exporters scatter over many.
#ifndef ADZE_DIALECT_GRAPH_TRANSFORMS_RECOGNIZEPASSES
#define ADZE_DIALECT_GRAPH_TRANSFORMS_RECOGNIZEPASSES

include "mlir/Pass/PassBase.td"

def RecognizeAttentionPass
    : Pass<"graph-recognize-attention", "::mlir::func::FuncOp"> {
  let summary = "Make attention of two products around a softmax";
  let description = [{
    `matmul(softmax(matmul(q, k) ..), v)` becomes `graph.attention`, in the
    spellings of the usual exporters: the scale on the query, the key or the
    scores, as a factor or a divisor; a bias or mask that is added, or selected
    by a condition, or by factors of 0 and 1, also before the scale; the product with
    swapped operands and transposed; the causal triangle as a constant, `trilu` or
    a comparison of positions; scores clamped below after the mask; a soft cap; heads that share keys by an expansion or a tile; batch and heads
    merged into one dim for the products; keys transposed in any way; weights
    without numbers, or of hidden keys, set to 0. Intermediate results must not
    have other uses. A remark says why a product of a softmax's result stays.

    Before:
    ```mlir
    %0 = graph.matmul %q, %k {transpose_b = true} : (tensor<2x12x9x64xf32>, tensor<2x12x9x64xf32>) -> tensor<2x12x9x9xf32>
    %c = graph.constant dense<8.0> : tensor<f32>
    %1 = graph.div %0, %c : (tensor<2x12x9x9xf32>, tensor<f32>) -> tensor<2x12x9x9xf32>
    %2 = graph.softmax %1 {axis = 3 : i64} : (tensor<2x12x9x9xf32>) -> tensor<2x12x9x9xf32>
    %3 = graph.matmul %2, %v : (tensor<2x12x9x9xf32>, tensor<2x12x9x64xf32>) -> tensor<2x12x9x64xf32>
    ```
    After:
    ```mlir
    %3 = graph.attention %q, %k, %v {scale = 1.250000e-01 : f64} : (tensor<2x12x9x64xf32>, tensor<2x12x9x64xf32>, tensor<2x12x9x64xf32>) -> tensor<2x12x9x64xf32>
    ```
  }];
  let statistics = [
    Statistic<"recognized", "recognized", "Attention ops made">,
    Statistic<"refused", "refused", "Products around a softmax that stay">,
  ];
}

def RecognizeActivationsPass
    : Pass<"graph-recognize-activations", "::mlir::func::FuncOp"> {
  let summary = "Make one op of an activation spelled by several";
  let description = [{
    Products of `x` and something of `x` become gelu (by erf, tanh or a sigmoid),
    silu, hard_swish or mish, and quotients by `1 + e^-x` sigmoid or silu, whatever
    the order of factors, with divisions for factors, and multiplied out or not;
    `1 + erf(u)` may be `1 - erf(-u)`, bounds stand in either order, and numbers
    of bf16 have the few bits that they have.

    Before:
    ```mlir
    %0 = graph.sigmoid %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
    %1 = graph.mul %0, %x : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
    ```
    After:
    ```mlir
    %1 = graph.silu %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
    ```
  }];
  let statistics = [
    Statistic<"recognized", "recognized", "Activations recognised">,
  ];
}

def RecognizeNormalizationPass
    : Pass<"graph-recognize-normalization", "::mlir::func::FuncOp"> {
  let summary = "Make one op of a softmax or normalisation spelled by several";
  let description = [{
    `e / sum(e)` with `e = exp(x - max(x))`, or `exp(x)` before a product, becomes softmax;
    `(x - mean) / sqrt(mean((x - mean)^2) + epsilon)` over the last dims
    layer_norm, the same without the mean rms_norm; roots as powers, quotients as
    products with reciprocals, means as sums by their number, variances as
    `mean(x^2) - mean(x)^2`, dims of 1 that come back by a reshape. Factors and
    summands of the normalised dims, or of dims between these and the first,
    become scale and bias in any order. Instance and group normalisation with
    leading channels become layer normalisations of a view, with factors and
    summands of the channels after the view.

    Before:
    ```mlir
    %0 = graph.reduce_max %x {axes = array<i64: 1>, keepdims = true} : (tensor<4x8xf32>) -> tensor<4x1xf32>
    %1 = graph.sub %x, %0 : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
    %2 = graph.exp %1 : (tensor<4x8xf32>) -> tensor<4x8xf32>
    %3 = graph.reduce_sum %2 {axes = array<i64: 1>, keepdims = true} : (tensor<4x8xf32>) -> tensor<4x1xf32>
    %4 = graph.div %2, %3 : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
    ```
    After:
    ```mlir
    %4 = graph.softmax %x {axis = 1 : i64} : (tensor<4x8xf32>) -> tensor<4x8xf32>
    ```
  }];
  let statistics = [
    Statistic<"recognized", "recognized", "Softmax ops and norms recognised">,
  ];
}

#endif // ADZE_DIALECT_GRAPH_TRANSFORMS_RECOGNIZEPASSES
