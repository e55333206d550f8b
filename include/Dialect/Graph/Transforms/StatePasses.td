// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Passes on states: buffers that the caller keeps across calls.
#ifndef ADZE_DIALECT_GRAPH_TRANSFORMS_STATEPASSES
#define ADZE_DIALECT_GRAPH_TRANSFORMS_STATEPASSES

include "mlir/Pass/PassBase.td"

def FindStatesPass : Pass<"graph-find-states", "::mlir::func::FuncOp"> {
  let summary = "Update caches of the caller in place";
  let description = [{
    A result that is an argument with rows added or replaced updates a state, such
    as the key/value caches of language models. The new rows are inserted into a
    buffer whose first rows are those of the argument, and which the caller may
    pass for both (`graph.open_state`, `graph.close_state`). Ops that read all rows
    read the buffer. The function attribute `graph.states` lists the pairs of
    argument and result.

    Rows are appended (a concat that begins with the argument, without the first
    ones if a slice takes the last ones) or replaced (scatter_elements without a
    reduction, into the argument or into the argument followed by zeros). States
    whose arguments have equal dims share one `pitch` symbol.

    A result that is an argument of the same name, or that has the type of an
    argument and a matching name (`past`/`present`, `h_in`/`h_out`,
    `state`/`stateN`), replaces the state as a whole. The body of the function is
    not changed for these.

    An argument is not rewritten if its size is data-dependent, its elements take
    less than a byte, it is read before the update, or the program is for a
    device. A remark states the reason if the names match.

    Before:
    ```mlir
    func.func @main(%past: tensor<?x4xf32, affine_map<()[s0] -> (s0, 4)>>, %x: tensor<1x4xf32>) -> tensor<?x4xf32, affine_map<()[s0] -> (s0 + 1, 4)>> {
      %new = graph.exp %x : (tensor<1x4xf32>) -> tensor<1x4xf32>
      %0 = graph.concat %past, %new {axis = 0 : i64} : (tensor<?x4xf32, affine_map<()[s0] -> (s0, 4)>>, tensor<1x4xf32>) -> tensor<?x4xf32, affine_map<()[s0] -> (s0 + 1, 4)>>
      return %0 : tensor<?x4xf32, affine_map<()[s0] -> (s0 + 1, 4)>>
    }
    ```
    After:
    ```mlir
    func.func @main(%past: tensor<?x4xf32, affine_map<()[s0] -> (s0, 4)>>, %x: tensor<1x4xf32>) -> tensor<?x4xf32, affine_map<()[s0] -> (s0 + 1, 4)>>
        attributes {graph.states = [#graph.state<input = 0, output = 0, kind = rows, pitch = 1, rows = affine_map<()[s0] -> (s0 + 1)>, drop = affine_map<() -> (0)>>], graph.symbols = ["", ""]} {
      %0 = graph.exp %x : (tensor<1x4xf32>) -> tensor<1x4xf32>
      %1 = graph.open_state %past {state = 0 : i64} : (tensor<?x4xf32, affine_map<()[s0] -> (s0, 4)>>) -> tensor<?x4xf32, affine_map<()[s0, s1] -> (s1, 4)>>
      %2 = graph.insert_slice %0, %1 {axis = 0 : i64, offsets = affine_map<()[s0] -> (s0)>} : (tensor<1x4xf32>, tensor<?x4xf32, affine_map<()[s0, s1] -> (s1, 4)>>) -> tensor<?x4xf32, affine_map<()[s0, s1] -> (s1, 4)>>
      %3 = graph.close_state %2 {state = 0 : i64} : (tensor<?x4xf32, affine_map<()[s0, s1] -> (s1, 4)>>) -> tensor<?x4xf32, affine_map<()[s0] -> (s0 + 1, 4)>>
      return %3 : tensor<?x4xf32, affine_map<()[s0] -> (s0 + 1, 4)>>
    }
    ```
  }];
  let options = [
    ListOption<"pairs", "pairs", "std::string",
               "INPUT=OUTPUT of values of which the output continues the input "
               "(* is any text), or none">,
  ];
  let statistics = [
    Statistic<"numRows", "rows", "Results of which only new rows are stored">,
    Statistic<"numWhole", "whole", "Results that replace an argument">,
    Statistic<"numKept", "kept", "Results that are an argument">,
  ];
}

def FindLastRowsPass : Pass<"graph-find-last-rows", "::mlir::func::FuncOp"> {
  let summary = "Let the caller request only the last rows of a result";
  let description = [{
    A language model returns logits for each new token, of which a caller that
    generates text reads only the last row. In a function with states, the number
    of rows of such a result becomes a separate symbol that the caller chooses:
    it has the value of the model unless the caller passes a result with fewer
    rows. The function attribute `graph.last_rows` has
    `array<i64: output, dim, all, symbol>` for each of these results.

    The rows are the dim before the last one; it is a dim of an input, and not of
    a state. Ops that only the result depends on, and that compute each row from
    the same row of their operands, compute only the last rows. These ops have to
    include a product, else the result is not changed. Programs for devices are
    not changed.

    Before:
    ```mlir
    func.func @main(%past: tensor<?x4xf32, affine_map<()[s0, s1] -> (s0, 4)>> {graph.name = "past"}, %x: tensor<?x4xf32, affine_map<()[s0, s1] -> (s1, 4)>> {graph.name = "x"}, %w: tensor<4x9xf32> {graph.name = "w"})
        -> (tensor<?x9xf32, affine_map<()[s0, s1] -> (s1, 9)>> {graph.name = "y"}, tensor<?x4xf32, affine_map<()[s0, s1] -> (s0, 4)>> {graph.name = "present"}) {
      %0 = graph.exp %x : (tensor<?x4xf32, affine_map<()[s0, s1] -> (s1, 4)>>) -> tensor<?x4xf32, affine_map<()[s0, s1] -> (s1, 4)>>
      %1 = graph.matmul %0, %w : (tensor<?x4xf32, affine_map<()[s0, s1] -> (s1, 4)>>, tensor<4x9xf32>) -> tensor<?x9xf32, affine_map<()[s0, s1] -> (s1, 9)>>
      return %1, %past : tensor<?x9xf32, affine_map<()[s0, s1] -> (s1, 9)>>, tensor<?x4xf32, affine_map<()[s0, s1] -> (s0, 4)>>
    }
    ```
    After:
    ```mlir
    func.func @main(%past: tensor<?x4xf32, affine_map<()[s0, s1] -> (s0, 4)>> {graph.name = "past"}, %x: tensor<?x4xf32, affine_map<()[s0, s1] -> (s1, 4)>> {graph.name = "x"}, %w: tensor<4x9xf32> {graph.name = "w"})
        -> (tensor<?x9xf32, affine_map<()[s0, s1, s2] -> (s2, 9)>> {graph.name = "y"}, tensor<?x4xf32, affine_map<()[s0, s1] -> (s0, 4)>> {graph.name = "present"})
        attributes {graph.last_rows = [array<i64: 0, 0, 1, 2>], graph.symbols = ["", "", ""]} {
      %0 = graph.slice %x {starts = affine_map<()[s0, s1, s2] -> (s1 - s2, 0)>, steps = array<i64: 1, 1>} : (tensor<?x4xf32, affine_map<()[s0, s1] -> (s1, 4)>>) -> tensor<?x4xf32, affine_map<()[s0, s1, s2] -> (s2, 4)>>
      %1 = graph.exp %0 : (tensor<?x4xf32, affine_map<()[s0, s1, s2] -> (s2, 4)>>) -> tensor<?x4xf32, affine_map<()[s0, s1, s2] -> (s2, 4)>>
      %2 = graph.matmul %1, %w : (tensor<?x4xf32, affine_map<()[s0, s1, s2] -> (s2, 4)>>, tensor<4x9xf32>) -> tensor<?x9xf32, affine_map<()[s0, s1, s2] -> (s2, 9)>>
      return %2, %past : tensor<?x9xf32, affine_map<()[s0, s1, s2] -> (s2, 9)>>, tensor<?x4xf32, affine_map<()[s0, s1] -> (s0, 4)>>
    }
    ```
  }];
  let options = [
    ListOption<"pairs", "pairs", "std::string",
               "INPUT=OUTPUT of values of which the output continues the input "
               "(* is any text), or none">,
  ];
  let statistics = [
    Statistic<"numOutputs", "outputs", "Results of which the caller may request the last rows">,
  ];
}

def NarrowStatesPass : Pass<"graph-narrow-states", "::mlir::func::FuncOp"> {
  let summary = "Store states in a narrower type";
  let description = [{
    States (key/value caches) of f32 become states of `type`: the types of argument
    and result change, new rows are rounded before they are stored, and users
    extend the elements that they read. int8 has an f32 scale for each row, the
    greatest magnitude divided by 127. The scales are an additional argument and
    result with the names of the state and the suffix `.scale`, without the last
    dim.

    A state is an argument that a result of a matching name updates
    (`graph-find-states`), by concats or scatters of rows only. The pass fails for
    a function without one.

    Before:
    ```mlir
    func.func @main(%past: tensor<1x?x4xf32, affine_map<()[s0] -> (1, s0, 4)>> {graph.name = "past"}, %x: tensor<1x1x4xf32> {graph.name = "x"})
        -> (tensor<1x?x4xf32, affine_map<()[s0] -> (1, s0 + 1, 4)>> {graph.name = "present"}, tensor<1x?x4xf32, affine_map<()[s0] -> (1, s0 + 1, 4)>> {graph.name = "y"}) {
      %0 = graph.concat %past, %x {axis = 1 : i64} : (tensor<1x?x4xf32, affine_map<()[s0] -> (1, s0, 4)>>, tensor<1x1x4xf32>) -> tensor<1x?x4xf32, affine_map<()[s0] -> (1, s0 + 1, 4)>>
      %1 = graph.neg %0 : (tensor<1x?x4xf32, affine_map<()[s0] -> (1, s0 + 1, 4)>>) -> tensor<1x?x4xf32, affine_map<()[s0] -> (1, s0 + 1, 4)>>
      return %0, %1 : tensor<1x?x4xf32, affine_map<()[s0] -> (1, s0 + 1, 4)>>, tensor<1x?x4xf32, affine_map<()[s0] -> (1, s0 + 1, 4)>>
    }
    ```
    After:
    ```mlir
    func.func @main(%past: tensor<1x?x4xf16, affine_map<()[s0] -> (1, s0, 4)>> {graph.name = "past"}, %x: tensor<1x1x4xf32> {graph.name = "x"})
        -> (tensor<1x?x4xf16, affine_map<()[s0] -> (1, s0 + 1, 4)>> {graph.name = "present"}, tensor<1x?x4xf32, affine_map<()[s0] -> (1, s0 + 1, 4)>> {graph.name = "y"}) {
      %0 = graph.cast %x : (tensor<1x1x4xf32>) -> tensor<1x1x4xf16>
      %1 = graph.concat %past, %0 {axis = 1 : i64} : (tensor<1x?x4xf16, affine_map<()[s0] -> (1, s0, 4)>>, tensor<1x1x4xf16>) -> tensor<1x?x4xf16, affine_map<()[s0] -> (1, s0 + 1, 4)>>
      %2 = graph.cast %1 : (tensor<1x?x4xf16, affine_map<()[s0] -> (1, s0 + 1, 4)>>) -> tensor<1x?x4xf32, affine_map<()[s0] -> (1, s0 + 1, 4)>>
      %3 = graph.neg %2 : (tensor<1x?x4xf32, affine_map<()[s0] -> (1, s0 + 1, 4)>>) -> tensor<1x?x4xf32, affine_map<()[s0] -> (1, s0 + 1, 4)>>
      return %1, %3 : tensor<1x?x4xf16, affine_map<()[s0] -> (1, s0 + 1, 4)>>, tensor<1x?x4xf32, affine_map<()[s0] -> (1, s0 + 1, 4)>>
    }
    ```
  }];
  let options = [
    Option<"type", "type", "std::string", "\"f16\"", "f16, bf16 or int8">,
    ListOption<"pairs", "pairs", "std::string",
               "INPUT=OUTPUT of values of which the output continues the input "
               "(* is any text), or none">,
  ];
  let statistics = [
    Statistic<"numStates", "states", "States narrowed">,
  ];
}

#endif // ADZE_DIALECT_GRAPH_TRANSFORMS_STATEPASSES
