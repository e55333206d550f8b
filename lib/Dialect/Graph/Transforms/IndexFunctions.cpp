// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Copies of what positions and sizes are made of, one for each reader.
#include "IndexFunctions.h"
#include "Dialect/Graph/IR/Shape.h"
#include "Fusion.h"
#include "mlir/IR/IRMapping.h"
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
  /// One number everywhere; made of these and of positions.
  DenseSet<Operation *> uniform, functions, copies;
};

} // namespace

/// Ops that only say where an element comes from, at places that are known.
static bool movesElements(Operation *op) {
  if (auto reshape = dyn_cast<ReshapeOp>(op))
    return !reshape.getShape() && isUnitReshape(reshape);
  return isa<TransposeOp, SliceOp, BroadcastToOp>(op) &&
         op->getNumOperands() == 1;
}

void Copier::classify(Operation *op) {
  if (auto constant = dyn_cast<ConstantOp>(op)) {
    auto elements = dyn_cast<DenseElementsAttr>(constant.getValue());
    if (elements && elements.isSplat())
      uniform.insert(op);
    return;
  }
  bool isSource = isa<RangeOp, TriluOp>(op);
  if (!isSource && !isPointwise(op) && !movesElements(op))
    return;
  bool isUniform = !isSource;
  for (OpOperand &operand : op->getOpOperands()) {
    bool isNumber = reaches(operand.get(), uniform);
    isUniform &= isNumber;
    if (!isNumber && !reaches(operand.get(), functions))
      return;
  }
  (isUniform ? uniform : functions).insert(op);
}

/// What the value is made of, in order; false if it is too much to be computed
/// again and again.
bool Copier::collect(Value value, llvm::SetVector<Operation *> &ops) const {
  constexpr unsigned most = 32;
  Operation *op = value.getDefiningOp();
  if (ops.contains(op) || isa<ConstantOp>(op))
    return true;
  for (Value operand : op->getOperands())
    if (!collect(operand, ops))
      return false;
  ops.insert(op);
  return ops.size() <= most;
}

/// Whether the kernel of the reader computes this operand on the way.
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

void adze::graph::dropRangeLimits(Operation *root) {
  SmallVector<Operation *> dead;
  root->walk([&](RangeOp op) {
    if (!getDims(op.getResult()).front() || op.getLimit() == op.getStart())
      return;
    if (Operation *limit = op.getLimit().getDefiningOp())
      dead.push_back(limit);
    op.getLimitMutable().assign(op.getStart());
  });
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

DenseSet<Operation *> adze::graph::copyIndexFunctions(Block &block) {
  return Copier(block).run();
}
