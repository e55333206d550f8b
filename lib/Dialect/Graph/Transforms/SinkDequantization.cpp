// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// graph-sink-dequantization: moves and pools tensors as 8-bit integers.
#include "Dialect/Graph/Transforms/Passes.h"
#include "LinearFolds.h"
#include "Quantized.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace adze::graph {
#define GEN_PASS_DEF_SINKDEQUANTIZATIONPASS
#include "Dialect/Graph/Transforms/Passes.h.inc"
} // namespace adze::graph

using namespace mlir;
using namespace adze::graph;

namespace {

/// Returns how many operands of the op hold the elements that it selects from,
/// or 0 if its result depends on the values that the integers represent.
unsigned countSources(Operation *op) {
  if (isa<ConcatOp>(op))
    return op->getNumOperands();
  // Scales are positive, so the order of integers is that of the values.
  return isa<MaxPoolOp, ReshapeOp, TransposeOp, SliceOp, ReverseOp, GatherOp,
             GatherElementsOp, GatherNDOp>(op)
             ? 1
             : 0;
}

/// op(dequantize(x)) -> dequantize(op(x)), with one scale and one zero point
/// for all elements.
LogicalResult sink(Operation *op, RewriterBase &b) {
  unsigned count = countSources(op);
  if (count == 0 || op->getNumResults() != 1)
    return failure();
  std::optional<Dequantized> first;
  SmallVector<Value> bytes;
  for (Value operand : op->getOperands().take_front(count)) {
    auto source = matchDequantized(operand);
    if (!source)
      return failure();
    std::optional<double> scale = getSplatNumber(source->scale);
    if (!scale || !(*scale > 0) ||
        (first && (getElement(first->bytes) != getElement(source->bytes) ||
                   first->zero != source->zero ||
                   getSplatNumber(first->scale) != scale)))
      return failure();
    if (!first)
      first = source;
    bytes.push_back(source->bytes);
  }
  Location loc = op->getLoc();
  b.setInsertionPoint(op);
  Operation *moved = b.clone(*op);
  moved->setOperands(0, count, bytes);
  Dims dims = getDims(op->getResult(0));
  moved->getResult(0).setType(makeType(getElement(first->bytes), dims));
  Value y = CastOp::create(b, loc, makeType(b.getF32Type(), dims),
                           moved->getResult(0));
  if (first->zero != 0)
    y = SubOp::create(b, loc, y, createF32(b, loc, double(first->zero)));
  b.replaceOpWithNewOp<MulOp>(op, y,
                              createF32(b, loc, *getSplatNumber(first->scale)));
  return success();
}

class SinkDequantizationPass final
    : public adze::graph::impl::SinkDequantizationPassBase<
          SinkDequantizationPass> {
public:
  using SinkDequantizationPassBase::SinkDequantizationPassBase;

  void runOnOperation() override {
    IRRewriter b(&getContext());
    getOperation().walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (succeeded(sink(op, b))) {
        ++sunk;
        return WalkResult::skip();
      }
      return WalkResult::advance();
    });
  }
};

} // namespace
