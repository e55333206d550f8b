// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Passes over states: buffers that the caller keeps from call to call.
#ifndef ADZE_DIALECT_GRAPH_TRANSFORMS_STATEPASSES
#define ADZE_DIALECT_GRAPH_TRANSFORMS_STATEPASSES

include "mlir/Pass/PassBase.td"

def FindStatesPass : Pass<"graph-find-states", "::mlir::func::FuncOp"> {
  let summary = "Update caches of the caller in place";
  let description = [{
    A result that is an argument with rows added or replaced continues this
    argument: key/value caches of language models. The new rows are inserted into
    a buffer that begins with the rows of the argument, which the caller may pass
    for both (`graph.open_state`, `graph.close_state`); whoever reads all rows
    reads the buffer. The list `graph.states` of the function says which result
    continues which argument.

    Rows are appended (a concat that begins with the argument, without the first
    ones if a slice takes the last ones) or replaced (scatter_elements without a
    reduction, into the argument or into the argument followed by zeros). States
    whose arguments have equal dims share one symbol for the rows from one head
    to the next.

    A result that is an argument of an equal name, or has the type and the name
    of one (`past`/`present`, `h_in`/`h_out`, `state`/`stateN`), continues it as a
    whole; the function itself is not changed for these.

    What has no early size, elements of less than a byte, or readers before the
    update stays as it is, and so do programs for devices. A remark says why, if
    the names are paired.

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
    Statistic<"numRows", "rows", "Results whose new rows alone are stored">,
    Statistic<"numWhole", "whole", "Results that replace an argument">,
    Statistic<"numKept", "kept", "Results that are an argument">,
  ];
}

def FindLastRowsPass : Pass<"graph-find-last-rows", "::mlir::func::FuncOp"> {
  let summary = "Let the caller request only the last rows of a result";
  let description = [{
    A language model returns logits of the vocabulary for each new token, of
    which a caller that generates text reads only the last row. In a function
    with states, the number of rows of such a result becomes a symbol of its own,
    which the caller chooses: it is the number of the model unless the caller
    passes a result with fewer rows. The list
    `graph.last_rows` of the function has `array<i64: output, dim, all, symbol>`
    for each of these results.

    Rows are the dim before the last one, which an input has and no state. What
    leads to the result alone, and computes each row from the same row of its
    operands, computes the last rows only. This has to include a product, or the
    result stays as it is. So do programs for devices.

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
    Statistic<"numOutputs", "outputs", "Results of which the last rows can be asked for">,
  ];
}

def NarrowStatesPass : Pass<"graph-narrow-states", "::mlir::func::FuncOp"> {
  let summary = "Keep caches in few bits";
  let description = [{
    Caches of f32 become caches of `type`: the argument and the result change
    their types, new rows are rounded before they are stored, and who reads the
    cache widens what it reads. int8 has a scale of f32 for each row, the greatest
    magnitude by 127, as an argument and a result of their own with the names of
    the cache and `.scale`, without the dim of the elements of a row.

    A cache is an argument that a result continues by its name
    (`graph-find-states`), by concats or scatters of rows alone. A function
    without one is an error.

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
    Statistic<"numStates", "states", "Caches that were narrowed">,
  ];
}

#endif // ADZE_DIALECT_GRAPH_TRANSFORMS_STATEPASSES
