// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// What one rounding after each op does to the results: docs/accuracy.md.
#include "Check.h"
#include "Dialect/Graph/IR/Graph.h"
#include <random>

using namespace mlir;
using namespace adze::graph;

namespace property {

/// Ops that give elements as they got them: nothing is rounded.
static bool isMovement(Operation *op) {
  return isa<ConstantOp, EmptyOp, ReshapeOp, TransposeOp, SliceOp, ConcatOp,
             BroadcastToOp, InsertSliceOp, GatherOp, GatherElementsOp,
             GatherNDOp, ReverseOp>(op);
}

/// Half of the distance between 1 and the number after it; 0 for no float.
static double getRounding(Type type) {
  auto element = dyn_cast<FloatType>(getElementTypeOrSelf(type));
  return element ? std::ldexp(1.0, -int(element.getFPMantissaWidth())) : 0.0;
}

/// Ops whose elements each come of many: their partial sums are rounded, too.
static bool isCombination(Operation *op) {
  return !isMovement(op) && !isa<ElementwiseOpInterface>(op) &&
         op->getNumRegions() == 0;
}

/// The rounding of sums of such elements: those of less than f32 are summed in
/// f32.
static double getSumRounding(Type type) {
  return std::min(getRounding(type), std::ldexp(1.0, -24));
}

/// x (1 + d sin(k x)): elements are off by up to d each in a way of its own, as
/// rounding goes by their last digits. One factor for all of them would go
/// through sums as if none was rounded. Infinity stays.
static Value perturb(OpBuilder &builder, Value x, double d, double k) {
  Location loc = x.getLoc();
  auto type = cast<RankedTensorType>(x.getType());
  auto scalar = RankedTensorType::get({}, type.getElementType());
  auto number = [&](double value) -> Value {
    return ConstantOp::create(builder, loc,
                              DenseElementsAttr::get(scalar, value));
  };
  constexpr double finite = 1e30;
  Value phase = MinimumOp::create(builder, loc, type, x, number(finite));
  phase = MaximumOp::create(builder, loc, type, phase, number(-finite));
  phase = MulOp::create(builder, loc, type, phase, number(k));
  Value wave = SinOp::create(builder, loc, type, phase);
  wave = MulOp::create(builder, loc, type, wave, number(d));
  Value factor = AddOp::create(builder, loc, type, wave, number(1.0));
  return MulOp::create(builder, loc, type, x, factor);
}

/// x - max(x) - ln(sum): code computes x anew for each of these (several loops
/// go over a row), and where it is contracted with the subtraction, it is not
/// rounded as in the maximum. In f64 the op reads x once, and of one element
/// alone its result is 0, however x is off: a second x, off in another way.
static void rereadInput(OpBuilder &builder, LogSoftmaxOp op, double d,
                        double k) {
  builder.setInsertionPointAfter(op);
  Value x = op.getInput(), y = op.getResult();
  Type type = y.getType();
  Value again = perturb(builder, x, d, k);
  Value apart = SubOp::create(builder, op.getLoc(), type, again, x);
  Value sum = AddOp::create(builder, op.getLoc(), type, y, apart);
  y.replaceUsesWithIf(sum, [&](OpOperand &use) {
    return use.getOwner() != sum.getDefiningOp();
  });
}

OwningOpRef<ModuleOp> perturb(ModuleOp module, double part, uint64_t seed) {
  SmallVector<double> roundings; // of all results, as they were
  SmallVector<double> sums;      // of what is combined, as it was
  module.walk([&](Operation *op) {
    for (Type type : op->getResultTypes())
      roundings.push_back(isMovement(op) ? 0.0 : getRounding(type));
    if (isCombination(op))
      for (Type type : op->getOperandTypes())
        sums.push_back(getSumRounding(type));
  });
  OwningOpRef<ModuleOp> wide = widen(module);
  SmallVector<Value> results;
  SmallVector<OpOperand *> combined;
  wide->walk([&](Operation *op) {
    llvm::append_range(results, op->getResults());
    if (isCombination(op))
      llvm::append_range(combined,
                         llvm::make_pointer_range(op->getOpOperands()));
  });
  std::mt19937_64 random(seed);
  OpBuilder builder(module.getContext());
  auto getWaves = [&] {
    // Several waves between numbers near 1 that are neighbours in f32.
    return std::uniform_real_distribution<double>(1e8, 2e8)(random);
  };
  for (auto [result, rounding] : llvm::zip_equal(results, roundings)) {
    auto type = dyn_cast<RankedTensorType>(result.getType());
    if (rounding == 0.0 || !type)
      continue;
    builder.setInsertionPointAfterValue(result);
    Value off = perturb(builder, result, part * rounding, getWaves());
    Operation *last = off.getDefiningOp();
    result.replaceUsesWithIf(off, [&](OpOperand &use) {
      Operation *user = use.getOwner();
      return user->getBlock() != last->getBlock() ||
             last->isBeforeInBlock(user);
    });
  }
  for (auto [operand, rounding] : llvm::zip_equal(combined, sums)) {
    if (rounding == 0.0 || !isa<RankedTensorType>(operand->get().getType()))
      continue;
    builder.setInsertionPoint(operand->getOwner());
    operand->set(perturb(builder, operand->get(), part * rounding, getWaves()));
    if (auto op = dyn_cast<LogSoftmaxOp>(operand->getOwner()))
      rereadInput(builder, op, part * rounding, getWaves());
  }
  return wide;
}

} // namespace property
