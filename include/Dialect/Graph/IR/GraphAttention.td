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
    `softmax(scores) * value` along the keys, where the scores of query `i` and
    key `j` are `query[i] . key[j] * scale`, then with `softcap` c > 0
    `c * tanh(scores / c)`, then with `bias` added, and then `fill` where `mask`
    is false or `causal` hides the key: `upper_left` shows query i the keys
    `j <= i`, `lower_right` those with `j - S <= i - L`.

    Query `[.., H, L, D]`, key `[.., G, S, D]` and value `[.., G, S, E]` give
    `[.., H, L, E]`. Dims of key and value before the last two are equal to those
    of the query or 1, and the last of them may divide that of the query: head h
    then reads group `h / (H / G)`. Bias and mask broadcast to `[.., H, L, S]`.

    With `zero_empty`, a query whose weights are no numbers (it sees no key) has
    the result 0 instead of NaN. f16 and bf16 are summed in f32.

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
                       DefaultValuedAttr<BoolAttr, "false">:$zero_empty);
  let results = (outs Graph_FloatTensor:$result);
  let assemblyFormat = [{
    $query `,` $key `,` $value (`bias` $bias^)? (`mask` $mask^)? attr-dict `:`
    functional-type(operands, results)
  }];
  let extraClassDeclaration = [{
    /// The dims of the scores: those of the query, and of the key, in order.
    ::adze::graph::Dims getScoreDims();
    /// How many indices of batch dim `dim` share one of the operand (key or
    /// value): all (0), one (1), or more; none if that is not known.
    std::optional<int64_t> getRepeats(::mlir::Value operand, int64_t dim);
  }];
}

#endif // ADZE_DIALECT_GRAPH_IR_GRAPHATTENTION
