// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Groups the ops of a block into kernels.
#include "Grouping.h"
#include "Dialect/Graph/IR/Reduced.h"
#include "Dialect/Graph/IR/Shape.h"
#include "Fusion.h"
#include "IndexFunctions.h"

using namespace mlir;
using namespace adze::graph;

/// Returns true for a reshape that adds or drops dims of size 1 after data
/// movement: as a view, it would require the moved data in memory.
static bool isMovedUnitReshape(Operation *op) {
  auto reshape = dyn_cast<ReshapeOp>(op);
  return reshape && !reshape.getShape() &&
         isa_and_nonnull<TransposeOp, SliceOp>(
             reshape.getInput().getDefiningOp()) &&
         isUnitReshape(reshape);
}

bool adze::graph::isMovement(Operation *op) {
  return (isa<TransposeOp, SliceOp, BroadcastToOp>(op) &&
          op->getNumOperands() == 1) ||
         isMovedUnitReshape(op);
}

/// Returns true for gathers of whole runs of the last dim.
static bool isRowLookup(Operation *op) {
  auto gather = dyn_cast<GatherOp>(op);
  if (!gather)
    return false;
  auto type = cast<RankedTensorType>(gather.getData().getType());
  return gather.getAxis() + 1 < uint64_t(type.getRank());
}

/// Returns true for ops that are computed one element at a time.
static bool isElementLookup(Operation *op) {
  return isa<GatherElementsOp, GatherNDOp, ShapeOp>(op) ||
         (isa<GatherOp>(op) && !isRowLookup(op));
}

/// Returns true for constants, views and host ops, which need no kernel.
static bool staysOutside(Operation *op) {
  return isa<AssignOp, AssumeOp, BindOp, CallOp, CheckOp, CheckRangeOp,
             CloseStateOp, ClusterOp, ConstantOp, EmptyOp, IfOp, LoopOp,
             OpenStateOp, TransformFilterOp>(op) ||
         (isa<ReshapeOp>(op) && !isMovedUnitReshape(op)) || isInnerSplat(op) ||
         !isa_and_nonnull<GraphDialect>(op->getDialect()) ||
         op->hasTrait<OpTrait::IsTerminator>();
}

/// Returns true if `anchor` reads permuted dims of the result or its parts.
static bool readsTransposed(Operation *anchor, Operation *op,
                            bool isTransposed = false) {
  return llvm::any_of(op->getUsers(), [&](Operation *user) {
    if (user == anchor)
      return isTransposed;
    return isa<SliceOp, TransposeOp>(user) &&
           readsTransposed(anchor, user,
                           isTransposed || isa<TransposeOp>(user));
  });
}

/// Returns true for data movement that does not move the padding of a window:
/// parts of channels, which are the last dim that `anchor` reads.
static bool suitsWindow(Operation *op, Operation *anchor) {
  auto slice = dyn_cast<SliceOp>(op);
  if (!slice)
    return isa<TransposeOp>(op);
  Dims from = getDims(slice.getInput()), to = getDims(slice.getResult());
  return areEqual(ArrayRef<AffineExpr>(from).drop_back(),
                  ArrayRef<AffineExpr>(to).drop_back()) &&
         !readsTransposed(anchor, op);
}

static bool sameDims(Value lhs, Value rhs) {
  return areEqual(getDims(lhs), getDims(rhs));
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

/// Returns the input of a reduction over contiguous dims, if a tile holds whole
/// rows of it and there are several: ops on elements and on the results of
/// their rows can be part of its kernel. Rows along inner dims need enough
/// adjacent ones to fill the lanes.
static Value getRows(Operation *op) {
  constexpr int64_t longestInner = 2048, fewest = 8;
  auto reduce = dyn_cast_or_null<ReduceOpInterface>(op);
  if (!reduce || reduce.getAxes().empty())
    return {};
  ArrayRef<int64_t> axes = reduce.getAxes();
  Dims dims = getDims(reduce.getInput());
  int64_t first = axes.front(), end = axes.back() + 1, rank = dims.size();
  if ((first < 1 && end == rank) ||
      !llvm::equal(axes, llvm::seq<int64_t>(first, end)))
    return {};
  auto count = [&](int64_t begin, int64_t end) {
    return getConstant(
        product(op->getContext(),
                ArrayRef<AffineExpr>(dims).slice(begin, end - begin)));
  };
  auto length = count(first, end), after = count(end, rank);
  bool known = llvm::all_of(dims, [](AffineExpr dim) { return bool(dim); });
  bool fits = length && *length > 1 &&
              *length <= (end == rank ? getLongestTileRow(op) : longestInner) &&
              (end == rank || !after || *after >= fewest);
  return known && fits ? reduce.getInput() : Value();
}

/// Returns true for elements of the reduced rows, or one number per row.
static bool fitsRows(Value value, Operation *anchor) {
  Value rows = getRows(anchor);
  if (!rows)
    return false;
  Dims dims = getDims(rows), own = getDims(value);
  if (areEqual(dims, own))
    return true;
  for (int64_t axis : cast<ReduceOpInterface>(anchor).getAxes())
    dims[axis] = getAffineConstantExpr(1, value.getContext());
  return areEqual(dims, own);
}

bool adze::graph::usesWholeRows(const Group &group) {
  Value rows = getRows(group.anchor);
  return rows && llvm::any_of(group.ops, [&](Operation *op) {
           return op != group.anchor && (isa<ReduceOpInterface>(op) ||
                                         (op->getNumResults() == 1 &&
                                          sameDims(op->getResult(0), rows)));
         });
}

bool adze::graph::hasTranspose(const Group &group) {
  return llvm::any_of(group.ops, llvm::IsaPred<TransposeOp>);
}

//===----------------------------------------------------------------------===//
// Groups
//===----------------------------------------------------------------------===//

Grouping::Grouping(Block &block, unsigned mostOps, bool fuses)
    : indexOps(fuses ? copyIndexFunctions(block) : DenseSet<Operation *>()),
      predecessors(block, /*withChecks=*/true), mostOps(mostOps) {
  for (Operation &op : block) {
    positions[&op] = positions.size();
    if (staysOutside(&op) && !indexOps.contains(&op))
      continue;
    Group &group = groups.emplace_back();
    group.ops.push_back(&op);
    group.first = group.last = positions[&op];
    if (!isPointwise(&op) && !isMovement(&op) && !isStore(&op) &&
        !isRowLookup(&op) && !isElementLookup(&op) && !isa<RangeOp>(op) &&
        !indexOps.contains(&op))
      group.anchor = &op;
    groupOf[&op] = groups.size() - 1;
  }
}

/// Returns true if joining two groups closes a cycle: a path from `from` to
/// `to` through a third group or an op outside of all groups. The search goes
/// back from `to` and ends at the first op of `from`.
bool Grouping::makesCycle(unsigned from, unsigned to) {
  constexpr unsigned budget = 4096; // limits the time; beyond it, no fusion
  unsigned floor = groups[from].first;
  DenseSet<Operation *> seen;
  SmallVector<Operation *> work;
  auto visitOperands = [&](Operation *op, unsigned self) {
    predecessors.forEach(op, [&](Operation *producer) {
      auto group = groupOf.find(producer);
      if (group != groupOf.end() &&
          (group->second == self || (self == to && group->second == from)))
        return;
      if (seen.insert(producer).second)
        work.push_back(producer);
    });
  };
  for (Operation *op : groups[to].ops)
    visitOperands(op, to);
  while (!work.empty()) {
    if (seen.size() > budget)
      return true;
    Operation *op = work.pop_back_val();
    auto it = groupOf.find(op);
    if (it == groupOf.end()) {
      if (positions.lookup(op) > floor)
        visitOperands(op, ~0u);
      continue;
    }
    if (it->second == from)
      return true;
    Group &group = groups[it->second];
    if (group.last <= floor)
      continue;
    for (Operation *member : group.ops) {
      seen.insert(member);
      visitOperands(member, it->second);
    }
  }
  return false;
}

void Grouping::merge(unsigned from, unsigned into) {
  Group &source = groups[from], &target = groups[into];
  for (Operation *op : source.ops)
    groupOf[op] = into;
  target.ops.append(source.ops);
  // A chain grows at its end, so sorting it again each time would make the pass
  // quadratic.
  if (source.first < target.last)
    llvm::sort(target.ops, [&](Operation *lhs, Operation *rhs) {
      return positions.lookup(lhs) < positions.lookup(rhs);
    });
  target.first = std::min(target.first, source.first);
  target.last = std::max(target.last, source.last);
  target.isMoved |= source.isMoved;
  if (!target.anchor)
    target.anchor = source.anchor;
  source.ops.clear();
}

/// Returns true if the kernel of both groups is small enough to compile fast.
bool Grouping::isSmall(unsigned lhs, unsigned rhs) const {
  constexpr unsigned mostResults = 16;
  size_t count = groups[lhs].ops.size() + groups[rhs].ops.size();
  if (count > mostOps)
    return false;
  if (count <= mostResults)
    return true;
  unsigned results = 0;
  for (unsigned group : {lhs, rhs})
    for (Operation *op : groups[group].ops)
      results += llvm::any_of(op->getUsers(), [&](Operation *user) {
        auto reader = groupOf.find(user);
        return reader == groupOf.end() ||
               (reader->second != lhs && reader->second != rhs);
      });
  return results <= mostResults;
}

/// Returns true if `to` can become part of `from`, which it reads.
bool Grouping::canMerge(unsigned from, unsigned to) {
  return isSmall(from, to) && !makesCycle(from, to);
}

/// Returns true if the kernel already stores another such part.
static bool addsPart(InsertSliceOp op) {
  auto before = op.getDest().getDefiningOp<InsertSliceOp>();
  return before && isStore(before) && before->hasOneUse() &&
         before.getAxis() == op.getAxis() &&
         sameDims(before.getSources().front(), op.getSources().front());
}

/// Adds a store to the group that computes the stored value.
void Grouping::joinProducer(InsertSliceOp op) {
  unsigned self = groupOf.lookup(op);
  Value source = op.getSources().front();
  auto group = getGroup(source);
  if (!group || (getGroup(op.getDest()) == group && !addsPart(op)))
    return;
  Operation *anchor = groups[*group].anchor;
  if (anchor ? !hasEpilogue(anchor) && !isSampling(anchor)
             : llvm::any_of(groups[*group].ops, isElementLookup))
    return;
  if (isa<TransposeOp>(source.getDefiningOp()) && !source.hasOneUse())
    return;
  if (!makesCycle(*group, self))
    merge(self, *group);
}

/// Returns true if it is dynamic whether an operand is broadcast. Tile kernels
/// do not support this, and slower ops must not be computed elementwise because
/// of it.
static bool mayRepeat(Operation *op) {
  Dims to = getDims(op->getResult(0));
  return llvm::any_of(op->getOperands(), [&](Value operand) {
    Dims from = getDims(operand);
    return llvm::any_of(
        llvm::zip(llvm::reverse(from), llvm::reverse(to)), [](auto sizes) {
          auto [size, wide] = sizes;
          return getConstant(size) != 1 && !areEqual(size, wide);
        });
  });
}

/// Returns the groups that an elementwise op (or a transpose of a whole result)
/// can be the epilogue of, the latest first, so that the other operands are
/// available.
SmallVector<unsigned> Grouping::findEpilogues(Operation *op) {
  bool elementwise = isPointwise(op);
  unsigned self = groupOf.lookup(op);
  SmallVector<unsigned> candidates;
  if (!elementwise && !isa<TransposeOp>(op))
    return candidates;
  for (Value operand : op->getOperands()) {
    auto group = getGroup(operand);
    if (!group || *group == self || llvm::is_contained(candidates, *group))
      continue;
    Operation *anchor = groups[*group].anchor;
    Operation *producer = operand.getDefiningOp();
    bool isOpen =
        !anchor || hasEpilogue(anchor) || (elementwise && isSampling(anchor));
    if (!isOpen || isStore(producer) || !followsMove(op, *group) ||
        (anchor && elementwise && mayRepeat(op)))
      continue;
    // Pixels of patches would be apart along the innermost dim.
    if (elementwise ? !sameDims(operand, op->getResult(0))
                    : !anchor || isa<WinogradOutputOp>(anchor) ||
                          !operand.hasOneUse() || usesWholeRows(groups[*group]))
      continue;
    // A second output must have the size of the others, so it must not be
    // before a transpose, nor be the input of the anchor.
    if (elementwise && isa<TransposeOp>(producer) && !operand.hasOneUse())
      continue;
    candidates.push_back(*group);
  }
  llvm::sort(candidates, [&](unsigned lhs, unsigned rhs) {
    bool anchorL = groups[lhs].anchor, anchorR = groups[rhs].anchor;
    return anchorL != anchorR ? anchorL : groups[lhs].last > groups[rhs].last;
  });
  return candidates;
}

void Grouping::growEpilogue(Operation *op) {
  if (isStore(op))
    return joinProducer(cast<InsertSliceOp>(op));
  if (auto transpose = dyn_cast<TransposeOp>(op);
      transpose && growMove(transpose))
    return;
  unsigned self = groupOf.lookup(op);
  SmallVector<unsigned> candidates = findEpilogues(op);
  // A moved value joins its user in any position.
  bool readsMoved = llvm::all_of(candidates, [&](unsigned candidate) {
    return llvm::all_of(groups[candidate].ops, isMovement);
  });
  if (readsMoved && !candidates.empty() && growRows(op))
    return;
  for (unsigned candidate : candidates)
    if (canMerge(candidate, self)) {
      merge(self, candidate);
      joinRows(candidate, candidates);
      return;
    }
  if (!growReduction(op))
    growRows(op);
}

/// Joins groups that reduce alike and whose results one op reads.
void Grouping::joinRows(unsigned into, ArrayRef<unsigned> others) {
  for (unsigned other : others)
    if (other != into && !groups[other].ops.empty() &&
        reduceAlike(groups[into].anchor, groups[other].anchor) &&
        !hasTranspose(groups[into]) && !hasTranspose(groups[other]) &&
        canMerge(other, into) && !makesCycle(into, other))
      merge(other, into);
}

/// Returns true if all users of the result are outside of kernels.
bool Grouping::isReadOutside(Operation *op) const {
  return llvm::none_of(op->getUsers(),
                       [&](Operation *user) { return groupOf.contains(user); });
}

/// Adds ops on elements and on the results of their rows to the kernel that has
/// both, and also the broadcast of such a result to each element.
bool Grouping::growRows(Operation *op) {
  if (!isPointwise(op) && !(isa<BroadcastToOp>(op) && isReadOutside(op)))
    return false;
  unsigned self = groupOf.lookup(op);
  SmallVector<unsigned> candidates;
  for (Value operand : op->getOperands()) {
    auto group = getGroup(operand);
    if (!group || *group == self || hasTranspose(groups[*group]) ||
        llvm::any_of(groups[*group].ops, llvm::IsaPred<ArgMaxOp, ArgMinOp>) ||
        llvm::is_contained(candidates, *group))
      continue;
    Operation *anchor = groups[*group].anchor;
    if (fitsRows(op->getResult(0), anchor) &&
        llvm::all_of(op->getOperands(), [&](Value operand) {
          return getGroup(operand) != group || fitsRows(operand, anchor);
        }))
      candidates.push_back(*group);
  }
  for (unsigned candidate : candidates)
    if (canMerge(candidate, self) && !makesCycle(self, candidate)) {
      merge(self, candidate);
      joinRows(candidate, candidates);
      return true;
    }
  return false;
}

/// Bias and mask are recomputed for each head and block of queries, so only
/// cheap ops without other uses are fused.
bool Grouping::feedsMaskOnly(const Group &producer,
                             AttentionOp attention) const {
  auto isCheap = [&](Operation *op) {
    return isMovement(op) || indexOps.contains(op) ||
           isa<NotOp, NegOp, AndOp, OrOp, CastOp, SelectOp, AddOp, SubOp, MulOp,
               EqualOp, LessOp, LessEqualOp, GreaterOp, GreaterEqualOp>(op);
  };
  return llvm::all_of(producer.ops, isCheap) &&
         llvm::none_of(producer.ops, [&](Operation *op) {
           return llvm::is_contained(ValueRange{attention.getQuery(),
                                                attention.getKey(),
                                                attention.getValue()},
                                     op->getResult(0));
         });
}

/// Values that depend on positions and sizes only are also computed in
/// epilogues of products.
bool Grouping::joinsEpilogue(const Group &producer, Operation *anchor) const {
  return isa_and_nonnull<AttentionOp, MatmulOp>(anchor) &&
         llvm::all_of(producer.ops, [&](Operation *op) {
           return indexOps.contains(op) &&
                  !llvm::is_contained(op->getUsers(), anchor);
         });
}

/// Gathers next to other values at the same positions, and movement of the
/// indices: the position of an index is computed once for all elements that it
/// selects.
static StringRef whyNoPick(const Group &producer) {
  bool picks = llvm::any_of(producer.ops, isElementLookup),
       isMoved = llvm::all_of(producer.ops, isMovement);
  for (Operation *op : producer.ops)
    for (OpOperand &use : op->getUses()) {
      Operation *user = use.getOwner();
      if (llvm::is_contained(producer.ops, user))
        continue;
      bool isIndex = isElementLookup(user) && use.getOperandNumber() > 0;
      bool isBeside =
          picks && isPointwise(user) && sameDims(use.get(), user->getResult(0));
      if (!(isIndex && isMoved) && !isBeside)
        return "the consumer gathers elements of it";
    }
  return "";
}

StringRef Grouping::whyNoPrologue(const Group &producer,
                                  const Group &consumer) const {
  constexpr StringLiteral windows =
      "the consumer's windows take slices of channels only";
  if (isa_and_nonnull<ScatterElementsOp, ScatterNDOp>(consumer.anchor))
    return whyNotScattered(producer, consumer.anchor);
  if (producer.anchor)
    return "an anchor op cannot be a prologue";
  bool picks = llvm::any_of(consumer.ops, isElementLookup);
  if ((!picks || consumer.anchor) &&
      llvm::any_of(producer.ops, [&](Operation *op) {
        return isElementLookup(op) && !indexOps.contains(op);
      }))
    return "gathered elements are computed by a separate kernel";
  if (llvm::any_of(producer.ops, isStore))
    return "it stores a slice of the consumer's operand";
  Operation *anchor = consumer.anchor;
  if (consumer.isMoved && llvm::any_of(producer.ops, [&](Operation *op) {
        return llvm::any_of(op->getUsers(), [&](Operation *user) {
          return user != anchor && !llvm::is_contained(producer.ops, user);
        });
      }))
    return "the consumer's data movement reads it";
  if (joinsEpilogue(producer, anchor))
    return "";
  if (!anchor)
    return picks ? whyNoPick(producer) : "";
  if (isa<ConcatOp>(anchor) && llvm::any_of(producer.ops, isRowLookup))
    return "it is a gathered operand of a concatenation";
  if (takesPointwisePrologue(anchor))
    return "";
  if (StringRef why = whyMovedBefore(producer, anchor); !why.empty())
    return why;
  if (auto attention = dyn_cast<AttentionOp>(anchor);
      attention && (feedsMaskOnly(producer, attention) ||
                    widensOperand(producer, attention)))
    return "";
  if (auto insert = dyn_cast<InsertSliceOp>(anchor))
    return whyNoPiece(producer, insert);
  if (!llvm::all_of(producer.ops, isMovement))
    return "the consumer has no prologue";
  if (isSampling(anchor))
    return llvm::all_of(producer.ops, llvm::IsaPred<SliceOp>)
               ? ""
               : "the consumer's prologue takes slices and no other data "
                 "movement";
  // Channels are read in vectors.
  if (isa<WinogradConvOp>(anchor) || isChannelsLastPool(anchor))
    return llvm::all_of(producer.ops,
                        [&](Operation *op) {
                          return isa<SliceOp>(op) && suitsWindow(op, anchor);
                        })
               ? StringRef()
               : StringRef(windows);
  if (auto conv = dyn_cast<ConvOp>(anchor)) {
    if (conv.getLayout() != Layout::NHWC ||
        !llvm::all_of(producer.ops,
                      [&](Operation *op) { return suitsWindow(op, conv); }))
      return windows;
    if (readsChannelsLast(conv) &&
        !llvm::all_of(producer.ops, llvm::IsaPred<SliceOp>))
      return windows;
    Value moved = producer.ops.back()->getResult(0);
    return llvm::is_contained(moved.getUsers(), conv) &&
                   conv.getFilter() == moved
               ? "the filter is read in its own layout"
               : "";
  }
  return isa<AttentionOp, MatmulOp>(anchor)
             ? ""
             : "the consumer's prologue cannot contain data movement";
}

/// Copies cheap data movement for each user, so that each copy can join the
/// group of the user.
void Grouping::copyMovement(Operation *op) {
  if (!isMovement(op) || op->hasOneUse() || op->use_empty())
    return;
  for (Operation *user : op->getUsers()) {
    auto reader = groupOf.find(user);
    if (reader == groupOf.end() ||
        !acceptsPrologue(groups[groupOf.lookup(op)], groups[reader->second]))
      return;
  }
  OpBuilder builder(op);
  for (OpOperand &use :
       llvm::make_early_inc_range(llvm::drop_begin(op->getUses()))) {
    Operation *copy = builder.clone(*op);
    positions[copy] = positions.lookup(op);
    use.set(copy->getResult(0));
    Group &group = groups.emplace_back();
    group.ops.push_back(copy);
    group.first = group.last = positions.lookup(op);
    groupOf[copy] = groups.size() - 1;
  }
}

/// Merges a pointwise group into the only group that reads its results.
void Grouping::joinConsumer(unsigned index) {
  // Only a concatenation is an anchor that joins its consumer.
  Operation *anchor = groups[index].anchor;
  if (groups[index].ops.empty() || (anchor && !isa<ConcatOp>(anchor)))
    return;
  std::optional<unsigned> consumer;
  for (Operation *op : groups[index].ops)
    for (Operation *user : op->getUsers()) {
      auto it = groupOf.find(user);
      if (it == groupOf.end())
        return;
      if (it->second == index)
        continue;
      if (consumer && *consumer != it->second)
        return;
      consumer = it->second;
    }
  if (!consumer || !isSmall(index, *consumer) ||
      !acceptsPrologue(groups[index], groups[*consumer]) ||
      makesCycle(index, *consumer))
    return;
  merge(index, *consumer);
}

void Grouping::fuse() {
  SmallVector<Operation *> order;
  for (Group &group : groups)
    order.append(group.ops);
  for (Operation *op : llvm::reverse(order))
    copyMovement(op);
  for (Operation *op : order)
    growEpilogue(op);
  // Groups are processed from the end of the block, so that the user of a group
  // has joined its own user already.
  auto indices = llvm::to_vector(llvm::seq<unsigned>(0, groups.size()));
  llvm::sort(indices, [&](unsigned lhs, unsigned rhs) {
    return std::pair(groups[lhs].last, lhs) > std::pair(groups[rhs].last, rhs);
  });
  for (unsigned index : indices)
    joinConsumer(index);
}

std::vector<Group> Grouping::takeGroups() {
  std::vector<Group> result;
  for (Group &group : groups)
    if (!group.ops.empty())
      result.push_back(std::move(group));
  return result;
}
