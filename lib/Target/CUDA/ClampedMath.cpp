// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Simplifies roundings and conversions of clamped f32 numbers.
#include "ClampedMath.h"
#include "Transforms/FloatBounds.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/ADT/bit.h"
#include <cmath>

using namespace mlir;

namespace adze::cuda {

namespace {

bool isWithin(const FloatBounds &bounds, double limit) {
  return bounds.low >= -limit && bounds.high <= limit;
}

/// The largest integer that additions round to: beyond, the sum with 1.5 * 2^23
/// has fewer bits.
constexpr double kMostRounded = 1 << 22;
/// The constants of a chain of operations that clamps.
constexpr double kMostClamped = 1 << 20;

/// Returns true if all users add small constants to the number and clamp the
/// sum: then numbers beyond kMostRounded have the same result if they are not
/// rounded exactly.
bool isClampedLater(Value value, bool hasLow, bool hasHigh) {
  if (hasLow && hasHigh)
    return true;
  return !value.use_empty() &&
         llvm::all_of(value.getUsers(), [&](Operation *user) {
           if (!isa<arith::MaximumFOp, arith::MinimumFOp, arith::AddFOp,
                    arith::SubFOp>(user) ||
               user->getOperand(0) != value ||
               !isWithin(getFloatBounds(user->getOperand(1)), kMostClamped))
             return false;
           return isClampedLater(user->getResult(0),
                                 hasLow || isa<arith::MaximumFOp>(user),
                                 hasHigh || isa<arith::MinimumFOp>(user));
         });
}

/// Returns true if no user distinguishes 0 and -0.
bool isSignIgnored(Value value) {
  return llvm::all_of(value.getUsers(), [](Operation *user) {
    return isa<arith::MaximumFOp, arith::MinimumFOp, arith::AddFOp,
               arith::SubFOp, arith::FPToSIOp, arith::FPToUIOp>(user);
  });
}

/// Numbers from 2^23 on have no fraction. The sum of a small number with 1.5 *
/// 2^23 is one of them, and its low bits are the rounded number.
constexpr double kLeastWhole = 1 << 23;
constexpr float kMagic = 12582912.0f;

/// Returns true if the f32 number is an integer, infinite or NaN.
bool isInteger(Value value, unsigned depth = 8) {
  if (!value.getType().isF32())
    return false;
  FloatAttr constant;
  if (matchPattern(value, m_Constant(&constant))) {
    double number = constant.getValueAsDouble();
    return number == std::floor(number);
  }
  Operation *op = value.getDefiningOp();
  if (!op || depth == 0)
    return false;
  if (isa<math::RoundEvenOp, arith::UIToFPOp, arith::SIToFPOp>(op))
    return true;
  // Numbers from 2^23 on have no fraction.
  auto isWhole = [&](Value operand) {
    return getFloatBounds(operand).low >= kLeastWhole ||
           isInteger(operand, depth - 1);
  };
  return isa<arith::AddFOp, arith::SubFOp, arith::MaximumFOp,
             arith::MinimumFOp>(op) &&
         llvm::all_of(op->getOperands(), isWhole);
}

/// Removes a bound that the number does not reach.
void removeClamp(Operation *op) {
  Value x = op->getOperand(0);
  FloatBounds own = getFloatBounds(x),
              bound = getFloatBounds(op->getOperand(1));
  bool isUnused = isa<arith::MaximumFOp>(op) ? own.low >= bound.high
                                             : own.high <= bound.low;
  if (!isUnused)
    return;
  op->getResult(0).replaceAllUsesWith(x);
  op->erase();
}

void removeRound(math::RoundEvenOp op) {
  if (!isInteger(op.getOperand()))
    return;
  op.replaceAllUsesWith(op.getOperand());
  op.erase();
}

void simplifyRound(math::RoundEvenOp op) {
  Value x = op.getOperand();
  if (!op.getType().isF32() || !isSignIgnored(op.getResult()) ||
      !(isWithin(getFloatBounds(x), kMostRounded) ||
        isClampedLater(op.getResult(), false, false)))
    return;
  OpBuilder b(op);
  Location loc = op.getLoc();
  Value number = arith::ConstantOp::create(b, loc, b.getF32FloatAttr(kMagic));
  Value sum = arith::AddFOp::create(b, loc, x, number);
  op.replaceAllUsesWith(arith::SubFOp::create(b, loc, sum, number).getResult());
  op.erase();
}

/// Returns the 32-bit integer of an integral number: the low bits of its sum
/// with the magic number.
Value getLowBits(OpBuilder &b, Location loc, Value number) {
  Type word = b.getI32Type();
  Value magic = arith::ConstantOp::create(b, loc, b.getF32FloatAttr(kMagic));
  Value sum = arith::AddFOp::create(b, loc, number, magic);
  Value bits = arith::BitcastOp::create(b, loc, word, sum),
        zero = arith::ConstantOp::create(
            b, loc, b.getI32IntegerAttr(llvm::bit_cast<int32_t>(kMagic)));
  return arith::SubIOp::create(b, loc, bits, zero);
}

/// Converts integral numbers by an addition, and others by way of 32 bits.
void simplifyConversion(arith::FPToSIOp op) {
  constexpr double most = double(1 << 30);
  Value x = op.getIn();
  unsigned bits = op.getType().getIntOrFloatBitWidth();
  if (!x.getType().isF32() || bits < 32 || !isWithin(getFloatBounds(x), most))
    return;
  OpBuilder b(op);
  bool isIntegral = isInteger(x) && isWithin(getFloatBounds(x), kMostRounded);
  if (bits == 32 && !isIntegral)
    return;
  Value word = isIntegral
                   ? getLowBits(b, op.getLoc(), x)
                   : arith::FPToSIOp::create(b, op.getLoc(), b.getI32Type(), x);
  op.replaceAllUsesWith(
      b.createOrFold<arith::ExtSIOp>(op.getLoc(), op.getType(), word));
  op.erase();
}

} // namespace

void simplifyClampedMath(Operation *root) {
  root->walk([](Operation *op) {
    llvm::TypeSwitch<Operation *>(op)
        .Case([](math::RoundEvenOp round) { removeRound(round); })
        .Case([](arith::FPToSIOp convert) { simplifyConversion(convert); });
  });
  // Until here, numbers that are rounded are recognized as integers.
  root->walk([](math::RoundEvenOp round) { simplifyRound(round); });
  // Roundings are simplified by the bounds after them.
  root->walk([](Operation *op) {
    if (isa<arith::MaximumFOp, arith::MinimumFOp>(op))
      removeClamp(op);
  });
}

} // namespace adze::cuda
