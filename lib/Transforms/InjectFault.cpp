// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// test-inject-fault: introduces a wrong result.
#include "Dialect/Host/IR/Host.h"
#include "Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace adze {
#define GEN_PASS_DEF_INJECTFAULT
#include "Transforms/Passes.h.inc"

namespace {
class InjectFaultPass final : public impl::InjectFaultBase<InjectFaultPass> {
public:
  void runOnOperation() override;
};
} // namespace

/// Creates the op with another meaning, or returns null for other ops.
static Operation *makeOther(Operation *op, OpBuilder &builder) {
  auto create = [&](auto other) -> Operation * {
    return decltype(other)::create(builder, op->getLoc(), op->getOperand(0),
                                   op->getOperand(1));
  };
  if (isa<arith::AddFOp>(op))
    return create(arith::SubFOp());
  if (isa<arith::MulFOp>(op))
    return create(arith::AddFOp());
  if (isa<arith::MaximumFOp>(op))
    return create(arith::MinimumFOp());
  return nullptr;
}

void InjectFaultPass::runOnOperation() {
  OpBuilder builder(&getContext());
  getOperation().walk([&](Operation *op) {
    builder.setInsertionPoint(op);
    Operation *other = makeOther(op, builder);
    if (!other)
      return WalkResult::advance();
    op->replaceAllUsesWith(other);
    op->erase();
    return WalkResult::interrupt();
  });
}

} // namespace adze
