// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The number of threads of a kernel.
#include "KernelPlan.h"

using namespace mlir;

namespace adze::togpu {

/// Returns true if the kernel stores what it loads.
static bool isCopy(tile::KernelOp kernel) {
  return !kernel
              .walk([](Operation *op) {
                Value stored = getStored(op);
                return !stored || stored.getDefiningOp<tile::LoadOp>()
                           ? WalkResult::advance()
                           : WalkResult::interrupt();
              })
              .wasInterrupted();
}

/// Returns the threads of a kernel that only loads, computes and stores tiles
/// of so many elements. Each has a wide access of `each` elements. A thread of
/// a copy has two, so that both are in flight, if there are enough programs to
/// occupy all multiprocessors.
int64_t KernelPlan::countStreamThreads(int64_t elements, int64_t each) {
  constexpr int64_t fewest = 32, most = 256, accesses = 2, resident = 2048;
  int64_t count = std::clamp<int64_t>(
      llvm::PowerOf2Ceil(llvm::divideCeil(elements, each)), fewest, most);
  int64_t enough = resident * getMultiprocessors();
  int64_t programs = isCopy(kernel) ? getStaticPrograms(kernel) : -1;
  while (count > fewest && programs * count / 2 >= enough &&
         elements <= count / 2 * each * accesses)
    count /= 2;
  return count;
}

/// Returns true if both loads read elements of the same lines of memory, so
/// that adjacent elements of their tiles share what they load.
static bool shareLines(tile::LoadOp load, tile::LoadOp other) {
  if (load.getMemref() != other.getMemref() ||
      load.getType() != other.getType() ||
      load.getMemDims() != other.getMemDims() ||
      load.getSteps() != other.getSteps())
    return false;
  int64_t inner = innermostTileDim(load);
  if (inner < 0 || load.getSteps()[inner] != 1)
    return false;
  SmallVector<OpFoldResult> from = load.getMixedOffsets(),
                            to = other.getMixedOffsets();
  to[load.getMemDims()[inner]] = from[load.getMemDims()[inner]];
  return from == to;
}

/// Returns the elements of a thread that only loads, computes and stores tiles
/// of so many elements, `bytes` wide at most: a wide access, or one element if
/// it combines those of many loads, which it has at once. The loads of a window
/// are shared by adjacent elements, of which a thread has more in wide windows.
static int64_t countThreadElements(tile::KernelOp kernel, int64_t elements,
                                   int64_t bytes) {
  constexpr int64_t accessBytes = 16, fewest = 4, most = 8, manyLoads = 16;
  int64_t lines = 0, shared = 0;
  llvm::DenseMap<Value, tile::LoadOp> before;
  kernel.walk([&](tile::LoadOp load) {
    if (tileType(load.getResult()).getNumElements() != elements)
      return;
    tile::LoadOp &last = before[load.getMemref()];
    ++(last && shareLines(load, last) ? shared : lines);
    last = load;
  });
  if (lines >= manyLoads)
    return 1;
  if (shared >= 2 * manyLoads)
    return 2 * most;
  return std::clamp(accessBytes / bytes, fewest, most);
}

void KernelPlan::chooseThreads() {
  constexpr int64_t fewest = 4, most = 8; // elements of a thread that reduces
  int64_t dots = 0, others = 1, warps = 0, bytes = 1;
  bool reduces = false;
  kernel.walk([&](Operation *op) {
    if (auto dot = dyn_cast<tile::DotOp>(op)) {
      dots = std::max(dots, tileType(dot.getResult()).getNumElements());
      if (findUnit(dot))
        warps = std::max(warps, countWarps(dot));
    } else if (Value stored = getStored(op)) {
      others = std::max(others, tileType(stored).getNumElements());
      bytes =
          std::max<int64_t>(bytes, bytesOf(tileType(stored).getElementType()));
    } else if (isa<tile::ReduceOp, tile::ScanOp>(op)) {
      RankedTensorType source = tileType(op->getOperand(0));
      int64_t words = llvm::divideCeil(bytesOf(source.getElementType()), 4);
      others = std::max(others, source.getNumElements() * words);
      reduces = true;
    }
  });
  if (warps)
    threads = warps * kWarp;
  else if (dots)
    threads = std::clamp<int64_t>(llvm::PowerOf2Ceil(dots / 32), 128, 256);
  else if (reduces && others > 16384)
    threads = others > 32768 ? 1024 : 512;
  else if (reduces && others <= kWarp * most)
    threads = kWarp; // which needs no barriers
  else if (reduces)
    threads = std::clamp<int64_t>(
        llvm::PowerOf2Ceil(llvm::divideCeil(others, fewest)), kWarp, 256);
  else
    threads =
        countStreamThreads(others, countThreadElements(kernel, others, bytes));
}

} // namespace adze::togpu
