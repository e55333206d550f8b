// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The distribution of products that warps compute by a matrix unit.
#include "Dialect/Tile/IR/Units.h"
#include "KernelPlan.h"

using namespace mlir;

namespace adze::togpu {

int64_t KernelPlan::countUnitSums() {
  int64_t elements = 0;
  llvm::DenseSet<std::pair<int, int>> counted;
  kernel.walk([&](tile::DotOp dot) {
    auto [rows, columns] = getUnitClasses(dot);
    if (findUnit(dot) && counted.insert({rows, columns}).second)
      elements += tileType(dot.getResult()).getNumElements();
  });
  return elements;
}

/// Returns the warps that the rows of a product are divided among: each has at
/// least two blocks of 16 rows, so that operands in registers are used twice,
/// if this leaves four warps whose registers hold all sums.
int64_t KernelPlan::countWarps(tile::DotOp dot) {
  constexpr int64_t most = 8, usual = 4, held = 208;
  int64_t blocks = sizes[getUnitClasses(dot)[0]] / 16,
          warps = std::min(most, blocks & -blocks);
  bool areFewer = blocks == most && countUnitSums() <= held * usual * kWarp;
  return areFewer ? usual : warps;
}

/// Returns the distribution of rows and columns of the accumulators of a unit:
/// over lanes, and over warps, which have interleaved blocks of 8 rows and
/// contiguous columns.
static std::array<Spread, 2> getUnitSpreads(std::array<int64_t, 2> sizes,
                                            std::array<int64_t, 2> warps) {
  Spread rows, columns;
  rows.size = sizes[0];
  rows.threads = 8 * warps[0];
  rows.shift = 2;
  rows.regs = sizes[0] / rows.threads;
  columns.size = sizes[1];
  columns.threads = 4 * warps[1];
  columns.vec = 2;
  columns.regs = sizes[1] / columns.threads;
  columns.parts = warps[1];
  columns.partShift = llvm::Log2_64(kWarp * warps[0]);
  return {rows, columns};
}

/// Divides warps among rows and columns so that a warp loads the fewest
/// operands. A warp has all columns that are reduced.
std::array<int64_t, 2> KernelPlan::divideWarps(tile::DotOp dot) {
  constexpr int64_t granule = 16;
  int64_t warps = std::min(countWarps(dot), threads / kWarp);
  std::array<int, 2> cls = getUnitClasses(dot);
  int64_t rows = sizes[cls[0]], columns = sizes[cls[1]];
  std::array<int64_t, 2> best = {warps, 1};
  auto countLoads = [&](std::array<int64_t, 2> division) {
    return rows / division[0] + columns / division[1];
  };
  for (int64_t parts = 2; parts <= warps && !reducesUnits; parts *= 2) {
    std::array<int64_t, 2> division = {warps / parts, parts};
    if (columns % (granule * parts) == 0 &&
        countLoads(division) < countLoads(best))
      best = division;
  }
  return best;
}

/// Finds the products whose columns the warps share, as their rows are reduced:
/// a warp reduces the columns of its unit alone.
void KernelPlan::findTransposed() {
  llvm::DenseSet<int> reduced, shared;
  kernel.walk([&](tile::ReduceOp op) {
    reduced.insert(classesOf(op.getSource())[op.getDim()]);
  });
  kernel.walk([&](tile::DotOp dot) {
    SmallVector<int> cls = classesOf(dot.getResult());
    if (reduced.contains(cls[0]) && !reduced.contains(cls[1]))
      shared.insert(cls[1]);
  });
  kernel.walk([&](tile::DotOp dot) {
    SmallVector<int> cls = classesOf(dot.getResult());
    tile::ProductAttr types = dot.getProduct();
    if (shared.contains(cls[1]) && !shared.contains(cls[0]) &&
        types.getLhs() == types.getRhs())
      transposed.insert(dot);
    reducesUnits |= reduced.contains(getUnitClasses(dot)[1]);
  });
}

/// Returns the classes of the rows and the columns of a unit.
std::array<int, 2> KernelPlan::getUnitClasses(tile::DotOp dot) {
  SmallVector<int> cls = classesOf(dot.getResult());
  if (isTransposed(dot))
    return {cls[1], cls[0]};
  return {cls[0], cls[1]};
}

tile::TargetUnitAttr KernelPlan::findUnit(tile::DotOp dot) {
  if (!target || dot.getWordElements() > 1)
    return {};
  tile::TargetUnitAttr unit = tile::findWarpUnit(target, dot.getProduct());
  if (!unit)
    return {};
  auto [rows, columns] = getUnitClasses(dot);
  // There are instructions of half the depth for elements of 16 bits.
  constexpr int64_t halfStep = 8;
  bool is16Bit = unit.getLhs().getIntOrFloatBitWidth() == 16;
  int64_t step = is16Bit ? halfStep : unit.getShape()[2];
  bool isWhole = sizes[rows] % unit.getShape()[0] == 0 &&
                 sizes[columns] % unit.getShape()[1] == 0 &&
                 tileType(dot.getLhs()).getDimSize(1) % step == 0;
  return isWhole ? unit : tile::TargetUnitAttr();
}

/// Distributes a result as the unit does: a thread holds one of 8 rows, and two
/// adjacent ones of 8 columns.
bool KernelPlan::spreadByUnit(tile::DotOp dot) {
  std::array<int, 2> cls = getUnitClasses(dot);
  if (!findUnit(dot) || cls[0] == cls[1] || threads < kWarp)
    return false;
  std::array<Spread, 2> wanted =
      getUnitSpreads({sizes[cls[0]], sizes[cls[1]]}, divideWarps(dot));
  for (int i : {0, 1})
    if (auto it = spreads.find(cls[i]);
        it != spreads.end() && !(it->second == wanted[i]))
      return false;
  for (int i : {0, 1})
    spreads[cls[i]] = wanted[i];
  return true;
}

tile::TargetUnitAttr KernelPlan::getUnit(tile::DotOp dot) {
  std::array<int, 2> cls = getUnitClasses(dot);
  std::array<Spread, 2> wanted =
      getUnitSpreads({sizes[cls[0]], sizes[cls[1]]},
                     {std::max<int64_t>(1, spreadOf(cls[0]).threads / 8),
                      spreadOf(cls[1]).parts});
  bool isUnits = cls[0] != cls[1] && spreadOf(cls[0]) == wanted[0] &&
                 spreadOf(cls[1]) == wanted[1];
  return isUnits ? findUnit(dot) : tile::TargetUnitAttr();
}

bool KernelPlan::isInRegisters(tile::DotOp dot, unsigned number) {
  if (!getUnit(dot) || number != (isTransposed(dot) ? 1 : 0))
    return false;
  // The sums of a unit, rounded, have the places of a left operand.
  Value operand = dot->getOperand(number);
  unsigned depth = 1 - number;
  SmallVector<int> cls = classesOf(operand);
  std::array<Spread, 2> wanted =
      getUnitSpreads({sizes[cls[1 - depth]], sizes[cls[depth]]},
                     {spreadOf(getUnitClasses(dot)[0]).threads / 8, 1});
  return bytesOf(tileType(operand).getElementType()) == 2 &&
         dependsOnRoot(operand) && spreadOf(cls[1 - depth]) == wanted[0] &&
         spreadOf(cls[depth]) == wanted[1];
}

} // namespace adze::togpu
