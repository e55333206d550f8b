// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// fold-checks: moves checks of indices into the gathers that read them.
#include "Dialect/Graph/IR/Checks.h"
#include "Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace adze::graph;

namespace adze {
#define GEN_PASS_DEF_FOLDCHECKS
#include "Transforms/Passes.h.inc"

namespace {
class FoldChecksPass final : public impl::FoldChecksBase<FoldChecksPass> {
public:
  void runOnOperation() override;
};

/// The checked values: all elements of `indices`, or with `column` those at
/// this position of their last dim.
struct Checked {
  Value indices;
  std::optional<int64_t> column;
};
} // namespace

//===----------------------------------------------------------------------===//
// What is checked
//===----------------------------------------------------------------------===//

/// Returns the position of the only element that the slice extracts from a row.
static std::optional<int64_t> getPlace(SliceOp slice) {
  auto starts = slice.getConstantStarts();
  if (!starts || slice.getBegin() || starts->size() != 1 ||
      getConstant(getDims(slice.getResult())[0]) != 1)
    return std::nullopt;
  return starts->front();
}

/// Returns the tensor whose least or greatest element `value` is.
template <typename ReduceT>
static std::optional<Checked> findChecked(Value value) {
  if (auto reshape = value.getDefiningOp<ReshapeOp>())
    value = reshape.getInput();
  Checked result;
  Operation *op = value.getDefiningOp();
  if (auto slice = dyn_cast_or_null<SliceOp>(op)) {
    result.column = getPlace(slice);
    if (!result.column)
      return std::nullopt;
    op = slice.getInput().getDefiningOp();
  }
  auto reduce = dyn_cast_or_null<ReduceT>(op);
  if (!reduce)
    return std::nullopt;
  result.indices = reduce.getInput();
  if (auto cast = result.indices.template getDefiningOp<CastOp>())
    result.indices = cast.getInput();
  int64_t rank = getDims(result.indices).size() - result.column.has_value();
  if (!llvm::equal(reduce.getAxes(), llvm::seq<int64_t>(0, rank)))
    return std::nullopt;
  return result;
}

static std::optional<Checked> findChecked(CheckRangeOp check) {
  auto least = findChecked<ReduceMinOp>(check.getLeast());
  auto greatest = findChecked<ReduceMaxOp>(check.getGreatest());
  bool isOne = least && greatest && least->indices == greatest->indices &&
               least->column == greatest->column;
  return isOne ? least : std::nullopt;
}

//===----------------------------------------------------------------------===//
// Who may check
//===----------------------------------------------------------------------===//

/// Returns the size of the dim that an index of the gather selects from.
/// Returns null if the gather does not read each index exactly for its
/// elements.
static AffineExpr getExtent(Operation *lookup, std::optional<int64_t> column) {
  auto extentAt = [&](Value data, int64_t dim) {
    Dims dims = getDims(data);
    return dim < int64_t(dims.size()) ? dims[dim] : AffineExpr();
  };
  if (auto gather = dyn_cast<GatherOp>(lookup)) {
    // An index into an inner dim is read for each row, if there is one.
    Dims dims = getDims(gather.getData());
    int64_t axis = gather.getAxis();
    bool hasRows =
        llvm::all_of(ArrayRef(dims).take_front(axis), [](AffineExpr dim) {
          return getConstant(dim).value_or(0) > 0;
        });
    return column || !hasRows ? AffineExpr() : dims[axis];
  }
  if (auto gather = dyn_cast<GatherElementsOp>(lookup))
    return column ? AffineExpr() : extentAt(gather.getData(), gather.getAxis());
  if (auto scatter = dyn_cast<ScatterElementsOp>(lookup))
    return column ? AffineExpr()
                  : extentAt(scatter.getData(), scatter.getAxis());
  if (!isa<GatherNDOp, ScatterNDOp>(lookup))
    return {};
  // Tuples of one index have one column.
  if (getConstant(getDims(lookup->getOperand(1)).back()) == 1)
    column = 0;
  auto gather = dyn_cast<GatherNDOp>(lookup);
  int64_t first = gather ? gather.getBatchDims() : 0;
  return column ? extentAt(lookup->getOperand(0), first + *column)
                : AffineExpr();
}

static bool hasRange(CheckRangeOp check, AffineExpr extent) {
  AffineExpr low = check.getRange().getResult(0),
             high = check.getRange().getResult(1);
  return extent && areEqual(high, extent) &&
         areEqual(low, subExprs(getAffineConstantExpr(0, extent.getContext()),
                                extent));
}

/// Returns true if the op reads all elements of its operands, whichever of its
/// results are read.
static bool readsAll(Operation *op) {
  return op->hasTrait<OpTrait::IsTerminator>() ||
         isa<ReduceOpInterface, SoftmaxOp, LogSoftmaxOp, LayerNormOp, RMSNormOp,
             ArgMaxOp, ArgMinOp, TopKOp, LoopOp, IfOp, CallOp>(op);
}

/// Returns true if all elements of the result are read, whatever is fused into
/// its kernel.
static bool isReadWhole(Value result) {
  constexpr size_t most = 64;
  if (result.use_empty())
    return false;
  llvm::SetVector<Value> seen;
  seen.insert(result);
  for (size_t i = 0; i < seen.size(); ++i)
    for (Operation *user : seen[i].getUsers()) {
      if (readsAll(user))
        continue;
      bool keepsAll = isa<ElementwiseOpInterface, BroadcastToOp, ConcatOp,
                          ReshapeOp, TransposeOp>(user);
      if (!keepsAll || seen.size() > most)
        return false;
      seen.insert_range(user->getResults());
    }
  return true;
}

static bool mayCheck(Operation *lookup, CheckRangeOp check,
                     const Checked &checked) {
  return lookup->getBlock() == check->getBlock() &&
         lookup->getNumOperands() > 1 &&
         lookup->getOperand(1) == checked.indices &&
         hasRange(check, getExtent(lookup, checked.column)) &&
         isReadWhole(lookup->getResult(0));
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

static bool foldCheck(CheckRangeOp check) {
  std::optional<Checked> checked = findChecked(check);
  if (!checked)
    return false;
  auto users = checked->indices.getUsers();
  auto lookup = llvm::find_if(users, [&](Operation *user) {
    auto message = user->getAttrOfType<StringAttr>(messageAttr);
    return mayCheck(user, check, *checked) &&
           (!message || message == check.getMessageAttr());
  });
  if (lookup == users.end())
    return false;
  lookup->setAttr(messageAttr, check.getMessageAttr());
  SmallVector<Value> dead(check->getOperands());
  check.erase();
  while (!dead.empty()) {
    Operation *op = dead.pop_back_val().getDefiningOp();
    if (!op || !isOpTriviallyDead(op))
      continue;
    llvm::append_range(dead, op->getOperands());
    op->erase();
  }
  return true;
}

void FoldChecksPass::runOnOperation() {
  func::FuncOp function = getOperation();
  if (function.isExternal())
    return;
  SmallVector<CheckRangeOp> checks;
  function.walk([&](CheckRangeOp check) { checks.push_back(check); });
  for (CheckRangeOp check : checks)
    numFolded += foldCheck(check);
}

} // namespace adze
