// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// graph-merge-horizontal: products and convolutions of one input by constants
// become one; each reader takes its columns by offset. What all branches do
// next with constants of their own is done once, too.
#include "Dialect/Graph/Transforms/Passes.h"
#include "Matching.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace adze::graph {
#define GEN_PASS_DEF_MERGEHORIZONTALPASS
#include "Dialect/Graph/Transforms/Passes.h.inc"
} // namespace adze::graph

using namespace mlir;
using namespace adze::graph;

namespace {

/// Ops of one input that differ in their constants only, and the dim along
/// which their results are joined.
struct Branches {
  SmallVector<Operation *> ops;
  int64_t axis = 0;
};

int64_t getSize(Operation *op, int64_t axis) {
  return getConstant(getDims(op->getResult(0))[axis]).value_or(-1);
}

/// A copy of the slice as such would cost what merging saves: its readers have
/// to read at an offset.
bool readsAtOffset(OpOperand &use, int64_t axis) {
  Operation *user = use.getOwner();
  if (auto reshape = dyn_cast<ReshapeOp>(user)) {
    // Splits the last dim only: done before the slice.
    Dims from = getDims(reshape.getInput()), to = getDims(reshape.getResult());
    int64_t before = from.size() - 1;
    return axis == before && to.size() >= from.size() && !reshape.getShape() &&
           areEqual(ArrayRef<AffineExpr>(from).take_front(before),
                    ArrayRef<AffineExpr>(to).take_front(before));
  }
  if (isa<MatmulOp, ConvOp>(user))
    return use.getOperandNumber() == 0;
  return isa<ElementwiseOpInterface, TransposeOp, SliceOp, ConcatOp,
             AttentionOp, SoftmaxOp, LayerNormOp, RMSNormOp, ReduceOpInterface>(
      user);
}

/// The parts of a merged value, in the order of the branches.
class Merger {
public:
  Merger(Branches branches, OpBuilder &b, SmallVectorImpl<Operation *> &dead)
      : branches(branches), b(b), dead(dead) {}

  /// Whether the branches that can be merged are worth it; drops the others.
  bool select();
  void run();
  unsigned getNumMerged() const { return branches.ops.size(); }

private:
  bool grow();
  Value join(unsigned operand, ArrayRef<Operation *> ops, int64_t axis);
  Value joinVectors(unsigned operand, ArrayRef<Operation *> ops);
  void replace(Operation *merged);
  int64_t getRank() const {
    return adze::graph::getRank(branches.ops.front()->getResult(0));
  }

  Branches branches;
  OpBuilder &b;
  SmallVectorImpl<Operation *> &dead;
  Value whole; // of all branches
};

} // namespace

/// Constant operands of an elementwise op beside `operand`, one number a column
/// or one for all.
static bool hasColumnConstants(Operation *op, unsigned operand, int64_t axis) {
  int64_t rank = getRank(op->getResult(0));
  for (OpOperand &other : op->getOpOperands()) {
    if (other.getOperandNumber() == operand)
      continue;
    Dims dims = getDims(other.get());
    if (!matchPattern(other.get(), m_Constant()))
      return false;
    for (size_t i = 0; i < dims.size(); ++i)
      if (rank - int64_t(dims.size()) + int64_t(i) != axis &&
          getConstant(dims[i]) != 1)
        return false;
  }
  return true;
}

/// Whether `op` does to its branch what `first` does to the first one.
static bool doesTheSame(Operation *first, Operation *op, int64_t axis) {
  if (first->getName() != op->getName() ||
      first->getAttrDictionary() != op->getAttrDictionary() ||
      first->getNumOperands() != op->getNumOperands())
    return false;
  Dims one = getDims(first->getResult(0)), other = getDims(op->getResult(0));
  if (one.size() != other.size() ||
      getElement(first->getResult(0)) != getElement(op->getResult(0)))
    return false;
  for (size_t i = 0; i < one.size(); ++i)
    if (int64_t(i) != axis && !areEqual(one[i], other[i]))
      return false;
  return true;
}

/// Moves the constants that an op reads before another one.
static void raiseConstants(Operation *op, Operation *before) {
  for (Value value : op->getOperands())
    if (Operation *constant = value.getDefiningOp<ConstantOp>();
        constant && constant->getBlock() == before->getBlock() &&
        before->isBeforeInBlock(constant))
      constant->moveBefore(before);
}

/// Constants joined along a dim.
Value Merger::join(unsigned operand, ArrayRef<Operation *> ops, int64_t axis) {
  SmallVector<Value> pieces;
  for (Operation *op : ops)
    pieces.push_back(op->getOperand(operand));
  return ConcatOp::create(b, ops.front()->getLoc(), pieces, axis);
}

/// The same of numbers a column: one operand if all branches have one number.
Value Merger::joinVectors(unsigned operand, ArrayRef<Operation *> ops) {
  int64_t rank = getRank(), axis = branches.axis;
  std::optional<double> splat =
      getSplatNumber(ops.front()->getOperand(operand));
  Type type = ops.front()->getOperand(operand).getType();
  if (splat &&
      llvm::all_of(ops,
                   [&](Operation *op) {
                     return op->getOperand(operand).getType() == type &&
                            getSplatNumber(op->getOperand(operand)) == splat;
                   }) &&
      cast<RankedTensorType>(type).getNumElements() == 1)
    return ops.front()->getOperand(operand);
  SmallVector<Value> pieces;
  for (Operation *op : ops) {
    Value value = op->getOperand(operand);
    Type element = getElement(value);
    int64_t count = cast<RankedTensorType>(value.getType()).getNumElements();
    Dims flat = makeDims(b.getContext(), {count});
    value = ReshapeOp::create(b, op->getLoc(), makeType(element, flat), value);
    Dims dims = makeDims(b.getContext(), {getSize(op, axis)});
    if (count == 1)
      value = BroadcastToOp::create(b, op->getLoc(), makeType(element, dims),
                                    value);
    pieces.push_back(value);
  }
  Value all = ConcatOp::create(b, ops.front()->getLoc(), pieces, 0);
  if (axis == rank - 1)
    return all;
  Dims dims(rank, getAffineConstantExpr(1, b.getContext()));
  dims[axis] = getDims(all)[0];
  return ReshapeOp::create(b, all.getLoc(), makeType(getElement(all), dims),
                           all);
}

/// Gives every reader of a branch its columns of the merged op.
void Merger::replace(Operation *merged) {
  whole = merged->getResult(0);
  int64_t rank = getRank(), start = 0;
  SmallVector<Location> locations;
  Operation *last = merged;
  for (Operation *&op : branches.ops) {
    locations.push_back(op->getLoc());
    SmallVector<int64_t> starts(rank, 0), steps(rank, 1);
    starts[branches.axis] = start;
    start += getSize(op, branches.axis);
    b.setInsertionPointAfter(last);
    Operation *part = SliceOp::create(
        b, op->getLoc(), op->getResult(0).getType(), whole, starts, steps);
    op->getResult(0).replaceAllUsesWith(part->getResult(0));
    op->dropAllReferences();
    op->setOperands({});
    dead.push_back(op);
    last = op = part;
  }
  merged->setLoc(b.getFusedLoc(locations));
}

/// Merges what all branches do next, if it is the same.
bool Merger::grow() {
  SmallVector<Operation *> next;
  std::optional<unsigned> operand;
  for (Operation *part : branches.ops) {
    if (!part->hasOneUse())
      return false;
    OpOperand &use = *part->getResult(0).use_begin();
    Operation *user = use.getOwner();
    if (!isa<ElementwiseOpInterface>(user) ||
        operand.value_or(use.getOperandNumber()) != use.getOperandNumber() ||
        user->getBlock() != part->getBlock() ||
        !areEqual(getDims(part->getResult(0)), getDims(user->getResult(0))) ||
        !hasColumnConstants(user, use.getOperandNumber(), branches.axis) ||
        (!next.empty() && !doesTheSame(next.front(), user, branches.axis)))
      return false;
    operand = use.getOperandNumber();
    next.push_back(user);
  }
  for (Operation *op : next)
    raiseConstants(op, whole.getDefiningOp());
  b.setInsertionPointAfter(branches.ops.back());
  SmallVector<Value> operands;
  for (unsigned i = 0; i < next.front()->getNumOperands(); ++i)
    operands.push_back(i == *operand ? whole : joinVectors(i, next));
  Type type = makeType(getElement(next.front()->getResult(0)), getDims(whole));
  OperationState state(next.front()->getLoc(), next.front()->getName(),
                       operands, type, next.front()->getAttrs());
  SmallVector<Operation *> parts(branches.ops);
  Operation *merged = b.create(state);
  branches.ops = next;
  replace(merged);
  for (Operation *part : parts)
    part->erase();
  return true;
}

/// The ops that follow a branch with constants of its columns only: what its own
/// kernel would do before it stores anything.
static SmallVector<Operation *> getEpilogue(Operation *op, int64_t axis) {
  SmallVector<Operation *> ops;
  for (Value end = op->getResult(0); end.hasOneUse();) {
    OpOperand &use = *end.use_begin();
    Operation *user = use.getOwner();
    if (!isa<ElementwiseOpInterface>(user) ||
        !hasColumnConstants(user, use.getOperandNumber(), axis) ||
        !areEqual(getDims(end), getDims(user->getResult(0))))
      break;
    ops.push_back(user);
    end = user->getResult(0);
  }
  return ops;
}

namespace {
/// How a branch goes on.
struct Continuation {
  SmallVector<Operation *> epilogue;
  Operation *concat = nullptr; // where it is a piece
  SmallVector<Operation *> branches;

  Continuation(Operation *op, int64_t axis)
      : epilogue(getEpilogue(op, axis)), branches{op} {
    for (Operation *user : getEnd().getUsers())
      if (isa<ConcatOp>(user))
        concat = user;
  }
  Value getEnd() const {
    return (epilogue.empty() ? branches.front() : epilogue.back())
        ->getResult(0);
  }
  bool isLike(const Continuation &other, int64_t axis) const {
    return concat == other.concat &&
           epilogue.size() == other.epilogue.size() &&
           llvm::all_of(llvm::zip(epilogue, other.epilogue), [&](auto pair) {
             return doesTheSame(std::get<0>(pair), std::get<1>(pair), axis);
           });
  }
};
} // namespace

/// Leaves out what reads a branch in another way, and branches that go on in
/// different ways: what is not merged would be a kernel that copies. A piece of
/// a concatenation is stored at its place by a branch of its own.
bool Merger::select() {
  int64_t axis = branches.axis;
  std::vector<Continuation> groups;
  for (Operation *op : branches.ops) {
    Continuation self(op, axis);
    auto reads = [&](OpOperand &use) { return readsAtOffset(use, axis); };
    if (getSize(op, axis) < 0 ||
        !llvm::all_of(self.getEnd().getUses(), reads))
      continue;
    auto group = llvm::find_if(groups, [&](const Continuation &other) {
      return other.isLike(self, axis);
    });
    if (group == groups.end())
      groups.push_back(self);
    else
      group->branches.push_back(op);
  }
  branches.ops.clear();
  for (Continuation &group : groups)
    if (group.branches.size() > branches.ops.size())
      branches.ops = group.branches;
  return branches.ops.size() > 1;
}

void Merger::run() {
  ArrayRef<Operation *> ops = branches.ops;
  Operation *first = ops.front();
  for (Operation *op : ops)
    raiseConstants(op, first);
  b.setInsertionPoint(first);
  bool isConv = isa<ConvOp>(first);
  int64_t weightAxis = 0;
  if (auto matmul = dyn_cast<MatmulOp>(first))
    weightAxis = matmul.getTransposeB() ? 0 : 1;
  SmallVector<Value> operands{first->getOperand(0), join(1, ops, weightAxis)};
  if (isConv && first->getNumOperands() == 3)
    operands.push_back(join(2, ops, 0));
  AffineExpr size = getAffineConstantExpr(0, b.getContext());
  for (Operation *op : ops)
    size = addExprs(size, getDims(op->getResult(0))[branches.axis]);
  Dims dims = getDims(first->getResult(0));
  dims[branches.axis] = size;
  OperationState state(first->getLoc(), first->getName(), operands,
                       makeType(getElement(first->getResult(0)), dims),
                       first->getAttrs());
  replace(b.create(state));
  while (grow())
    ;
}

/// The dim of the columns of a product or convolution by constants; none for
/// others.
static std::optional<int64_t> getColumns(Operation *op) {
  auto isConstant = [](Value value) {
    return matchPattern(value, m_Constant());
  };
  if (!llvm::all_of(llvm::drop_begin(op->getOperands()), isConstant) ||
      op->getNumOperands() < 2)
    return std::nullopt;
  int64_t last = getRank(op->getResult(0)) - 1;
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
      if (isa<MatmulOp, ConvOp>(op))
        candidates.push_back(op);
    });
    OpBuilder b(&getContext());
    // What is merged lives on without operands, so that no new op is taken for
    // an old one.
    SmallVector<Operation *> dead;
    DenseSet<Value> done;
    for (Operation *op : candidates) {
      if (op->getNumOperands() == 0 || !done.insert(op->getOperand(0)).second)
        continue;
      for (Branches &branches : collect(op->getOperand(0))) {
        Merger merger(branches, b, dead);
        if (!merger.select())
          continue;
        numMerged += merger.getNumMerged();
        ++numGroups;
        merger.run();
      }
    }
    for (Operation *op : dead)
      op->erase();
  }

private:
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
               doesTheSame(first, op, axis) && hasSameKernel(first, op);
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
