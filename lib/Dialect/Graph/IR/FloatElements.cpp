// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Arithmetic on known elements of small float tensors.
#include "FloatElements.h"
#include "Dialect/Graph/IR/Graph.h"
#include "Dialect/Graph/IR/Shape.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace adze::graph;

static constexpr auto kNearest = llvm::RoundingMode::NearestTiesToEven;

bool adze::graph::isKnownByBits(Type elementType) {
  return elementType.isF32() || elementType.isF64();
}

AffineExpr adze::graph::getBits(const APFloat &value, MLIRContext *context) {
  return getAffineConstantExpr(int64_t(value.bitcastToAPInt().getZExtValue()),
                               context);
}

bool adze::graph::isOfFloats(Operation *op) {
  auto isFloat = [](Type type) {
    return isa<FloatType>(getElementTypeOrSelf(type));
  };
  return llvm::any_of(op->getOperandTypes(), isFloat) ||
         llvm::any_of(op->getResultTypes(), isFloat);
}

namespace {

/// Returns the float that an element of this type represents.
std::optional<APFloat> getFloat(AffineExpr element, Type type) {
  auto bits = adze::graph::getConstant(element);
  if (!bits || !isKnownByBits(type))
    return std::nullopt;
  return APFloat(cast<FloatType>(type).getFloatSemantics(),
                 APInt(type.getIntOrFloatBitWidth(), uint64_t(*bits),
                       /*isSigned=*/false, /*implicitTrunc=*/true));
}

AffineExpr toInteger(const APFloat &value, IntegerType type) {
  if (type.isInteger(1))
    return getAffineConstantExpr(!value.isZero(), type.getContext());
  llvm::APSInt number(std::min(type.getWidth(), 63u), type.isUnsigned());
  bool exact;
  // The result of a value out of range depends on the run, and is unknown.
  if (value.convertToInteger(number, llvm::RoundingMode::TowardZero, &exact) &
      APFloat::opInvalidOp)
    return {};
  return getAffineConstantExpr(number.getExtValue(), type.getContext());
}

AffineExpr convert(AffineExpr element, Type from, Type to) {
  auto number = adze::graph::getConstant(element);
  if (!number)
    return {};
  if (auto integer = dyn_cast<IntegerType>(to)) {
    auto value = getFloat(element, from);
    return value ? toInteger(*value, integer) : AffineExpr();
  }
  if (!isKnownByBits(to))
    return {};
  bool loses;
  const llvm::fltSemantics &semantics = cast<FloatType>(to).getFloatSemantics();
  if (auto value = getFloat(element, from)) {
    value->convert(semantics, kNearest, &loses);
    return getBits(*value, to.getContext());
  }
  if (!isa<IntegerType>(from))
    return {};
  APFloat result(semantics);
  result.convertFromAPInt(APInt(64, uint64_t(*number)), /*IsSigned=*/true,
                          kNearest);
  return getBits(result, to.getContext());
}

using Arithmetic = std::optional<APFloat>;

Arithmetic round(APFloat value, llvm::RoundingMode mode) {
  value.roundToIntegral(mode);
  return value;
}

Arithmetic computeOne(Operation *op, const APFloat &x) {
  return llvm::TypeSwitch<Operation *, Arithmetic>(op)
      .Case([&](NegOp) { return llvm::neg(x); })
      .Case([&](AbsOp) { return llvm::abs(x); })
      .Case(
          [&](FloorOp) { return round(x, llvm::RoundingMode::TowardNegative); })
      .Case(
          [&](CeilOp) { return round(x, llvm::RoundingMode::TowardPositive); })
      .Case([&](RoundOp) { return round(x, kNearest); })
      .Default(std::nullopt);
}

Arithmetic computeTwo(Operation *op, const APFloat &x, const APFloat &y) {
  return llvm::TypeSwitch<Operation *, Arithmetic>(op)
      .Case([&](AddOp) { return x + y; })
      .Case([&](SubOp) { return x - y; })
      .Case([&](MulOp) { return x * y; })
      .Case([&](DivOp) { return x / y; })
      .Case([&](MaximumOp) { return llvm::maximum(x, y); })
      .Case([&](MinimumOp) { return llvm::minimum(x, y); })
      .Default(std::nullopt);
}

std::optional<bool> compare(Operation *op, const APFloat &x, const APFloat &y) {
  return llvm::TypeSwitch<Operation *, std::optional<bool>>(op)
      .Case([&](EqualOp) { return x == y; })
      .Case([&](LessOp) { return x < y; })
      .Case([&](LessEqualOp) { return x <= y; })
      .Case([&](GreaterOp) { return x > y; })
      .Case([&](GreaterEqualOp) { return x >= y; })
      .Default(std::nullopt);
}

} // namespace

AffineExpr adze::graph::computeFloats(Operation *op,
                                      ArrayRef<AffineExpr> operands) {
  Type from = getElementTypeOrSelf(op->getOperand(0).getType());
  Type to = getElementTypeOrSelf(op->getResult(0).getType());
  if (isa<CastOp>(op))
    return convert(operands[0], from, to);
  auto x = getFloat(operands[0], from);
  auto y = operands.size() == 2 ? getFloat(operands[1], from) : x;
  if (!x || !y || operands.size() > 2)
    return {};
  if (to.isInteger(1)) {
    auto truth = operands.size() == 2 ? compare(op, *x, *y) : std::nullopt;
    return truth ? getAffineConstantExpr(*truth, op->getContext())
                 : AffineExpr();
  }
  Arithmetic result =
      operands.size() == 1 ? computeOne(op, *x) : computeTwo(op, *x, *y);
  return result ? getBits(*result, op->getContext()) : AffineExpr();
}
