// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Reductions over dims, and selections and cumulative sums along one.
#include "../IndexRange.h"
#include "../OpTable.h"
#include "../Sizes.h"
#include "Arithmetic.h"
#include "Dialect/Graph/IR/Elements.h"

using namespace adze;
using namespace adze::importer;
using mlir::LogicalResult;
using mlir::Value;

/// Adds all combinations of `count` of `rank` dims.
static void addChoices(int64_t rank, int64_t count, int64_t first,
                       llvm::SmallVector<int64_t> &axes,
                       std::vector<llvm::SmallVector<int64_t>> &choices) {
  if (count == 0) {
    choices.push_back(axes);
    return;
  }
  for (int64_t axis = first; axis + count <= rank; ++axis) {
    axes.push_back(axis);
    addChoices(rank, count - 1, axis + 1, axes, choices);
    axes.pop_back();
  }
}

/// Returns the possible numbers of axes, if the length of their vector is
/// unknown: any number or, if dims are removed, the number that the declared
/// rank of the result implies.
static LogicalResult getCounts(Binder &b, Value axes, int64_t rank,
                               bool keepdims, bool noneIsAll,
                               llvm::SmallVector<int64_t> &counts) {
  auto length = graph::getConstant(
      graph::product(b.builder.getContext(), graph::getDims(axes)));
  auto declared = b.getDeclaredRank();
  if (length && *length <= rank) {
    counts.push_back(*length);
  } else if (keepdims) {
    llvm::append_range(counts, llvm::seq<int64_t>(0, rank + 1));
  } else if (declared && *declared <= rank) {
    counts.push_back(rank - *declared);
    if (noneIsAll && *declared == 0 && rank > 0)
      counts.push_back(0);
  }
  if (length && counts.empty())
    return b.fail("expected at most as many axes as the input has dims");
  if (counts.empty() || rank > 6)
    return b.unsupported("expected axes of known number, or constant ones");
  return mlir::success();
}

/// Data-dependent axes: creates a branch for each combination, selected by the
/// sum of their powers of two.
static LogicalResult
reduceByData(Binder &b, Value axes, int64_t rank, bool keepdims,
             llvm::function_ref<Value(llvm::ArrayRef<int64_t>)> build) {
  bool noneIsAll = b.getInt("noop_with_empty_axes", 0) == 0;
  llvm::SmallVector<int64_t> chosen, keys, powers, counts;
  if (mlir::failed(getCounts(b, axes, rank, keepdims, noneIsAll, counts)))
    return mlir::failure();
  std::vector<llvm::SmallVector<int64_t>> choices;
  for (int64_t count : counts)
    addChoices(rank, count, 0, chosen, choices);
  for (llvm::ArrayRef<int64_t> choice : choices) {
    keys.push_back(0);
    for (int64_t axis : choice)
      keys.back() += int64_t(1) << axis;
  }
  for (int64_t axis = 0; axis < rank; ++axis)
    powers.push_back(int64_t(1) << axis);
  Sizes sizes(b);
  Value mask = b.create<graph::GatherOp>(
      {sizes.vector(powers), sizes.normalizeAxes(axes, rank)},
      b.attr("axis", int64_t(0)));
  return b.done(
      b.choose(sizes.sum(mask), keys, [&](size_t i, Binder::Values &results) {
        bool isAll = choices[i].empty() && noneIsAll;
        results.push_back(build(
            isAll ? llvm::to_vector(llvm::seq<int64_t>(0, rank)) : choices[i]));
        return mlir::failure(b.hasFailed());
      }));
}

static bool isData(Binder &b, unsigned i) {
  return b.operand(i) && !graph::getConstantElements(b.operand(i));
}

/// Axes are an attribute in older versions, and an operand in newer ones. No
/// axes mean all dims, or none with noop_with_empty_axes.
template <typename OpT>
static LogicalResult importReduce(Binder &b) {
  Value x = b.operand(0);
  int64_t rank = b.getRank(x);
  bool keepdims = b.getInt("keepdims", 1) != 0;
  if (isData(b, 1))
    return reduceByData(
        b, b.operand(1), rank, keepdims, [&](llvm::ArrayRef<int64_t> axes) {
          return b.create<OpT>(
              x, {b.attr("axes", axes), b.attr("keepdims", keepdims)});
        });
  auto axes = b.getAxes(1, rank);
  if (b.hasFailed())
    return mlir::failure();
  if (!axes || axes->empty()) {
    axes.emplace();
    if (b.getInt("noop_with_empty_axes", 0) == 0)
      llvm::append_range(*axes, llvm::seq<int64_t>(0, rank));
  }
  return b.done(
      b.create<OpT>(x, {b.attr("axes", *axes), b.attr("keepdims", keepdims)}));
}

template <typename OpT>
static LogicalResult importArg(Binder &b) {
  Value x = b.operand(0);
  int64_t axis = b.getAxis("axis", 0, b.getRank(x));
  if (b.hasFailed())
    return mlir::failure();
  mlir::AffineExpr size = graph::getDims(x)[axis];
  if (size && !b.assumeNonNegative(graph::subExprs(size, b.expr(1))))
    return b.fail("expected elements along the axis, but got none");
  return b.done(b.create<OpT>(
      x,
      {b.attr("axis", axis), b.attr("keepdims", b.getInt("keepdims", 1) != 0),
       b.attr("select_last", b.getInt("select_last_index", 0) != 0)}));
}

/// Imports CumSum and CumProd.
template <typename OpT>
static LogicalResult importScan(Binder &b) {
  Value x = b.operand(0);
  int64_t rank = b.getRank(x);
  auto build = [&](int64_t axis) {
    return b.create<OpT>(x, {b.attr("axis", axis),
                             b.attr("exclusive", b.getInt("exclusive", 0) != 0),
                             b.attr("reverse", b.getInt("reverse", 0) != 0)});
  };
  if (isData(b, 1) && mlir::failed(checkAxes(b, b.operand(1), rank)))
    return mlir::failure();
  return b.done(Arithmetic(b).alongOperand(1, rank, rank, build));
}

static LogicalResult importDet(Binder &b) {
  return b.done(b.create<graph::DetOp>(b.operand(0)));
}

/// k is an attribute before version 10, and an operand since.
static LogicalResult importTopK(Binder &b) {
  Value x = b.operand(0);
  int64_t axis = b.getAxis("axis", -1, b.getRank(x));
  if (b.hasFailed())
    return mlir::failure();
  mlir::AffineExpr k = b.expr(b.getInt("k", 0));
  llvm::SmallVector<Value> operands{x};
  if (b.version() >= 10) {
    if (!b.operand(1))
      return b.fail("expected operand 1 to be present");
    Sizes sizes(b);
    Value wanted = b.withLength(sizes.toVector(b.operand(1)), 1);
    // Detectors select at most a constant number of boxes of a dynamic number.
    auto cut = graph::getCutElements(wanted);
    bool isCut = cut && !graph::getElements(wanted) &&
                 llvm::all_of(*cut, graph::isNonNegative);
    Dims elements = isCut ? Dims(cut->begin(), cut->end()) : b.getSizes(wanted);
    if (b.hasFailed())
      return mlir::failure();
    if (elements.size() != 1)
      return b.fail("expected k to be one number");
    k = elements.front();
    if (isData(b, 1) &&
        !graph::isNonNegative(graph::subExprs(graph::getDims(x)[axis], k))) {
      Value size = sizes.pick(sizes.shape(x), axis);
      b.check(b.create<graph::LessEqualOp>({wanted, size}),
              "expected k to be at most the size of the dim");
    }
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
