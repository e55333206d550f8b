// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Passes that recognize an op in the several ops that exporters write for it.
#ifndef ADZE_DIALECT_GRAPH_TRANSFORMS_RECOGNIZEPASSES
#define ADZE_DIALECT_GRAPH_TRANSFORMS_RECOGNIZEPASSES

include "mlir/Pass/PassBase.td"

def RecognizeAttentionPass
    : Pass<"graph-recognize-attention", "::mlir::func::FuncOp"> {
  let summary = "Recognize attention in two products around a softmax";
  let description = [{
    `matmul(softmax(matmul(q, k) ..), v)` becomes `graph.attention`. The pass
    matches the variants that common exporters write:

    - the scale is a factor or divisor of the query, the key or the scores;
    - a bias or mask is added, selected by a condition or multiplied by 0 and 1,
      also before the scale;
    - the product has swapped operands and is transposed; keys are transposed in
      any way;
    - the causal mask is a constant, a `trilu` or a comparison of positions;
    - scores have a lower bound after the mask, or a soft cap;
    - heads share keys by an expansion or a tile;
    - batch and heads are one dim in the products;
    - NaN weights, or weights of masked keys, are replaced by 0.

    Intermediate results must not have other uses. A remark states why a product
    with the result of a softmax is not rewritten.

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
    Statistic<"refused", "refused", "Products around a softmax not rewritten">,
  ];
}

def RecognizeActivationsPass
    : Pass<"graph-recognize-activations", "::mlir::func::FuncOp"> {
  let summary = "Recognize activations that several ops compute";
  let description = [{
    Products of `x` and a function of `x` become gelu (by erf, tanh or a sigmoid),
    silu, hard_swish or mish. Quotients by `1 + e^-x` become sigmoid or silu.
    Factors may be in any order, may be divisors, and may be distributed over
    sums; `1 + erf(u)` may be `1 - erf(-u)`, and bounds may be in either order.
    Constants match within the precision of their type.

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
  let summary = "Recognize softmax and normalisations that several ops compute";
  let description = [{
    The pass rewrites:

    - `e / sum(e)` with `e = exp(x - max(x))`, or with `e = exp(x)` before a
      product, to softmax;
    - `(x - mean) / sqrt(mean((x - mean)^2) + epsilon)` over the last dims to
      layer_norm, and the same without the mean to rms_norm. Factors and summands
      of the normalised dims, or of dims between these and the first one, become
      scale and bias, in any order;
    - instance and group normalisation with leading channels to layer_norm of a
      view, with factors and summands of the channels after the view.

    Roots may be powers, quotients products with reciprocals, means sums divided
    by the count, and variances `mean(x^2) - mean(x)^2`. A reshape may add reduced
    dims back.

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
