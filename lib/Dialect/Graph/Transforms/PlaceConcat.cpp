// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// graph-place-concat: makes kernels store operands of a concat directly into
// its result; other users of an operand read it there.
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

/// The limit for one kernel, as compile time grows superlinearly with the
/// operands.
constexpr unsigned mostPieces = 16;

struct Piece {
  Value value;
  bool placed; // else it is copied
  AffineExpr offset = {};
};

/// A concat, including the inner concats whose operands are all stored in
/// place.
class Placer {
public:
  /// `onTheWay` are the concats whose operands can all be stored in place.
  Placer(ConcatOp concat, const DenseSet<Operation *> &onTheWay,
         TypicalSizes &symbols)
      : concat(concat), axis(concat.getAxis()), onTheWay(onTheWay),
        symbols(symbols) {}

  bool select(unsigned minPlaced);
  void run();

  /// The insertion that stores each operand.
  llvm::MapVector<Value, InsertSliceOp> stores;
  SmallVector<ConcatOp> replaced;
  unsigned numCopied = 0;

private:
  struct Inner {
    ConcatOp op;
    int64_t offset;
  };
  bool isInner(ConcatOp op) const;
  bool isPlacedWhole(ConcatOp op, DenseSet<Value> &among) const;
  bool collect(ConcatOp op, std::optional<int64_t> &offset);
  bool isWorthIt(unsigned minPlaced) const;
  bool isLong() const;
  void findOffsets();
  Value place(OpBuilder &b, ArrayRef<Piece> placed);
  Value copy(OpBuilder &b, ArrayRef<Piece> copied, Value whole);

  ConcatOp concat;
  int64_t axis;
  const DenseSet<Operation *> &onTheWay;
  TypicalSizes &symbols;
  SmallVector<Piece> pieces;
  SmallVector<Inner> inner;
  DenseSet<Value> seen;
  DenseMap<Operation *, Value> madeBefore; // the result at an inner concat
};

} // namespace

/// Returns true if an existing kernel computes the value and can store it
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

/// Returns true if a kernel stores the value in any case, as other ops read it,
/// too.
static bool isStoredAnyway(Value value) {
  Operation *op = value.getDefiningOp();
  return isComputed(value) || (op && isPointwise(op) && !value.hasOneUse());
}

/// Returns true if the value can be stored in place in a concat.
static bool canPlace(Value piece, Block *block) {
  Operation *op = piece.getDefiningOp();
  return op && op->getBlock() == block && isStoredAnyway(piece);
}

/// Returns true for a tensor in memory, or a part of one.
static bool isInMemory(Value value) {
  Operation *op = value.getDefiningOp();
  if (auto slice = dyn_cast_or_null<SliceOp>(op))
    return !slice.getBegin() && isInMemory(slice.getInput());
  return !op || (!isPointwise(op) && !isa<TransposeOp, BroadcastToOp>(op));
}

//===----------------------------------------------------------------------===//
// Readers
//===----------------------------------------------------------------------===//

/// Returns true if the user reads a part of a tensor along `axis` as
/// efficiently as a separate tensor.
static bool readsAtOffset(OpOperand &use, int64_t axis) {
  Operation *user = use.getOwner();
  Value value = use.get();
  bool isLast = axis + 1 == getRank(value),
       isFirst = use.getOperandNumber() == 0;
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

/// Returns true for a user that is fused into the kernel that computes the
/// value.
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

/// Returns the part of a tensor that holds `value`.
static Value createPart(OpBuilder &b, Value value, Value whole, int64_t axis,
                        int64_t offset) {
  int64_t rank = getRank(value);
  SmallVector<int64_t> starts(rank, 0), steps(rank, 1);
  starts[axis] = offset;
  return SliceOp::create(b, value.getLoc(), value.getType(), whole, starts,
                         steps);
}

/// Makes users of an operand read it in the result, so that it is not stored
/// twice. Does nothing if a user requires a separate tensor, or if the offset
/// is not constant.
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

bool Placer::isInner(ConcatOp op) const {
  return op && int64_t(op.getAxis()) == axis && onTheWay.contains(op);
}

/// Returns true if each operand of an inner concat occurs once, so that it is
/// stored in place: a repeated operand is copied after all others are in place.
bool Placer::isPlacedWhole(ConcatOp op, DenseSet<Value> &among) const {
  return llvm::all_of(op.getInputs(), [&](Value value) {
    auto nested = value.getDefiningOp<ConcatOp>();
    return !seen.contains(value) && among.insert(value).second &&
           (!isInner(nested) || isPlacedWhole(nested, among));
  });
}

/// Collects the operands. Fails if a size is unknown. `offset` is the offset of
/// the next one, if it is constant.
bool Placer::collect(ConcatOp op, std::optional<int64_t> &offset) {
  for (Value value : op.getInputs()) {
    bool isNew = seen.insert(value).second;
    auto nested = value.getDefiningOp<ConcatOp>();
    DenseSet<Value> among;
    if (isNew && offset && isInner(nested) && isPlacedWhole(nested, among)) {
      inner.push_back({nested, *offset});
      if (!collect(nested, offset))
        return false;
      continue;
    }
    AffineExpr size = getDims(value)[axis];
    if (!size)
      return false;
    pieces.push_back({value, isNew && canPlace(value, concat->getBlock())});
    std::optional<int64_t> known = getConstant(size);
    offset = offset && known ? std::optional(*offset + *known) : std::nullopt;
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
  // One kernel copies the remaining operands, which must not be several
  // computed ones.
  return placed > 0 && placed * 100 >= all * int64_t(minPlaced) &&
         (copied <= 1 || allInMemory);
}

/// Returns true if one kernel for all operands would take long to compile,
/// because of dynamic offsets.
bool Placer::isLong() const {
  return pieces.size() > mostPieces &&
         llvm::any_of(pieces, [&](const Piece &piece) {
           return !getConstant(getDims(piece.value)[axis]);
         });
}

bool Placer::select(unsigned minPlaced) {
  Type element = getElement(concat.getResult());
  std::optional<int64_t> begin = 0;
  if (concat.getInputs().size() < 2 || isSmallFloat(element) ||
      isPacked(element) || !collect(concat, begin))
    return false;
  if (symbols.areKnown(concat.getType()) && isWorthIt(minPlaced))
    return true;
  // A tensor of data-dependent size has no memory before all operands exist.
  for (Piece &piece : pieces)
    piece.placed = false;
  return inner.empty() && isLong();
}

/// Offsets begin at a new symbol every few operands, so that sums do not grow,
/// and kernels differ only in symbols.
void Placer::findOffsets() {
  AffineExpr offset = getAffineConstantExpr(0, concat.getContext());
  for (auto [i, piece] : llvm::enumerate(pieces)) {
    if (i > 0 && i % mostPieces == 0)
      offset = symbols.getName(offset, concat);
    piece.offset = offset;
    offset = addExprs(offset, getDims(piece.value)[axis]);
  }
}

/// Stores each operand as soon as it is computed.
Value Placer::place(OpBuilder &b, ArrayRef<Piece> placed) {
  Location loc = concat.getLoc();
  Operation *last = placed.front().value.getDefiningOp();
  b.setInsertionPointAfter(last);
  Value whole = EmptyOp::create(b, loc, concat.getType());
  for (const Piece &piece : placed) {
    Operation *op = piece.value.getDefiningOp();
    b.setInsertionPointAfter(last->isBeforeInBlock(op) ? op : last);
    if (piece.value == placed.front().value)
      b.setInsertionPointAfter(whole.getDefiningOp());
    auto store =
        InsertSliceOp::create(b, loc, piece.value, whole, axis, piece.offset);
    stores[piece.value] = store;
    last = store;
    whole = store.getResult();
    for (Inner &part : inner) // the latest insertion before it
      if (store->isBeforeInBlock(part.op))
        madeBefore[part.op] = whole;
  }
  return whole;
}

/// Copies a few operands in each kernel, if their sizes are dynamic.
Value Placer::copy(OpBuilder &b, ArrayRef<Piece> copied, Value whole) {
  b.setInsertionPoint(concat);
  if (!whole)
    whole = EmptyOp::create(b, concat.getLoc(), concat.getType());
  size_t most = isLong() ? mostPieces : copied.size();
  numCopied = copied.size();
  while (!copied.empty()) {
    ArrayRef<Piece> some = copied.take_front(most);
    copied = copied.drop_front(some.size());
    whole = InsertSliceOp::create(
        b, concat.getLoc(),
        llvm::map_to_vector(some, [](const Piece &p) { return p.value; }),
        whole, axis,
        llvm::map_to_vector(some, [](const Piece &p) { return p.offset; }));
  }
  return whole;
}

void Placer::run() {
  findOffsets();
  OpBuilder b(concat);
  SmallVector<Piece> placed, copied;
  for (const Piece &piece : pieces)
    (piece.placed ? placed : copied).push_back(piece);
  llvm::sort(placed, [](const Piece &lhs, const Piece &rhs) {
    return lhs.value.getDefiningOp()->isBeforeInBlock(
        rhs.value.getDefiningOp());
  });
  Value whole = placed.empty() ? Value() : place(b, placed);
  whole = copy(b, copied, whole);
  concat.getResult().replaceAllUsesWith(whole);
  replaced.push_back(concat);
  for (Inner &part : inner) {
    b.setInsertionPoint(part.op);
    Value there = createPart(b, part.op.getResult(), madeBefore[part.op], axis,
                             part.offset);
    part.op.getResult().replaceAllUsesWith(there);
    replaced.push_back(part.op);
  }
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

/// Makes a concat that begins with all operands of an earlier one begin with
/// that one instead, so that they share its memory.
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

/// Returns the concats whose operands are all stored in place: they are
/// complete with their last operand, in the memory of an enclosing concat, if
/// all users read them there.
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
  void runOnBlock(Block &block, TypicalSizes &symbols) {
    shareBeginnings(block);
    DenseSet<Operation *> onTheWay = findOnTheWay(block);
    llvm::SetVector<Operation *> replaced;
    llvm::MapVector<Value, InsertSliceOp> stores;
    // The last ones are processed first, as they may contain earlier ones.
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
