// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// graph-split-pools: splits maxima and means over large windows by dims.
#include "Dialect/Graph/IR/Graph.h"
#include "Dialect/Graph/IR/Shape.h"
#include "Dialect/Graph/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace adze::graph {
#define GEN_PASS_DEF_SPLITPOOLSPASS
#include "Dialect/Graph/Transforms/Passes.h.inc"
} // namespace adze::graph

using namespace mlir;
using namespace adze::graph;

/// Returns the dims in which the window has several elements, if it is
/// profitable to pool them one by one: the intermediate tensor is written and
/// read again, and does not have the strides of later dims yet.
template <typename OpT>
static SmallVector<unsigned> getWorthyDims(OpT op) {
  constexpr int64_t taps = 3; // of one dim: a pass over memory costs as many
  SmallVector<unsigned> dims;
  int64_t together = 1, apart = 0, rest = 1;
  for (unsigned dim = op.getKernel().size(); dim-- > 0;) {
    if (op.getKernel()[dim] == 1)
      continue;
    dims.insert(dims.begin(), dim);
    together *= op.getKernel()[dim];
    apart += op.getKernel()[dim] * rest;
    rest *= op.getStrides()[dim];
  }
  if (dims.size() < 2 || together < taps * apart)
    dims.clear();
  return dims;
}

static Value create(OpBuilder &b, MaxPoolOp op, Value input,
                    ArrayRef<int64_t> kernel, ArrayRef<int64_t> strides,
                    ArrayRef<int64_t> pads, ArrayRef<int64_t> dilations) {
  return MaxPoolOp::create(b, op.getLoc(), input, kernel, strides, pads,
                           dilations, op.getCeilMode(), op.getLayout());
}

static Value create(OpBuilder &b, AvgPoolOp op, Value input,
                    ArrayRef<int64_t> kernel, ArrayRef<int64_t> strides,
                    ArrayRef<int64_t> pads, ArrayRef<int64_t> dilations) {
  return AvgPoolOp::create(b, op.getLoc(), input, kernel, strides, pads,
                           dilations, op.getCeilMode(), op.getLayout(),
                           op.getCountIncludePad());
}

/// The intermediate tensor is rounded once more.
static bool mayRoundBetween(MaxPoolOp) { return true; }
static bool mayRoundBetween(AvgPoolOp op) {
  return getElementTypeOrSelf(op.getType()).getIntOrFloatBitWidth() >= 32;
}

/// Pools along one dim, or along all dims of `op` except the ones before it
/// that are done: strides and pads of dims with a window of one element are
/// applied last.
template <typename OpT>
static Value poolAlong(OpBuilder &b, OpT op, Value input, unsigned dim,
                       bool isLast) {
  unsigned spatial = op.getKernel().size();
  SmallVector<int64_t> kernel(spatial, 1), strides(spatial, 1),
      pads(2 * spatial, 0), dilations(spatial, 1);
  for (unsigned i = 0; i < spatial; ++i) {
    if (i != dim && !(isLast && op.getKernel()[i] == 1))
      continue;
    kernel[i] = op.getKernel()[i];
    strides[i] = op.getStrides()[i];
    dilations[i] = op.getDilations()[i];
    pads[i] = op.getPads()[i];
    pads[spatial + i] = op.getPads()[spatial + i];
  }
  return create(b, op, input, kernel, strides, pads, dilations);
}

template <typename OpT>
static bool splitPool(OpT op) {
  SmallVector<unsigned> dims = getWorthyDims(op);
  if (dims.empty() || !mayRoundBetween(op))
    return false;
  OpBuilder b(op);
  Value value = op.getInput();
  for (unsigned dim : dims)
    value = poolAlong(b, op, value, dim, dim == dims.back());
  // Equal sizes may have different expressions.
  if (value.getType() != op.getType())
    value = ReshapeOp::create(b, op.getLoc(), op.getType(), value);
  op.replaceAllUsesWith(value);
  op.erase();
  return true;
}

namespace {
class SplitPoolsPass final
    : public adze::graph::impl::SplitPoolsPassBase<SplitPoolsPass> {
public:
  void runOnOperation() override {
    SmallVector<Operation *> ops;
    getOperation().walk([&](Operation *op) {
      if (isa<MaxPoolOp, AvgPoolOp>(op))
        ops.push_back(op);
    });
    for (Operation *op : ops) {
      auto max = dyn_cast<MaxPoolOp>(op);
      split += max ? splitPool(max) : splitPool(cast<AvgPoolOp>(op));
    }
  }
};
} // namespace
