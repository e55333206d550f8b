// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The blocks of threads of a kernel that a multiprocessor should have room for.
#include "Dialect/Tile/IR/Tile.h"
#include "KernelPlan.h"

using namespace mlir;

namespace adze::togpu {

bool runsOnce(scf::ForOp loop) {
  auto trips = loop.getStaticTripCount();
  return trips && trips->isOne();
}

bool readsConstants(tile::LoadOp load) {
  auto argument = dyn_cast<BlockArgument>(argumentOf(load.getMemref()));
  return argument && load.getType().getRank() > 1 &&
         load->getParentOfType<tile::KernelOp>().getArgAttr(
             argument.getArgNumber(), tile::kConstantAttribute);
}

/// Returns the extents of the grid; dynamic ones are empty.
static SmallVector<std::optional<int64_t>> getGrid(tile::KernelOp kernel) {
  SmallVector<std::optional<int64_t>> grid;
  kernel.walk([&](tile::ProgramIdOp ids) {
    for (Value extent : ids.getGrid())
      grid.push_back(getConstantIntValue(extent));
  });
  return grid;
}

int64_t getStaticPrograms(tile::KernelOp kernel) {
  int64_t programs = 1;
  for (std::optional<int64_t> extent : getGrid(kernel)) {
    if (!extent)
      return -1;
    programs *= *extent;
  }
  return programs;
}

/// Returns the number of programs if dynamic extents of the grid are 1.
static int64_t countPrograms(tile::KernelOp kernel) {
  int64_t programs = 1;
  for (std::optional<int64_t> extent : getGrid(kernel))
    programs *= extent.value_or(1);
  return programs;
}

/// Returns true if a program reads matrices of constants at once, and threads
/// hold at most 96 bytes of them.
bool KernelPlan::readsConstantsOnce() {
  constexpr int64_t mostBytes = 96;
  bool isOnce = true;
  int64_t bytes = 0;
  kernel.walk([&](Operation *op) {
    auto loop = dyn_cast<scf::ForOp>(op);
    isOnce &= !isa<tile::DotOp>(op) && (!loop || runsOnce(loop));
    auto load = dyn_cast<tile::LoadOp>(op);
    if (!load || !readsConstants(load))
      return;
    RankedTensorType type = tileType(load.getResult());
    bytes += type.getNumElements() * bytesOf(type.getElementType());
  });
  return isOnce && bytes > 0 && bytes <= mostBytes * threads;
}

int64_t getGroup(tile::KernelOp kernel) {
  int64_t programs = 0;
  kernel.walk(
      [&](tile::BarrierOp barrier) { programs = barrier.getPrograms(); });
  return programs;
}

bool hasProducts(Operation *op) {
  return op->walk([](tile::DotOp) { return WalkResult::interrupt(); })
      .wasInterrupted();
}

bool followsProducts(Operation *op) {
  auto kernel = dyn_cast_or_null<tile::KernelOp>(op ? op->getParentOp() : op);
  return kernel && hasProducts(kernel) &&
         llvm::none_of(llvm::make_range(std::next(op->getIterator()),
                                        op->getBlock()->end()),
                       [](Operation &later) { return hasProducts(&later); });
}

bool isLoopOverSteps(scf::ForOp loop) {
  return !loop.getBody()->getOps<tile::BarrierOp>().empty();
}

bool KernelPlan::hasFewPrograms(int64_t bytes) {
  constexpr int64_t usual = 160 << 10;
  int64_t most = std::min(usual, getSharedBytes() / 4 * 3);
  return (kernel.isOrdered() || getGroup(kernel)) && bytes <= most;
}

/// Blocks with products wait for their operands in turn, while others multiply.
/// Blocks that read constants once are resident together if possible, since
/// their loads do not wait for those of other blocks: 80 registers suffice. All
/// blocks with contractions of a matrix unit are resident if 128 registers a
/// thread permit it. In other kernels more than one block would spill
/// registers.
int64_t KernelPlan::getResidentBlocks() {
  constexpr int64_t registers = 65536, besideUnit = 96, besideImage = 112,
                    besideProduct = 64, ofMultiplier = 128, ofReader = 80;
  bool isImage =
      kernel.walk([](tile::ReshapeOp) { return WalkResult::interrupt(); })
          .wasInterrupted();
  int64_t used = 0;
  bool hasUnits = false;
  kernel.walk([&](tile::DotOp dot) {
    int64_t sums = tileType(dot.getResult()).getNumElements() / threads;
    if (getUnit(dot))
      hasUnits = true;
    else
      used = std::max(used, isImage
                                ? sums + besideImage
                                : std::max(sums + besideProduct, ofMultiplier));
  });
  if (hasUnits)
    used = std::max(used, countUnitSums() / threads + besideUnit);
  auto limit = [&](int64_t ofThread) {
    return std::max<int64_t>(1, registers / (threads * ofThread));
  };
  if (used)
    return limit(used);
  if (blocks > 1)
    return 1;
  if (readsConstantsOnce())
    return limit(ofReader);
  if (!hasContractions())
    return 1;
  int64_t wanted =
      llvm::divideCeil(countPrograms(kernel), getMultiprocessors());
  return std::clamp<int64_t>(wanted, 1, limit(ofMultiplier));
}

} // namespace adze::togpu
