// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Clusters: groups of ops that are compiled to one kernel.
#ifndef ADZE_DIALECT_GRAPH_IR_GRAPHCLUSTER
#define ADZE_DIALECT_GRAPH_IR_GRAPHCLUSTER

include "Dialect/Graph/IR/GraphBase.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"

def Graph_ClusterOp : Graph_Op<"cluster",
    [IsolatedFromAbove, RecursiveMemoryEffects,
     SingleBlockImplicitTerminator<"YieldOp">]> {
  let summary = "Group of ops that is compiled to one kernel";
  let description = [{
    The block arguments are the operands, and the yielded values are the results.
    Tensors between the ops of the body are not stored. `anchor` is the mnemonic
    of the op that determines how the kernel is tiled, or `pointwise` if there is
    none. The types of block arguments and operands, and of yielded values and
    results, are equal.

    Example:
    ```mlir
    %r = graph.cluster(%a = %x, %b = %w) anchor "matmul" : (tensor<4x8xf32>, tensor<8x4xf32>) -> tensor<4x4xf32> {
      %0 = graph.matmul %a, %b : (tensor<4x8xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
      %1 = graph.relu %0 : (tensor<4x4xf32>) -> tensor<4x4xf32>
      graph.yield %1 : tensor<4x4xf32>
    }
    ```
  }];
  let arguments = (ins Variadic<Graph_Tensor>:$inputs,
                       OptionalAttr<StrAttr>:$anchor);
  let results = (outs Variadic<Graph_Tensor>:$results);
  let regions = (region SizedRegion<1>:$body);
  let skipDefaultBuilders = 1;
  let builders = [OpBuilder<(ins "::mlir::TypeRange":$results,
                                 "::mlir::ValueRange":$inputs,
                                 CArg<"::llvm::StringRef", "{}">:$anchor)>];
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    YieldOp getYield();
  }];
}

def Graph_YieldOp : Graph_Op<"yield", [Pure, Terminator, ReturnLike,
                                       ParentOneOf<["ClusterOp", "IfOp", "LoopOp"]>]> {
  let summary = "Terminator with the results of a cluster, a branch or an iteration";
  let description = [{
    Example:
    ```mlir
    graph.yield %0, %1 : tensor<4xf32>, tensor<4xf32>
    ```
  }];
  let arguments = (ins Variadic<Graph_Value>:$operands);
  let builders = [OpBuilder<(ins), [{ build($_builder, $_state, ::mlir::ValueRange()); }]>];
  let assemblyFormat = "($operands^ `:` type($operands))? attr-dict";
}

#endif // ADZE_DIALECT_GRAPH_IR_GRAPHCLUSTER
