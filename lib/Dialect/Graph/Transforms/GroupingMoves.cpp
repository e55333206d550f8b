// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Data movement before an anchor op that is faster as a kernel of its own, and
// data movement after an anchor op that splits dims: the kernel stores elements
// to their final places.
#include "Dialect/Graph/IR/Insertions.h"
#include "Dialect/Graph/IR/Move.h"
#include "Dialect/Graph/IR/Shape.h"
#include "Dialect/Tile/IR/Targets.h"
#include "Fusion.h"
#include "Grouping.h"
#include "Matching.h"

using namespace mlir;
using namespace adze::graph;

bool adze::graph::isInnerSplat(Operation *op) {
  auto broadcast = dyn_cast<BroadcastToOp>(op);
  DenseElementsAttr elements;
  return broadcast &&
         matchPattern(broadcast.getInput(), m_Constant(&elements)) &&
         elements.isSplat() &&
         llvm::all_of(op->getUsers(), llvm::IsaPred<RecurrentOp>);
}

/// Returns true for movement after which adjacent elements belong to different
/// heads: each element of a block of scores is then in its own cache line.
static bool scattersScores(TransposeOp op) {
  ArrayRef<int64_t> perm = op.getPerm();
  int64_t last = perm.size() - 1;
  return !llvm::is_contained(perm.take_back(2), last) &&
         getConstant(getDims(op.getInput()).back()) != 1;
}

/// Returns true for movement after which rows are adjacent by dynamic sizes, so
/// that kernels tile each dim separately, however short it is.
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

/// Returns true if `value` depends on an op of the group through ops that the
/// kernel of the user computes itself.
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
    return "each score of the consumer would be in a separate cache line";
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

/// Returns true if a kernel of a GPU copies groups of channels to shared memory
/// at once: 16 bytes.
static bool copiesChannels(ConvOp op) {
  constexpr int64_t copyBits = 128;
  auto channels = getConstant(getDims(op.getFilter())[1]);
  int64_t bits = getElementTypeOrSelf(op.getInput()).getIntOrFloatBitWidth();
  return (op.getGroup() == 1 || op.getBand()) && channels &&
         *channels * bits % copyBits == 0;
}

/// Returns true if a CPU's kernel reads elements so often that transposing the
/// image first takes less time than reading planes: measured, in turn, with 8
/// to 512 channels. Groups of a few channels are read by gathers otherwise.
static bool readsOften(ConvOp op) {
  constexpr int64_t fewChannels = 4, leastProducts = 256;
  Dims filter = getDims(op.getFilter());
  auto outputs = getConstant(filter[0]), channels = getConstant(filter[1]),
       reads = getConstant(product(op.getContext(),
                                   ArrayRef<AffineExpr>(filter).drop_front(2)));
  int64_t steps = llvm::product_of(op.getStrides());
  if (!outputs || !channels || !reads || *reads <= steps)
    return false;
  if (op.getGroup() > 1)
    return *channels > 1;
  return *channels >= fewChannels && *outputs * *reads >= leastProducts * steps;
}

bool adze::graph::readsChannelsLast(ConvOp op) {
  constexpr unsigned byteBits = 8;
  Type element = getElementTypeOrSelf(op.getInput());
  if (element.getIntOrFloatBitWidth() == byteBits)
    return true;
  return llvm::any_of(adze::tile::getTargets(op), [&](Attribute target) {
    if (isa<adze::tile::CudaTargetAttr>(target))
      return copiesChannels(op);
    auto cpu = dyn_cast<adze::tile::CpuTargetAttr>(target);
    auto unit =
        cpu ? cpu.findUnit(element, element, Float32Type::get(op.getContext()))
            : adze::tile::TargetUnitAttr();
    return (unit && unit.getGroup() > 1) || (cpu && readsOften(op));
  });
}

StringRef adze::graph::whyNoPiece(const Group &producer, InsertSliceOp insert) {
  auto suits = [](Operation *op) {
    return isPointwise(op) || isa<SliceOp, BroadcastToOp>(op);
  };
  if (!llvm::all_of(producer.ops, suits))
    return "the consumer's prologue takes slices and no other data movement";
  return llvm::is_contained(producer.ops, insert.getDest().getDefiningOp())
             ? "the consumer overwrites a slice of it"
             : "";
}

/// Returns true if the producer computes the updates of a scatter elementwise,
/// and nothing else. Programs of GPUs compute blocks of them in row-major
/// order.
static bool computesUpdates(const Group &producer, Operation *scatter) {
  Value updates = scatter->getOperand(2);
  return adze::tile::findCudaTarget(scatter) && mayReorderUpdates(scatter) &&
         llvm::all_of(producer.ops, [&](Operation *op) {
           return isPointwise(op) &&
                  llvm::all_of(op->getOperands(),
                               [&](Value operand) {
                                 return isOne(operand) ||
                                        areEqual(getDims(operand),
                                                 getDims(updates));
                               }) &&
                  !llvm::is_contained(scatter->getOperands().take_front(2),
                                      op->getResult(0));
         });
}

StringRef adze::graph::whyNotScattered(const Group &producer, Operation *op) {
  auto scatter = dyn_cast<ScatterElementsOp>(op);
  if (!scatter || !scatter.replacesRows())
    return computesUpdates(producer, op)
               ? ""
               : "the consumer's indices select single elements";
  Value data = scatter.getData();
  int64_t last = getDims(data).size() - 1;
  if (!data.getDefiningOp() ||
      data.getDefiningOp()->hasTrait<OpTrait::ConstantLike>() ||
      !data.hasOneUse())
    return "the consumer copies the tensor of which it replaces elements";
  for (Operation *op : producer.ops) {
    auto transpose = dyn_cast<TransposeOp>(op);
    auto concat = dyn_cast<ConcatOp>(op);
    bool isPiece = concat && int64_t(concat.getAxis()) == last &&
                   concat.getResult() == scatter.getUpdates();
    if (!isPiece && !isPointwise(op) && !isMovement(op))
      return "the consumer's prologue cannot contain it";
    if (transpose && transpose.getPerm().back() != last)
      return "the consumer's rows would not be contiguous";
    if (llvm::is_contained({data, Value(scatter.getIndices())},
                           op->getResult(0)))
      return "the consumer's prologue computes updates only";
  }
  return "";
}

/// Returns true for kernels whose lanes are along the last dim of their result.
static bool storesRows(Operation *op) {
  if (isa<LayerNormOp, RMSNormOp, SoftmaxOp>(op))
    return true;
  auto conv = dyn_cast<ConvOp>(op);
  return isa<MatmulOp, WinogradConvOp>(op) || isChannelsLastPool(op) ||
         (conv && conv.getLayout() == Layout::NHWC);
}

/// Returns a reshape outside of kernels of a value without other uses.
static ReshapeOp getView(Value value) {
  auto reshape = value.getDefiningOp<ReshapeOp>();
  return reshape && !reshape.getShape() && reshape->hasOneUse() ? reshape
                                                                : ReshapeOp();
}

/// Collects the reshapes and transposes from the value that a kernel computes
/// to `value`, with arithmetic in between.
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

/// Returns the columns within which the positions of a vector are constant:
/// those of a group of channels.
static int64_t getGroupColumns(Operation *anchor, int64_t columns) {
  auto conv = dyn_cast<ConvOp>(anchor);
  return conv ? columns / conv.getGroup() : columns;
}

/// Returns true if stores of vectors along the last dim of `start` stay
/// vectors, or a few constant pieces: more pieces would take longer than
/// storing and moving the tensor.
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

/// Returns true if the kernel of `anchor` can store `start` moved in this way.
static bool canStore(Value start, ArrayRef<Operation *> steps,
                     Operation *anchor) {
  Dims dims = getDims(start);
  auto isEmpty = [](AffineExpr size) { return getConstant(size) == 0; };
  auto move = Move::get(start, steps);
  if (!move || !storesRows(anchor) || llvm::any_of(dims, isEmpty))
    return false; // an empty tensor is not stored
  SmallVector<unsigned> apart(dims.size(), 1),
      flat{unsigned(dims.size()) - 1, 1};
  SmallVector<unsigned> to(getDims(steps.back()->getResult(0)).size(), 1);
  bool isFlat = !isa<ConvOp, WinogradConvOp>(anchor) &&
                !isChannelsLastPool(anchor) && dims.size() > 1;
  return dims.size() > 1 && move->getMap(isFlat ? flat : apart, to) &&
         keepsVectors(start, *move, anchor);
}

/// Returns true if existing kernels read the result of the op, or a function of
/// it, in their loads.
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

/// Adds a transpose after reshapes of the result of a kernel to its group, with
/// the reshapes and transposes in between, if its users cannot fuse it into
/// their loads.
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
    return false; // there are no other operands, so no cycle
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

/// Returns true if arithmetic after this movement can be applied before it:
/// with splats, and with tensors in memory that are read at permuted positions.
bool Grouping::followsMove(Operation *op, unsigned into) const {
  return !groups[into].isMoved || canPrecedeMove(op);
}
