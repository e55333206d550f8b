// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// graph-place-concat: the pieces of a concat are stored at their places in it by
// the kernels that compute them; who else needs a piece reads it there.
#include "Dialect/Graph/IR/Shape.h"
#include "Dialect/Graph/Transforms/Passes.h"
#include "Fusion.h"
#include "Matching.h"
#include "Symbols.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

namespace adze::graph {
#define GEN_PASS_DEF_PLACECONCATPASS
#include "Dialect/Graph/Transforms/Passes.h.inc"
} // namespace adze::graph

using namespace mlir;
using namespace adze::graph;

namespace {

struct Piece {
  Value value;
  AffineExpr offset;
  bool placed; // else it is copied
};

/// One concat, with those inside of it whose pieces are all placed.
class Placer {
public:
  /// `onTheWay`: concats of pieces that can all be placed.
  Placer(ConcatOp concat, const DenseSet<Operation *> &onTheWay,
         const TypicalSizes &symbols)
      : concat(concat), axis(concat.getAxis()), onTheWay(onTheWay),
        symbols(symbols) {}

  bool select(unsigned minPlaced);
  void run();

  /// The insertion that stores each piece.
  llvm::MapVector<Value, InsertSliceOp> stores;
  SmallVector<ConcatOp> replaced;
  unsigned numCopied = 0;

private:
  struct Inner {
    ConcatOp op;
    int64_t offset;
  };
  bool collect(ConcatOp op, AffineExpr &offset);
  bool isWorthIt(unsigned minPlaced) const;

  ConcatOp concat;
  int64_t axis;
  const DenseSet<Operation *> &onTheWay;
  const TypicalSizes &symbols;
  SmallVector<Piece> pieces;
  SmallVector<Inner> inner;
  DenseSet<Value> seen;
  DenseMap<Operation *, Value> madeBefore; // the whole, at an inner concat
};

} // namespace

/// Whether a kernel that is there anyway computes the value and can store it
/// anywhere.
static bool isComputed(Value value, unsigned depth = 8) {
  Operation *op = value.getDefiningOp();
  if (!op || depth == 0)
    return false;
  if (auto conv = dyn_cast<ConvOp>(op))
    return conv.getLayout() == Layout::NHWC;
  if (auto conv = dyn_cast<ConvTransposeOp>(op))
    return conv.getLayout() == Layout::NHWC;
  if (isa<MaxPoolOp, AvgPoolOp>(op))
    return isChannelsLastPool(op);
  if (hasEpilogue(op) || isSampling(op))
    return true;
  return isPointwise(op) && llvm::any_of(op->getOperands(), [&](Value operand) {
           return areEqual(getDims(operand), getDims(value)) &&
                  isComputed(operand, depth - 1);
         });
}

/// What a kernel stores because others than the concat read it, too.
static bool isStoredAnyway(Value value) {
  Operation *op = value.getDefiningOp();
  return isComputed(value) || (op && isPointwise(op) && !value.hasOneUse());
}

/// Whether the value can be stored at its place in a concat.
static bool canPlace(Value piece, Block *block) {
  Operation *op = piece.getDefiningOp();
  return op && op->getBlock() == block && isStoredAnyway(piece);
}

/// A tensor in memory, or a part of one.
static bool isInMemory(Value value) {
  Operation *op = value.getDefiningOp();
  if (auto slice = dyn_cast_or_null<SliceOp>(op))
    return !slice.getBegin() && isInMemory(slice.getInput());
  return !op || (!isPointwise(op) && !isa<TransposeOp, BroadcastToOp>(op));
}

//===----------------------------------------------------------------------===//
// Readers
//===----------------------------------------------------------------------===//

/// Whether the reader takes a part of a tensor along `axis` as well as a tensor
/// of its own.
static bool readsAtOffset(OpOperand &use, int64_t axis) {
  Operation *user = use.getOwner();
  Value value = use.get();
  bool isLast = axis + 1 == getRank(value), isFirst = use.getOperandNumber() == 0;
  if (user->getBlock() != value.getParentBlock())
    return false;
  if (auto conv = dyn_cast<ConvOp>(user))
    return isFirst && isLast && conv.getLayout() == Layout::NHWC;
  if (isa<WinogradConvOp>(user) || isChannelsLastPool(user))
    return isFirst && isLast;
  return isSampling(user) || isPointwise(user) ||
         isa<TransposeOp, SliceOp, ConcatOp, SoftmaxOp, LogSoftmaxOp,
             LayerNormOp, RMSNormOp>(user) ||
         isa<ReduceOpInterface>(user);
}

/// A reader that becomes part of the kernel which computes the value.
static bool readsBeforeStore(OpOperand &use) {
  Operation *user = use.getOwner(), *op = use.get().getDefiningOp();
  return isPointwise(user) && user->getBlock() == op->getBlock() &&
         areEqual(getDims(use.get()), getDims(user->getResult(0))) &&
         llvm::all_of(user->getOperands(), [&](Value other) {
           Operation *producer = other.getDefiningOp();
           return !producer || producer == op || isa<ConstantOp>(producer) ||
                  (producer->getBlock() == op->getBlock() &&
                   producer->isBeforeInBlock(op));
         });
}

/// The part of a tensor that holds `value`.
static Value createPart(OpBuilder &b, Value value, Value whole, int64_t axis,
                        int64_t offset) {
  int64_t rank = getRank(value);
  SmallVector<int64_t> starts(rank, 0), steps(rank, 1);
  starts[axis] = offset;
  return SliceOp::create(b, value.getLoc(), value.getType(), whole, starts,
                         steps);
}

/// Lets the readers of a placed piece read it at its place, so that it is not
/// stored twice; not if one of them needs it by itself, nor where the place is
/// not a number.
static void redirectReaders(Value value, InsertSliceOp store) {
  int64_t axis = store.getAxis();
  std::optional<int64_t> offset = getConstant(store.getOffset(0));
  if (!offset)
    return;
  SmallVector<OpOperand *> readers;
  for (OpOperand &use : value.getUses()) {
    if (isa<InsertSliceOp>(use.getOwner()) || readsBeforeStore(use))
      continue;
    if (!readsAtOffset(use, axis))
      return;
    readers.push_back(&use);
  }
  if (readers.empty())
    return;
  OpBuilder b(store->getContext());
  b.setInsertionPointAfter(store);
  Value part = createPart(b, value, store.getResult(), axis, *offset);
  for (OpOperand *use : readers)
    use->set(part);
}

//===----------------------------------------------------------------------===//
// Placing
//===----------------------------------------------------------------------===//

/// The pieces with their offsets; fails where an offset is not known.
bool Placer::collect(ConcatOp op, AffineExpr &offset) {
  for (Value value : op.getInputs()) {
    if (!offset)
      return false;
    bool isNew = seen.insert(value).second;
    auto nested = value.getDefiningOp<ConcatOp>();
    std::optional<int64_t> start = getConstant(offset);
    if (nested && isNew && start && int64_t(nested.getAxis()) == axis &&
        onTheWay.contains(nested)) {
      inner.push_back({nested, *start});
      if (!collect(nested, offset))
        return false;
      continue;
    }
    pieces.push_back({value, offset, isNew && canPlace(value, concat->getBlock())});
    offset = addExprs(offset, getDims(value)[axis]);
  }
  return true;
}

bool Placer::isWorthIt(unsigned minPlaced) const {
  int64_t placed = 0, all = 0;
  unsigned copied = 0;
  bool allInMemory = true;
  for (const Piece &piece : pieces) {
    int64_t size = symbols.get(getDims(piece.value)[axis]);
    all += size;
    placed += piece.placed ? size : 0;
    if (piece.placed)
      continue;
    ++copied;
    allInMemory &= isInMemory(piece.value);
  }
  // One kernel copies what is left; several computed pieces are too much for it.
  return placed > 0 && placed * 100 >= all * int64_t(minPlaced) &&
         (copied <= 1 || allInMemory);
}

bool Placer::select(unsigned minPlaced) {
  Type element = getElement(concat.getResult());
  if (concat.getInputs().size() < 2 || isSmallFloat(element) ||
      isPacked(element) || !symbols.areKnown(concat.getType()))
    return false;
  AffineExpr offset = getAffineConstantExpr(0, concat.getContext());
  return collect(concat, offset) && isWorthIt(minPlaced);
}

void Placer::run() {
  OpBuilder b(concat);
  Location loc = concat.getLoc();
  SmallVector<Piece> placed;
  SmallVector<Value> copied;
  SmallVector<AffineExpr> offsets;
  for (const Piece &piece : pieces) {
    if (piece.placed) {
      placed.push_back(piece);
      continue;
    }
    copied.push_back(piece.value);
    offsets.push_back(piece.offset);
  }
  llvm::sort(placed, [](const Piece &lhs, const Piece &rhs) {
    return lhs.value.getDefiningOp()->isBeforeInBlock(
        rhs.value.getDefiningOp());
  });
  Operation *last = placed.front().value.getDefiningOp();
  b.setInsertionPointAfter(last);
  Value whole = EmptyOp::create(b, loc, concat.getType());
  for (const Piece &piece : placed) {
    Operation *op = piece.value.getDefiningOp();
    b.setInsertionPointAfter(last->isBeforeInBlock(op) ? op : last);
    if (piece.value == placed.front().value)
      b.setInsertionPointAfter(whole.getDefiningOp());
    auto store = InsertSliceOp::create(b, loc, piece.value, whole, axis,
                                       piece.offset);
    stores[piece.value] = store;
    last = store;
    whole = store.getResult();
    for (Inner &part : inner) // the latest insertion before it
      if (store->isBeforeInBlock(part.op))
        madeBefore[part.op] = whole;
  }
  b.setInsertionPoint(concat);
  if (!copied.empty())
    whole = InsertSliceOp::create(b, loc, copied, whole, axis, offsets);
  numCopied = copied.size();
  concat.getResult().replaceAllUsesWith(whole);
  replaced.push_back(concat);
  for (Inner &part : inner) {
    b.setInsertionPoint(part.op);
    Value there = createPart(b, part.op.getResult(), madeBefore[part.op],
                             axis, part.offset);
    part.op.getResult().replaceAllUsesWith(there);
    replaced.push_back(part.op);
  }
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

/// Makes a concat that begins with all pieces of an earlier one begin with that
/// one itself, so that these lie in its memory.
static void shareBeginnings(Block &block) {
  DenseMap<Value, SmallVector<std::pair<ConcatOp, SmallVector<Value>>>> byFirst;
  for (auto op : block.getOps<ConcatOp>()) {
    SmallVector<Value> inputs(op.getInputs());
    if (inputs.empty())
      continue;
    auto &earlier = byFirst[inputs.front()];
    for (auto &[other, pieces] : llvm::reverse(earlier)) {
      if (other.getAxis() != op.getAxis() || pieces.size() >= inputs.size() ||
          !llvm::equal(pieces, ArrayRef(inputs).take_front(pieces.size())))
        continue;
      SmallVector<Value> rest{other.getResult()};
      llvm::append_range(rest, ArrayRef(inputs).drop_front(pieces.size()));
      op.getInputsMutable().assign(rest);
      break;
    }
    if (inputs.size() > 1)
      earlier.push_back({op, inputs});
  }
}

/// The concats of placed pieces only: they are there as soon as their pieces
/// are, in the memory of a concat that contains them, if all read them there.
static DenseSet<Operation *> findOnTheWay(Block &block) {
  DenseSet<Operation *> found;
  for (auto op : block.getOps<ConcatOp>()) {
    auto isPlaced = [&](Value piece) {
      auto inner = piece.getDefiningOp<ConcatOp>();
      return inner ? found.contains(inner) && inner.getAxis() == op.getAxis()
                   : canPlace(piece, &block);
    };
    if (llvm::all_of(op.getInputs(), isPlaced) &&
        llvm::all_of(op->getUses(), [&](OpOperand &use) {
          return readsAtOffset(use, op.getAxis());
        }))
      found.insert(op);
  }
  return found;
}

namespace {

class PlaceConcatPass final
    : public adze::graph::impl::PlaceConcatPassBase<PlaceConcatPass> {
public:
  using PlaceConcatPassBase::PlaceConcatPassBase;

  void runOnOperation() override {
    SmallVector<Block *> blocks;
    getOperation().walk([&](Block *block) {
      if (!isa<ClusterOp>(block->getParentOp()))
        blocks.push_back(block);
    });
    TypicalSizes symbols(getOperation());
    for (Block *block : blocks)
      runOnBlock(*block, symbols);
  }

private:
  void runOnBlock(Block &block, const TypicalSizes &symbols) {
    shareBeginnings(block);
    DenseSet<Operation *> onTheWay = findOnTheWay(block);
    llvm::SetVector<Operation *> replaced;
    llvm::MapVector<Value, InsertSliceOp> stores;
    // The last ones first: they may contain earlier ones.
    SmallVector<ConcatOp> concats(block.getOps<ConcatOp>());
    for (ConcatOp concat : llvm::reverse(concats)) {
      if (replaced.contains(concat))
        continue;
      Placer placer(concat, onTheWay, symbols);
      if (!placer.select(minPlaced))
        continue;
      placer.run();
      numConcats += placer.replaced.size();
      numPlaced += placer.stores.size();
      numCopied += placer.numCopied;
      for (auto &[value, store] : placer.stores)
        stores.insert({value, store});
      replaced.insert_range(placer.replaced);
    }
    for (Operation *concat : replaced)
      concat->erase();
    for (auto &[value, store] : stores)
      redirectReaders(value, store);
  }
};

} // namespace
