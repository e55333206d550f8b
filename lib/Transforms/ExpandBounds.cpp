// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// expand-bounds: expands maxima and minima with a constant to one comparison.
#include "Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace adze {
#define GEN_PASS_DEF_EXPANDBOUNDS
#include "Transforms/Passes.h.inc"

namespace {
class ExpandBoundsPass final : public impl::ExpandBoundsBase<ExpandBoundsPass> {
public:
  void runOnOperation() override;
  template <typename Op>
  void expand(Op op, arith::CmpFPredicate wins);
};
} // namespace

/// Returns true for a constant other than NaN, or a splat of one.
static bool isNumber(Value value) {
  FloatAttr number;
  SplatElementsAttr lanes;
  if (matchPattern(value, m_Constant(&number)))
    return !number.getValue().isNaN();
  return matchPattern(value, m_Constant(&lanes)) &&
         !lanes.getSplatValue<APFloat>().isNaN();
}

/// `wins` is the predicate that compares a bound with a value that it replaces.
template <typename Op>
void ExpandBoundsPass::expand(Op op, arith::CmpFPredicate wins) {
  Value x = op.getLhs(), bound = op.getRhs();
  if (isNumber(x))
    std::swap(x, bound);
  if (!isNumber(bound))
    return;
  OpBuilder b(op);
  Value isBeyond = arith::CmpFOp::create(b, op.getLoc(), wins, bound, x);
  op.replaceAllUsesWith(
      arith::SelectOp::create(b, op.getLoc(), isBeyond, bound, x).getResult());
  op.erase();
  ++numExpanded;
}

void ExpandBoundsPass::runOnOperation() {
  getOperation().walk([&](Operation *op) {
    if (auto max = dyn_cast<arith::MaximumFOp>(op))
      expand(max, arith::CmpFPredicate::OGT);
    else if (auto min = dyn_cast<arith::MinimumFOp>(op))
      expand(min, arith::CmpFPredicate::OLT);
  });
}

} // namespace adze
