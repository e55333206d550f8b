// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Data movement before an anchor op that is faster as a kernel of its own, and
// data movement after an anchor op that splits dims: the kernel stores elements
// to their final places.
#include "Dialect/Graph/IR/Move.h"
#include "Dialect/Graph/IR/Shape.h"
#include "Fusion.h"
#include "Grouping.h"

using namespace mlir;
using namespace adze::graph;

/// Movement behind which elements that lie together are those of other heads:
/// each of a block of scores is then in a line of memory of its own.
static bool scattersScores(TransposeOp op) {
  ArrayRef<int64_t> perm = op.getPerm();
  int64_t last = perm.size() - 1;
  return !llvm::is_contained(perm.take_back(2), last) &&
         getConstant(getDims(op.getInput()).back()) != 1;
}

/// Movement behind which rows follow one another by dynamic sizes: what reads
/// them cuts each dim by itself, however short it is.
static bool mixesRows(TransposeOp op) {
  ArrayRef<int64_t> perm = op.getPerm();
  Dims dims = getDims(op.getResult());
  if (perm.back() + 1 != int64_t(perm.size()))
    return false;
  SmallVector<int64_t> from;
  bool isKnown = true;
  for (auto [source, dim] : llvm::drop_end(llvm::zip(perm, dims))) {
    std::optional<int64_t> size = getConstant(dim);
    if (size == 1)
      continue;
    isKnown &= size || from.empty();
    from.push_back(source);
  }
  return !isKnown && !llvm::is_sorted(from);
}

/// Whether an op of the group is among those that `value` follows from, by way
/// of what the reader's kernel computes itself.
static bool leadsTo(const Group &group, Value value) {
  constexpr unsigned mostSteps = 32;
  SmallVector<Value> work{value};
  for (unsigned step = 0; step < work.size() && step < mostSteps; ++step) {
    Operation *op = work[step] ? work[step].getDefiningOp() : nullptr;
    if (llvm::is_contained(group.ops, op))
      return true;
    if (isa_and_nonnull<ReshapeOp, TransposeOp, SliceOp, BroadcastToOp,
                        ElementwiseOpInterface>(op))
      work.append(op->operand_begin(), op->operand_end());
  }
  return false;
}

StringRef adze::graph::whyMovedBefore(const Group &group, Operation *anchor) {
  auto moves = [&](bool (*isCostly)(TransposeOp)) {
    return llvm::any_of(group.ops, [&](Operation *op) {
      auto transpose = dyn_cast<TransposeOp>(op);
      return transpose && isCostly(transpose);
    });
  };
  auto attention = dyn_cast_or_null<AttentionOp>(anchor);
  if (attention && moves(scattersScores) &&
      (leadsTo(group, attention.getBias()) ||
       leadsTo(group, attention.getMask())))
    return "each score of the consumer would be in a cache line of its own";
  auto matmul = dyn_cast_or_null<MatmulOp>(anchor);
  if (!matmul || !moves(mixesRows) || !leadsTo(group, matmul.getLhs()))
    return "";
  bool isOneMatrix =
      llvm::all_of(llvm::drop_end(getDims(matmul.getRhs()), 2),
                   [](AffineExpr dim) { return getConstant(dim) == 1; });
  return isOneMatrix && !matmul.getTransposeA()
             ? "the consumer's rows would not be contiguous"
             : "";
}

/// Kernels whose lanes run along the last dim of what they store.
static bool storesRows(Operation *op) {
  if (isa<LayerNormOp, RMSNormOp, SoftmaxOp>(op))
    return true;
  auto conv = dyn_cast<ConvOp>(op);
  return isa<MatmulOp, WinogradConvOp>(op) || isChannelsLastPool(op) ||
         (conv && conv.getLayout() == Layout::NHWC);
}

/// A reshape that is no part of a kernel, of a value that nobody else reads.
static ReshapeOp getView(Value value) {
  auto reshape = value.getDefiningOp<ReshapeOp>();
  return reshape && !reshape.getShape() && reshape->hasOneUse() ? reshape
                                                                : ReshapeOp();
}

/// Reshapes and transposes from the value that a kernel computes in the order
/// of its own indices to `value`, also where arithmetic is in between.
static Value findSteps(Value value, SmallVectorImpl<Operation *> &steps) {
  for (;;) {
    Operation *op = value.getDefiningOp();
    if (isa_and_nonnull<ReshapeOp, TransposeOp>(op)) {
      steps.push_back(op);
      value = op->getOperand(0);
      continue;
    }
    Value moved;
    if (isa_and_nonnull<ElementwiseOpInterface>(op))
      for (Value operand : op->getOperands())
        if (!moved && areEqual(getDims(operand), getDims(value)) &&
            operand.getDefiningOp() && Move::takesDimsApart(operand))
          moved = operand;
    if (!moved)
      break;
    value = moved;
  }
  std::reverse(steps.begin(), steps.end());
  return value;
}

/// Columns of which the kernel knows how a vector of them begins: of a group of
/// channels.
static int64_t getGroupColumns(Operation *anchor, int64_t columns) {
  auto conv = dyn_cast<ConvOp>(anchor);
  return conv ? columns / conv.getGroup() : columns;
}

/// Whether stores of vectors along the last dim of `start` are vectors still,
/// or a few pieces that the code knows: more would take longer than to store
/// and to move all of it.
static bool keepsVectors(Value start, const Move &move, Operation *anchor) {
  constexpr int64_t lanes = 16, block = 2 * lanes;
  int64_t run = move.getRun();
  auto columns = getConstant(getDims(start).back());
  if (run % lanes == 0 || (columns && run % *columns == 0))
    return true;
  if (!columns || !isa<MatmulOp, ConvOp, WinogradConvOp>(anchor))
    return false;
  int64_t own = getGroupColumns(anchor, *columns);
  bool isKnown =
      *columns <= block || ((own == *columns || own % lanes == 0) &&
                            llvm::all_of(move.getRuns(), [](int64_t run) {
                              return lanes % run == 0 || run % lanes == 0;
                            }));
  int64_t first = std::min(own, lanes);
  return isKnown && 2 * move.countPieces(first) <= first;
}

/// Whether the kernel of `anchor` can store `start` moved so.
static bool canStore(Value start, ArrayRef<Operation *> steps,
                     Operation *anchor) {
  Dims dims = getDims(start);
  auto isEmpty = [](AffineExpr size) { return getConstant(size) == 0; };
  auto move = Move::get(start, steps);
  if (!move || !storesRows(anchor) || llvm::any_of(dims, isEmpty))
    return false; // nothing is stored of what is empty
  SmallVector<unsigned> apart(dims.size(), 1),
      flat{unsigned(dims.size()) - 1, 1};
  SmallVector<unsigned> to(getDims(steps.back()->getResult(0)).size(), 1);
  bool isFlat = !isa<ConvOp, WinogradConvOp>(anchor) &&
                !isChannelsLastPool(anchor) && dims.size() > 1;
  return dims.size() > 1 && move->getMap(isFlat ? flat : apart, to) &&
         keepsVectors(start, *move, anchor);
}

/// Whether kernels that there are anyway read the op's result, or what
/// arithmetic makes of it, on the way.
bool Grouping::isLoaded(Operation *op, unsigned movement,
                        unsigned depth) const {
  constexpr unsigned deepest = 8;
  return llvm::all_of(op->getUsers(), [&](Operation *user) {
    auto reader = groupOf.find(user);
    if (reader == groupOf.end())
      return false;
    const Group &group = groups[reader->second];
    if (group.anchor)
      return depth == 0 ? acceptsPrologue(groups[movement], group)
                        : takesPointwisePrologue(group.anchor);
    return depth < deepest && isa<ElementwiseOpInterface>(user) &&
           user->hasOneUse() && isLoaded(user, movement, depth + 1);
  });
}

/// A transpose behind reshapes of a kernel's result joins it with them and with
/// transposes in between, if its readers cannot have it where they load.
bool Grouping::growMove(TransposeOp op) {
  SmallVector<Operation *> views; // the last first
  bool isMoved = false;
  Value value = op.getInput();
  for (;;) {
    Operation *view = value.getDefiningOp();
    auto group = getGroup(value);
    bool isAlone = isa_and_nonnull<TransposeOp>(view) && group &&
                   groups[*group].ops.size() == 1;
    if (!value.hasOneUse() || (!isAlone && (group || !getView(value))))
      break;
    isMoved |= isAlone;
    views.push_back(view);
    value = view->getOperand(0);
  }
  auto into = getGroup(value);
  unsigned self = groupOf.lookup(op);
  if (!into || *into == self || !groups[*into].anchor || !value.hasOneUse())
    return false;
  isMoved |= groups[*into].isMoved;
  SmallVector<Operation *> steps;
  Value start = findSteps(op.getResult(), steps);
  if ((views.empty() && !isMoved) || (!isMoved && isLoaded(op, self)) ||
      getGroup(start) != into ||
      !canStore(start, steps, groups[*into].anchor) || !isSmall(*into, self))
    return false; // it reads nothing else: no cycle
  for (Operation *view : llvm::reverse(views)) {
    if (auto own = getGroup(view->getResult(0))) {
      merge(*own, *into);
      continue;
    }
    groupOf[view] = *into;
    Group &group = groups[*into];
    group.ops.push_back(view);
    group.last = std::max(group.last, positions.lookup(view));
  }
  merge(self, *into);
  groups[*into].isMoved = true;
  return true;
}

/// Whether arithmetic behind such movement can be done before it: numbers that
/// are the same everywhere, and tensors in memory that are read at places found
/// likewise.
bool Grouping::followsMove(Operation *op, unsigned into) const {
  return !groups[into].isMoved || canPrecedeMove(op);
}
