// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Buffers of the caller that hold a state across calls.
#ifndef ADZE_DIALECT_GRAPH_IR_GRAPHSTATES
#define ADZE_DIALECT_GRAPH_IR_GRAPHSTATES

include "Dialect/Graph/IR/GraphBase.td"

def Graph_OpenStateOp : Graph_TensorOp<"open_state"> {
  let summary = "Buffer of a state, whose first rows are those of the argument";
  let description = [{
    `state` is an index into the function attribute `graph.states`, whose element
    states `axis`, `pitch` and `rows`. The result is the buffer of the caller: its
    first rows along `axis` are those of the argument `past`, and this dim has the
    size `pitch`. The function neither reads nor writes rows from `rows` on. A
    value that is inserted into the result is stored to the caller's buffer.
    Operand and result have equal element types, and dims that differ in at most
    one.

    Example:
    ```mlir
    %p = graph.open_state %past {state = 0 : i64} : (tensor<?x4xf32, affine_map<()[s0, s1] -> (s0, 4)>>) -> tensor<?x4xf32, affine_map<()[s0, s1] -> (s1, 4)>>
    ```
  }];
  let arguments = (ins Graph_Tensor:$past, I64Attr:$state);
  let results = (outs Graph_Tensor:$result);
  let hasVerifier = 1;
}

def Graph_CloseStateOp : Graph_TensorOp<"close_state"> {
  let summary = "Rows of the buffer of a state that the function returns";
  let description = [{
    Returns rows `drop` to `rows` along `axis` of the buffer, all of which element
    `state` of the function attribute `graph.states` states. The operand is the
    result of the last insertion into the buffer of `graph.open_state`.

    Example:
    ```mlir
    %y = graph.close_state %p {state = 0 : i64} : (tensor<?x4xf32, affine_map<()[s0, s1] -> (s1, 4)>>) -> tensor<?x4xf32, affine_map<()[s0, s1] -> (s0 + 1, 4)>>
    ```
  }];
  let arguments = (ins Graph_Tensor:$buffer, I64Attr:$state);
  let results = (outs Graph_Tensor:$result);
  let hasVerifier = 1;
}

#endif // ADZE_DIALECT_GRAPH_IR_GRAPHSTATES
