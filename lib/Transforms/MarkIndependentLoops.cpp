// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// mark-independent-loops: finds loops whose iterations may run in any order.
#include "Dialect/Host/IR/Host.h"
#include "Dialect/Host/IR/Programs.h"
#include "Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;

namespace adze {
#define GEN_PASS_DEF_MARKINDEPENDENTLOOPS
#include "Transforms/Passes.h.inc"

namespace {
/// An access of memory. The last index of a vector is that of its first
/// element.
struct Access {
  Value memref;
  SmallVector<Value> indices;
  bool isVector, isWrite;
};

class MarkIndependentLoopsPass final
    : public impl::MarkIndependentLoopsBase<MarkIndependentLoopsPass> {
public:
  void runOnOperation() override;

private:
  bool isIndependent(scf::ForOp loop);
  bool sharesAllocations(scf::ForOp loop);
  Value getRoot(Value memref);
  /// Collects the accesses of the loop by their memory. Fails at ops with other
  /// effects.
  bool collect(scf::ForOp loop, DenseMap<Value, SmallVector<Access>> &accesses);
};
} // namespace

/// Returns the memory that a view is a part of. The memory of a tied result is
/// that of its operand.
Value MarkIndependentLoopsPass::getRoot(Value memref) {
  while (auto view = memref.getDefiningOp<ViewLikeOpInterface>())
    memref = view.getViewSource();
  auto argument = dyn_cast<BlockArgument>(memref);
  func::FuncOp function = getOperation();
  if (!argument || argument.getOwner() != &function.front())
    return memref;
  auto tied = function.getArgAttrOfType<IntegerAttr>(argument.getArgNumber(),
                                                     host::tiedAttr);
  return tied ? function.getArgument(tied.getInt()) : argument;
}

static std::optional<Access> getAccess(Operation *op) {
  if (auto load = dyn_cast<memref::LoadOp>(op))
    return Access{load.getMemref(), load.getIndices(), false, false};
  if (auto store = dyn_cast<memref::StoreOp>(op))
    return Access{store.getMemref(), store.getIndices(), false, true};
  if (auto load = dyn_cast<vector::LoadOp>(op))
    return Access{load.getBase(), load.getIndices(), true, false};
  if (auto store = dyn_cast<vector::StoreOp>(op))
    return Access{store.getBase(), store.getIndices(), true, true};
  return std::nullopt;
}

bool MarkIndependentLoopsPass::collect(
    scf::ForOp loop, DenseMap<Value, SmallVector<Access>> &accesses) {
  WalkResult walk = loop.getBody()->walk([&](Operation *op) {
    if (std::optional<Access> access = getAccess(op)) {
      accesses[getRoot(access->memref)].push_back(*access);
      return WalkResult::advance();
    }
    bool isKnown =
        isa<memref::AllocOp, memref::AllocaOp, memref::DeallocOp>(op) ||
        op->hasTrait<OpTrait::HasRecursiveMemoryEffects>() ||
        isMemoryEffectFree(op);
    return isKnown ? WalkResult::advance() : WalkResult::interrupt();
  });
  return !walk.wasInterrupted();
}

static bool isInvariant(Value value, scf::ForOp loop) {
  return loop.isDefinedOutsideOfLoop(value);
}

/// Returns true if different iterations have different values of the index.
static bool isInjective(Value index, scf::ForOp loop) {
  if (index == loop.getInductionVar())
    return true;
  Operation *op = index.getDefiningOp();
  if (isa_and_nonnull<arith::AddIOp, arith::SubIOp>(op)) {
    Value lhs = op->getOperand(0), rhs = op->getOperand(1);
    return (isInvariant(rhs, loop) && isInjective(lhs, loop)) ||
           (isInvariant(lhs, loop) && isInjective(rhs, loop));
  }
  if (auto mul = dyn_cast_or_null<arith::MulIOp>(op)) {
    std::optional<int64_t> factor = getConstantIntValue(mul.getRhs());
    return factor.value_or(0) != 0 && isInjective(mul.getLhs(), loop);
  }
  return false;
}

/// Returns true if both values are computed by the same arithmetic.
static bool areEqual(Value lhs, Value rhs) {
  if (lhs == rhs)
    return true;
  Operation *left = lhs.getDefiningOp(), *right = rhs.getDefiningOp();
  if (!left || !right || left->getNumRegions() || !isPure(left) ||
      left->getName() != right->getName() ||
      left->getNumOperands() != right->getNumOperands() ||
      left->getAttrDictionary() != right->getAttrDictionary() ||
      left->getNumResults() != 1 || lhs.getType() != rhs.getType())
    return false;
  return llvm::all_of(
      llvm::zip(left->getOperands(), right->getOperands()),
      [](auto pair) { return areEqual(std::get<0>(pair), std::get<1>(pair)); });
}

/// Returns true if all accesses have an equal index of one dim, which differs
/// between iterations: no two iterations access the same element.
static bool arePartitioned(ArrayRef<Access> accesses, scf::ForOp loop) {
  const Access &first = accesses.front();
  for (size_t dim = 0; dim < first.indices.size(); ++dim) {
    bool isPartition =
        isInjective(first.indices[dim], loop) &&
        llvm::all_of(accesses, [&](const Access &other) {
          return other.memref.getType() == first.memref.getType() &&
                 !(other.isVector && dim + 1 == other.indices.size()) &&
                 areEqual(other.indices[dim], first.indices[dim]);
        });
    if (isPartition)
      return true;
  }
  return false;
}

/// Returns true if the memory is allocated in each iteration.
static bool isPrivate(Value root, scf::ForOp loop) {
  return isa_and_nonnull<memref::AllocOp, memref::AllocaOp>(
             root.getDefiningOp()) &&
         !loop.isDefinedOutsideOfLoop(root);
}

bool MarkIndependentLoopsPass::isIndependent(scf::ForOp loop) {
  if (loop.getNumResults())
    return false;
  DenseMap<Value, SmallVector<Access>> accesses;
  if (!collect(loop, accesses))
    return false;
  return llvm::all_of(accesses, [&](const auto &entry) {
    auto &[root, all] = entry;
    bool isWritten =
        llvm::any_of(all, [](const Access &access) { return access.isWrite; });
    return !isWritten || isPrivate(root, loop) || arePartitioned(all, loop);
  });
}

/// Moves allocations that only a loop of programs uses into its body: each
/// program has its own. Returns true if the loop is one of programs.
static bool sinkAllocations(scf::ForOp loop) {
  if (!loop->hasAttr(host::programsAttr) || loop.getNumResults())
    return false;
  for (Operation &op : llvm::make_early_inc_range(*loop->getBlock())) {
    if (&op == loop)
      break;
    bool isScratch = isa<memref::AllocOp, memref::AllocaOp>(op) &&
                     llvm::all_of(op.getUsers(), [&](Operation *user) {
                       return loop->isProperAncestor(user);
                     });
    if (isScratch)
      op.moveBefore(loop.getBody(), loop.getBody()->begin());
  }
  return true;
}

/// Returns true if the loop writes to memory that is allocated outside of it.
bool MarkIndependentLoopsPass::sharesAllocations(scf::ForOp loop) {
  WalkResult walk = loop.getBody()->walk([&](Operation *op) {
    std::optional<Access> access = getAccess(op);
    if (!access || !access->isWrite)
      return WalkResult::advance();
    Value root = getRoot(access->memref);
    return !isPrivate(root, loop) && root.getDefiningOp()
               ? WalkResult::interrupt()
               : WalkResult::advance();
  });
  return walk.wasInterrupted();
}

void MarkIndependentLoopsPass::runOnOperation() {
  if (getOperation().isExternal())
    return;
  getOperation().walk([&](scf::ForOp loop) {
    if (loop->hasAttr(host::independentAttr))
      return;
    bool arePrograms = sinkAllocations(loop) && !sharesAllocations(loop);
    if (!arePrograms && !isIndependent(loop))
      return;
    loop->setAttr(host::independentAttr, UnitAttr::get(&getContext()));
    ++numMarked;
  });
}
} // namespace adze
