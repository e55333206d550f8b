// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// graph-merge-horizontal: merges products (including word_matmul) and
// convolutions of one input by constants; each user reads its columns at an
// offset. The ops that follow with constants are merged, too.
#include "Dialect/Graph/Transforms/Passes.h"
#include "Epilogues.h"
#include "Fusion.h"
#include "Refusals.h"
#include "Symbols.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace adze::graph {
#define GEN_PASS_DEF_MERGEHORIZONTALPASS
#include "Dialect/Graph/Transforms/Passes.h.inc"
} // namespace adze::graph

using namespace mlir;
using namespace adze::graph;

namespace {

/// Ops of one input that differ only in their constants, and the dim along
/// which their results are concatenated.
struct Branches {
  SmallVector<Operation *> ops;
  int64_t axis = 0;
};

/// A constant operand with a part for each column, along `axis`.
struct ColumnOperand {
  unsigned index;
  int64_t axis;
};

/// Returns the constants of a product or convolution that are concatenated.
SmallVector<ColumnOperand> getColumnOperands(Operation *op) {
  if (auto matmul = dyn_cast<MatmulOp>(op))
    return {{1, matmul.getTransposeB() ? 0 : 1}};
  SmallVector<ColumnOperand> operands;
  if (isa<WordMatmulOp>(op))
    operands = {{3, 2}, {4, 1}};
  else if (isa<BlockMatmulOp>(op))
    operands = {{1, 0}, {2, 0}, {3, 0}};
  else
    operands = {{1, 0}, {2, 0}};
  llvm::erase_if(operands, [&](ColumnOperand operand) {
    return operand.index >= op->getNumOperands();
  });
  return operands;
}

int64_t getSize(Operation *op, int64_t axis) {
  return getConstant(getDims(op->getResult(0))[axis]).value_or(-1);
}

/// Returns true if the user reads at an offset. A copy of the slice would cost
/// as much as merging saves.
bool readsAtOffset(OpOperand &use, int64_t axis) {
  Operation *user = use.getOwner();
  if (auto reshape = dyn_cast<ReshapeOp>(user)) {
    // A reshape that only splits the last dim runs before the slice. Dims of 1
    // are ignored.
    Dims from = getDims(reshape.getInput()), to = getDims(reshape.getResult());
    llvm::erase(to, getAffineConstantExpr(1, user->getContext()));
    llvm::erase(from, getAffineConstantExpr(1, user->getContext()));
    int64_t before = from.size() - 1;
    return axis + 1 == getRank(reshape.getInput()) && before >= 0 &&
           to.size() >= from.size() && !reshape.getShape() &&
           areEqual(ArrayRef<AffineExpr>(from).take_front(before),
                    ArrayRef<AffineExpr>(to).take_front(before));
  }
  if (isa<MatmulOp, WordMatmulOp, BlockMatmulOp, ConvOp>(
          user)) // contracts the columns
    return use.getOperandNumber() == 0;
  return isa<ElementwiseOpInterface, TransposeOp, SliceOp, ConcatOp,
             AttentionOp, SoftmaxOp, LayerNormOp, RMSNormOp, ReduceOpInterface>(
      user);
}

/// The ops that follow a branch.
struct Continuation {
  Operation *branch;
  Epilogue epilogue;
  Operation *concat = nullptr; // of which it is an operand

  Continuation(Operation *op, int64_t axis)
      : branch(op), epilogue(getEpilogue(op->getResult(0), axis)) {
    for (Operation *user : getEnd().getUsers())
      if (isa<ConcatOp>(user))
        concat = user;
  }
  Value getEnd() const {
    return (epilogue.empty() ? branch : epilogue.back())->getResult(0);
  }
};

/// Branches that are merged, and the ops that are applied to all of them.
struct Merge {
  SmallVector<Continuation> branches;
  SmallVector<EpilogueStep> steps;
};

/// Merges branches into one op.
class Merger {
public:
  Merger(Merge merge, int64_t axis, OpBuilder &b)
      : branches(merge.branches), steps(merge.steps), axis(axis), b(b) {}

  void run();

private:
  Value createWhole();
  Value createStep(const EpilogueStep &step, Value whole);
  Value joinConstants(unsigned operand, int64_t along);
  Value joinNumbers(const EpilogueStep &step, unsigned operand);
  Operation *first() const { return branches.front().branch; }

  SmallVector<Continuation> branches;
  SmallVector<EpilogueStep> steps;
  int64_t axis;
  OpBuilder &b;
};

} // namespace

/// Moves the constants that an op uses before another op.
static void raiseConstants(Operation *op, Operation *before) {
  for (Value value : op->getOperands())
    if (Operation *constant = value.getDefiningOp<ConstantOp>();
        constant && constant->getBlock() == before->getBlock() &&
        before->isBeforeInBlock(constant))
      constant->moveBefore(before);
}

/// Concatenates constants of the branches along a dim.
Value Merger::joinConstants(unsigned operand, int64_t along) {
  SmallVector<Value> pieces;
  for (const Continuation &branch : branches)
    pieces.push_back(branch.branch->getOperand(operand));
  return ConcatOp::create(b, first()->getLoc(), pieces, along);
}

/// Returns the numbers of a step for all columns, or a single one if all are
/// equal.
Value Merger::joinNumbers(const EpilogueStep &step, unsigned operand) {
  SmallVector<Value> numbers;
  for (unsigned i = 0; i < branches.size(); ++i)
    numbers.push_back(getStepNumber(b, step, i, operand));
  std::optional<double> splat = getSplatNumber(numbers.front());
  Type type = numbers.front().getType();
  if (splat && cast<RankedTensorType>(type).getNumElements() == 1 &&
      llvm::all_of(numbers, [&](Value number) {
        return number.getType() == type && getSplatNumber(number) == splat;
      }))
    return numbers.front();
  Location loc = first()->getLoc();
  SmallVector<Value> pieces;
  for (auto [branch, value] : llvm::zip(branches, numbers)) {
    Type element = getElement(value);
    int64_t count = cast<RankedTensorType>(value.getType()).getNumElements();
    Dims flat = makeDims(b.getContext(), {count});
    value = ReshapeOp::create(b, loc, makeType(element, flat), value);
    Dims dims = makeDims(b.getContext(), {getSize(branch.branch, axis)});
    if (count == 1)
      value = BroadcastToOp::create(b, loc, makeType(element, dims), value);
    pieces.push_back(value);
  }
  Value all = ConcatOp::create(b, loc, pieces, 0);
  int64_t rank = getRank(first()->getResult(0));
  if (axis == rank - 1)
    return all;
  Dims dims(rank, getAffineConstantExpr(1, b.getContext()));
  dims[axis] = getDims(all)[0];
  return ReshapeOp::create(b, loc, makeType(getElement(all), dims), all);
}

/// Creates the merged product or convolution.
Value Merger::createWhole() {
  SmallVector<Value> operands(first()->getOperands());
  for (auto [index, along] : getColumnOperands(first()))
    operands[index] = joinConstants(index, along);
  AffineExpr size = getAffineConstantExpr(0, b.getContext());
  SmallVector<Location> locations;
  for (const Continuation &branch : branches) {
    size = addExprs(size, getDims(branch.branch->getResult(0))[axis]);
    locations.push_back(branch.branch->getLoc());
  }
  Dims dims = getDims(first()->getResult(0));
  dims[axis] = size;
  OperationState state(b.getFusedLoc(locations), first()->getName(), operands,
                       makeType(getElement(first()->getResult(0)), dims),
                       first()->getAttrs());
  return b.create(state)->getResult(0);
}

Value Merger::createStep(const EpilogueStep &step, Value whole) {
  SmallVector<Location> locations;
  for (Operation *op : step.ops)
    if (op)
      locations.push_back(op->getLoc());
  Operation *like = *llvm::find_if(step.ops, [](Operation *op) { return op; });
  unsigned count = step.attributes ? like->getNumOperands() : 2;
  SmallVector<Value> operands;
  for (unsigned i = 0; i < count; ++i)
    operands.push_back(i == step.operand ? whole : joinNumbers(step, i));
  OperationState state(b.getFusedLoc(locations), *step.name, operands,
                       makeType(step.element, getDims(whole)), {});
  if (step.attributes)
    state.addAttributes(step.attributes.getValue());
  return b.create(state)->getResult(0);
}

/// Creates all ops at the position of the first branch, and gives all users
/// their columns. The old branches stay, without operands.
void Merger::run() {
  for (const Continuation &branch : branches) {
    raiseConstants(branch.branch, first());
    for (Operation *op : branch.epilogue)
      raiseConstants(op, first());
  }
  b.setInsertionPoint(first());
  Value whole = createWhole();
  for (const EpilogueStep &step : steps)
    whole = createStep(step, whole);
  int64_t rank = getRank(whole), start = 0;
  for (Continuation &branch : branches) {
    SmallVector<int64_t> starts(rank, 0), sizes(rank, 1);
    starts[axis] = start;
    start += getSize(branch.branch, axis);
    Value end = branch.getEnd();
    end.replaceAllUsesWith(
        SliceOp::create(b, end.getLoc(), end.getType(), whole, starts, sizes));
    for (Operation *op : llvm::reverse(branch.epilogue))
      op->erase();
    branch.branch->setOperands({});
  }
}

//===----------------------------------------------------------------------===//
// What is merged
//===----------------------------------------------------------------------===//

/// Returns true if another branch is used before this one is computed.
static bool comesLater(const Continuation &branch, const Merge &merge) {
  return llvm::any_of(merge.branches, [&](const Continuation &other) {
    return other.branch != branch.branch &&
           llvm::any_of(other.getEnd().getUsers(), [&](Operation *reader) {
             return reader->getBlock() == branch.branch->getBlock() &&
                    reader->isBeforeInBlock(branch.branch);
           });
  });
}

/// Returns true if reading the input once saves more than the steps that some
/// branches would not need, and the results that are evicted from the
/// second-level cache before they are read, cost. An operation on registers
/// takes about as long as a byte of memory, and a launch as long as a fixed
/// number of either.
static bool isWorthIt(const Merge &merge, const TypicalSizes &sizes,
                      int64_t cacheBytes) {
  constexpr int64_t launch = 1 << 16;
  Operation *first = merge.branches.front().branch;
  MLIRContext *context = first->getContext();
  auto bytes = [&](Value value) {
    return sizes.get(op_detail::getBytes(context, TypeRange(value.getType())));
  };
  int64_t saved =
      (merge.branches.size() - 1) * (bytes(first->getOperand(0)) + launch);
  int64_t spent = 0, all = 0, late = 0;
  for (const Continuation &branch : merge.branches) {
    int64_t own = bytes(branch.branch->getResult(0));
    all += own;
    late += comesLater(branch, merge) ? std::min(own, cacheBytes) : 0;
  }
  if (2 * all > cacheBytes)
    spent += late;
  for (const EpilogueStep &step : merge.steps)
    for (auto [op, branch] : llvm::zip(step.ops, merge.branches))
      if (!op)
        spent +=
            sizes.get(product(context, getDims(branch.branch->getResult(0))));
  return saved >= spent;
}

/// A branch and those that it can be merged with, or the reason why there are
/// none.
struct Candidate {
  Merge merge;
  StringRef why = "the users of the other products differ";
};

/// Selects branches that can be merged and have similar epilogues, as otherwise
/// a separate kernel would copy. An operand of a concatenation is stored in
/// place by a separate branch.
static std::vector<Candidate> select(const Branches &branches,
                                     const TypicalSizes &sizes,
                                     int64_t cacheBytes) {
  std::vector<Candidate> candidates;
  for (Operation *op : branches.ops) {
    Continuation self(op, branches.axis);
    auto reads = [&](OpOperand &use) {
      return readsAtOffset(use, branches.axis);
    };
    if (getSize(op, branches.axis) < 0 ||
        !llvm::all_of(self.getEnd().getUses(), reads)) {
      refuse(op, "merge-horizontal", "a user cannot read a slice in place");
      continue;
    }
    Candidate alone{{{self}, {}}};
    if (self.concat)
      alone.why = "an operand of a concatenation is stored in place";
    auto joins = [&](Candidate &candidate) {
      Merge larger(candidate.merge);
      larger.branches.push_back(self);
      SmallVector<Epilogue> epilogues;
      for (const Continuation &branch : larger.branches)
        epilogues.push_back(branch.epilogue);
      auto steps = alignEpilogues(epilogues, branches.axis);
      if (candidate.merge.branches.front().concat != self.concat || !steps)
        return false;
      larger.steps = *steps;
      if (!isWorthIt(larger, sizes, cacheBytes)) {
        alone.why = "merging costs more than reading the input again";
        return false;
      }
      candidate.merge = larger;
      return true;
    };
    if (llvm::none_of(candidates, joins))
      candidates.push_back(alone);
  }
  return candidates;
}

/// Returns the dim of the columns of a product or convolution by constants.
static std::optional<int64_t> getColumns(Operation *op) {
  if (!isa<MatmulOp, WordMatmulOp, BlockMatmulOp, ConvOp>(op) ||
      !llvm::all_of(getColumnOperands(op), [&](ColumnOperand operand) {
        return matchPattern(op->getOperand(operand.index), m_Constant());
      }))
    return std::nullopt;
  int64_t last = getRank(op->getResult(0)) - 1;
  if (isa<WordMatmulOp, BlockMatmulOp>(op))
    return last;
  if (auto matmul = dyn_cast<MatmulOp>(op))
    return getRank(matmul.getRhs()) == 2 ? std::optional(last) : std::nullopt;
  auto conv = dyn_cast<ConvOp>(op);
  if (!conv || conv.getGroup() != 1)
    return std::nullopt;
  return conv.getLayout() == Layout::NCHW ? 1 : last;
}

namespace {

class MergeHorizontalPass final
    : public adze::graph::impl::MergeHorizontalPassBase<MergeHorizontalPass> {
public:
  using MergeHorizontalPassBase::MergeHorizontalPassBase;

  void runOnOperation() override {
    SmallVector<Operation *> candidates;
    getOperation().walk([&](Operation *op) {
      if (isa<MatmulOp, WordMatmulOp, BlockMatmulOp, ConvOp>(op))
        candidates.push_back(op);
    });
    TypicalSizes sizes(getOperation());
    int64_t cacheBytes = adze::tile::getCpuTarget(getOperation()).getL2Bytes();
    // Merged ops stay without operands, so that the address of an old op is not
    // reused.
    DenseSet<Value> done;
    for (Operation *op : candidates) {
      if (op->getNumOperands() == 0 || !done.insert(op->getOperand(0)).second)
        continue;
      for (const Branches &branches : collect(op->getOperand(0)))
        if (branches.ops.size() > 1)
          for (const Candidate &candidate : select(branches, sizes, cacheBytes))
            run(candidate, branches.axis);
    }
    for (Operation *op : candidates)
      if (op->getNumOperands() == 0)
        op->erase();
  }

private:
  void run(const Candidate &candidate, int64_t axis) {
    size_t count = candidate.merge.branches.size();
    if (count == 1) {
      refuse(candidate.merge.branches.front().branch, "merge-horizontal",
             candidate.why);
      return;
    }
    numMerged += count;
    ++numGroups;
    OpBuilder b(&getContext());
    Merger(candidate.merge, axis, b).run();
  }

  std::vector<Branches> collect(Value input) {
    SmallVector<Operation *> users;
    for (OpOperand &use : input.getUses())
      if (use.getOperandNumber() == 0 && getColumns(use.getOwner()))
        users.push_back(use.getOwner());
    std::vector<Branches> result;
    for (Operation *op : llvm::reverse(users)) {
      int64_t axis = *getColumns(op);
      auto group = llvm::find_if(result, [&](const Branches &other) {
        Operation *first = other.ops.front();
        return first->getBlock() == op->getBlock() && other.axis == axis &&
               doesTheSame(first, op, axis) && hasSameKernel(first, op) &&
               haveSameInputs(first, op);
      });
      if (group == result.end())
        result.push_back({{op}, axis});
      else
        group->ops.push_back(op);
    }
    for (Branches &branches : result)
      llvm::sort(branches.ops, [](Operation *lhs, Operation *rhs) {
        return lhs->isBeforeInBlock(rhs);
      });
    return result;
  }

  static bool haveSameInputs(Operation *first, Operation *op) {
    SmallVector<ColumnOperand> joined = getColumnOperands(op);
    return llvm::all_of(op->getOpOperands(), [&](OpOperand &operand) {
      unsigned index = operand.getOperandNumber();
      return llvm::any_of(
                 joined,
                 [&](ColumnOperand other) { return other.index == index; }) ||
             operand.get() == first->getOperand(index);
    });
  }

  static bool hasSameKernel(Operation *first, Operation *op) {
    if (!isa<ConvOp>(op))
      return true;
    Dims one = getDims(first->getOperand(1)),
         other = getDims(op->getOperand(1));
    return areEqual(ArrayRef<AffineExpr>(one).drop_front(),
                    ArrayRef<AffineExpr>(other).drop_front());
  }
};

} // namespace
