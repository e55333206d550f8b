// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Matches splat constants and simple arithmetic on them.
#include "Matching.h"
#include "llvm/ADT/TypeSwitch.h"
#include <cmath>

using namespace mlir;
using namespace adze::graph;

/// Returns the constant that a value broadcasts or converts.
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

/// Evaluates arithmetic on constants that exporters write, as in 1 / sqrt(64).
static std::optional<double> computeNumber(Operation *op, unsigned depth) {
  constexpr unsigned most = 4;
  if (!isa_and_nonnull<SqrtOp, ReciprocalOp, NegOp, MulOp, DivOp, AddOp, SubOp,
                       PowOp>(op) ||
      depth == most || !isa<FloatType>(getElement(op->getResult(0))))
    return std::nullopt;
  SmallVector<double, 2> x;
  for (Value operand : op->getOperands()) {
    std::optional<double> number = getSplatNumber(operand, depth + 1);
    if (!number)
      return std::nullopt;
    x.push_back(*number);
  }
  return llvm::TypeSwitch<Operation *, double>(op)
      .Case([&](SqrtOp) { return std::sqrt(x[0]); })
      .Case([&](ReciprocalOp) { return 1.0 / x[0]; })
      .Case([&](NegOp) { return -x[0]; })
      .Case([&](MulOp) { return x[0] * x[1]; })
      .Case([&](DivOp) { return x[0] / x[1]; })
      .Case([&](AddOp) { return x[0] + x[1]; })
      .Case([&](SubOp) { return x[0] - x[1]; })
      .Default([&](Operation *) { return std::pow(x[0], x[1]); });
}

/// Returns the constant value of shape arithmetic, such as the size of a head.
static std::optional<double> getSizeNumber(Value value) {
  while (auto *op = value.getDefiningOp()) {
    if (!isa<CastOp, ReshapeOp, BroadcastToOp>(op))
      break;
    value = op->getOperand(0);
  }
  if (!getElement(value).isInteger(64))
    return std::nullopt;
  auto elements = getConstantElements(value);
  if (!elements || elements->empty() || !llvm::all_equal(*elements))
    return std::nullopt;
  return double(elements->front());
}

std::optional<double> adze::graph::getSplatNumber(Value value, unsigned depth) {
  ConstantOp constant = getSource(value);
  if (!constant && value.getDefiningOp()) {
    std::optional<double> number = computeNumber(value.getDefiningOp(), depth);
    return number ? number : getSizeNumber(value);
  }
  if (!constant)
    return std::nullopt;
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

Value adze::graph::getDecided(SelectOp op) {
  std::optional<bool> truth = getSplatBool(op.getCondition());
  if (op.getLhs() == op.getRhs())
    truth = true;
  if (!truth)
    return {};
  Value chosen = *truth ? op.getLhs() : op.getRhs();
  bool isKnown =
      llvm::all_of(getDims(chosen), [](AffineExpr dim) { return bool(dim); });
  return isKnown && chosen.getType() == op.getType() ? chosen : Value();
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

Value adze::graph::matchWithoutMaximum(Value value, ArrayRef<int64_t> axes) {
  auto sub = value.getDefiningOp<SubOp>();
  auto max = sub ? sub.getRhs().getDefiningOp<ReduceMaxOp>() : ReduceMaxOp();
  bool isOwn = max && max.getInput() == sub.getLhs() && max.getKeepdims() &&
               max.getAxes() == axes &&
               sub.getLhs().getType() == value.getType();
  return isOwn ? sub.getLhs() : Value();
}

bool adze::graph::isWeight(Value value) {
  constexpr unsigned mostSteps = 4;
  for (unsigned step = 0; step <= mostSteps && value.hasOneUse(); ++step) {
    Operation *user = *value.user_begin();
    if (isa<MatmulOp>(user))
      return true;
    if (!isa<ReshapeOp, TransposeOp, CastOp, SelectOp, MulOp>(user))
      return false;
    value = user->getResult(0);
  }
  return false;
}

Value adze::graph::createSlice(OpBuilder &b, Location loc, Value value,
                               int64_t dim, AffineExpr start, AffineExpr size) {
  Dims dims = getDims(value);
  Dims starts(dims.size(), b.getAffineConstantExpr(0));
  starts[dim] = start;
  dims[dim] = size;
  return SliceOp::create(b, loc, makeType(getElement(value), dims), value,
                         starts, SmallVector<int64_t>(dims.size(), 1));
}

Value adze::graph::createCast(OpBuilder &b, Location loc, Value value,
                              Type element) {
  return getElement(value) == element
             ? value
             : CastOp::create(b, loc, makeType(element, getDims(value)), value);
}

Value adze::graph::createReshape(OpBuilder &b, Location loc, Value value,
                                 ArrayRef<AffineExpr> dims) {
  return ReshapeOp::create(b, loc, makeType(getElement(value), dims), value);
}
