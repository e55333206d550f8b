// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Expands f32 functions by instructions of an SM.
#include "DeviceMath.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Iterators.h"
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
  Value negate(Value x) { return arith::NegFOp::create(b, loc, x); }
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
  /// Returns 2^x, or 0 if it is subnormal.
  Value exp2(Value x) { return intrinsic("llvm.nvvm.ex2.approx.ftz.f", x); }
  /// Returns 1/x, or 0 if it is subnormal.
  Value reciprocal(Value x) {
    return intrinsic("llvm.nvvm.rcp.approx.ftz.f", x);
  }
  /// Returns x / y with an error of at most 2 ulp, without branches.
  Value quotient(Value x, Value y) {
    return intrinsic("llvm.nvvm.div.full", {x, y});
  }
  /// Returns max(0, min(1, x y + z)), and 0 for NaN.
  Value saturatedFma(Value x, Value y, Value z) {
    return intrinsic("llvm.nvvm.fma.rn.sat.f", {x, y, z});
  }
  /// Returns the float whose exponent is that of the low bits of a sum.
  Value powerOfBits(Value sum) {
    Type word = b.getI32Type();
    Value bits = arith::BitcastOp::create(b, loc, word, sum);
    constexpr int32_t mantissaBits = 23;
    bits = arith::ShLIOp::create(
        b, loc, bits,
        arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(mantissaBits)));
    return arith::BitcastOp::create(b, loc, b.getF32Type(), bits);
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
  Value intrinsic(StringRef name, ValueRange operands) {
    return LLVM::CallIntrinsicOp::create(b, loc, b.getF32Type(),
                                         b.getStringAttr(name), operands)
        .getResult(0);
  }

  OpBuilder b;
  Location loc;
};

/// log2(e) as the sum of two floats.
constexpr float kLog2e = 1.44269504f, kLog2eRest = 1.92596299e-8f;

/// Computes 2^x, where y is the difference of x and its nearest integer n in
/// [-126, 126], as 2^n 2^y. Beyond these n, y is not small, and one of the
/// factors or the product has the right limit.
template <typename Difference>
Value expandPower(Arithmetic &a, Value x, float scale, Difference difference) {
  constexpr float most = 126, bias = 127, magic = 12582912.0f; // 1.5 * 2^23
  // The saturated value is (n + 126) / 252. Adding `magic` leaves the integer
  // in the low bits.
  Value part =
      a.saturatedFma(x, a.constant(scale / (2 * most)), a.constant(0.5f));
  Value sum =
      a.fma(part, a.constant(2 * most), a.constant(magic + bias - most));
  Value n = a.add(sum, a.constant(-magic - bias));
  return a.mul(a.exp2(difference(n)), a.powerOfBits(sum));
}

Value expandExp(Arithmetic &a, Value x) {
  return expandPower(a, x, kLog2e, [&](Value n) {
    Value rest = a.fma(x, a.constant(kLog2e), a.negate(n));
    return a.fma(x, a.constant(kLog2eRest), rest);
  });
}

Value expandExp2(Arithmetic &a, Value x) {
  return expandPower(a, x, 1.0f,
                     [&](Value n) { return a.add(x, a.negate(n)); });
}

/// tanh(x) = 1 - 2 / (1 + e^2t) with t = |x|, where the error of e^2t is
/// irrelevant, and an odd polynomial below 5/8.
Value expandTanh(Arithmetic &a, Value x) {
  Value t = a.abs(x), square = a.mul(x, x);
  Value power = a.exp2(a.mul(t, a.constant(2 * kLog2e)));
  Value high = a.fma(a.reciprocal(a.add(power, a.constant(1.0f))),
                     a.constant(-2.0f), a.constant(1.0f));
  Value p = a.polynomial(square, {-3.3333331347e-01f, 1.3333210349e-01f,
                                  -5.3947202861e-02f, 2.1702967584e-02f,
                                  -8.1826737151e-03f, 2.1475369576e-03f});
  Value low = a.fma(a.mul(p, square), x, x);
  return a.select(a.less(t, a.constant(0.625f)), low, a.copySign(high, x));
}

/// Divides by a constant. As `inverse` is the rounded reciprocal, a corrected
/// quotient with an error of less than 1 ulp becomes a correctly rounded one by
/// a second correction (P. Markstein, "Computation of elementary functions on
/// the IBM RISC System/6000 processor", 1990), if no value is subnormal.
Value divideByConstant(Arithmetic &a, Value x, float divisor) {
  Value inverse = a.constant(1.0f / divisor), minus = a.constant(-divisor);
  Value estimate = a.mul(x, inverse), quotient = estimate;
  for (int i = 0; i < 2; ++i)
    quotient = a.fma(a.fma(minus, quotient, x), inverse, quotient);
  // Corrections of infinity are NaN, and those of -0 are 0.
  return a.select(a.less(a.constant(0.0f), a.abs(quotient)), quotient,
                  estimate);
}

/// Returns the divisor if divideByConstant() is exact, and faster than a
/// division.
std::optional<float> getDivisor(arith::DivFOp op) {
  constexpr int most = 60;
  FloatAttr constant;
  if (!matchPattern(op.getRhs(), m_Constant(&constant)))
    return std::nullopt;
  auto divisor = float(constant.getValueAsDouble());
  int exponent = 0;
  float mantissa = std::frexp(std::abs(divisor), &exponent);
  // LLVM multiplies by the reciprocal of a power of two. The theorem excludes
  // a mantissa of ones.
  if (!std::isfinite(divisor) || std::abs(exponent) > most ||
      mantissa == 0.5f || mantissa == std::nextafter(1.0f, 0.0f))
    return std::nullopt;
  return divisor;
}

/// Returns true for 1 + e^x.
bool isOnePlusPower(Value value) {
  auto add = value.getDefiningOp<arith::AddFOp>();
  return add && llvm::any_of(add->getOperands(), [&](Value operand) {
           Value other = operand == add.getLhs() ? add.getRhs() : add.getLhs();
           return matchPattern(operand, m_OneFloat()) &&
                  isa_and_present<math::ExpOp, math::Exp2Op>(
                      other.getDefiningOp());
         });
}

//===--- results of 16 bits -----------------------------------------------===//

Value expandNarrowExp(Arithmetic &a, Value x) {
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
Value expandNarrowTanh(Arithmetic &a, Value x) {
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
Value expandNarrowErf(Arithmetic &a, Value x, bool isAbsolute) {
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

Value expandNarrow(Operation *op) {
  Arithmetic a(op);
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case(
          [&](math::ExpOp exp) { return expandNarrowExp(a, exp.getOperand()); })
      .Case([&](math::Exp2Op exp) { return a.exp2(exp.getOperand()); })
      .Case([&](math::TanhOp tanh) {
        return expandNarrowTanh(a, tanh.getOperand());
      })
      .Case([&](math::ErfOp erf) {
        return expandNarrowErf(a, erf.getOperand(), isAddedToOne(erf));
      })
      .Case([&](arith::DivFOp div) {
        return a.mul(div.getLhs(), a.reciprocal(div.getRhs()));
      })
      .Default([](Operation *) { return Value(); });
}

Value expand(Operation *op, arith::FastMathFlags flags) {
  Arithmetic a(op);
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case([&](math::ExpOp exp) {
        bool isAtMostOne =
            bitEnumContainsAll(flags, arith::FastMathFlags::arcp);
        Value x = exp.getOperand();
        return isAtMostOne ? a.exp2(a.mul(x, a.constant(kLog2e)))
                           : expandExp(a, x);
      })
      .Case([&](math::Exp2Op exp) { return expandExp2(a, exp.getOperand()); })
      .Case([&](math::TanhOp tanh) { return expandTanh(a, tanh.getOperand()); })
      .Case([&](arith::DivFOp div) {
        if (std::optional<float> divisor = getDivisor(div))
          return divideByConstant(a, div.getLhs(), *divisor);
        return isOnePlusPower(div.getRhs())
                   ? a.quotient(div.getLhs(), div.getRhs())
                   : Value();
      })
      .Default([](Operation *) { return Value(); });
}

} // namespace

void expandDeviceMath(Operation *root) {
  // A quotient is matched by its divisor, which is expanded later.
  root->walk<WalkOrder::PostOrder, ReverseIterator>([](Operation *op) {
    auto function = dyn_cast<arith::ArithFastMathInterface>(op);
    if (!function || op->getNumResults() != 1 ||
        !op->getResult(0).getType().isF32())
      return;
    auto attribute = function.getFastMathFlagsAttr();
    auto flags = attribute ? attribute.getValue() : arith::FastMathFlags::none;
    Value result = bitEnumContainsAll(flags, arith::FastMathFlags::afn)
                       ? expandNarrow(op)
                       : expand(op, flags);
    if (!result)
      return;
    op->getResult(0).replaceAllUsesWith(result);
    op->erase();
  });
}

} // namespace adze::cuda
