// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Rematerializes values that depend on positions and sizes only, and masks made
// of these and of smaller values, in each of their users.
#include "IndexFunctions.h"
#include "Dialect/Graph/IR/Shape.h"
#include "Fusion.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace adze::graph;

namespace {

class Copier {
public:
  explicit Copier(Block &block) : block(block) {}

  DenseSet<Operation *> run();

private:
  void classify(Operation *op);
  bool reaches(Value value, const DenseSet<Operation *> &set) const {
    Operation *op = value.getDefiningOp();
    return op && set.contains(op);
  }
  bool collect(Value value, llvm::SetVector<Operation *> &ops) const;
  void copyFor(Operation *reader);

  Block &block;
  /// Splats; functions of splats and positions, and masks; copies of these.
  DenseSet<Operation *> uniform, functions, copies;
};

} // namespace

/// Returns true for data movement by constant positions.
static bool movesElements(Operation *op) {
  if (auto reshape = dyn_cast<ReshapeOp>(op))
    return !reshape.getShape() && isUnitReshape(reshape);
  return isa<TransposeOp, SliceOp, BroadcastToOp>(op) &&
         op->getNumOperands() == 1;
}

/// Returns true for the shape of an input, which all kernels know.
static bool isInputShape(Operation *op) {
  auto shape = dyn_cast<ShapeOp>(op);
  return shape && isa<BlockArgument>(shape.getInput()) &&
         llvm::all_of(getDims(shape.getInput()),
                      [](AffineExpr dim) { return bool(dim); });
}

/// Returns true if the op broadcasts the operand to a mask, so that the operand
/// is smaller than the result.
static bool expandsToMask(OpOperand &operand) {
  Value result = operand.getOwner()->getResult(0);
  if (!isPointwise(operand.getOwner()) ||
      !getElementTypeOrSelf(result).isInteger(1))
    return false;
  Dims from = getDims(operand.get()), to = getDims(result);
  for (auto [d, size] : llvm::enumerate(llvm::reverse(to)))
    if (getConstant(size) != 1 &&
        (d >= from.size() || getConstant(from[from.size() - 1 - d]) == 1))
      return true;
  return false;
}

void Copier::classify(Operation *op) {
  if (auto constant = dyn_cast<ConstantOp>(op)) {
    auto elements = dyn_cast<DenseElementsAttr>(constant.getValue());
    if (elements && elements.isSplat())
      uniform.insert(op);
    return;
  }
  if (isInputShape(op)) {
    functions.insert(op);
    return;
  }
  bool isSource = isa<RangeOp, TriluOp>(op);
  if (!isSource && !isPointwise(op) && !movesElements(op))
    return;
  bool isUniform = !isSource, isFunction = isSource;
  for (OpOperand &operand : op->getOpOperands()) {
    bool isNumber = reaches(operand.get(), uniform),
         hasPositions = reaches(operand.get(), functions);
    isUniform &= isNumber;
    isFunction |= hasPositions;
    if (!isNumber && !hasPositions && !expandsToMask(operand))
      return;
  }
  if (isUniform)
    uniform.insert(op);
  else if (isFunction)
    functions.insert(op);
}

/// Collects the ops that compute the value from values in memory, in order.
/// Returns false if they are too many to be duplicated.
bool Copier::collect(Value value, llvm::SetVector<Operation *> &ops) const {
  constexpr unsigned most = 32;
  Operation *op = value.getDefiningOp();
  if (!reaches(value, uniform) && !reaches(value, functions))
    return true;
  if (ops.contains(op) || isa<ConstantOp>(op))
    return true;
  if (!isInputShape(op))
    for (Value operand : op->getOperands())
      if (!collect(operand, ops))
        return false;
  ops.insert(op);
  return ops.size() <= most;
}

/// Returns true if the kernel of the user computes this operand on demand.
static bool takesComputed(OpOperand &use) {
  Operation *reader = use.getOwner();
  if (auto attention = dyn_cast<AttentionOp>(reader))
    return use.get() == attention.getBias() || use.get() == attention.getMask();
  return isPointwise(reader) || takesPointwisePrologue(reader);
}

void Copier::copyFor(Operation *reader) {
  IRMapping mapping;
  OpBuilder b(reader);
  for (OpOperand &use : reader->getOpOperands()) {
    llvm::SetVector<Operation *> ops;
    if (!reaches(use.get(), functions) || !takesComputed(use) ||
        !collect(use.get(), ops))
      continue;
    for (Operation *op : ops)
      if (!mapping.contains(op->getResult(0)))
        copies.insert(b.clone(*op, mapping));
    use.set(mapping.lookup(use.get()));
  }
}

DenseSet<Operation *> Copier::run() {
  dropRangeLimits(block.getParentOp());
  for (Operation &op : block)
    classify(&op);
  if (functions.empty())
    return copies;
  SmallVector<Operation *> readers;
  for (Operation &op : block)
    if (!functions.contains(&op) && !uniform.contains(&op))
      readers.push_back(&op);
  for (Operation *reader : readers)
    copyFor(reader);
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (isOpTriviallyDead(&op)) {
      copies.erase(&op);
      op.erase();
    }
  return copies;
}

/// Erases unused ops, and then their unused operands.
static void eraseDead(SmallVector<Operation *> dead) {
  llvm::SmallPtrSet<Operation *, 16> erased;
  while (!dead.empty()) {
    Operation *op = dead.pop_back_val();
    if (erased.contains(op) || op->getNumRegions() > 0 ||
        !isOpTriviallyDead(op))
      continue;
    for (Value operand : op->getOperands())
      if (Operation *producer = operand.getDefiningOp())
        dead.push_back(producer);
    erased.insert(op);
    op->erase();
  }
}

void adze::graph::dropRangeLimits(Operation *root) {
  SmallVector<Operation *> dead;
  root->walk([&](RangeOp op) {
    if (!getDims(op.getResult()).front() || op.getLimit() == op.getStart())
      return;
    if (Operation *limit = op.getLimit().getDefiningOp())
      dead.push_back(limit);
    op.getLimitMutable().assign(op.getStart());
  });
  eraseDead(std::move(dead));
}

/// Returns the size that an op extracts from a shape, or null.
static AffineExpr getPickedSize(Operation *op) {
  if (!isa<SliceOp, GatherOp>(op))
    return {};
  auto shape = op->getOperand(0).getDefiningOp<ShapeOp>();
  if (!shape || isa<BlockArgument>(shape.getInput()))
    return {};
  auto elements = getElements(op->getResult(0));
  return elements && elements->size() == 1 ? elements->front() : AffineExpr();
}

void adze::graph::askInputsForSizes(Block &entry) {
  SmallVector<Operation *> dead;
  for (Operation &op : entry) {
    AffineExpr size = getPickedSize(&op);
    if (!size || adze::graph::getConstant(size))
      continue;
    for (Value input : entry.getArguments()) {
      Dims dims = getDims(input);
      auto dim = llvm::find_if(
          dims, [&](AffineExpr own) { return own && areEqual(own, size); });
      if (dim == dims.end() || llvm::is_contained(dims, AffineExpr()))
        continue;
      OpBuilder b(&op);
      Value shape = ShapeOp::create(b, op.getLoc(), input);
      auto one = RankedTensorType::get({1}, b.getI64Type());
      Value picked = SliceOp::create(b, op.getLoc(), one, shape,
                                     ArrayRef<int64_t>{dim - dims.begin()},
                                     ArrayRef<int64_t>{1});
      if (picked.getType() != op.getResult(0).getType())
        picked = ReshapeOp::create(b, op.getLoc(), op.getResult(0).getType(),
                                   picked);
      op.getResult(0).replaceAllUsesWith(picked);
      dead.push_back(&op);
      break;
    }
  }
  eraseDead(std::move(dead));
}

DenseSet<Operation *> adze::graph::copyIndexFunctions(Block &block) {
  return Copier(block).run();
}
