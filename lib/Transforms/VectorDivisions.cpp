// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Expands divisions and remainders of integer vectors, which CPUs only have for
// floats, through wider floats, in which they are exact. Others are computed
// lane by lane.
#include "MathExpansion.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace adze;

namespace {
struct Division {
  OpBuilder b;
  Location loc;
  VectorType type;
  bool isSigned, isRemainder;

  Division(Operation *op)
      : b(op), loc(op->getLoc()),
        type(cast<VectorType>(op->getResultTypes()[0])),
        isSigned(isa<arith::DivSIOp, arith::RemSIOp>(op)),
        isRemainder(isa<arith::RemSIOp, arith::RemUIOp>(op)) {}

  Value toFloat(Value x, VectorType wide);
  Value inFloats(Value x, Value y, Type element);
  Value areShort(Value x, Value y);
};
} // namespace

Value Division::toFloat(Value x, VectorType wide) {
  if (isSigned)
    return arith::SIToFPOp::create(b, loc, wide, x);
  return arith::UIToFPOp::create(b, loc, wide, x);
}

/// A quotient that is not an integer differs from the next integer by more than
/// the rounding error: by at least 1 / |y|, compared to |x / y| 2^-p, with |x|
/// < 2^(p - 1).
Value Division::inFloats(Value x, Value y, Type element) {
  VectorType wide = type.clone(element);
  Value ratio =
      arith::DivFOp::create(b, loc, toFloat(x, wide), toFloat(y, wide));
  Value quotient;
  if (isSigned)
    quotient = arith::FPToSIOp::create(b, loc, type, ratio);
  else
    quotient = arith::FPToUIOp::create(b, loc, type, ratio);
  if (!isRemainder)
    return quotient;
  return arith::SubIOp::create(b, loc, x,
                               arith::MulIOp::create(b, loc, quotient, y));
}

/// Returns true if all lanes of both operands have at most 52 bits and a sign.
Value Division::areShort(Value x, Value y) {
  constexpr int64_t most = int64_t(1) << 52;
  auto number = [&](int64_t value) -> Value {
    return arith::ConstantOp::create(
        b, loc, DenseElementsAttr::get(type, b.getI64IntegerAttr(value)));
  };
  auto isShort = [&](Value value) -> Value {
    if (isSigned)
      value = arith::AddIOp::create(b, loc, value, number(most));
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, value,
                                 number(isSigned ? 2 * most : most));
  };
  return vector::ReductionOp::create(
      b, loc, vector::CombiningKind::AND,
      arith::AndIOp::create(b, loc, isShort(x), isShort(y)));
}

/// Divisions by constants are multiplications already. 64-bit elements are
/// expanded if the CPU converts vectors of them.
static void expandDivision(Operation *op, int64_t vectorBytes) {
  auto type = dyn_cast<VectorType>(op->getResultTypes()[0]);
  if (!type || type.getRank() != 1 || !type.getElementType().isInteger() ||
      matchPattern(op->getOperand(1), m_Constant()))
    return;
  unsigned bits = type.getElementTypeBitWidth();
  if (bits < 8 || (bits > 32 && (bits != 64 || vectorBytes < 64)))
    return;
  Division division(op);
  OpBuilder &b = division.b;
  Location loc = op->getLoc();
  Type element = bits >= 32 ? Type(b.getF64Type()) : Type(b.getF32Type());
  Value x = op->getOperand(0), y = op->getOperand(1);
  if (bits <= 32)
    return replace(op, division.inFloats(x, y, element));
  auto branch = scf::IfOp::create(b, loc, type, division.areShort(x, y),
                                  /*withElse=*/true);
  b.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(b, loc, b.clone(*op)->getResult(0));
  b.setInsertionPointToStart(branch.thenBlock());
  scf::YieldOp::create(b, loc, division.inFloats(x, y, element));
  replace(op, branch.getResult(0));
}

/// Expands fmod of f32. In f64, x - trunc(x / y) y is exact up to a quotient of
/// 2^29. Larger quotients, infinities, NaN and divisors of 0 call the C
/// library.
static void expandRemainder(arith::RemFOp op) {
  auto type = dyn_cast<VectorType>(op.getType());
  if (!type || !type.getElementType().isF32() || type.getRank() != 1)
    return;
  OpBuilder b(op);
  Location loc = op.getLoc();
  VectorType wide = type.clone(b.getF64Type());
  auto widen = [&](Value x) -> Value {
    return arith::ExtFOp::create(b, loc, wide, x);
  };
  auto isLess = [&](Value x, double limit) -> Value {
    Value most = arith::ConstantOp::create(
        b, loc, DenseElementsAttr::get(wide, b.getF64FloatAttr(limit)));
    return arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OLT,
                                 math::AbsFOp::create(b, loc, x), most);
  };
  Value x = widen(op.getLhs()), y = widen(op.getRhs());
  Value ratio = arith::DivFOp::create(b, loc, x, y);
  Value holds = vector::ReductionOp::create(
      b, loc, vector::CombiningKind::AND,
      arith::AndIOp::create(b, loc, isLess(ratio, 0x1p29), isLess(y, 0x1p128)));
  auto branch = scf::IfOp::create(b, loc, type, holds, /*withElse=*/true);
  b.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(b, loc, b.clone(*op)->getResult(0));
  b.setInsertionPointToStart(branch.thenBlock());
  Value turns = math::TruncOp::create(b, loc, ratio);
  Value rest =
      math::FmaOp::create(b, loc, arith::NegFOp::create(b, loc, turns), y, x);
  Value result = arith::TruncFOp::create(b, loc, type, rest);
  result = math::CopySignOp::create(b, loc, result, op.getLhs());
  scf::YieldOp::create(b, loc, result);
  replace(op, branch.getResult(0));
}

void adze::expandDivisions(ModuleOp module, int64_t vectorBytes) {
  SmallVector<Operation *> divisions;
  module.walk([&](Operation *op) {
    if (isa<arith::DivSIOp, arith::RemSIOp, arith::DivUIOp, arith::RemUIOp,
            arith::RemFOp>(op))
      divisions.push_back(op);
  });
  for (Operation *op : divisions)
    if (auto remainder = dyn_cast<arith::RemFOp>(op))
      expandRemainder(remainder);
    else
      expandDivision(op, vectorBytes);
}
