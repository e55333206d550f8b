// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Reductions over dims, and what picks or sums along one.
#include "../OpTable.h"
#include "Arithmetic.h"

using namespace adze;
using namespace adze::importer;
using mlir::LogicalResult;
using mlir::Value;

/// Axes: an attribute in older versions, an operand in newer ones. None, or an
/// empty list, means all dims, or with noop_with_empty_axes no dim.
template <typename OpT>
static LogicalResult importReduce(Binder &b) {
  Value x = b.operand(0);
  int64_t rank = b.getRank(x);
  auto axes = b.getAxes(1, rank);
  if (b.hasFailed())
    return mlir::failure();
  if (!axes || axes->empty()) {
    axes.emplace();
    if (b.getInt("noop_with_empty_axes", 0) == 0)
      llvm::append_range(*axes, llvm::seq<int64_t>(0, rank));
  }
  return b.done(
      b.create<OpT>(x, {b.attr("axes", *axes),
                        b.attr("keepdims", b.getInt("keepdims", 1) != 0)}));
}

template <typename OpT>
static LogicalResult importArg(Binder &b) {
  Value x = b.operand(0);
  int64_t axis = b.getAxis("axis", 0, b.getRank(x));
  return b.done(b.create<OpT>(
      x,
      {b.attr("axis", axis), b.attr("keepdims", b.getInt("keepdims", 1) != 0),
       b.attr("select_last", b.getInt("select_last_index", 0) != 0)}));
}

/// CumSum and CumProd.
template <typename OpT>
static LogicalResult importScan(Binder &b) {
  Value x = b.operand(0);
  int64_t rank = b.getRank(x);
  auto build = [&](int64_t axis) {
    return b.create<OpT>(x, {b.attr("axis", axis),
                             b.attr("exclusive", b.getInt("exclusive", 0) != 0),
                             b.attr("reverse", b.getInt("reverse", 0) != 0)});
  };
  return b.done(Arithmetic(b).alongOperand(1, rank, rank, build));
}

static LogicalResult importDet(Binder &b) {
  return b.done(b.create<graph::DetOp>(b.operand(0)));
}

/// k: an attribute before version 10, an operand from then on.
static LogicalResult importTopK(Binder &b) {
  Value x = b.operand(0);
  int64_t axis = b.getAxis("axis", -1, b.getRank(x));
  if (b.hasFailed())
    return mlir::failure();
  mlir::AffineExpr k = b.expr(b.getInt("k", 0));
  llvm::SmallVector<Value> operands{x};
  if (b.version() >= 10) {
    if (!b.operand(1))
      return b.fail("expected operand 1 to be there");
    auto elements = graph::getElements(b.operand(1));
    if (elements && elements->size() != 1)
      return b.fail("expected k to be one number");
    k = elements ? elements->front() : b.makeFreshSymbol();
    if (!elements)
      operands.push_back(b.operand(1));
  }
  Dims dims = graph::getDims(x);
  dims[axis] = k;
  mlir::Type values = graph::makeType(b.getElementType(x), dims);
  mlir::Type indices = graph::makeType(b.builder.getI64Type(), dims);
  Value first = b.createAs<graph::TopKOp>(
      mlir::TypeRange{values, indices}, operands,
      {b.attr("axis", axis), b.attr("largest", b.getInt("largest", 1) != 0)});
  if (!first)
    return mlir::failure();
  return b.done({first, first.getDefiningOp()->getResult(1)});
}

void adze::importer::addReductionOps(std::vector<OpRow> &rows) {
  rows.insert(
      rows.end(),
      {
          {"ArgMax", 1, 1, importArg<graph::ArgMaxOp>},
          {"ArgMin", 1, 1, importArg<graph::ArgMinOp>},
          {"CumProd", 26, 2, importScan<graph::CumprodOp>},
          {"CumSum", 11, 2, importScan<graph::CumsumOp>},
          {"Det", 11, 1, importDet},
          {"ReduceL1", 1, 1, importReduce<graph::ReduceL1Op>},
          {"ReduceL2", 1, 1, importReduce<graph::ReduceL2Op>},
          {"ReduceLogSum", 1, 1, importReduce<graph::ReduceLogSumOp>},
          {"ReduceLogSumExp", 1, 1, importReduce<graph::ReduceLogSumExpOp>},
          {"ReduceMax", 1, 1, importReduce<graph::ReduceMaxOp>},
          {"ReduceMean", 1, 1, importReduce<graph::ReduceMeanOp>},
          {"ReduceMin", 1, 1, importReduce<graph::ReduceMinOp>},
          {"ReduceProd", 1, 1, importReduce<graph::ReduceProdOp>},
          {"ReduceSum", 1, 1, importReduce<graph::ReduceSumOp>},
          {"ReduceSumSquare", 1, 1, importReduce<graph::ReduceSumSquareOp>},
          {"TopK", 1, 1, importTopK},
      });
}
