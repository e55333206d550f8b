// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// expand-copies: converts copies of memrefs to linalg.
#include "Transforms/Passes.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/MemRef/Utils/MemRefUtils.h"

using namespace mlir;

namespace adze {
#define GEN_PASS_DEF_EXPANDCOPIES
#include "Transforms/Passes.h.inc"

namespace {
class ExpandCopiesPass final : public impl::ExpandCopiesBase<ExpandCopiesPass> {
public:
  using ExpandCopiesBase::ExpandCopiesBase;
  void runOnOperation() override;
};
} // namespace

/// Returns true if finalize-memref-to-llvm lowers its copies to memcpy.
static bool isDense(Value value) {
  auto type = cast<MemRefType>(value.getType());
  return type.getLayout().isIdentity() ||
         (type.hasStaticShape() &&
          memref::isStaticShapeAndContiguousRowMajor(type));
}

void ExpandCopiesPass::runOnOperation() {
  getOperation().walk([&](memref::CopyOp op) {
    if (!all && isDense(op.getSource()) && isDense(op.getTarget()))
      return;
    OpBuilder builder(op);
    linalg::CopyOp::create(builder, op.getLoc(), op.getSource(),
                           op.getTarget());
    op.erase();
    ++numExpanded;
  });
}

} // namespace adze
