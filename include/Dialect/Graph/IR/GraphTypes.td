// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Types of values that are not tensors: sequences, optionals and maps.
#ifndef ADZE_DIALECT_GRAPH_IR_GRAPHTYPES
#define ADZE_DIALECT_GRAPH_IR_GRAPHTYPES

include "Dialect/Graph/IR/GraphBase.td"
include "mlir/IR/AttrTypeBase.td"

class Graph_ContainerType<string name, string mnemonicName>
    : TypeDef<Graph_Dialect, name> {
  let mnemonic = mnemonicName;
}

def Graph_SequenceType : Graph_ContainerType<"Sequence", "sequence"> {
  let summary = "A sequence of values of one type";
  let description = [{
    Of tensors only the element type and perhaps the rank are said: shapes
    differ from one to the next. `tensor<0xf32>` says that there is none yet, so
    that the first one decides the rank.

    ```mlir
    tensor<!graph.sequence<tensor<?x?xf32>>>
    tensor<!graph.sequence<tensor<*xsi64>>>
    ```
  }];
  let parameters = (ins "::mlir::TensorType":$element);
  let assemblyFormat = "`<` $element `>`";
}

def Graph_OptionalType : Graph_ContainerType<"Optional", "optional"> {
  let summary = "A value or none";
  let description = [{
    ```mlir
    tensor<!graph.optional<tensor<!graph.sequence<tensor<?xf32>>>>>
    ```
  }];
  let parameters = (ins "::mlir::TensorType":$element);
  let assemblyFormat = "`<` $element `>`";
}

def Graph_MapType : Graph_ContainerType<"Map", "map"> {
  let summary = "A map from integers or strings to values";
  let description = [{
    ```mlir
    tensor<!graph.map<si64, tensor<f32>>>
    ```
  }];
  let parameters = (ins "::mlir::Type":$key, "::mlir::TensorType":$element);
  let assemblyFormat = "`<` $key `,` $element `>`";
}

#endif // ADZE_DIALECT_GRAPH_IR_GRAPHTYPES
