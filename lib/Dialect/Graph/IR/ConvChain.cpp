// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Chains of convolutions that one kernel computes row by row.
#include "Dialect/Graph/IR/ConvChain.h"
#include "Dialect/Graph/IR/Shape.h"

using namespace mlir;
using namespace adze::graph;

bool adze::graph::isChainable(ConvOp op) {
  constexpr int64_t longestRow = 512;
  Dims input = getDims(op.getInput()), filter = getDims(op.getFilter()),
       result = getDims(op.getResult());
  auto isKnown = [](AffineExpr size) { return getConstant(size).has_value(); };
  if (op.getLayout() != Layout::NHWC || input.size() != 4 ||
      !isa<FloatType>(getElementTypeOrSelf(op.getInput())) ||
      op.getWideResult() || !llvm::all_of(filter, isKnown) ||
      !llvm::all_of(ArrayRef<AffineExpr>(input).drop_front(), isKnown) ||
      !llvm::all_of(ArrayRef<AffineExpr>(result).drop_front(), isKnown))
    return false;
  bool isDepthwise = op.getGroup() > 1 && getConstant(filter[1]) == 1 &&
                     getConstant(filter[0]) == int64_t(op.getGroup());
  return (op.getGroup() == 1 || isDepthwise) &&
         *getConstant(result[2]) <= longestRow && *getConstant(result[2]) > 1 &&
         *getConstant(result[1]) > 1;
}

int64_t adze::graph::getReach(ConvOp op, unsigned dim) {
  int64_t taps = *getConstant(getDims(op.getFilter())[dim + 2]);
  return (taps - 1) * op.getDilations()[dim] + 1;
}

bool adze::graph::canFollow(ConvOp first, ConvOp next) {
  // Rows that no window covers are not supported.
  return isChainable(first) && isChainable(next) &&
         getReach(next, 0) >= next.getStrides()[0];
}

SmallVector<ConvOp> adze::graph::getConvChain(Block &body) {
  SmallVector<ConvOp> chain;
  DenseSet<Value> made; // from the result of the last one
  for (Operation &op : body) {
    auto conv = dyn_cast<ConvOp>(op);
    if (!conv) {
      if (llvm::any_of(op.getOperands(),
                       [&](Value operand) { return made.contains(operand); }))
        made.insert_range(op.getResults());
      continue;
    }
    if (!chain.empty() &&
        (!made.contains(conv.getInput()) || !canFollow(chain.back(), conv)))
      return {};
    chain.push_back(conv);
    made.clear();
    made.insert(conv.getResult());
  }
  return chain;
}

static int64_t getSize(Value value, unsigned dim) {
  return *getConstant(getDims(value)[dim]);
}

/// Returns the operations of a row of the result, and of the elementwise ops
/// between it and `next`. A math function counts as 25 multiply-adds.
static double getRowFlops(ConvOp op, ConvOp next) {
  constexpr double ofInstruction = 2, ofFunction = 50;
  double taps = getSize(op.getFilter(), 1) * getSize(op.getFilter(), 2) *
                getSize(op.getFilter(), 3);
  double flops = 2 * taps;
  SmallVector<Value> work;
  if (next)
    work.push_back(next.getInput());
  DenseSet<Operation *> seen;
  while (!work.empty()) {
    Operation *step = work.pop_back_val().getDefiningOp();
    if (!step || !isa<ElementwiseOpInterface>(step) ||
        !seen.insert(step).second)
      continue;
    flops += isFunction(step) ? ofFunction : ofInstruction;
    llvm::append_range(work, step->getOperands());
  }
  return flops * getSize(op.getResult(), 2) * getSize(op.getResult(), 3);
}

/// Returns all operations for bands of this many rows; `rowFlops` are those of
/// a row of each result.
static double getFlops(ArrayRef<ConvOp> chain, ArrayRef<double> rowFlops,
                       int64_t band) {
  int64_t height = getSize(chain.back()->getResult(0), 1);
  double flops = 0;
  for (int64_t first = 0; first < height; first += band) {
    int64_t begin = first, end = std::min(first + band, height);
    for (size_t i = chain.size(); i-- > 0;) {
      ConvOp op = chain[i];
      flops += rowFlops[i] * (end - begin);
      int64_t stride = op.getStrides()[0], low = op.getPads()[0];
      begin = std::max<int64_t>(begin * stride - low, 0);
      end = std::min((end - 1) * stride - low + getReach(op, 0),
                     getSize(op.getInput(), 1));
    }
  }
  return flops;
}

ChainPlan adze::graph::planChain(ArrayRef<ConvOp> chain) {
  // The cost of load imbalance, one program more for some threads, by the
  // number of threads. A single thread has none.
  constexpr double start = .001; // of a band, relative to all work of an image
  constexpr std::pair<int64_t, double> threads[] = {{2, 1}, {4, .3}, {8, .05}};
  int64_t height = getSize(chain.back()->getResult(0), 1);
  int64_t images =
      getConstant(getDims(chain.back()->getResult(0))[0]).value_or(1);
  ChainPlan plan;
  SmallVector<double> rowFlops;
  for (size_t i = 0; i < chain.size(); ++i)
    rowFlops.push_back(
        getRowFlops(chain[i], i + 1 < chain.size() ? chain[i + 1] : ConvOp()));
  plan.flops = getFlops(chain, rowFlops, height);
  double best = std::numeric_limits<double>::infinity();
  for (int64_t rows = 1; rows <= height; ++rows) {
    double again = getFlops(chain, rowFlops, rows) - plan.flops;
    int64_t programs = llvm::divideCeil(height, rows) * images;
    double cost = again / plan.flops + start * programs / images;
    for (auto [count, weight] : threads)
      cost +=
          weight * (double(llvm::divideCeil(programs, count) * count * rows) /
                        (height * images) -
                    1);
    if (cost < best) {
      best = cost;
      plan.rows = rows;
      plan.again = again;
    }
  }
  return plan;
}
