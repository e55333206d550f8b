// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// What passes ask of graph ops without knowing them: the scalar arithmetic of
// an elementwise op, and the cost of any op.

#ifndef ADZE_DIALECT_GRAPH_IR_GRAPHINTERFACES
#define ADZE_DIALECT_GRAPH_IR_GRAPHINTERFACES

include "mlir/IR/OpBase.td"

def ElementwiseOpInterface : OpInterface<"ElementwiseOpInterface"> {
  let description = [{
    An op that computes each element of its one result from the elements of its
    operands at the same (broadcast) place. Every operand takes part in numpy
    broadcasting.
  }];
  let cppNamespace = "::adze::graph";
  let methods = [
    InterfaceMethod<[{
        Emits the arithmetic in the precision of the operands given; callers
        want `buildBody`. `operands` are of signless types; whether an integer
        is unsigned is read off the op's own operand types.
      }], "::mlir::Value", "buildArith",
      (ins "::adze::graph::ElementBuilder &":$builder,
           "::mlir::ValueRange":$operands)>,
  ];
  let extraClassDeclaration = [{
    /// Emits the op's arithmetic as arith and math ops on `operands`: scalars
    /// or tiles of one shape, of signless types. f16 and bf16 are computed in
    /// f32. The only definition of what the op computes.
    ::mlir::Value buildBody(::adze::graph::ElementBuilder &builder,
                            ::mlir::ValueRange operands);
  }];
}

def CostOpInterface : OpInterface<"CostOpInterface"> {
  let description = [{
    What an op costs, as expressions of the symbols. A null expression: not
    known.
  }];
  let cppNamespace = "::adze::graph";
  let methods = [
    InterfaceMethod<[{
        Floating-point (or integer) operations; a fused multiply-add is two,
        a call of a math function one.
      }], "::mlir::AffineExpr", "getFlops", (ins)>,
    InterfaceMethod<[{Bytes of all operands.}],
      "::mlir::AffineExpr", "getBytesRead", (ins), [{}], [{
        return ::adze::graph::op_detail::getBytes($_op->getContext(),
                                               $_op->getOperandTypes());
      }]>,
    InterfaceMethod<[{Bytes of all results.}],
      "::mlir::AffineExpr", "getBytesWritten", (ins), [{}], [{
        return ::adze::graph::op_detail::getBytes($_op->getContext(),
                                               $_op->getResultTypes());
      }]>,
  ];
}

def ReduceOpInterface : OpInterface<"ReduceOpInterface"> {
  let description = [{
    A reduction over whole dims: prepare each element, combine, finish. The
    arithmetic is emitted as that of ElementwiseOpInterface, on elements of the
    accumulator's type (f32 for f16 and bf16).
  }];
  let cppNamespace = "::adze::graph";
  let methods = [
    InterfaceMethod<"The tensor that is reduced.", "::mlir::Value",
                    "getInput">,
    InterfaceMethod<"The dims that go.", "::llvm::ArrayRef<int64_t>",
                    "getAxes">,
    InterfaceMethod<"Whether they stay as 1.", "bool", "getKeepdims">,
    InterfaceMethod<"How two values become one.", "::adze::graph::Combiner",
                    "getCombiner">,
    InterfaceMethod<[{
        Whether the maximum (0 if infinite) is subtracted from each element
        first and added to the result last.
      }], "bool", "subtractsMax">,
    InterfaceMethod<"What is combined for an element x.", "::mlir::Value",
      "buildPrepare", (ins "::adze::graph::ElementBuilder &":$builder,
                           "::mlir::Value":$x)>,
    InterfaceMethod<[{
        The result from the combined value; `count` is the number of elements
        in the same type (null unless `needsCount`).
      }], "::mlir::Value", "buildFinish",
      (ins "::adze::graph::ElementBuilder &":$builder,
           "::mlir::Value":$combined, "::mlir::Value":$count)>,
    InterfaceMethod<"Whether buildFinish needs the count.", "bool",
                    "needsCount">,
  ];
}

def WindowOpInterface : OpInterface<"WindowOpInterface"> {
  let description = [{
    An op that reads an operand at places beyond its ends, where it finds what
    it takes for missing elements and not what the operand would go on with: a
    value repeated everywhere is an operand with ends as any other.
  }];
  let cppNamespace = "::adze::graph";
  let methods = [
    InterfaceMethod<"Whether operand `number` is read beyond its ends.",
      "bool", "readsBeyond", (ins "unsigned":$number), [{}],
      [{ return number == 0; }]>,
  ];
}

#endif // ADZE_DIALECT_GRAPH_IR_GRAPHINTERFACES
