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

OwningOpRef<ModuleOp> perturb(ModuleOp module, double part, uint64_t seed) {
  SmallVector<double> roundings; // of all results, as they were
  module.walk([&](Operation *op) {
    for (Type type : op->getResultTypes())
      roundings.push_back(isMovement(op) ? 0.0 : getRounding(type));
  });
  OwningOpRef<ModuleOp> wide = widen(module);
  SmallVector<Value> results;
  wide->walk(
      [&](Operation *op) { llvm::append_range(results, op->getResults()); });
  std::mt19937_64 random(seed);
  OpBuilder builder(module.getContext());
  for (auto [result, rounding] : llvm::zip_equal(results, roundings)) {
    auto type = dyn_cast<RankedTensorType>(result.getType());
    if (rounding == 0.0 || !type)
      continue;
    // Not near 0, so that all are seen, and of either sign.
    double size = std::uniform_real_distribution<double>(0.5, 1.0)(random);
    double sign = random() % 2 ? 1.0 : -1.0;
    builder.setInsertionPointAfterValue(result);
    auto scalar = RankedTensorType::get({}, type.getElementType());
    Value factor = ConstantOp::create(
        builder, result.getLoc(),
        DenseElementsAttr::get(scalar, 1.0 + sign * size * part * rounding));
    auto off = MulOp::create(builder, result.getLoc(), type, result, factor);
    result.replaceAllUsesExcept(off.getResult(), off);
  }
  return wide;
}

} // namespace property
