// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Constants, conversions and combiners of scalar bodies.
#include "Dialect/Graph/IR/ElementBuilder.h"
#include "SmallFloats.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace adze::graph;

Value ElementBuilder::constant(TypedAttr value) {
  return arith::ConstantOp::create(builder, loc, value);
}

Type ElementBuilder::typeLike(Type elementType, Value like) {
  if (auto shaped = dyn_cast<ShapedType>(like.getType()))
    return shaped.clone(elementType);
  return elementType;
}

Value ElementBuilder::lookUp(Value bytes, DenseElementsAttr table) {
  Value position =
      arith::IndexCastUIOp::create(builder, loc, builder.getIndexType(), bytes);
  Value elements = arith::ConstantOp::create(builder, loc, table);
  return tensor::ExtractOp::create(builder, loc, elements, position);
}

Value ElementBuilder::number(Type elementType, double value) {
  if (isa<FloatType>(elementType))
    return constant(builder.getFloatAttr(elementType, value));
  return integer(elementType, int64_t(value));
}

Value ElementBuilder::integer(Type elementType, int64_t value) {
  if (isa<FloatType>(elementType))
    return number(elementType, double(value));
  return constant(builder.getIntegerAttr(getSignlessType(elementType), value));
}

Type adze::graph::getSignlessType(Type type) {
  if (auto shaped = dyn_cast<ShapedType>(type))
    return shaped.clone(getSignlessType(shaped.getElementType()));
  if (isSmallFloat(type))
    return IntegerType::get(type.getContext(), type.getIntOrFloatBitWidth());
  auto integer = dyn_cast<IntegerType>(type);
  if (!integer || integer.isSignless())
    return type;
  return IntegerType::get(type.getContext(), integer.getWidth());
}

Type adze::graph::getAccumulatorType(Type type) {
  if (isa<FloatType>(type) && type.getIntOrFloatBitWidth() < 32)
    return Float32Type::get(type.getContext());
  return getSignlessType(type);
}

//===----------------------------------------------------------------------===//
// Conversion
//===----------------------------------------------------------------------===//

static Value castFloatToFloat(ElementBuilder &b, Value value, FloatType from,
                              FloatType to) {
  Type type = b.typeLike(to, value);
  if (from.getWidth() < to.getWidth())
    return arith::ExtFOp::create(b.builder, b.loc, type, value);
  if (from.getWidth() > to.getWidth())
    return arith::TruncFOp::create(b.builder, b.loc, type, value);
  // f16 and bf16 are converted through f32, which holds both.
  Type f32 = b.typeLike(b.builder.getF32Type(), value);
  Value wide = arith::ExtFOp::create(b.builder, b.loc, f32, value);
  return arith::TruncFOp::create(b.builder, b.loc, type, wide);
}

static Value castIntToInt(ElementBuilder &b, Value value, IntegerType from,
                          IntegerType to) {
  Type type = b.typeLike(getSignlessType(to), value);
  if (from.getWidth() == to.getWidth())
    return value;
  if (from.getWidth() > to.getWidth())
    return arith::TruncIOp::create(b.builder, b.loc, type, value);
  if (from.isUnsigned() || from.isInteger(1))
    return arith::ExtUIOp::create(b.builder, b.loc, type, value);
  return arith::ExtSIOp::create(b.builder, b.loc, type, value);
}

/// Emits x != 0, which is true for NaN.
static Value castToBool(ElementBuilder &b, Value value, Type from) {
  Value zero = b.number(from, 0);
  if (isa<FloatType>(from))
    return arith::CmpFOp::create(b.builder, b.loc, arith::CmpFPredicate::UNE,
                                 value, zero);
  return arith::CmpIOp::create(b.builder, b.loc, arith::CmpIPredicate::ne,
                               value, zero);
}

Value adze::graph::buildCast(ElementBuilder &b, Value value, Type from, Type to,
                             CastRules rules) {
  if (from == to)
    return value;
  if (isSmallFloat(from)) {
    value = decodeSmallFloat(b, value, cast<FloatType>(from));
    return buildCast(b, value, b.builder.getF32Type(), to, rules);
  }
  if (isSmallFloat(to)) {
    value = buildCast(b, value, from, b.builder.getF32Type());
    return encodeSmallFloat(b, value, cast<FloatType>(to), rules);
  }
  if (to.isInteger(1))
    return castToBool(b, value, from);
  auto fromFloat = dyn_cast<FloatType>(from);
  auto toFloat = dyn_cast<FloatType>(to);
  if (fromFloat && toFloat)
    return castFloatToFloat(b, value, fromFloat, toFloat);
  if (!fromFloat && !toFloat)
    return castIntToInt(b, value, cast<IntegerType>(from),
                        cast<IntegerType>(to));
  Type type = b.typeLike(getSignlessType(to), value);
  if (toFloat) {
    if (from.isUnsignedInteger() || from.isInteger(1))
      return arith::UIToFPOp::create(b.builder, b.loc, type, value);
    return arith::SIToFPOp::create(b.builder, b.loc, type, value);
  }
  // Narrow integers are converted through i64, so that values out of range
  // wrap, as in the reference implementations, and are not undefined.
  auto toInt = cast<IntegerType>(to);
  if (toInt.getWidth() >= 64) {
    if (toInt.isUnsigned())
      return arith::FPToUIOp::create(b.builder, b.loc, type, value);
    return arith::FPToSIOp::create(b.builder, b.loc, type, value);
  }
  IntegerType wide = b.builder.getI64Type();
  Value converted =
      arith::FPToSIOp::create(b.builder, b.loc, b.typeLike(wide, value), value);
  return castIntToInt(b, converted, wide, toInt);
}

//===----------------------------------------------------------------------===//
// Combiners
//===----------------------------------------------------------------------===//

Value adze::graph::buildCombine(ElementBuilder &b, Combiner combiner,
                                Type elementType, Value lhs, Value rhs) {
  arith::AtomicRMWKind kind;
  bool isFloat = isa<FloatType>(elementType);
  bool isUnsigned = elementType.isUnsignedInteger() || elementType.isInteger(1);
  switch (combiner) {
  case Combiner::Add:
    kind = isFloat ? arith::AtomicRMWKind::addf : arith::AtomicRMWKind::addi;
    break;
  case Combiner::Mul:
    kind = isFloat ? arith::AtomicRMWKind::mulf : arith::AtomicRMWKind::muli;
    break;
  case Combiner::Max:
    kind = isFloat      ? arith::AtomicRMWKind::maximumf
           : isUnsigned ? arith::AtomicRMWKind::maxu
                        : arith::AtomicRMWKind::maxs;
    break;
  case Combiner::Min:
    kind = isFloat      ? arith::AtomicRMWKind::minimumf
           : isUnsigned ? arith::AtomicRMWKind::minu
                        : arith::AtomicRMWKind::mins;
    break;
  }
  return arith::getReductionOp(kind, b.builder, b.loc, lhs, rhs);
}

TypedAttr adze::graph::getNeutral(Combiner combiner, Type elementType) {
  Builder builder(elementType.getContext());
  Type type = getSignlessType(elementType);
  if (combiner == Combiner::Add)
    return builder.getZeroAttr(type);
  if (combiner == Combiner::Mul)
    return builder.getOneAttr(type);
  bool max = combiner == Combiner::Max;
  if (auto floating = dyn_cast<FloatType>(type))
    return FloatAttr::get(
        type, APFloat::getInf(floating.getFloatSemantics(), /*Negative=*/max));
  unsigned width = type.getIntOrFloatBitWidth();
  bool isUnsigned = elementType.isUnsignedInteger() || elementType.isInteger(1);
  APInt low =
      isUnsigned ? APInt::getMinValue(width) : APInt::getSignedMinValue(width);
  APInt high =
      isUnsigned ? APInt::getMaxValue(width) : APInt::getSignedMaxValue(width);
  return IntegerAttr::get(type, max ? low : high);
}
