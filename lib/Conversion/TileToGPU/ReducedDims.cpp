// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The distribution of reduced dimensions over threads.
#include "KernelPlan.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace adze::togpu {

/// Returns the result of arithmetic, or that of a loop that carries it.
static Value getCarried(Operation *op) {
  if (!op->hasTrait<OpTrait::Elementwise>() || op->getNumResults() != 1)
    return {};
  Value result = op->getResult(0);
  auto yield = result.hasOneUse()
                   ? dyn_cast<scf::YieldOp>(*result.getUsers().begin())
                   : scf::YieldOp();
  auto loop = yield ? dyn_cast<scf::ForOp>(yield->getParentOp()) : scf::ForOp();
  return loop ? loop.getResult(result.getUses().begin()->getOperandNumber())
              : result;
}

/// Returns true if arithmetic on the result leads to another reduction.
static bool isReducedAgain(Value tile, unsigned steps) {
  return llvm::any_of(tile.getUsers(), [&](Operation *user) {
    Value result = getCarried(user);
    if (!result)
      return false;
    return llvm::any_of(result.getUsers(), llvm::IsaPred<tile::ReduceOp>) ||
           (steps > 1 && isReducedAgain(result, steps - 1));
  });
}

/// Returns true for a short dim of which the sums are operands of arithmetic
/// before they are reduced again: threads that share the dim would exchange
/// their parts twice.
static bool isReducedInThread(tile::ReduceOp reduce) {
  constexpr unsigned steps = 4; // of arithmetic
  return tileType(reduce.getSource()).getDimSize(reduce.getDim()) <=
             kShortDim &&
         isReducedAgain(reduce.getResult(), steps);
}

/// Returns true if rows are adjacent in memory, so that a thread has several,
/// and there are too few of them for all warps.
static bool hasFewColumns(Value tile, unsigned dim, int64_t rows,
                          int64_t warps) {
  int64_t vec = std::max<int64_t>(
      1, 16 / std::max(1u, bytesOf(tileType(tile).getElementType())));
  return memoryOrder(tile).front() != dim && rows / vec < warps;
}

/// A row within one warp is reduced by shuffles only: if there are rows for all
/// warps, one warp reduces each row.
void KernelPlan::limitReducedDims() {
  DenseSet<int> inThread;
  kernel.walk([&](tile::ReduceOp reduce) {
    RankedTensorType type = tileType(reduce.getSource());
    int64_t size = type.getDimSize(reduce.getDim());
    int64_t rows = size ? type.getNumElements() / size : 0;
    if (!rows || threads <= kWarp)
      return;
    // With an element for each thread, the rows may be held by all of them.
    bool isSmall = type.getNumElements() <= threads;
    int64_t warps = isSmall ? 1 : std::min(threads / kWarp, rows & -rows);
    int cls = classesOf(reduce.getSource())[reduce.getDim()];
    if (hasFewColumns(reduce.getSource(), reduce.getDim(), rows, warps))
      warps = 1;
    maxThreads[cls] = std::max(maxThreads.lookup(cls), threads / warps);
    if (!isSmall && isReducedInThread(reduce))
      inThread.insert(cls);
  });
  for (int cls : inThread)
    maxThreads[cls] = 1;
}

/// Gives each warp one of the parts of a loop: of a dim that the loop carries
/// and that is reduced after it. Warps do not synchronize in the loop.
void KernelPlan::spreadParts() {
  DenseSet<int> carried;
  kernel.walk([&](scf::ForOp loop) {
    for (Value result : loop.getResults())
      if (isTile(result))
        carried.insert_range(classesOf(result));
  });
  kernel.walk([&](tile::ReduceOp reduce) {
    int cls = classesOf(reduce.getSource())[reduce.getDim()];
    if (reduce->getParentOfType<scf::ForOp>() || !carried.contains(cls) ||
        spreads.contains(cls) || sizes[cls] * kWarp != threads)
      return;
    Spread &spread = spreads[cls];
    spread.size = spread.threads = sizes[cls];
    spread.shift = llvm::Log2_64(kWarp);
    maxThreads.erase(cls);
  });
}

} // namespace adze::togpu
