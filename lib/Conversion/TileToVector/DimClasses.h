// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Classes of tile dimensions that are iterated together: which of them are
// vectorized, and the step of each.
#ifndef ADZE_CONVERSION_TILETOVECTOR_DIMCLASSES_H
#define ADZE_CONVERSION_TILETOVECTOR_DIMCLASSES_H

#include "Dialect/Tile/IR/Targets.h"
#include <vector>

namespace adze::tile {

inline bool isTile(mlir::Value value) {
  return mlir::isa<mlir::RankedTensorType>(value.getType());
}
inline mlir::RankedTensorType tileType(mlir::Value value) {
  return mlir::cast<mlir::RankedTensorType>(value.getType());
}

/// Returns how many registers may hold accumulators.
inline int64_t getAccumulators(CpuTargetAttr target) {
  return target.getVectorBytes() >= 64 ? 16 : 12;
}
/// Returns the rows of a register block of a dot.
inline int64_t getBlockRows(CpuTargetAttr target) {
  return target.getVectorBytes() >= 64 ? 8 : 6;
}
/// Returns the bytes that a copied operand may take of the second-level cache.
inline int64_t getStageBytes(CpuTargetAttr target) {
  return target.getL2Bytes() / 2;
}

/// The classes of the tile dimensions of a kernel or phase. Two dimensions are
/// in one class if an op iterates over them together: operands and result of an
/// elementwise op, the two k of a dot, values that a loop carries. A class has
/// one size and one step, and is either split (a loop around the whole body) or
/// an inner loop of each op that needs it.
class DimClasses {
public:
  /// With `inOrder`, no class is split, so that accesses of the kernel stay in
  /// order. With `largeResults`, results of dynamic size are assumed to exceed
  /// the caches.
  DimClasses(mlir::Operation *root, CpuTargetAttr target, bool inOrder,
             bool largeResults);

  /// Returns true if rows are read for a reduction, and again for results that
  /// depend on it.
  bool readsRows() const { return hasReduces && !hasDots; }
  bool multiplies() const { return hasDots; }
  /// Returns true if the kernel reads rows to reduce them, and its stores are
  /// non-temporal on a core that these stall.
  bool storesApart() const {
    return target.has(CpuTrait::nontemporal_stores_stall) && readsRows() &&
           carried.empty() && streams();
  }
  /// Returns true if windows slide over one memory along a split class.
  bool slides() const;

  /// Returns the class of each dimension of a tile.
  llvm::SmallVector<int> of(mlir::Value tile) const;

  int64_t size(int c) const { return info[c].size; }
  /// Returns the size rounded up to whole vectors.
  int64_t padded(int c) const { return info[c].padded; }
  /// Returns the lanes of a vector along this class, or 1 if it is not
  /// vectorized.
  int64_t lanes(int c) const { return info[c].lanes; }
  /// Returns the priority of this class for the lanes of a tile.
  int64_t laneScore(int c) const { return info[c].score; }
  int64_t step(int c) const { return info[c].step; }
  bool isSplit(int c) const { return info[c].split; }
  /// Returns true if half a step of a split class may run for a remainder;
  /// registers of the matrix unit are never halved.
  bool mayHalve(int c) const {
    return !matrixUnit || step(c) / 2 % matrixRows == 0;
  }
  bool isContracted(int c) const { return info[c].contracted; }
  bool isColumn(int c) const { return info[c].column; }
  /// Returns true if loops inside of ops iterate over the class, false if it is
  /// processed at once.
  bool isLooped(int c) const {
    return !info[c].split && info[c].step < info[c].padded;
  }
  /// Returns true if this dot runs along its contracted dimension: lanes are
  /// along it, and their sum is computed at the end.
  bool runsAlongDepth(DotOp dot) const { return depthDots.contains(dot); }
  /// Returns true if the right operand of this dot has groups along the
  /// contracted dimension, each of which is in one vector.
  bool multipliesGroups(DotOp dot) const;
  /// Returns the matrix unit of the target if it computes the dots, or null.
  TargetUnitAttr getMatrixUnit() const { return matrixUnit; }
  /// Returns the rows of a register of the matrix unit: the maximum, or fewer
  /// if a step is not a multiple of it.
  int64_t getMatrixRows() const { return matrixRows; }
  /// Returns true if the elements of this tile are accumulators in registers of
  /// the matrix unit.
  bool isMatrixSum(mlir::Value tile) const { return matrixSums.contains(tile); }
  /// Returns true if the matrix unit computes this dot from operands that may
  /// be computed in the kernel, and adds to sums in scratch memory.
  bool isMatrixBlock(DotOp dot) const { return matrixBlocks.contains(dot); }
  bool multipliesInBlocks() const { return !matrixBlocks.empty(); }
  /// Returns true if other ops than dots read sums of the unit in a loop, as
  /// where each block of the depth has a scale.
  bool readsSumsInLoops() const;
  /// Returns how many elements along the depth registers of the unit have.
  int64_t getMatrixDepth(DotOp dot) const;
  /// Returns how many positions of the current slice of a split class the roots
  /// other than dots process at once.
  int64_t part(int c) const { return info[c].part ? info[c].part : step(c); }
  /// Returns the split classes in the order of the loops, outermost first.
  llvm::ArrayRef<int> splitOrder() const { return order; }
  /// Returns true if there are several stores and no other roots.
  bool onlyStores() const { return stores > 1 && !hasDots && !hasReduces; }
  /// Returns the first tile that has one class twice, or null. Such a tile
  /// cannot be sliced.
  mlir::Value conflict() const { return twice; }

private:
  struct Info {
    int64_t size = 1, padded = 1, lanes = 1, score = 0, step = 1;
    bool split = false, contracted = false, column = false, row = false;
    bool depthColumn = false; // of a dot that runs along its contracted dim
    bool packed = false;      // columns in panels
    int64_t part = 0;         // of a step, if it is processed in parts
    int64_t floatBytes = 0, intBytes = 0;
  };

  int find(int x) const;
  void unite(int x, int y);
  llvm::ArrayRef<int> raw(mlir::Value tile);
  void uniteTiles(mlir::Value x, mlir::Value y);
  void uniteOp(mlir::Operation *op);
  void uniteReshape(ReshapeOp reshape);
  void voteGather(GatherOp gather);
  void voteLanes(mlir::Operation *op);
  void voteAccess(mlir::Value memref, mlir::Value tile,
                  llvm::ArrayRef<int64_t> dims, llvm::ArrayRef<int64_t> steps,
                  int64_t weight);
  void markRoles(mlir::Operation *op);
  void demoteRows();
  void chooseLanes();
  void chooseSplits();
  bool liesAlongDepth(mlir::Value operand, int depth, int columns) const;
  void chooseDepthDots();
  void chooseMatrixDots();
  TargetUnitAttr findMatrixUnit() const;
  using Suits = llvm::function_ref<bool(DotOp, TargetUnitAttr)>;
  TargetUnitAttr findCommonUnit(bool forOthers, Suits suits) const;
  bool suitsMatrixUnit(DotOp dot, TargetUnitAttr unit) const;
  bool suitsMatrixBlocks(DotOp dot, TargetUnitAttr unit) const;
  void stepsOfMatrices(), stepsOfBlocks();
  void keepRewrittenWhole();
  void chooseSteps();
  void stepsOfDots(int64_t carried);
  bool streams() const;
  bool sharesLoads(int c) const;
  void stepsOfRows();
  void findConflict();

  mlir::Operation *root;
  CpuTargetAttr target;
  bool inOrder, largeResults;
  std::vector<int> parent;
  std::vector<Info> info;
  llvm::DenseMap<mlir::Value, llvm::SmallVector<int>> ids;
  llvm::SmallVector<int> order;
  llvm::SmallDenseSet<mlir::Operation *> depthDots;
  TargetUnitAttr matrixUnit;
  int64_t matrixRows = 1;
  llvm::SmallDenseSet<mlir::Value> matrixSums;
  llvm::SmallDenseSet<mlir::Operation *> matrixBlocks;
  mlir::Value twice;
  llvm::SmallVector<mlir::Value> carried; // tiles that loops carry
  bool hasDots = false, hasReduces = false, hasFunctions = false;
  bool sharesIndices = false; // rows gathered with the same indices
  int64_t stores = 0, loads = 0;
};

/// Returns how many elements along the contracted dimension the right operand
/// of a dot has in a word of 32 bits, or 1 if it is not in groups.
int64_t getDepthGroup(DotOp op);

/// Returns the tile of an op that is a root (loops compute its result or what
/// it writes), or null.
mlir::Value getRootTile(mlir::Operation *op);

/// Returns true if the dims of a reshape match those of the source up to unit
/// dims, and writes the source dimension of each result dimension (-1: unit) to
/// `map`.
bool isUnitReshape(ReshapeOp reshape, llvm::SmallVectorImpl<int64_t> &map);

} // namespace adze::tile

#endif // ADZE_CONVERSION_TILETOVECTOR_DIMCLASSES_H
