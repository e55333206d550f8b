// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// graph-simplify-movement: chains of concatenation, slices, padding,
// repetition, reversal and look-ups that move less written otherwise. The
// elements stay the same, bit by bit.
#include "Dialect/Graph/Transforms/Passes.h"
#include "Simplification.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace adze::graph {
#define GEN_PASS_DEF_SIMPLIFYMOVEMENTPASS
#include "Dialect/Graph/Transforms/Passes.h.inc"
} // namespace adze::graph

using namespace mlir;
using namespace adze::graph;

namespace {

/// concat(a, concat(b, c)) = concat(a, b, c), without parts of size 0.
LogicalResult flattenConcat(ConcatOp op, PatternRewriter &rewriter) {
  SmallVector<Value> parts;
  for (Value input : op.getInputs()) {
    auto inner = input.getDefiningOp<ConcatOp>();
    if (inner && inner->hasOneUse() && inner.getAxis() == op.getAxis())
      llvm::append_range(parts, inner.getInputs());
    else if (getConstant(getDims(input)[op.getAxis()]) != 0)
      parts.push_back(input);
  }
  if (parts.empty() || llvm::equal(parts, op.getInputs()))
    return rewriter.notifyMatchFailure(op, "flat already");
  rewriter.replaceOpWithNewOp<ConcatOp>(op, op.getType(), parts, op.getAxis());
  return success();
}

/// A slice of one part of a concatenation is one of that part.
LogicalResult slicePart(SliceOp op, PatternRewriter &rewriter) {
  auto concat = op.getInput().getDefiningOp<ConcatOp>();
  if (!concat || op.getBegin())
    return rewriter.notifyMatchFailure(op, "not of a concatenation");
  int64_t axis = concat.getAxis(), step = op.getSteps()[axis];
  std::optional<int64_t> size = getConstant(getDims(op.getResult())[axis]);
  if (!size || *size <= 0)
    return rewriter.notifyMatchFailure(op, "of an unknown size");
  int64_t first = op.getStarts()[axis], last = first + (*size - 1) * step;
  int64_t begin = 0;
  for (Value part : concat.getInputs()) {
    std::optional<int64_t> length = getConstant(getDims(part)[axis]);
    if (!length)
      break; // where the next one begins is not known
    if (std::min(first, last) >= begin &&
        std::max(first, last) < begin + *length) {
      SmallVector<int64_t> starts(op.getStarts());
      starts[axis] -= begin;
      rewriter.replaceOpWithNewOp<SliceOp>(op, op.getType(), part, starts,
                                           op.getSteps());
      return success();
    }
    begin += *length;
  }
  return rewriter.notifyMatchFailure(op, "it lies across parts");
}

bool isNonNegative(ArrayRef<int64_t> pads) {
  return llvm::all_of(pads, [](int64_t pad) { return pad >= 0; });
}

/// pad(pad(x)) with one and the same constant: the sums of both.
LogicalResult joinPads(PadOp op, PatternRewriter &rewriter) {
  auto inner = op.getInput().getDefiningOp<PadOp>();
  if (!inner || op.getMode() != inner.getMode() ||
      (op.getMode() != PadMode::Constant && op.getMode() != PadMode::Edge) ||
      op.getValue() != inner.getValue())
    return rewriter.notifyMatchFailure(op, "not of padding of this kind");
  for (ArrayRef<int64_t> pads :
       {op.getLow(), op.getHigh(), inner.getLow(), inner.getHigh()})
    if (!isNonNegative(pads))
      return rewriter.notifyMatchFailure(op, "one removes elements");
  SmallVector<int64_t> low, high;
  for (auto [a, b] : llvm::zip_equal(op.getLow(), inner.getLow()))
    low.push_back(a + b);
  for (auto [a, b] : llvm::zip_equal(op.getHigh(), inner.getHigh()))
    high.push_back(a + b);
  rewriter.replaceOpWithNewOp<PadOp>(op, op.getType(), inner.getInput(),
                                     op.getValue(), low, high, op.getMode());
  return success();
}

/// Padding that only removes elements is a slice.
LogicalResult sliceByPad(PadOp op, PatternRewriter &rewriter) {
  auto adds = [](int64_t pad) { return pad > 0; };
  if (llvm::any_of(op.getLow(), adds) || llvm::any_of(op.getHigh(), adds))
    return rewriter.notifyMatchFailure(op, "it adds elements");
  auto isKnownSize = [](AffineExpr dim) {
    return getConstant(dim).value_or(-1) >= 0;
  };
  if (!llvm::all_of(getDims(op.getResult()), isKnownSize))
    return rewriter.notifyMatchFailure(op, "of an unknown size");
  SmallVector<int64_t> starts, steps(op.getLow().size(), 1);
  for (int64_t pad : op.getLow())
    starts.push_back(-pad);
  rewriter.replaceOpWithNewOp<SliceOp>(op, op.getType(), op.getInput(), starts,
                                       steps);
  return success();
}

/// broadcast_to(broadcast_to(x)) = broadcast_to(x).
LogicalResult joinBroadcasts(BroadcastToOp op, PatternRewriter &rewriter) {
  auto inner = op.getInput().getDefiningOp<BroadcastToOp>();
  if (!inner)
    return rewriter.notifyMatchFailure(op, "not of a repetition");
  rewriter.modifyOpInPlace(
      op, [&] { op.getInputMutable().assign(inner.getInput()); });
  return success();
}

/// Elementwise ops repeat their operands themselves.
class BroadcastOfOperand final
    : public OpInterfaceRewritePattern<ElementwiseOpInterface> {
public:
  BroadcastOfOperand(MLIRContext *context, Pass::Statistic &count)
      : OpInterfaceRewritePattern(context), count(count) {}

  LogicalResult matchAndRewrite(ElementwiseOpInterface op,
                                PatternRewriter &rewriter) const override {
    if (op->getNumOperands() < 2 || op->getNumResults() != 1)
      return rewriter.notifyMatchFailure(op, "no other operand");
    for (OpOperand &operand : op->getOpOperands()) {
      auto broadcast = operand.get().getDefiningOp<BroadcastToOp>();
      if (!broadcast || !keepsShape(op, operand, broadcast.getInput()))
        continue;
      rewriter.modifyOpInPlace(op, [&] { operand.set(broadcast.getInput()); });
      ++count;
      return success();
    }
    return rewriter.notifyMatchFailure(op, "no operand is repeated in vain");
  }

private:
  static bool keepsShape(Operation *op, OpOperand &operand, Value source) {
    SmallVector<Dims> shapes;
    for (OpOperand &other : op->getOpOperands())
      shapes.push_back(getDims(&other == &operand ? source : other.get()));
    std::string error;
    FailureOr<Dims> dims = broadcastDims(shapes, error);
    return succeeded(dims) && areEqual(*dims, getDims(op->getResult(0)));
  }

  Pass::Statistic &count;
};

/// reverse(reverse(x)) along the same dims.
LogicalResult dropReversals(ReverseOp op, PatternRewriter &rewriter) {
  auto inner = op.getInput().getDefiningOp<ReverseOp>();
  if (!inner || inner.getAxes() != op.getAxes())
    return rewriter.notifyMatchFailure(op, "not of a reversal like it");
  rewriter.replaceOp(op, inner.getInput());
  return success();
}

/// Elements picked at constant, evenly spaced places are a slice, which a
/// reader takes in as an offset.
LogicalResult sliceByGather(GatherOp op, PatternRewriter &rewriter) {
  int64_t axis = op.getAxis();
  Dims data = getDims(op.getData());
  std::optional<int64_t> size = getConstant(data[axis]);
  auto places = getConstantElements(op.getIndices());
  if (!size || !places || places->empty() || !areKnown(op.getResult()) ||
      !areKnown(op.getData()) || op.getData().getDefiningOp<ConstantOp>())
    return rewriter.notifyMatchFailure(op, "no constant places");
  for (int64_t &place : *places)
    if ((place < 0 ? place += *size : place) < 0 || place >= *size)
      return rewriter.notifyMatchFailure(op, "out of range");
  int64_t step = places->size() > 1 ? (*places)[1] - (*places)[0] : 1;
  if (step == 0)
    return rewriter.notifyMatchFailure(op, "one element again and again");
  for (size_t i = 1; i < places->size(); ++i)
    if ((*places)[i] - (*places)[i - 1] != step)
      return rewriter.notifyMatchFailure(op, "not evenly spaced");
  SmallVector<int64_t> starts(data.size(), 0), steps(data.size(), 1);
  starts[axis] = places->front();
  steps[axis] = step;
  data[axis] = rewriter.getAffineConstantExpr(places->size());
  Value slice = SliceOp::create(rewriter, op.getLoc(),
                                makeType(getElement(op.getData()), data),
                                op.getData(), starts, steps);
  rewriter.replaceOpWithNewOp<ReshapeOp>(op, op.getType(), slice);
  return success();
}

class SimplifyMovementPass final
    : public adze::graph::impl::SimplifyMovementPassBase<SimplifyMovementPass> {
public:
  using SimplifyMovementPassBase::SimplifyMovementPassBase;

  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<BroadcastOfOperand>(&getContext(), simplified);
    addSimplifications<ConcatOp>(patterns, simplified, flattenConcat);
    addSimplifications<SliceOp>(patterns, simplified, slicePart);
    addSimplifications<PadOp>(patterns, simplified, joinPads);
    addSimplifications<PadOp>(patterns, simplified, sliceByPad);
    addSimplifications<BroadcastToOp>(patterns, simplified, joinBroadcasts);
    addSimplifications<ReverseOp>(patterns, simplified, dropReversals);
    addSimplifications<GatherOp>(patterns, simplified, sliceByGather);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
