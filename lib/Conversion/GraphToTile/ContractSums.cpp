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
}
