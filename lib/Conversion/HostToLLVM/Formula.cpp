// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Expressions of the module's symbols as LLVM dialect code.
#include "Conversion/HostToLLVM/Formula.h"

using namespace mlir;

namespace adze {

Value Formula::constant(int64_t value) {
  return LLVM::ConstantOp::create(builder, loc, builder.getI64Type(),
                                  builder.getI64IntegerAttr(value));
}

/// Rounds towards minus infinity, as affine expressions do: intermediate values
/// such as (s0 - 3) floordiv 2 are negative for small symbols.
Value Formula::emitFloorDiv(Value lhs, Value rhs) {
  Value quotient = LLVM::SDivOp::create(builder, loc, lhs, rhs);
  Value product = LLVM::MulOp::create(builder, loc, quotient, rhs);
  Value rest = LLVM::SubOp::create(builder, loc, lhs, product);
  Value zero = constant(0);
  // The remainder has the sign of the dividend. It is adjusted if that is not
  // the sign of the divisor.
  Value signs = LLVM::XOrOp::create(builder, loc, rest, rhs);
  Value opposite =
      LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::slt, signs, zero);
  Value inexact =
      LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::ne, rest, zero);
  Value adjust = LLVM::AndOp::create(builder, loc, opposite, inexact);
  Value less = LLVM::SubOp::create(builder, loc, quotient, constant(1));
  return LLVM::SelectOp::create(builder, loc, adjust, less, quotient);
}

/// Replaces a divisor that is 0 for some symbols by 1. The tensor is then
/// empty, so any quotient is correct.
Value Formula::replaceZero(Value divisor) {
  Value isZero = LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::eq,
                                      divisor, constant(0));
  return LLVM::SelectOp::create(builder, loc, isZero, constant(1), divisor);
}

Value Formula::emitSum(Value lhs, Value rhs) {
  if (saturating)
    return LLVM::SAddSat::create(builder, loc, lhs, rhs);
  return LLVM::AddOp::create(builder, loc, lhs, rhs);
}

/// A product below the least integer saturates, too, as it is subtracted in a
/// size that is too large.
Value Formula::emitProduct(Value lhs, Value rhs) {
  if (!saturating)
    return LLVM::MulOp::create(builder, loc, lhs, rhs);
  Type i64 = builder.getI64Type(), i1 = builder.getI1Type();
  Type both = LLVM::LLVMStructType::getLiteral(builder.getContext(), {i64, i1});
  Value pair = LLVM::SMulWithOverflowOp::create(builder, loc, both, lhs, rhs);
  Value product = LLVM::ExtractValueOp::create(builder, loc, pair, 0);
  Value overflow = LLVM::ExtractValueOp::create(builder, loc, pair, 1);
  return LLVM::SelectOp::create(builder, loc, overflow, constant(INT64_MAX),
                                product);
}

Value Formula::emit(AffineExpr expr) {
  if (Value known = emitted.lookup(expr))
    return known;
  Value result;
  if (auto literal = dyn_cast<AffineConstantExpr>(expr)) {
    result = constant(literal.getValue());
  } else if (auto symbol = dyn_cast<AffineSymbolExpr>(expr);
             symbol && !symbols) {
    result = symbolValues[symbol.getPosition()];
  } else if (symbol) {
    Value place = LLVM::GEPOp::create(
        builder, loc, symbols.getType(), builder.getI64Type(), symbols,
        ArrayRef<LLVM::GEPArg>{int32_t(symbol.getPosition())});
    result = LLVM::LoadOp::create(builder, loc, builder.getI64Type(), place);
  } else {
    auto binary = cast<AffineBinaryOpExpr>(expr);
    Value lhs = emit(binary.getLHS()), rhs = emit(binary.getRHS());
    bool isQuotient = expr.getKind() != AffineExprKind::Add &&
                      expr.getKind() != AffineExprKind::Mul;
    if (isQuotient && !isa<AffineConstantExpr>(binary.getRHS()))
      rhs = replaceZero(rhs);
    switch (expr.getKind()) {
    case AffineExprKind::Add:
      result = emitSum(lhs, rhs);
      break;
    case AffineExprKind::Mul:
      result = emitProduct(lhs, rhs);
      break;
    case AffineExprKind::FloorDiv:
      result = emitFloorDiv(lhs, rhs);
      break;
    case AffineExprKind::CeilDiv: {
      Value negated = LLVM::SubOp::create(builder, loc, constant(0), lhs);
      Value floor = emitFloorDiv(negated, rhs);
      result = LLVM::SubOp::create(builder, loc, constant(0), floor);
      break;
    }
    case AffineExprKind::Mod: {
      Value floor = emitFloorDiv(lhs, rhs);
      Value product = LLVM::MulOp::create(builder, loc, floor, rhs);
      result = LLVM::SubOp::create(builder, loc, lhs, product);
      break;
    }
    default:
      llvm_unreachable("dims do not occur in formulas");
    }
  }
  return emitted[expr] = result;
}

Value Formula::emitMax(AffineMap map) {
  Value result;
  for (AffineExpr expr : map.getResults()) {
    Value value = emit(expr);
    result = result
                 ? LLVM::SMaxOp::create(builder, loc, result, value).getResult()
                 : value;
  }
  return result ? result : constant(0);
}

} // namespace adze
