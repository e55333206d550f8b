// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The kinds of `tile.reduce` in arith.
#include "Dialect/Tile/IR/Reduction.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace adze::tile {

static arith::AtomicRMWKind getArithKind(ReduceKind kind, bool isFloat) {
  using K = arith::AtomicRMWKind;
  switch (kind) {
  case ReduceKind::add:
    return isFloat ? K::addf : K::addi;
  case ReduceKind::mul:
    return isFloat ? K::mulf : K::muli;
  case ReduceKind::max:
    return isFloat ? K::maximumf : K::maxs;
  case ReduceKind::min:
    return isFloat ? K::minimumf : K::mins;
  case ReduceKind::umax:
    return K::maxu;
  case ReduceKind::umin:
    return K::minu;
  case ReduceKind::and_:
    return K::andi;
  case ReduceKind::or_:
    return K::ori;
  }
  llvm_unreachable("all kinds are handled");
}

Value createCombine(OpBuilder &b, Location loc, ReduceKind kind, Value x,
                    Value y) {
  bool isFloat = isa<FloatType>(getElementTypeOrSelf(x.getType()));
  return arith::getReductionOp(getArithKind(kind, isFloat), b, loc, x, y);
}

Value createNeutral(OpBuilder &b, Location loc, ReduceKind kind, Type element) {
  // Arith has no neutral element for `index`, which has the width of i64 here.
  Type known = element.isIndex() ? b.getI64Type() : element;
  TypedAttr value = arith::getIdentityValueAttr(
      getArithKind(kind, isa<FloatType>(element)), known, b, loc,
      /*useOnlyFiniteValue=*/false);
  if (element.isIndex())
    value = b.getIntegerAttr(element, cast<IntegerAttr>(value).getInt());
  return arith::ConstantOp::create(b, loc, value);
}

} // namespace adze::tile
