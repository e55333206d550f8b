// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Selects the dots that a matrix unit (AMX) computes, and chooses their steps.
#include "Dialect/Tile/Analysis/IndexRange.h"
#include "Dialect/Tile/IR/PhysicalType.h"
#include "Dialect/Tile/IR/Tile.h"
#include "DimClasses.h"
#include "MatrixDots.h"
#include "Support/LargestDivisor.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace adze;
using namespace adze::tile;

//===--- Which dots -------------------------------------------------------===//

/// Returns the matrix unit of the target for the element types of a dot, or
/// null.
static TargetUnitAttr getUnit(CpuTargetAttr target, DotOp dot) {
  ProductAttr product = dot.getProduct();
  return target.findMatrixUnit(product.getLhs(), product.getRhs(),
                               product.getAcc());
}

/// Returns true if memory has a multiple of `whole` positions along a
/// dimension, because of its extent or its padding.
static bool isPadded(MemRefType type, int64_t dim, int64_t whole) {
  if (!type.isDynamicDim(dim) && type.getDimSize(dim) % whole == 0)
    return true;
  bool found = false;
  AffineExpr self = getAffineDimExpr(dim, type.getContext());
  type.getLayout().getAffineMap().walkExprs(
      [&](AffineExpr expr) { found |= expr == self % whole; });
  return found;
}

/// Returns true if an operand is read from memory whose rows are those of the
/// unit's registers: neighbours along the last dimension, and another dimension
/// in equal steps.
static bool isReadByRows(Value operand) {
  auto load = operand.getDefiningOp<LoadOp>();
  if (!load)
    return false;
  auto type = cast<MemRefType>(load.getMemref().getType());
  SmallVector<int64_t> dims = load.getMemDims(), steps = load.getSteps();
  auto strided = dyn_cast<StridedLayoutAttr>(type.getLayout());
  return (type.getLayout().isIdentity() ||
          (strided && strided.getStrides().back() == 1)) &&
         dims.size() == 2 && dims[1] + 1 == type.getRank() && steps[1] == 1;
}

/// Words of the depth fill registers whose depth divides theirs; other elements
/// whole ones.
int64_t DimClasses::getMatrixDepth(DotOp dot) const {
  int64_t whole = matrixUnit.getShape()[2], words = dot.getWordElements();
  return words == 1
             ? whole
             : largestDivisor(info[of(dot.getRhs())[0]].size, whole / words);
}

/// Returns true if a unit reads the operands of a dot in whole registers, and
/// half of what it multiplies at least is no padding. A single row is
/// bandwidth-bound, so vectors compute it. A kernel may have it next to more
/// rows, whose registers have another shape than the unit is configured for.
bool DimClasses::suitsMatrixUnit(DotOp dot, TargetUnitAttr unit) const {
  SmallVector<int> own = of(dot.getResult());
  int k = of(dot.getRhs())[0];
  ArrayRef<int64_t> shape = unit.getShape();
  int64_t words = dot.getWordElements();
  if (!info[own[0]].split || !info[own[1]].split || info[own[0]].lanes != 1 ||
      info[own[0]].size == 1 || info[own[1]].lanes != shape[1] ||
      2 * words * info[k].size < shape[2])
    return false;
  if (words > 1)
    return isReadByRows(dot.getLhs()) && isReadByRows(dot.getRhs());
  if (!multipliesGroups(dot))
    return false;
  auto load = dot.getRhs().getDefiningOp<LoadOp>();
  int64_t dim = load.getMemDims()[0];
  return isPadded(cast<MemRefType>(load.getMemref().getType()), dim,
                  shape[2]) &&
         getKnownDivisor(load.getMixedOffsets()[dim]) % shape[2] == 0;
}

bool adze::tile::isReadAlong(LoadOp load, int64_t dim) {
  auto type = cast<MemRefType>(load.getMemref().getType());
  auto strided = dyn_cast<StridedLayoutAttr>(type.getLayout());
  return (type.getLayout().isIdentity() ||
          (strided && strided.getStrides().back() == 1)) &&
         load.getMemDims().size() == 2 &&
         load.getMemDims()[dim] + 1 == type.getRank() &&
         load.getSteps()[dim] == 1;
}

/// Returns true if a unit can compute a dot in whole registers, with sums in
/// scratch memory: of few columns, all of which a program has at once, and any
/// number of rows. Partial depths are padded if memory has the operands.
bool DimClasses::suitsMatrixBlocks(DotOp dot, TargetUnitAttr unit) const {
  constexpr int64_t words = 2;
  SmallVector<int> own = of(dot.getResult()), left = of(dot.getLhs());
  const Info &rows = info[own[0]], &columns = info[own[1]],
             &depth = info[left[1]];
  ArrayRef<int64_t> shape = unit.getShape();
  if (unit.getGroup() != words || dot.getWordElements() != 1 || rows.split ||
      rows.column || columns.row || depth.column || depth.split ||
      !columns.split || columns.lanes != shape[1] ||
      rows.size % shape[0] != 0 || 2 * depth.size < shape[2])
    return false;
  bool isWhole = depth.size % shape[2] == 0;
  auto inPlace = dot.getLhs().getDefiningOp<LoadOp>();
  LoadOp lhs = getRoundedLoad(dot.getLhs()), rhs = getRoundedLoad(dot.getRhs());
  bool copies = lhs && isReadAlong(lhs, 0) && depth.lanes == 1,
       suitsLeft =
           (inPlace && isReadAlong(inPlace, 1)) ||
           (rows.lanes == 1 && ((isWhole && copies) || depth.lanes > 1));
  return suitsLeft &&
         (depth.padded % words == 0 || (rhs && isReadAlong(rhs, 0)));
}

/// Returns the unit of all dots, each of which suits it, or null. With
/// `forOthers`, there may be other roots than dots and stores.
TargetUnitAttr DimClasses::findCommonUnit(bool forOthers, Suits suits) const {
  TargetUnitAttr unit;
  WalkResult walk = root->walk([&](Operation *op) {
    auto dot = dyn_cast<DotOp>(op);
    if (isa<StoreOp>(op) || !getRootTile(op) || (forOthers && !dot))
      return WalkResult::advance();
    auto own = dot ? getUnit(target, dot) : TargetUnitAttr();
    bool isOne = own && (!unit || unit == own) && suits(dot, own);
    unit = own;
    return isOne ? WalkResult::advance() : WalkResult::interrupt();
  });
  return walk.wasInterrupted() ? TargetUnitAttr() : unit;
}

/// Accumulators stay in the registers of the unit across loops and branches if
/// it computes all roots but stores.
void DimClasses::chooseMatrixDots() {
  if (inOrder || twice || !hasDots)
    return;
  matrixUnit = findCommonUnit(
      /*forOthers=*/false, [&](DotOp dot, TargetUnitAttr unit) {
        return suitsMatrixUnit(dot, unit);
      });
  if (!matrixUnit) {
    matrixUnit = findCommonUnit(
        /*forOthers=*/true, [&](DotOp dot, TargetUnitAttr unit) {
          return suitsMatrixBlocks(dot, unit);
        });
    if (matrixUnit)
      root->walk([&](DotOp dot) { matrixBlocks.insert(dot); });
    return;
  }
  root->walk([&](Operation *op) { // loops after their contents
    if (auto dot = dyn_cast<DotOp>(op)) {
      matrixSums.insert(dot.getResult());
    } else if (auto loop = dyn_cast<scf::ForOp>(op)) {
      for (auto [argument, yielded, result] :
           llvm::zip(loop.getRegionIterArgs(), loop.getYieldedValues(),
                     loop.getResults()))
        if (matrixSums.contains(yielded))
          matrixSums.insert_range(ValueRange{argument, result});
    } else if (auto branch = dyn_cast<scf::IfOp>(op)) {
      for (auto [i, result] : llvm::enumerate(branch.getResults()))
        if (matrixSums.contains(branch.thenYield().getOperand(i)) ||
            matrixSums.contains(branch.elseYield().getOperand(i)))
          matrixSums.insert(result);
    }
  });
}

/// Returns the step that divides rows into the fewest registers: nearly equal
/// parts of at most `want`, or parts of `want` and a remainder. No part has
/// less than `least` rows, unless `size` is less.
static int64_t stepOfRows(int64_t size, int64_t want, int64_t least) {
  auto count = [&](int64_t step) {
    return size / step * llvm::divideCeil(step, least) +
           llvm::divideCeil(size % step, least);
  };
  for (int64_t parts = llvm::divideCeil(size, want);; ++parts) {
    int64_t step = llvm::divideCeil(size, parts), rest = size % step;
    if (step > least && rest != 0 && rest < least)
      continue;
    bool wholeFits = size > want && size % want >= least;
    return wholeFits && count(want) < count(step) ? want : step;
  }
}

bool DimClasses::readsSumsInLoops() const {
  return llvm::any_of(matrixSums, [&](Value sums) {
    return llvm::any_of(sums.getUsers(), [&](Operation *user) {
      return user->getParentOp() != root &&
             !isa<DotOp, scf::ForOp, scf::IfOp, scf::YieldOp>(user);
    });
  });
}

/// Four registers of sums hide how long an instruction takes, and use each
/// register of an operand twice; few rows or columns use those of the other
/// operand more. Where a loop adds what is computed from sums to others, vector
/// registers hold these others for one register.
void DimClasses::stepsOfMatrices() {
  constexpr int64_t tiles = 4, usual = 2;
  int64_t m = matrixUnit.getShape()[0], n = matrixUnit.getShape()[1];
  int64_t rowTiles = 1, columnTiles = 1;
  matrixRows = m;
  if (!matrixBlocks.empty())
    return stepsOfBlocks();
  for (const Info &x : info) {
    if (x.row)
      rowTiles = std::max<int64_t>(rowTiles, llvm::divideCeil(x.size, m));
    if (x.column)
      columnTiles = std::max<int64_t>(columnTiles, llvm::divideCeil(x.size, n));
  }
  int64_t high = std::min(rowTiles, columnTiles == 1 ? tiles : usual),
          wide = std::min(columnTiles, tiles / high);
  bool leave = readsSumsInLoops();
  if (leave)
    high = wide = 1;
  for (Info &x : info) {
    if (x.column) {
      x.step = std::min(x.padded, wide * n);
    } else if (x.row) {
      x.step = stepOfRows(x.size, high * m, m);
      matrixRows = llvm::divideCeil(x.step, llvm::divideCeil(x.step, m));
      if (!leave) // registers hold whole steps
        x.part = std::max<int64_t>(1, getAccumulators(target) / 2 / wide);
    } else if (x.score > 0) {
      x.step = std::min(x.padded, x.lanes);
    }
  }
}

/// Dots loop over their rows by themselves. All other ops process as many rows
/// as vector registers hold; rows that are not reduced, as squares that may be
/// transposed.
void DimClasses::stepsOfBlocks() {
  constexpr int64_t tiles = 4; // registers of sums next to those of operands
  int64_t m = matrixUnit.getShape()[0], n = matrixUnit.getShape()[1],
          vectors = 1;
  for (Info &x : info)
    if (x.column) {
      x.step = std::min(x.padded, tiles * n);
      x.part = n;
      vectors = std::max(vectors, x.step / n);
    }
  for (Info &x : info) {
    if (x.row)
      x.step = m;
    else if (!x.column && x.score > 0)
      x.step = std::min(x.padded, x.lanes);
  }
  root->walk([&](ReduceOp reduce) {
    Info &x = info[of(reduce.getSource())[reduce.getDim()]];
    if (x.row)
      x.step = llvm::bit_floor<uint64_t>(getAccumulators(target) / vectors);
  });
}
