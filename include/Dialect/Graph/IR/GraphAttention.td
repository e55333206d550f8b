// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Scaled dot product attention.
#ifndef ADZE_DIALECT_GRAPH_IR_GRAPHATTENTION
#define ADZE_DIALECT_GRAPH_IR_GRAPHATTENTION

include "Dialect/Graph/IR/GraphBase.td"

def Graph_AttentionOp
    : Graph_InferredOp<"attention", [AttrSizedOperandSegments]> {
  let summary = "Scaled dot product attention";
  let description = [{
    Computes `softmax(scores) * value` along the keys. The score of query `i` and
    key `j` is computed in this order:

    1. `query[i] . key[j] * scale`;
    2. with `softcap` c > 0: `c * tanh(score / c)`;
    3. `bias` is added;
    4. the score becomes `fill` if `mask` is false, or if `causal` masks the key:
       `upper_left` masks all keys but those with `j <= i`, `lower_right` all but
       those with `j - S <= i - L`.

    Query `[.., H, L, D]`, key `[.., G, S, D]` and value `[.., G, S, E]` give
    `[.., H, L, E]`. The dims of key and value before G are equal to those of the
    query or 1. G divides H: head h of the query uses head `h / (H / G)` of key
    and value (grouped query attention). Bias and mask broadcast to
    `[.., H, L, S]`. A query of which all scores are -infinity has the result NaN,
    or 0 with `zero_masked`. With `zero_empty`, a query that has a weight NaN for
    any reason has the result 0. f16 and bf16 are summed in f32. All operands but
    the mask have equal element types, and at least rank 3.

    Source: ONNX Attention-25, and the operators of com.microsoft that compute
    attention; Vaswani et al., "Attention Is All You Need", 2017.

    Example:
    ```mlir
    %y = graph.attention %q, %k, %v mask %m {scale = 1.250000e-01 : f64} : (tensor<1x12x128x64xf32>, tensor<1x12x128x64xf32>, tensor<1x12x128x64xf32>, tensor<1x1x1x128xi1>) -> tensor<1x12x128x64xf32>
    ```
  }];
  let arguments = (ins Graph_FloatTensor:$query, Graph_FloatTensor:$key,
                       Graph_FloatTensor:$value,
                       Optional<Graph_FloatTensor>:$bias,
                       Optional<Graph_BoolTensor>:$mask, F64Attr:$scale,
                       DefaultValuedAttr<F64Attr, "0.0">:$softcap,
                       DefaultValuedAttr<F64Attr, "-INFINITY">:$fill,
                       DefaultValuedAttr<Graph_CausalAttr,
                                         "Causal::None">:$causal,
                       DefaultValuedAttr<BoolAttr, "false">:$zero_empty,
                       DefaultValuedAttr<BoolAttr, "false">:$zero_masked);
  let results = (outs Graph_FloatTensor:$result);
  let assemblyFormat = [{
    $query `,` $key `,` $value (`bias` $bias^)? (`mask` $mask^)? attr-dict `:`
    functional-type(operands, results)
  }];
  let extraClassDeclaration = [{
    /// Returns the dims of the scores: [.., H, L, S].
    ::adze::graph::Dims getScoreDims();
    /// Returns how many consecutive indices of batch dim `dim` use one index of
    /// the operand (key or value), or 0 if all do. Returns nothing if the number
    /// is unknown.
    std::optional<int64_t> getRepeats(::mlir::Value operand, int64_t dim);
  }];
}

#endif // ADZE_DIALECT_GRAPH_IR_GRAPHATTENTION
