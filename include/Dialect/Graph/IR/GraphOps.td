// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The graph dialect: tensor algebra, ONNX's meaning in a small closed set.
#ifndef ADZE_GRAPH_OPS
#define ADZE_GRAPH_OPS

include "mlir/IR/OpBase.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Graph_Dialect : Dialect {
  let name = "graph";
  let cppNamespace = "::adze::graph";
}

#endif // ADZE_GRAPH_OPS
