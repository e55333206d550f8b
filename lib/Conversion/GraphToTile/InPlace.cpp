// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Updates in place. A chain of tensors, each of which is the previous one with
// elements replaced by insertions or by a scatter, shares one memory. This is
// legal if no launch that reads a tensor comes after one that replaced elements
// that it reads.
#include "InPlace.h"
#include "Dialect/Graph/IR/Insertions.h"
#include "Dialect/Graph/IR/Shape.h"
#include "Dialect/Host/IR/Host.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <deque>

using namespace mlir;
using namespace adze;
using namespace adze::graph;

namespace {

/// Elements [begin, end) along a dim.
struct Elements {
  int64_t begin = 0, end = INT64_MAX;
  bool overlaps(const Elements &other) const {
    return begin < other.end && other.begin < end;
  }
};

/// A launch that replaces elements of `dest`, and returns `result`.
struct Insertion {
  host::LaunchOp launch;
  func::FuncOp kernel;
  unsigned operand;
  Value dest, result;
  SmallVector<InsertSliceOp> ops; // along one dim; none for a scatter

  int64_t getAxis() { return ops.empty() ? 0 : ops.front().getAxis(); }
  bool replaces(const Elements &range) {
    return ops.empty() ? Elements().overlaps(range)
                       : llvm::any_of(ops, [&](InsertSliceOp op) {
                           return replaces(op, range);
                         });
  }

private:
  static bool replaces(InsertSliceOp op, const Elements &range) {
    return llvm::any_of(
        llvm::zip_equal(op.getSources(), op.getOffsets().getResults()),
        [&](auto part) {
          auto [source, offset] = part;
          auto begin = getConstant(offset);
          auto end =
              getConstant(addExprs(offset, getDims(source)[op.getAxis()]));
          return Elements{begin.value_or(0), end.value_or(INT64_MAX)}.overlaps(
              range);
        });
  }
};

class Insertions {
public:
  explicit Insertions(ModuleOp module) {
    for (auto function : module.getOps<func::FuncOp>())
      if (function->hasAttr(host::kernelAttr) && !function.isExternal())
        kernels[function.getSymNameAttr()] = function;
    module.walk([&](host::LaunchOp launch) { collect(launch); });
  }

  DenseSet<Operation *> findCopying();

private:
  void collect(host::LaunchOp launch);
  void checkReaders(Value value, Value of, size_t first,
                    ArrayRef<Insertion *> chain);
  Elements getRead(OpOperand &use, int64_t axis, bool changes) const;

  DenseMap<StringAttr, func::FuncOp> kernels;
  std::deque<Insertion> insertions;
  // Insertions by the value that they change.
  DenseMap<Value, SmallVector<Insertion *, 1>> into;
  DenseSet<Operation *> copying;
};

} // namespace

void Insertions::collect(host::LaunchOp launch) {
  func::FuncOp kernel = kernels.lookup(launch.getCalleeAttr().getAttr());
  if (!kernel)
    return;
  DenseSet<Value> changed;
  Operation *end = kernel.getBody().front().getTerminator();
  for (auto [i, value] : llvm::enumerate(end->getOperands())) {
    auto argument = dyn_cast_if_present<BlockArgument>(getUpdated(value));
    if (!argument)
      continue;
    SmallVector<InsertSliceOp> ops = getInsertions(value);
    bool haveOneAxis = llvm::all_of(ops, [&](InsertSliceOp op) {
      return op.getAxis() == ops.front().getAxis();
    });
    if (!haveOneAxis)
      copying.insert(kernel);
    Value dest = launch.getOperand(argument.getArgNumber());
    if (!changed.insert(dest).second)
      copying.insert(kernel);
    if (i >= launch.getNumResults())
      continue;
    Insertion &insertion = insertions.emplace_back(
        Insertion{launch, kernel, argument.getArgNumber(), dest,
                  launch.getResult(i), ops});
    // Each launch has its own empty tensor.
    Operation *producer = dest.getDefiningOp();
    if (!isa_and_nonnull<EmptyOp>(producer)) {
      into[dest].push_back(&insertion);
      if (!isa_and_nonnull<host::LaunchOp, OpenStateOp>(producer) ||
          producer->getBlock() != launch->getBlock())
        copying.insert(kernel);
    }
  }
}

/// Returns the elements of an operand that a launch reads along a dim: the
/// slices that its kernel reads, or all of it. For the launch that changes the
/// operand, other parts are ignored.
Elements Insertions::getRead(OpOperand &use, int64_t axis, bool changes) const {
  auto launch = dyn_cast<host::LaunchOp>(use.getOwner());
  func::FuncOp kernel = launch
                            ? kernels.lookup(launch.getCalleeAttr().getAttr())
                            : func::FuncOp();
  if (!kernel)
    return {};
  Elements read{INT64_MAX, 0};
  for (Operation *user :
       kernel.getArgument(use.getOperandNumber()).getUsers()) {
    if (changes && isa<InsertSliceOp, ScatterElementsOp, ScatterNDOp>(user))
      continue;
    auto slice = dyn_cast<SliceOp>(user);
    auto size =
        slice ? getConstant(getDims(slice.getResult())[axis]) : std::nullopt;
    auto begin = size ? getConstant(slice.getStartExprs()[axis]) : std::nullopt;
    if (!begin || slice.getSteps()[axis] < 1)
      return {};
    read.begin = std::min(read.begin, *begin);
    read.end =
        std::max(read.end, *begin + (*size - 1) * slice.getSteps()[axis] + 1);
  }
  return read;
}

/// Checks the readers of `value`, which is a member of the chain, or a reshape
/// of it, before insertion `first` changes it.
void Insertions::checkReaders(Value value, Value of, size_t first,
                              ArrayRef<Insertion *> chain) {
  Block *block = chain.front()->launch->getBlock();
  for (OpOperand &use : value.getUses()) {
    Operation *reader = use.getOwner();
    bool changes = reader == chain[first]->launch &&
                   use.getOperandNumber() == chain[first]->operand &&
                   value == of;
    if (auto reshape = dyn_cast<ReshapeOp>(reader))
      checkReaders(reshape.getResult(), of, first, chain);
    Operation *here = block->findAncestorOpInBlock(*reader);
    for (Insertion *insertion : chain.drop_front(first)) {
      if (here && here->isBeforeInBlock(insertion->launch))
        break;
      Elements read = value == of ? getRead(use, insertion->getAxis(), changes)
                                  : Elements();
      if (insertion->replaces(read))
        copying.insert(insertion->kernel);
    }
  }
}

DenseSet<Operation *> Insertions::findCopying() {
  DenseSet<Value> made;
  for (Insertion &insertion : insertions)
    made.insert(insertion.result);
  for (Insertion &begin : insertions) {
    // The first insertion of a chain changes a value that no insertion made.
    auto producer = begin.dest.getDefiningOp<host::LaunchOp>();
    if (made.contains(begin.dest))
      continue;
    SmallVector<Insertion *> chain{&begin};
    for (;;) {
      auto next = into.find(chain.back()->result);
      if (next == into.end() || next->second.size() != 1)
        break;
      chain.push_back(next->second.front());
    }
    if (producer)
      checkReaders(begin.dest, begin.dest, 0, chain);
    for (size_t i = 1; i < chain.size(); ++i)
      checkReaders(chain[i]->dest, chain[i]->dest, i, chain);
  }
  for (auto &[value, list] : into)
    if (list.size() > 1)
      for (Insertion *insertion : list)
        copying.insert(insertion->kernel);
  return std::move(copying);
}

DenseSet<Operation *> adze::findCopyingInsertions(ModuleOp module) {
  return Insertions(module).findCopying();
}
