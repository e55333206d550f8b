// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Contracts sums of scaled integers that are rounded to integers.
#include "ContractSums.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace adze;

/// Returns true if all elements of a float tile are integers.
static bool isWhole(Value tile, unsigned depth = 0) {
  constexpr unsigned most = 8;
  APFloat number(0.0);
  if (matchPattern(tile, m_ConstantFloat(&number)))
    return number.isInteger();
  Operation *op = tile.getDefiningOp();
  if (isa_and_nonnull<arith::SIToFPOp, arith::UIToFPOp, math::RoundEvenOp>(op))
    return true;
  return isa_and_nonnull<arith::AddFOp, arith::MaximumFOp, arith::MinimumFOp,
                         tile::BroadcastOp>(op) &&
         depth < most &&
         llvm::all_of(
             op->getOperands(),
             [&](Value operand) { return isWhole(operand, depth + 1); });
}

/// Replaces the products of a sum by fused multiply-adds, except for one.
static void contract(Value value) {
  while (auto sum = value.getDefiningOp<arith::AddFOp>()) {
    if (!sum->hasOneUse())
      return;
    value = sum.getLhs();
    for (unsigned i : {1, 0}) {
      auto product = sum->getOperand(i).getDefiningOp<arith::MulFOp>();
      if (!product || !product->hasOneUse() ||
          !(isWhole(product.getLhs()) || isWhole(product.getRhs())))
        continue;
      OpBuilder b(sum);
      value = sum->getOperand(1 - i);
      Value fused = math::FmaOp::create(b, sum.getLoc(), product.getLhs(),
                                        product.getRhs(), value);
      sum.replaceAllUsesWith(fused);
      sum.erase();
      product.erase();
      break;
    }
  }
}

/// Returns the integral second operand of an op on splats, if it is small.
static std::optional<double> getBound(Operation *op) {
  constexpr double greatest = 1 << 16;
  auto splat = op->getOperand(1).getDefiningOp<tile::BroadcastOp>();
  APFloat number(0.0f);
  if (!splat || !matchPattern(splat.getSource(), m_ConstantFloat(&number)) ||
      !number.isInteger() || std::fabs(number.convertToDouble()) > greatest)
    return std::nullopt;
  return number.convertToDouble();
}

/// Rounds a scaled integer between constant bounds by an addition: the sum with
/// 3 * 2^22 has no bits after the point, the multiplication is fused with it,
/// and the bounds of the sum are moved by it. Beyond the bounds, rounding is
/// monotonic in both forms.
static void roundBySum(math::RoundEvenOp round) {
  constexpr double offset = 3 << 22;
  auto product = round.getOperand().getDefiningOp<arith::MulFOp>();
  if (!product || !product->hasOneUse() || !round->hasOneUse() ||
      !getElementTypeOrSelf(round.getType()).isF32() ||
      !(isWhole(product.getLhs()) || isWhole(product.getRhs())))
    return;
  auto most = dyn_cast<arith::MaximumFOp>(*round->user_begin());
  auto least = most && most->hasOneUse()
                   ? dyn_cast<arith::MinimumFOp>(*most->user_begin())
                   : nullptr;
  std::optional<double> low = most ? getBound(most) : std::nullopt,
                        high = least ? getBound(least) : std::nullopt;
  // Conversions to integers round by themselves.
  if (!low || !high || llvm::any_of(least->getUsers(), [](Operation *user) {
        return !isa<arith::MulFOp, math::FmaOp>(user);
      }))
    return;
  OpBuilder b(least);
  Location loc = round.getLoc();
  auto splat = [&](double number) -> Value {
    auto shape = most.getRhs().getDefiningOp<tile::BroadcastOp>();
    Value scalar = arith::ConstantOp::create(b, loc, b.getF32FloatAttr(number));
    Operation *clone = b.clone(*shape);
    clone->setOperand(0, scalar);
    return clone->getResult(0);
  };
  Value sum = math::FmaOp::create(b, loc, product.getLhs(), product.getRhs(),
                                  splat(offset));
  sum = arith::MaximumFOp::create(b, loc, sum, splat(offset + *low));
  sum = arith::MinimumFOp::create(b, loc, sum, splat(offset + *high));
  Value whole = arith::SubFOp::create(b, loc, sum, splat(offset));
  least.replaceAllUsesWith(whole);
  for (Operation *op : {least.getOperation(), most.getOperation(),
                        round.getOperation(), product.getOperation()})
    op->erase();
}

void tile::contractSums(KernelOp kernel) {
  SmallVector<math::RoundEvenOp> roundings;
  kernel.walk([&](arith::FPToSIOp convert) {
    Value value = convert.getIn();
    while (Operation *op = value.getDefiningOp()) {
      if (auto round = dyn_cast<math::RoundEvenOp>(op))
        roundings.push_back(round);
      if (!isa<arith::AddFOp, arith::MaximumFOp, arith::MinimumFOp>(op))
        break;
      value = op->getOperand(0);
    }
  });
  for (math::RoundEvenOp round : roundings)
    contract(round.getOperand());
  roundings.clear();
  kernel.walk([&](math::RoundEvenOp round) { roundings.push_back(round); });
  llvm::for_each(roundings, roundBySum);
}
