// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// graph-form-clusters: which ops run as one kernel. Groups are sets of ops; a
// group grows only where the graph of groups stays without cycles.
#include "BlockOrder.h"
#include "Dialect/Graph/IR/Shape.h"
#include "Dialect/Graph/Transforms/Passes.h"
#include "Fusion.h"
#include "mlir/IR/IRMapping.h"

namespace adze::graph {
#define GEN_PASS_DEF_FORMCLUSTERSPASS
#include "Dialect/Graph/Transforms/Passes.h.inc"
} // namespace adze::graph

using namespace mlir;
using namespace adze::graph;

namespace {

/// A reshape that adds or takes away dims of size 1 after data movement: as a
/// view it would need the moved data in memory.
bool isUnitReshape(Operation *op) {
  auto reshape = dyn_cast<ReshapeOp>(op);
  if (!reshape || reshape.getShape() ||
      !isa_and_nonnull<TransposeOp, SliceOp>(
          reshape.getInput().getDefiningOp()))
    return false;
  auto real = [](Value value) {
    Dims dims = getDims(value);
    llvm::erase_if(dims, [](AffineExpr dim) { return getConstant(dim) == 1; });
    return dims;
  };
  return areEqual(real(reshape.getInput()), real(reshape.getResult()));
}

/// Ops that only say where an element comes from; cheap to compute twice.
bool isMovement(Operation *op) {
  return (isa<TransposeOp, SliceOp, BroadcastToOp>(op) &&
          op->getNumOperands() == 1) ||
         isUnitReshape(op);
}

/// Ops that pick whole runs of the last dim.
bool isRowLookup(Operation *op) {
  auto gather = dyn_cast<GatherOp>(op);
  if (!gather)
    return false;
  auto type = cast<RankedTensorType>(gather.getData().getType());
  return gather.getAxis() + 1 < uint64_t(type.getRank());
}

/// Ops that are computed one element at a time.
bool isElementLookup(Operation *op) {
  return isa<GatherElementsOp, GatherNDOp, RangeOp, ShapeOp>(op) ||
         (isa<GatherOp>(op) && !isRowLookup(op));
}

/// One value put into a tensor: where a kernel stores it.
bool isStore(Operation *op) {
  auto insert = dyn_cast<InsertSliceOp>(op);
  return insert && insert.getSources().size() == 1;
}

/// Constants, views and what the host does: no kernels.
bool staysOutside(Operation *op) {
  return isa<ConstantOp, ClusterOp, EmptyOp, BindOp, CallOp, CheckOp, IfOp,
             LoopOp>(op) ||
         (isa<ReshapeOp>(op) && !isUnitReshape(op)) ||
         !isa<GraphDialect>(op->getDialect()) ||
         op->hasTrait<OpTrait::IsTerminator>();
}

/// A constant of one repeated value becomes part of each cluster using it.
bool isSplatConstant(Operation *op) {
  auto constant = dyn_cast_or_null<ConstantOp>(op);
  auto elements =
      constant ? dyn_cast<DenseElementsAttr>(constant.getValue()) : nullptr;
  return elements && elements.isSplat();
}

/// Ops that read an operand element by element in any form it is computed.
bool takesPointwisePrologue(Operation *op) {
  return isa<SoftmaxOp, LogSoftmaxOp, LayerNormOp, RMSNormOp, ConcatOp>(op) ||
         isa<ReduceOpInterface>(op);
}

/// Movement that keeps the padding of a window where it is.
bool suitsWindow(Operation *op) {
  auto slice = dyn_cast<SliceOp>(op);
  if (!slice)
    return isa<TransposeOp>(op);
  Dims from = getDims(slice.getInput()), to = getDims(slice.getResult());
  return areEqual(ArrayRef<AffineExpr>(from).drop_back(),
                  ArrayRef<AffineExpr>(to).drop_back());
}

bool sameDims(Value lhs, Value rhs) {
  return areEqual(getDims(lhs), getDims(rhs));
}

struct Group {
  SmallVector<Operation *> ops; // in the order of the block
  SmallVector<std::string> notes;
  Operation *anchor = nullptr;  // null: pointwise or movement
  unsigned first = 0, last = 0; // positions in the block
};

/// The groups of one block.
class Grouping {
public:
  /// `dataSizes`: some sizes only the data tells.
  /// `mostOps`: in one group.
  Grouping(Block &block, bool dataSizes, unsigned mostOps)
      : predecessors(block), dataSizes(dataSizes), mostOps(mostOps) {
    for (Operation &op : block) {
      positions[&op] = positions.size();
      if (!staysOutside(&op)) {
        Group &group = groups.emplace_back();
        group.ops.push_back(&op);
        group.first = group.last = positions[&op];
        if (!isPointwise(&op) && !isMovement(&op) && !isStore(&op) &&
            !isRowLookup(&op) && !isElementLookup(&op))
          group.anchor = &op;
        groupOf[&op] = groups.size() - 1;
      }
    }
  }

  void fuse();
  /// Why what the group reads is computed by other kernels, a line each.
  SmallVector<std::string> getNotes(unsigned index);
  /// Groups that still have ops.
  std::vector<Group> takeGroups();

private:
  void copyMovement(Operation *op);
  void growEpilogue(Operation *op);
  void joinProducer(InsertSliceOp op);
  void joinConsumer(unsigned index);
  bool acceptsPrologue(const Group &producer, const Group &consumer) const;
  StringRef whyApart(OpOperand &use, unsigned from, unsigned to);
  std::optional<unsigned> getGroup(Value value) const {
    Operation *op = value.getDefiningOp();
    auto it = op ? groupOf.find(op) : groupOf.end();
    return it == groupOf.end() ? std::nullopt : std::optional(it->second);
  }
  bool makesCycle(unsigned from, unsigned to);
  void merge(unsigned from, unsigned into);
  bool keepsSizes(unsigned lhs, unsigned rhs) const;
  bool isSmall(unsigned lhs, unsigned rhs) const {
    return groups[lhs].ops.size() + groups[rhs].ops.size() <= mostOps;
  }

  Predecessors predecessors;
  bool dataSizes;
  unsigned mostOps;
  std::vector<Group> groups;
  DenseMap<Operation *, unsigned> groupOf;
  DenseMap<Operation *, unsigned> positions;
};

/// Whether joining two groups closes a cycle: a path from `from` to `to` that
/// passes through a third group or through an op outside of all groups. The
/// search goes back from `to` and ends at the first op of `from`.
bool Grouping::makesCycle(unsigned from, unsigned to) {
  constexpr unsigned budget = 4096; // keeps the pass linear; then: no fusion
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

static void addSymbols(Type type, DenseSet<unsigned> &symbols) {
  for (AffineExpr dim : getDims(type))
    if (dim)
      dim.walk([&](AffineExpr inner) {
        if (auto symbol = dyn_cast<AffineSymbolExpr>(inner))
          symbols.insert(symbol.getPosition());
      });
}

/// Whether the kernel of both groups sees the sizes of all that it computes in
/// its operands and results. Of two sizes that the data tells nobody knows that
/// they are equal, so that one may be of a value in between alone.
bool Grouping::keepsSizes(unsigned lhs, unsigned rhs) const {
  if (!dataSizes)
    return true;
  DenseSet<Operation *> members;
  for (unsigned group : {lhs, rhs})
    members.insert_range(groups[group].ops);
  DenseSet<unsigned> needed, seen;
  for (Operation *op : members) {
    for (Value operand : op->getOperands())
      if (!members.contains(operand.getDefiningOp()))
        addSymbols(operand.getType(), seen);
    for (Value result : op->getResults()) {
      addSymbols(result.getType(), needed);
      if (llvm::any_of(result.getUsers(), [&](Operation *user) {
            return !members.contains(user);
          }))
        addSymbols(result.getType(), seen);
    }
  }
  return llvm::all_of(needed,
                      [&](unsigned symbol) { return seen.contains(symbol); });
}

void Grouping::merge(unsigned from, unsigned into) {
  Group &source = groups[from], &target = groups[into];
  for (Operation *op : source.ops)
    groupOf[op] = into;
  target.ops.append(source.ops);
  // A chain grows at its end: sorting it again each time would make the pass
  // quadratic.
  if (source.first < target.last)
    llvm::sort(target.ops, [&](Operation *lhs, Operation *rhs) {
      return positions.lookup(lhs) < positions.lookup(rhs);
    });
  target.first = std::min(target.first, source.first);
  target.last = std::max(target.last, source.last);
  if (!target.anchor)
    target.anchor = source.anchor;
  source.ops.clear();
}

/// A store joins the group that computes what it stores, unless that one stores
/// to the same tensor already: each result of a kernel has one store.
void Grouping::joinProducer(InsertSliceOp op) {
  unsigned self = groupOf.lookup(op);
  Value source = op.getSources().front();
  auto group = getGroup(source);
  if (!group || getGroup(op.getDest()) == group)
    return;
  Operation *anchor = groups[*group].anchor;
  if (anchor ? !hasEpilogue(anchor) && !isRepetition(anchor)
             : llvm::any_of(groups[*group].ops, isElementLookup))
    return;
  if (isa<TransposeOp>(source.getDefiningOp()) && !source.hasOneUse())
    return;
  if (!makesCycle(*group, self) && keepsSizes(*group, self))
    merge(self, *group);
}

/// Lets an elementwise op (or a transpose of a whole result) join the group
/// that computes one of its operands: the latest such group, so that the others
/// are there already.
void Grouping::growEpilogue(Operation *op) {
  if (isStore(op))
    return joinProducer(cast<InsertSliceOp>(op));
  bool elementwise = isPointwise(op);
  if (!elementwise && !isa<TransposeOp>(op))
    return;
  unsigned self = groupOf.lookup(op);
  SmallVector<unsigned> candidates;
  for (Value operand : op->getOperands()) {
    auto group = getGroup(operand);
    if (!group || *group == self || llvm::is_contained(candidates, *group))
      continue;
    Operation *anchor = groups[*group].anchor;
    Operation *producer = operand.getDefiningOp();
    if ((anchor && !hasEpilogue(anchor)) || isStore(producer))
      continue;
    if (elementwise ? !sameDims(operand, op->getResult(0))
                    : !anchor || !operand.hasOneUse())
      continue;
    // A second output must be as large as the others: so it may not lie before
    // a transpose, nor be the input of the anchor.
    if (elementwise && isa<TransposeOp>(producer) && !operand.hasOneUse())
      continue;
    candidates.push_back(*group);
  }
  llvm::sort(candidates, [&](unsigned lhs, unsigned rhs) {
    bool anchorL = groups[lhs].anchor, anchorR = groups[rhs].anchor;
    return anchorL != anchorR ? anchorL : groups[lhs].last > groups[rhs].last;
  });
  for (unsigned candidate : candidates)
    if (isSmall(candidate, self) && !makesCycle(candidate, self) &&
        keepsSizes(candidate, self)) {
      merge(self, candidate);
      return;
    }
}

/// Bias and mask are computed again for each head and block of queries: what is
/// cheap and read there only.
static bool feedsMaskOnly(const Group &producer, AttentionOp attention) {
  auto isCheap = [](Operation *op) {
    return isMovement(op) ||
           isa<NotOp, AndOp, OrOp, CastOp, SelectOp, AddOp, SubOp, MulOp,
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

/// Whether the consumer's kernel can compute the producer's values on the way.
bool Grouping::acceptsPrologue(const Group &producer,
                               const Group &consumer) const {
  if (producer.anchor || llvm::any_of(producer.ops, [](Operation *op) {
        return isElementLookup(op) || isStore(op);
      }))
    return false;
  Operation *anchor = consumer.anchor;
  if (!anchor)
    return !llvm::any_of(consumer.ops, isElementLookup);
  if (isa<ConcatOp>(anchor) && llvm::any_of(producer.ops, isRowLookup))
    return false;
  if (takesPointwisePrologue(anchor))
    return true;
  if (auto attention = dyn_cast<AttentionOp>(anchor);
      attention && feedsMaskOnly(producer, attention))
    return true;
  if (!llvm::all_of(producer.ops, isMovement))
    return false;
  if (isa<InsertSliceOp>(anchor) || isRepetition(anchor))
    return llvm::all_of(producer.ops, llvm::IsaPred<SliceOp>);
  // Channels are read a vector at a time.
  if (isa<WinogradConvOp>(anchor) || isChannelsLastPool(anchor))
    return llvm::all_of(producer.ops, [](Operation *op) {
      return isa<SliceOp>(op) && suitsWindow(op);
    });
  if (auto conv = dyn_cast<ConvOp>(anchor))
    return conv.getLayout() == Layout::NHWC &&
           llvm::all_of(producer.ops, suitsWindow) &&
           llvm::all_of(producer.ops.back()->getUsers(), [&](Operation *user) {
             return user != conv ||
                    conv.getFilter() != producer.ops.back()->getResult(0);
           });
  return isa<AttentionOp, MatmulOp>(anchor);
}

/// Gives each reader of cheap data movement a copy of its own, which can then
/// join the reader's group.
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

/// Lets a pointwise group join the only group that reads its results.
void Grouping::joinConsumer(unsigned index) {
  if (groups[index].ops.empty() || groups[index].anchor)
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
      makesCycle(index, *consumer) || !keepsSizes(index, *consumer))
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
  for (unsigned index = groups.size(); index-- > 0;)
    joinConsumer(index);
  for (unsigned index = 0; index < groups.size(); ++index)
    groups[index].notes = getNotes(index);
}

/// "matmul 'node'"
static std::string describe(Operation *op) {
  std::string text = op->getName().stripDialect().str();
  op->getLoc()->walk([&](Location part) {
    auto name = dyn_cast<NameLoc>(part);
    if (!name)
      return WalkResult::advance();
    text += " '" + name.getName().str() + "'";
    return WalkResult::interrupt();
  });
  return text;
}

/// Why the reader of a value is not in the kernel that computes it.
StringRef Grouping::whyApart(OpOperand &use, unsigned from, unsigned to) {
  const Group &producer = groups[from], &consumer = groups[to];
  Operation *reader = use.getOwner();
  auto hasOtherReaders = [&] {
    return llvm::any_of(producer.ops, [&](Operation *op) {
      return llvm::any_of(op->getUsers(), [&](Operation *user) {
        auto it = groupOf.find(user);
        return it == groupOf.end() || (it->second != from && it->second != to);
      });
    });
  };
  if (isStore(use.get().getDefiningOp()))
    return "it stores a part of what is read";
  if (producer.anchor && consumer.anchor)
    return "both decide how their kernel is cut";
  if (producer.anchor && !hasEpilogue(producer.anchor))
    return "its elements are not at hand where they are computed";
  if (producer.anchor && !sameDims(use.get(), reader->getResult(0)))
    return "the results have other dims";
  if (!producer.anchor && hasOtherReaders())
    return "several kernels read it";
  if (!producer.anchor && !acceptsPrologue(producer, consumer))
    return "the reader takes no operand that is computed on the way";
  if (!isSmall(from, to))
    return "the kernel would be too large";
  return "the kernels would wait for each other";
}

SmallVector<std::string> Grouping::getNotes(unsigned index) {
  SmallVector<std::string> notes;
  constexpr size_t most = 16;
  for (Operation *op : groups[index].ops)
    for (OpOperand &use : op->getOpOperands()) {
      auto from = getGroup(use.get());
      auto insert = dyn_cast<InsertSliceOp>(op);
      bool isMemory = insert && &use == &insert.getDestMutable();
      if (!from || *from == index || isMemory || notes.size() == most)
        continue;
      notes.push_back(describe(op) + " is not in the kernel of " +
                      describe(use.get().getDefiningOp()) + ": " +
                      whyApart(use, *from, index).str());
    }
  return notes;
}

std::vector<Group> Grouping::takeGroups() {
  std::vector<Group> result;
  for (Group &group : groups)
    if (!group.ops.empty())
      result.push_back(std::move(group));
  return result;
}

/// "conv", or "pointwise" without an anchor.
StringRef getAnchorName(const Group &group) {
  return group.anchor ? group.anchor->getName().stripDialect() : "pointwise";
}

/// Moves the group's ops into a cluster that stands at its last op.
void buildCluster(const Group &group) {
  DenseSet<Operation *> members(group.ops.begin(), group.ops.end());
  llvm::SetVector<Value> inputs, outputs;
  SmallVector<Location> locations;
  for (Operation *op : group.ops) {
    locations.push_back(op->getLoc());
    for (Value operand : op->getOperands())
      if (Operation *producer = operand.getDefiningOp();
          !isSplatConstant(producer) && !members.contains(producer))
        inputs.insert(operand);
    for (Value result : op->getResults())
      if (llvm::any_of(result.getUsers(), [&](Operation *user) {
            return !members.contains(user);
          }))
        outputs.insert(result);
  }
  SmallVector<Type> types;
  for (Value output : outputs)
    types.push_back(output.getType());
  OpBuilder builder(group.ops.back());
  Location loc = FusedLoc::get(builder.getContext(), locations);
  auto cluster = ClusterOp::create(builder, loc, TypeRange(types),
                                   inputs.getArrayRef(), getAnchorName(group));
  if (!group.notes.empty())
    cluster->setAttr(adze::host::notesAttr,
                     builder.getStrArrayAttr(SmallVector<StringRef>(
                         group.notes.begin(), group.notes.end())));
  Block *body = &cluster.getBody().front();
  for (auto [output, result] :
       llvm::zip(outputs.getArrayRef(), cluster.getResults()))
    Value(output).replaceUsesWithIf(result, [&](OpOperand &use) {
      return !members.contains(use.getOwner());
    });
  IRMapping mapping;
  mapping.map(inputs.getArrayRef(), body->getArguments());
  builder.setInsertionPointToStart(body);
  for (Operation *op : group.ops) {
    for (Value operand : op->getOperands())
      if (Operation *producer = operand.getDefiningOp();
          isSplatConstant(producer) && !mapping.contains(operand))
        builder.clone(*producer, mapping);
    builder.clone(*op, mapping);
  }
  SmallVector<Value> results;
  for (Value output : outputs)
    results.push_back(mapping.lookup(output));
  if (!body->empty() && body->back().hasTrait<OpTrait::IsTerminator>())
    body->back().erase();
  builder.setInsertionPointToEnd(body);
  YieldOp::create(builder, loc, results);
  for (Operation *op : llvm::reverse(group.ops))
    op->erase();
}

struct FormClustersPass final
    : adze::graph::impl::FormClustersPassBase<FormClustersPass> {
  using Base::Base;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (function.isExternal() || function->hasAttr("adze.kernel"))
      return;
    // Inner blocks first: outer ones see what these take from outside.
    SmallVector<Block *> blocks;
    function.walk<WalkOrder::PostOrder>([&](Block *block) {
      if (!isa<ClusterOp>(block->getParentOp()))
        blocks.push_back(block);
    });
    bool dataSizes = false;
    function.walk(
        [&](Operation *op) { dataSizes |= isa<BindOp, CallOp, IfOp, LoopOp>(op); });
    for (Block *block : blocks)
      formClusters(*block, dataSizes);
  }

private:
  void formClusters(Block &block, bool dataSizes) {
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
      if (isOpTriviallyDead(&op))
        op.erase();
    Grouping grouping(block, dataSizes, mostOps);
    if (mode == ClusterMode::Fuse)
      grouping.fuse();
    for (const Group &group : grouping.takeGroups()) {
      ++numClusters;
      numFused += group.ops.size() - 1;
      buildCluster(group);
    }
    if (mode == ClusterMode::Fuse)
      sortBlock(block);
  }
};

} // namespace
