// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Buffers of a caller that hold a state from call to call.
#ifndef ADZE_DIALECT_GRAPH_IR_GRAPHSTATES
#define ADZE_DIALECT_GRAPH_IR_GRAPHSTATES

include "Dialect/Graph/IR/GraphBase.td"

def Graph_OpenStateOp : Graph_TensorOp<"open_state"> {
  let summary = "The buffer of a state, which begins with the rows of its past";
  let description = [{
    Element `state` of the function's list `graph.states` says how the buffer
    continues the argument `past`: the first rows of the result along `axis` are
    those of `past`, and the size of this dim is the symbol `pitch`. Rows from
    `rows` on are not the function's to read or write. What is inserted into the
    result lies in the caller's buffer.

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
  let summary = "What a function returns of a state";
  let description = [{
    The rows of a buffer that the caller sees: from `drop` to `rows` along `axis`
    of element `state` of the function's list `graph.states`. The operand is the
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
