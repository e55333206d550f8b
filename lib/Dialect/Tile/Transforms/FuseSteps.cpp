// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// tile-fuse-steps: one launch runs all steps of a kernel on a GPU.
#include "Dialect/Tile/IR/Targets.h"
#include "Dialect/Tile/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/MemRef/Utils/MemRefUtils.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace adze::tile {
#define GEN_PASS_DEF_TILEFUSESTEPS
#include "Dialect/Tile/Transforms/Passes.h.inc"
} // namespace adze::tile

using namespace mlir;
using namespace adze;
using namespace adze::tile;

/// Returns the programs of a group whose steps one launch can run, or 0.
static int64_t getGroup(KernelOp kernel, CudaTargetAttr target) {
  ProgramIdOp ids = kernel.getProgramId();
  if (!ids || !ids.getGrouped())
    return 0;
  int64_t group = getConstantIntValue(ids.getGrid().front()).value_or(0);
  return group <= target.getMostClusterBlocks() ? group : 0;
}

/// Moves before the loop what is equal in all steps: operations without effects
/// and loads from arguments to which the kernel does not store.
static void hoistInvariants(KernelOp kernel, scf::ForOp loop) {
  llvm::SmallDenseSet<Value> stored;
  kernel.walk([&](Operation *op) {
    if (isa<StoreOp, memref::StoreOp>(op))
      stored.insert(
          memref::skipViewLikeOps(cast<MemrefValue>(op->getOperand(1))));
  });
  loop.walk([&](Operation *op) {
    auto load = dyn_cast<LoadOp>(op);
    bool isRead = load && !stored.contains(memref::skipViewLikeOps(
                              cast<MemrefValue>(load.getMemref())));
    bool mayMove = isRead || (op->getNumRegions() == 0 && isPure(op) &&
                              !op->hasTrait<OpTrait::IsTerminator>());
    if (mayMove && llvm::all_of(op->getOperands(), [&](Value operand) {
          return loop.isDefinedOutsideOfLoop(operand);
        }))
      op->moveBefore(loop);
  });
}

/// Moves the rest of the kernel into a loop over the steps. Constants and other
/// values that are equal in all steps stay outside.
static void fuse(KernelOp kernel, int64_t group) {
  ProgramIdOp ids = kernel.getProgramId();
  Location loc = ids.getLoc();
  OpBuilder b(ids);
  auto grid = ids.getGrid().drop_back();
  SmallVector<Type> types(grid.size(), b.getIndexType());
  auto programs = ProgramIdOp::create(b, loc, TypeRange(types), grid,
                                      /*ordered=*/false, /*grouped=*/false);
  auto loop = scf::ForOp::create(
      b, loc, arith::ConstantIndexOp::create(b, loc, 0), ids.getGrid().back(),
      arith::ConstantIndexOp::create(b, loc, 1));
  Block &body = kernel.getBody().front();
  loop.getBody()->getOperations().splice(
      loop.getBody()->begin(), body.getOperations(),
      std::next(ids->getIterator()), std::prev(body.end()));
  ids->replaceAllUsesWith(llvm::to_vector(llvm::concat<Value>(
      programs.getIds(), ValueRange(loop.getInductionVar()))));
  ids->erase();
  b.setInsertionPoint(loop.getBody()->getTerminator());
  BarrierOp::create(b, loc, group);
  hoistInvariants(kernel, loop);
}

namespace {
struct TileFuseSteps final : tile::impl::TileFuseStepsBase<TileFuseSteps> {
  void runOnOperation() override {
    CudaTargetAttr target = findCudaTarget(getOperation());
    if (!target)
      return;
    for (auto kernel : getOperation().getOps<KernelOp>())
      if (int64_t group = getGroup(kernel, target)) {
        fuse(kernel, group);
        ++numFused;
      }
  }
};
} // namespace
