// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The host dialect: the few ops of the host program (launches and places).
#ifndef ADZE_HOST_OPS
#define ADZE_HOST_OPS

include "mlir/IR/OpBase.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Host_Dialect : Dialect {
  let name = "host";
  let cppNamespace = "::adze::host";
}

/// C1: inside one function either all operands are tensors and results are
/// given, or all are memrefs and the outputs come last among the operands.
def Host_LaunchOp : Op<Host_Dialect, "launch", []> {
  let summary = "Run a kernel over all its programs";
  let description = [{
    Before destinations are assigned operands and results are tensors; after,
    the operands are memrefs, inputs then outputs, and there are no results.

    ```mlir
    %y = host.launch @conv_relu_0(%x, %w) : (tensor<1x8x8x4xf32>, tensor<3x3x4x8xf32>) -> tensor<1x8x8x8xf32>
    host.launch @conv_relu_0(%x, %w, %y) : (memref<1x8x8x4xf32>, memref<3x3x4x8xf32>, memref<1x8x8x8xf32>) -> ()
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$callee, Variadic<AnyType>:$operands);
  let results = (outs Variadic<AnyType>:$results);
  let assemblyFormat = "$callee `(` $operands `)` attr-dict `:` functional-type($operands, $results)";
}

#endif // ADZE_HOST_OPS
