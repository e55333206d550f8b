// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Expands f32 functions whose results are rounded to 16 bits.
#include "NarrowMath.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"
#include <cmath>

using namespace mlir;

namespace adze::cuda {

namespace {

/// Builds f32 arithmetic before an op.
class Arithmetic {
public:
  explicit Arithmetic(Operation *op) : b(op), loc(op->getLoc()) {}

  Value constant(float v) {
    return arith::ConstantOp::create(b, loc, b.getF32FloatAttr(v));
  }
  Value add(Value x, Value y) { return arith::AddFOp::create(b, loc, x, y); }
  Value mul(Value x, Value y) { return arith::MulFOp::create(b, loc, x, y); }
  Value fma(Value x, Value y, Value z) {
    return math::FmaOp::create(b, loc, x, y, z);
  }
  Value abs(Value x) { return math::AbsFOp::create(b, loc, x); }
  Value copySign(Value x, Value sign) {
    return math::CopySignOp::create(b, loc, x, sign);
  }
  Value less(Value x, Value y) {
    return arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OLT, x, y);
  }
  Value select(Value c, Value x, Value y) {
    return arith::SelectOp::create(b, loc, c, x, y);
  }
  Value exp2(Value x) { return intrinsic("llvm.nvvm.ex2.approx.ftz.f", x); }
  Value reciprocal(Value x) {
    return intrinsic("llvm.nvvm.rcp.approx.ftz.f", x);
  }
  /// Returns the polynomial with these coefficients, the one of the lowest
  /// power first.
  Value polynomial(Value x, ArrayRef<float> coefficients) {
    Value sum = constant(coefficients.back());
    for (float c : llvm::reverse(coefficients.drop_back()))
      sum = fma(sum, x, constant(c));
    return sum;
  }

private:
  Value intrinsic(StringRef name, Value x) {
    return LLVM::CallIntrinsicOp::create(b, loc, x.getType(),
                                         b.getStringAttr(name), ValueRange(x))
        .getResult(0);
  }

  OpBuilder b;
  Location loc;
};

constexpr float kLog2e = 1.44269504f;

Value expandExp(Arithmetic &a, Value x) {
  // Of a product by a constant and a sum, the product takes in the factor.
  FloatAttr factor;
  if (auto fma = x.getDefiningOp<math::FmaOp>();
      fma && matchPattern(fma.getB(), m_Constant(&factor)))
    return a.exp2(a.fma(fma.getA(),
                        a.constant(factor.getValueAsDouble() * kLog2e),
                        a.mul(fma.getC(), a.constant(kLog2e))));
  return a.exp2(a.mul(x, a.constant(kLog2e)));
}

/// tanh(x) = 1 - 2 / (1 + e^2x). Near 0, where this cancels, x - x^3 / 3.
Value expandTanh(Arithmetic &a, Value x) {
  constexpr float nearZero = 1.0f / 16;
  Value e = a.exp2(a.mul(x, a.constant(2 * kLog2e)));
  Value far = a.fma(a.reciprocal(a.add(e, a.constant(1.0f))), a.constant(-2.0f),
                    a.constant(1.0f));
  Value square = a.mul(x, x);
  Value near = a.mul(x, a.polynomial(square, {1.0f, -1.0f / 3, 2.0f / 15}));
  return a.select(a.less(a.abs(x), a.constant(nearZero)), near, far);
}

/// Returns true if all uses of the value add it to a number of at least 1: only
/// its absolute error matters then.
bool isAddedToOne(Value value) {
  return llvm::all_of(value.getUsers(), [&](Operation *user) {
    auto add = dyn_cast<arith::AddFOp>(user);
    FloatAttr number;
    return add &&
           (matchPattern(add.getRhs(), m_Constant(&number)) ||
            matchPattern(add.getLhs(), m_Constant(&number))) &&
           std::abs(number.getValueAsDouble()) >= 1.0;
  });
}

/// Uses formula 7.1.26 of Abramowitz and Stegun, whose absolute error is
/// 1.5e-7, and the first terms of the Taylor series near 0. With `isAbsolute`
/// the relative error is irrelevant, and no series is used.
Value expandErf(Arithmetic &a, Value x, bool isAbsolute) {
  constexpr float nearZero = 0.25f, scale = 0.3275911f;
  Value t = a.abs(x);
  Value square = a.mul(x, x);
  Value k = a.reciprocal(a.fma(t, a.constant(scale), a.constant(1.0f)));
  Value sum =
      a.mul(k, a.polynomial(k, {0.254829592f, -0.284496736f, 1.421413741f,
                                -1.453152027f, 1.061405429f}));
  Value tail = a.exp2(a.mul(square, a.constant(-kLog2e)));
  Value far = a.fma(a.mul(sum, tail), a.constant(-1.0f), a.constant(1.0f));
  if (isAbsolute)
    return a.copySign(far, x);
  Value near = a.mul(x, a.polynomial(square, {1.12837917f, -0.37612639f,
                                              0.11283792f, -0.02686617f}));
  return a.select(a.less(t, a.constant(nearZero)), near, a.copySign(far, x));
}

bool mayApproximate(Operation *op) {
  auto function = dyn_cast<arith::ArithFastMathInterface>(op);
  if (!function || op->getNumResults() != 1 ||
      !op->getResult(0).getType().isF32())
    return false;
  arith::FastMathFlagsAttr flags = function.getFastMathFlagsAttr();
  return flags &&
         bitEnumContainsAll(flags.getValue(), arith::FastMathFlags::afn);
}

} // namespace

void expandNarrowMath(Operation *root) {
  root->walk([](Operation *op) {
    if (!mayApproximate(op))
      return;
    Arithmetic a(op);
    Value result =
        llvm::TypeSwitch<Operation *, Value>(op)
            .Case(
                [&](math::ExpOp exp) { return expandExp(a, exp.getOperand()); })
            .Case([&](math::Exp2Op exp) { return a.exp2(exp.getOperand()); })
            .Case([&](math::TanhOp tanh) {
              return expandTanh(a, tanh.getOperand());
            })
            .Case([&](math::ErfOp erf) {
              return expandErf(a, erf.getOperand(), isAddedToOne(erf));
            })
            .Case([&](arith::DivFOp div) {
              return a.mul(div.getLhs(), a.reciprocal(div.getRhs()));
            })
            .Default([](Operation *) { return Value(); });
    if (!result)
      return;
    op->getResult(0).replaceAllUsesWith(result);
    op->erase();
  });
}

} // namespace adze::cuda
