// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Interfaces of graph ops: the scalar arithmetic of elementwise ops and of
// reductions, the cost of an op, and reads outside of an operand.

#ifndef ADZE_DIALECT_GRAPH_IR_GRAPHINTERFACES
#define ADZE_DIALECT_GRAPH_IR_GRAPHINTERFACES

include "mlir/IR/OpBase.td"

def ElementwiseOpInterface : OpInterface<"ElementwiseOpInterface"> {
  let description = [{
    An op that computes each element of its one result from the elements of its
    operands at the same position, after numpy broadcasting of all operands.
  }];
  let cppNamespace = "::adze::graph";
  let methods = [
    InterfaceMethod<[{
        Emits the arithmetic in the precision of the given operands; callers
        use `buildBody`. `operands` have signless types; the operand types of
        the op itself state whether integers are unsigned.
      }], "::mlir::Value", "buildArith",
      (ins "::adze::graph::ElementBuilder &":$builder,
           "::mlir::ValueRange":$operands)>,
  ];
  let extraClassDeclaration = [{
    /// Emits the arithmetic of the op as arith and math ops on `operands`, which
    /// are scalars or tiles of one shape, of signless types. f16 and bf16 are
    /// computed in f32. This is the only definition of what the op computes.
    ::mlir::Value buildBody(::adze::graph::ElementBuilder &builder,
                            ::mlir::ValueRange operands);
  }];
}

def CostOpInterface : OpInterface<"CostOpInterface"> {
  let description = [{
    The cost of an op as expressions of the symbols. An expression is null if the
    cost is unknown.
  }];
  let cppNamespace = "::adze::graph";
  let methods = [
    InterfaceMethod<[{
        Returns the number of floating-point (or integer) operations. A fused
        multiply-add counts as two, a call of a math function as one.
      }], "::mlir::AffineExpr", "getFlops", (ins)>,
    InterfaceMethod<[{Returns the bytes of all operands.}],
      "::mlir::AffineExpr", "getBytesRead", (ins), [{}], [{
        return ::adze::graph::op_detail::getBytes($_op->getContext(),
                                               $_op->getOperandTypes());
      }]>,
    InterfaceMethod<[{Returns the bytes of all results.}],
      "::mlir::AffineExpr", "getBytesWritten", (ins), [{}], [{
        return ::adze::graph::op_detail::getBytes($_op->getContext(),
                                               $_op->getResultTypes());
      }]>,
  ];
}

def ReduceOpInterface : OpInterface<"ReduceOpInterface"> {
  let description = [{
    A reduction over whole dims in three steps: each element is mapped
    (`buildPrepare`), the mapped elements are combined (`getCombiner`), and the
    combined value is mapped to the result (`buildFinish`). The arithmetic is
    emitted as that of ElementwiseOpInterface, on the type of the accumulator
    (f32 for f16 and bf16).
  }];
  let cppNamespace = "::adze::graph";
  let methods = [
    InterfaceMethod<"Returns the tensor that is reduced.", "::mlir::Value",
                    "getInput">,
    InterfaceMethod<"Returns the dims that are reduced.", "::llvm::ArrayRef<int64_t>",
                    "getAxes">,
    InterfaceMethod<"Returns true if reduced dims stay as dims of size 1.", "bool", "getKeepdims">,
    InterfaceMethod<"Returns the function that combines two values.", "::adze::graph::Combiner",
                    "getCombiner">,
    InterfaceMethod<[{
        Returns true if the maximum (0 if it is infinite) is subtracted from each
        element before `buildPrepare` and added to the result at the end.
      }], "bool", "subtractsMax">,
    InterfaceMethod<"Emits the value that is combined for an element x.", "::mlir::Value",
      "buildPrepare", (ins "::adze::graph::ElementBuilder &":$builder,
                           "::mlir::Value":$x)>,
    InterfaceMethod<[{
        Emits the result from the combined value; `count` is the number of
        elements in the same type (null unless `needsCount`).
      }], "::mlir::Value", "buildFinish",
      (ins "::adze::graph::ElementBuilder &":$builder,
           "::mlir::Value":$combined, "::mlir::Value":$count)>,
    InterfaceMethod<"Returns true if buildFinish uses the count.", "bool",
                    "needsCount">,
  ];
}

def WindowOpInterface : OpInterface<"WindowOpInterface"> {
  let description = [{
    An op whose windows may begin before an operand or end after it. Elements
    outside of the operand have values that the op defines, as zeros for a
    convolution. So the op has to know where the operand ends, even if all of its
    elements are one repeated value.
  }];
  let cppNamespace = "::adze::graph";
  let methods = [
    InterfaceMethod<"Returns true if windows of operand `number` may leave it.",
      "bool", "readsBeyond", (ins "unsigned":$number), [{}],
      [{ return number == 0; }]>,
  ];
}

#endif // ADZE_DIALECT_GRAPH_IR_GRAPHINTERFACES
