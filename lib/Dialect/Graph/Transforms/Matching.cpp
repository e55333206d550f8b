// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Constants of one value, and simple spellings of arithmetic.
#include "Matching.h"

using namespace mlir;
using namespace adze::graph;

/// The constant that a value repeats or converts.
static ConstantOp getSource(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (auto constant = dyn_cast<ConstantOp>(op))
      return constant;
    if (!isa<CastOp, ReshapeOp, BroadcastToOp>(op))
      return {};
    value = op->getOperand(0);
  }
  return {};
}

std::optional<double> adze::graph::getSplatNumber(Value value) {
  ConstantOp constant = getSource(value);
  auto elements = constant ? dyn_cast<DenseElementsAttr>(constant.getValue())
                           : DenseElementsAttr();
  if (!elements || !elements.isSplat() || getElement(value).isInteger(1))
    return std::nullopt;
  Attribute element = elements.getSplatValue<Attribute>();
  if (auto number = dyn_cast<FloatAttr>(element))
    return number.getValueAsDouble();
  auto integer = dyn_cast<IntegerAttr>(element);
  return integer
             ? std::optional<double>(integer.getValue().signedRoundToDouble())
             : std::nullopt;
}

std::optional<bool> adze::graph::getSplatBool(Value value) {
  ConstantOp constant = getSource(value);
  auto elements = constant ? dyn_cast<DenseElementsAttr>(constant.getValue())
                           : DenseElementsAttr();
  if (!elements || !elements.isSplat() || !getElement(value).isInteger(1) ||
      !getElement(constant.getResult()).isInteger(1))
    return std::nullopt;
  return elements.getSplatValue<bool>();
}

Value adze::graph::matchScaled(Value value, double &factor) {
  if (Value x = matchWithSplat<MulOp>(value, factor))
    return x;
  auto div = value.getDefiningOp<DivOp>();
  std::optional<double> divisor =
      div ? getSplatNumber(div.getRhs()) : std::nullopt;
  if (!divisor || *divisor == 0.0)
    return {};
  factor = 1.0 / *divisor;
  return div.getLhs();
}

Value adze::graph::matchSquare(Value value) {
  if (auto mul = value.getDefiningOp<MulOp>())
    return mul.getLhs() == mul.getRhs() ? mul.getLhs() : Value();
  auto power = value.getDefiningOp<PowOp>();
  return power && isSplat(power.getRhs(), 2.0) ? power.getLhs() : Value();
}
