// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Inference and verification of the elementwise families.
#include "Infer.h"

using namespace mlir;
using namespace adze::graph;
using namespace adze::graph::op_detail;

LogicalResult op_detail::inferSameType(Where where, StringRef name,
                                       ValueRange operands, Types &types) {
  types.push_back(operands[0].getType());
  return success();
}

LogicalResult op_detail::inferPredicate(Where where, StringRef name,
                                        ValueRange operands, Types &types) {
  auto type = cast<RankedTensorType>(operands[0].getType());
  types.push_back(type.clone(IntegerType::get(type.getContext(), 1)));
  return success();
}

/// Infers the broadcast of `operands` with the given element type; operands
/// from `firstValue` on have equal element types.
static LogicalResult inferElements(Where where, StringRef name,
                                   ValueRange operands, size_t firstValue,
                                   Type elementType, Types &types) {
  SmallVector<Dims> shapes;
  for (Value operand : operands)
    shapes.push_back(getDims(operand));
  for (Value operand : operands.drop_front(firstValue + 1))
    if (getElement(operand) != getElement(operands[firstValue]))
      return emitOptionalError(
          where, "'", name, "' op expected equal element types, but got ",
          getElement(operands[firstValue]), " and ", getElement(operand));
  std::string error;
  auto dims = broadcastDims(shapes, error);
  if (failed(dims))
    return emitOptionalError(where, "'", name, "' op ", error);
  types.push_back(makeType(elementType, *dims));
  return success();
}

LogicalResult op_detail::inferBroadcast(Where where, StringRef name,
                                        ValueRange operands, Types &types) {
  return inferElements(where, name, operands, 0, getElement(operands[0]),
                       types);
}

LogicalResult op_detail::inferCompare(Where where, StringRef name,
                                      ValueRange operands, Types &types) {
  Type i1 = IntegerType::get(operands[0].getContext(), 1);
  return inferElements(where, name, operands, 0, i1, types);
}

LogicalResult op_detail::inferSelect(Where where, StringRef name,
                                     ValueRange operands, Types &types) {
  return inferElements(where, name, operands, 1, getElement(operands[1]),
                       types);
}

LogicalResult CastOp::verify() {
  auto from = cast<RankedTensorType>(getInput().getType());
  auto to = cast<RankedTensorType>(getResult().getType());
  if (!areCompatible(TypeRange(from.clone(to.getElementType())), TypeRange(to)))
    return emitOpError("expected the result to have the input's shape ")
           << toString(getDims(from)) << ", but got " << toString(getDims(to));
  return success();
}

AffineExpr CastOp::getFlops() {
  return op_detail::getElementwiseFlops(*this, 1);
}

bool adze::graph::isFunction(Operation *op) {
  return isa<ExpOp, LogOp, PowOp, TanhOp, ErfOp, SigmoidOp, SoftplusOp, SiluOp,
             MishOp, GeluOp, EluOp, SeluOp, CeluOp>(op);
}

LogicalResult ByteLookupOp::verify() {
  auto input = cast<RankedTensorType>(getInput().getType());
  auto result = cast<RankedTensorType>(getResult().getType());
  auto table = RankedTensorType::get(/*shape=*/{256}, result.getElementType());
  if (getTable().getType() != table)
    return emitOpError("expected a table of type ")
           << table << ", but got " << getTable().getType();
  if (!areCompatible(TypeRange(input.clone(result.getElementType())),
                     TypeRange(result)))
    return emitOpError("expected the result to have the input's shape ")
           << toString(getDims(input)) << ", but got "
           << toString(getDims(result));
  return success();
}

LogicalResult BitcastOp::verify() {
  auto from = cast<RankedTensorType>(getInput().getType());
  auto to = cast<RankedTensorType>(getResult().getType());
  unsigned bits = from.getElementTypeBitWidth();
  if (to.getElementTypeBitWidth() != bits)
    return emitOpError("expected elements of ")
           << bits << " bits, but got " << to.getElementType();
  if (!areCompatible(TypeRange(from.clone(to.getElementType())), TypeRange(to)))
    return emitOpError("expected the result to have the input's shape ")
           << toString(getDims(from)) << ", but got " << toString(getDims(to));
  return success();
}
