// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// graph-split-reductions: programs of a kernel run for each element of the
// result of a reduction. If there are few, the reduced elements are split into
// parts, so that all threads have work.
#include "Dialect/Graph/IR/Graph.h"
#include "Dialect/Graph/IR/Shape.h"
#include "Dialect/Graph/Transforms/Passes.h"
#include "Dialect/Tile/IR/Targets.h"
#include "Matching.h"
#include "llvm/ADT/TypeSwitch.h"
#include <set>

namespace adze::graph {
#define GEN_PASS_DEF_SPLITREDUCTIONSPASS
#include "Dialect/Graph/Transforms/Passes.h.inc"
} // namespace adze::graph

using namespace mlir;
using namespace adze::graph;

namespace {

/// A CPU splits reductions with at most so many results, into so many parts.
constexpr int64_t fewResults = 8, mostParts = 64;

/// [outer, parts, elements of a part, inner], where the reduced dims are
/// merged.
struct Parts {
  AffineExpr outer, parts, each, inner;
};

/// Returns true if combining the results of parts gives the whole result, up to
/// rounding.
bool mayBeSplit(Operation *op) {
  Type element = getElementTypeOrSelf(op->getOperand(0).getType());
  return isa<FloatType>(element) ||
         isa<ReduceMaxOp, ReduceMinOp, ReduceSumOp, ReduceProdOp, ReduceL1Op,
             ReduceSumSquareOp>(op);
}

/// Returns true if results of parts are rounded to fewer bits than those in
/// which a kernel combines elements.
bool roundsParts(Operation *op) {
  auto element =
      dyn_cast<FloatType>(getElementTypeOrSelf(op->getOperand(0).getType()));
  return element && element.getWidth() < 32 &&
         !isa<ReduceMaxOp, ReduceMinOp>(op);
}

/// Reduces each part.
Value reducePart(OpBuilder &b, Operation *op, Value x, int64_t axis) {
  Location loc = op->getLoc();
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case<ReduceSumOp, ReduceMeanOp, ReduceMaxOp, ReduceMinOp, ReduceProdOp,
            ReduceL1Op, ReduceL2Op, ReduceLogSumExpOp, ReduceSumSquareOp>(
          [&](auto reduce) -> Value {
            return decltype(reduce)::create(b, loc, x, axis, false);
          })
      .Case([&](ReduceLogSumOp) -> Value {
        return ReduceSumOp::create(b, loc, x, axis, false);
      });
}

/// Reduces the results of the parts.
Value reduceParts(OpBuilder &b, Operation *op, Value x, int64_t axis) {
  Location loc = op->getLoc();
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case<ReduceSumOp, ReduceMeanOp, ReduceMaxOp, ReduceMinOp, ReduceProdOp,
            ReduceL2Op, ReduceLogSumOp, ReduceLogSumExpOp>(
          [&](auto reduce) -> Value {
            return decltype(reduce)::create(b, loc, x, axis, false);
          })
      .Case<ReduceL1Op, ReduceSumSquareOp>([&](Operation *) -> Value {
        return ReduceSumOp::create(b, loc, x, axis, false);
      });
}

/// Returns the largest number of equal parts, at most `most`.
int64_t countParts(int64_t elements, int64_t most) {
  while (most > 1 && elements % most != 0)
    --most;
  return std::max<int64_t>(most, 1);
}

/// Returns the most parts of a CPU that are profitable for `elements` elements
/// of each of `results` results, of which `inner` are adjacent.
int64_t countForCpu(Operation *op, int64_t elements, int64_t results,
                    int64_t inner) {
  constexpr int64_t partElements = 16384;
  int64_t all = elements * results;
  if (results <= fewResults)
    return std::min(all / partElements, mostParts);
  // A kernel reads a few columns of all rows. If the distance of rows is a
  // multiple of a page, they share sets of the caches, where the lines that
  // are prefetched for the next columns would not remain: first-level caches
  // have 8 to 12 lines in a set.
  constexpr int64_t pageBytes = 4096, rowsInPart = 16;
  adze::tile::CpuTargetAttr cpu = adze::tile::findCpuTarget(op);
  Type element = getElementTypeOrSelf(op->getOperand(0).getType());
  int64_t bytes = llvm::divideCeil(element.getIntOrFloatBitWidth(), 8);
  if (!cpu || inner * bytes % pageBytes != 0 || all * bytes <= cpu.getL2Bytes())
    return 1;
  return elements / rowsInPart;
}

/// Returns the most parts of `elements` elements that are profitable for
/// `results` results, of which `inner` are adjacent.
int64_t countWanted(Operation *op, int64_t elements, int64_t results,
                    int64_t inner) {
  if (!adze::tile::findCudaTarget(op))
    return countForCpu(op, elements, results, inner);
  int64_t all = elements * results;
  bool isInner = inner != 1;
  // Blocks of threads of a GPU reduce a row each, or lines of 64 results.
  constexpr int64_t lane = 64, enough = 64, wanted = 1024, leastRow = 2048,
                    leastLines = 16, leastAll = 131072;
  int64_t programs = isInner ? (results + lane - 1) / lane : results;
  if (programs > enough || all < leastAll)
    return 1;
  return std::min(wanted / programs,
                  elements / (isInner ? leastLines : leastRow));
}

/// Returns the split of a reduction, or nothing if it is not profitable or not
/// possible.
std::optional<Parts> cut(ReduceOpInterface op) {
  constexpr int64_t leastParts = 8; // of dynamic size
  MLIRContext *context = op->getContext();
  Dims dims = getDims(op.getInput());
  auto goes = [&](size_t dim) {
    return llvm::is_contained(op.getAxes(), int64_t(dim));
  };
  auto isUnit = [&](size_t dim) { return getConstant(dims[dim]) == 1; };
  SmallVector<size_t> reduced;
  for (size_t dim = 0; dim < dims.size(); ++dim)
    if (goes(dim) && !isUnit(dim))
      reduced.push_back(dim);
  if (reduced.empty() || llvm::is_contained(dims, AffineExpr()))
    return std::nullopt;
  size_t first = reduced.front(), end = reduced.back() + 1;
  for (size_t dim = first; dim < end; ++dim)
    if (!goes(dim) && !isUnit(dim))
      return std::nullopt;
  ArrayRef<AffineExpr> all = dims;
  AffineExpr outer = product(context, all.take_front(first)),
             inner = product(context, all.drop_front(end)),
             elements = product(context, all.slice(first, end - first));
  auto results = getConstant(mulExprs(outer, inner));
  if (!results || *results < 1)
    return std::nullopt;
  if (auto count = getConstant(elements)) {
    int64_t wanted = countWanted(op, *count, *results, *getConstant(inner)),
            parts = countParts(*count, wanted);
    // A kernel for GPUs reads several rows of columns at once itself.
    bool isFew = getConstant(inner) != 1 && adze::tile::findCudaTarget(op) &&
                 parts < wanted / 8;
    if (parts < 2 || isFew)
      return std::nullopt;
    return Parts{outer, getAffineConstantExpr(parts, context),
                 getAffineConstantExpr(*count / parts, context), inner};
  }
  if (*results > fewResults)
    return std::nullopt;
  if (reduced.size() < 2) {
    // Dims that a view merged are a product with a constant.
    int64_t parts = countParts(elements.getLargestKnownDivisor(), mostParts);
    if (parts < leastParts)
      return std::nullopt;
    AffineExpr count = getAffineConstantExpr(parts, context);
    return Parts{outer, count, floorDivExprs(elements, count), inner};
  }
  return Parts{outer, dims[first],
               product(context, all.slice(first + 1, end - first - 1)), inner};
}

/// Creates views of values and of their elementwise operands, so that these
/// stay in the kernel of the reductions, which share them.
class Views {
public:
  /// All `reductions` are in one block.
  Views(ArrayRef<ReduceOpInterface> reductions, ArrayRef<AffineExpr> dims)
      : dims(dims) {
    moved.insert_range(reductions);
    findMoved(reductions);
  }

  /// `b` is after the insertion points of earlier calls.
  Value get(OpBuilder &b, Value value) {
    if (Value view = views.lookup(value))
      return view;
    Operation *op = value.getDefiningOp();
    if (!op || !moved.contains(op))
      return views[value] = createReshape(b, value.getLoc(), value, dims);
    SmallVector<Value> operands;
    for (Value operand : op->getOperands())
      operands.push_back(isOne(operand) ? getOne(b, operand) : get(b, operand));
    OperationState state(
        op->getLoc(), op->getName(), operands,
        {makeType(getElementTypeOrSelf(value.getType()), dims)},
        op->getAttrs());
    return views[value] = b.create(state)->getResult(0);
  }

private:
  /// A tensor of one element may have more dims than there are now.
  Value getOne(OpBuilder &b, Value value) {
    Dims ones(dims.size(), b.getAffineConstantExpr(1));
    bool fits = getDims(value).size() <= ones.size();
    return fits ? value : createReshape(b, value.getLoc(), value, ones);
  }
  /// Ops are visited last first, as an op moves if all of its users do.
  void findMoved(ArrayRef<ReduceOpInterface> reductions) {
    Block *block = reductions.front()->getBlock();
    auto isBefore = [](Operation *lhs, Operation *rhs) {
      return lhs->isBeforeInBlock(rhs);
    };
    std::set<Operation *, decltype(isBefore)> work(isBefore);
    auto add = [&](Operation *reader) {
      for (Value operand : reader->getOperands())
        if (Operation *op = operand.getDefiningOp();
            op && op->getBlock() == block)
          work.insert(op);
    };
    for (Operation *op : reductions)
      add(op);
    while (!work.empty()) {
      Operation *op = *std::prev(work.end());
      work.erase(std::prev(work.end()));
      if (mayMove(op)) {
        moved.insert(op);
        add(op);
      }
    }
  }
  bool mayMove(Operation *op) const {
    if (!isa<ElementwiseOpInterface>(op) || op->getNumResults() != 1)
      return false;
    Value result = op->getResult(0);
    return llvm::all_of(
               op->getUsers(),
               [&](Operation *user) { return moved.contains(user); }) &&
           llvm::all_of(op->getOperands(), [&](Value operand) {
             return isOne(operand) ||
                    areEqual(getDims(operand), getDims(result));
           });
  }

  ArrayRef<AffineExpr> dims;
  DenseMap<Value, Value> views;
  DenseSet<Operation *> moved;
};

/// Reductions of one block whose elements are split into the same parts.
struct Alike {
  Dims dims;
  SmallVector<ReduceOpInterface> ops; // in order
};

struct SplitReductionsPass final
    : adze::graph::impl::SplitReductionsPassBase<SplitReductionsPass> {
  using Base::Base;

  void runOnOperation() override {
    SmallVector<ReduceOpInterface> reductions;
    getOperation().walk(
        [&](ReduceOpInterface op) { reductions.push_back(op); });
    std::vector<Alike> sets;
    for (ReduceOpInterface op : reductions) {
      if (mayBeSplit(op))
        if (std::optional<Parts> parts = cut(op)) {
          addTo(sets, op, *parts);
          continue;
        }
      keepDims(op);
    }
    for (const Alike &alike : sets)
      take(alike);
  }

private:
  void replace(Operation *op, OpBuilder &b, Value value) {
    Value result = op->getResult(0);
    if (value.getType() != result.getType())
      value = createReshape(b, op->getLoc(), value, getDims(result));
    result.replaceAllUsesWith(value);
  }

  static void addTo(std::vector<Alike> &sets, ReduceOpInterface op,
                    const Parts &p) {
    Dims dims{p.outer, p.parts, p.each};
    if (getConstant(p.inner) != 1)
      dims.push_back(p.inner);
    auto set = llvm::find_if(sets, [&](const Alike &alike) {
      return alike.ops.front()->getBlock() == op->getBlock() &&
             areEqual(alike.dims, dims);
    });
    if (set == sets.end())
      set = sets.insert(set, {dims, {}});
    set->ops.push_back(op);
  }

  void take(const Alike &alike) {
    Views views(alike.ops, alike.dims);
    for (ReduceOpInterface op : alike.ops) {
      OpBuilder b(op);
      Value x = views.get(b, op.getInput());
      bool isRounded = roundsParts(op);
      if (isRounded)
        x = createCast(b, op->getLoc(), x, b.getF32Type());
      Value y = reduceParts(b, op, reducePart(b, op, x, 2), 1);
      if (isRounded)
        y = createCast(b, op->getLoc(), y,
                       getElementTypeOrSelf(op->getResult(0)));
      replace(op, b, y);
      ++split;
    }
    for (ReduceOpInterface op : alike.ops)
      op->erase();
  }

  /// The tile of a kernel runs along a dim of the result.
  void keepDims(ReduceOpInterface op) {
    auto type = cast<RankedTensorType>(op->getResult(0).getType());
    Dims dims = getDims(op.getInput());
    if (type.getRank() != 0 || dims.empty())
      return;
    OpBuilder b(op);
    Operation *kept = b.clone(*op);
    kept->setAttr("keepdims", b.getBoolAttr(true));
    Dims ones(dims.size(), b.getAffineConstantExpr(1));
    kept->getResult(0).setType(makeType(type.getElementType(), ones));
    replace(op, b, kept->getResult(0));
    op->erase();
    ++this->kept;
  }
};

} // namespace
