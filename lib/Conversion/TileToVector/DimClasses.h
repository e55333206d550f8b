// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Which tile dimensions move together, which of them lie along vector lanes,
// and in which steps each is walked.
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

/// The classes of a kernel's or a phase's tile dimensions. Two dimensions are
/// in one class if an op makes them run together: operands and result of an
/// elementwise op, the two k of a dot, what a loop carries. A class has one
/// size, is walked in one step everywhere, and is either split (a loop around
/// the whole body) or an inner loop of each op that needs it.
class DimClasses {
public:
  /// With `inOrder` nothing is split: the kernel's accesses stay in order. With
  /// `largeResults` results of dynamic size are more than the caches hold.
  DimClasses(mlir::Operation *root, CpuTargetAttr target, bool inOrder,
             bool largeResults);

  /// Are rows read to be reduced, and again for what is made of that?
  bool readsRows() const { return hasReduces && !hasDots; }
  bool multiplies() const { return hasDots; }
  /// Returns true if stores are non-temporal on a core that they stall, in a
  /// kernel that reads rows to reduce them.
  bool storesApart() const {
    return target.has(CpuTrait::nontemporal_stores_stall) && readsRows() &&
           carried.empty() && streams();
  }
  /// Do windows slide over one memory along a split class?
  bool slides() const;

  /// The class of each dimension of a tile.
  llvm::SmallVector<int> of(mlir::Value tile) const;

  int64_t size(int c) const { return info[c].size; }
  /// Size rounded up to whole vectors.
  int64_t padded(int c) const { return info[c].padded; }
  /// Lanes of a vector along this class; 1 if it never lies along lanes.
  int64_t lanes(int c) const { return info[c].lanes; }
  /// The greater, the more this class wants the lanes of a tile.
  int64_t laneScore(int c) const { return info[c].score; }
  int64_t step(int c) const { return info[c].step; }
  bool isSplit(int c) const { return info[c].split; }
  /// Returns true if half a step of a split class may run where less is left:
  /// registers of the matrix unit stay whole.
  bool mayHalve(int c) const {
    return !matrixUnit || step(c) / 2 % matrixRows == 0;
  }
  bool isContracted(int c) const { return info[c].contracted; }
  bool isColumn(int c) const { return info[c].column; }
  /// Is the class walked by a loop inside ops? (Otherwise whole at once.)
  bool isLooped(int c) const {
    return !info[c].split && info[c].step < info[c].padded;
  }
  /// Does this dot run along its depth: lanes along what it contracts, and a
  /// sum across them at the end?
  bool runsAlongDepth(DotOp dot) const { return depthDots.contains(dot); }
  /// Returns true if the right operand of this dot lies in groups along the
  /// depth, each in one vector.
  bool multipliesGroups(DotOp dot) const;
  /// Returns the target's unit that multiplies matrices if the dots are
  /// computed by it, or null.
  TargetUnitAttr getMatrixUnit() const { return matrixUnit; }
  /// Returns the rows of the unit's registers: all that they may have, or fewer
  /// where a step is no multiple of that.
  int64_t getMatrixRows() const { return matrixRows; }
  /// Returns true if the elements of this tile are sums in registers of the
  /// matrix unit.
  bool isMatrixSum(mlir::Value tile) const { return matrixSums.contains(tile); }
  /// Returns true if other ops than dots read sums of the unit in a loop, as
  /// where each block of the depth has a scale.
  bool readsSumsInLoops() const;
  /// Returns how many elements along the depth registers of the unit have.
  int64_t getMatrixDepth(DotOp dot) const;
  /// Returns how many positions of the current slice of a split class the roots
  /// other than dots take at once.
  int64_t part(int c) const { return info[c].part ? info[c].part : step(c); }
  /// Split classes, in the order of the loops: outermost first.
  llvm::ArrayRef<int> splitOrder() const { return order; }
  /// Are there several stores and no other roots?
  bool onlyStores() const { return stores > 1 && !hasDots && !hasReduces; }
  /// The first tile that has one class twice, if any: no slice of it exists.
  mlir::Value conflict() const { return twice; }

private:
  struct Info {
    int64_t size = 1, padded = 1, lanes = 1, score = 0, step = 1;
    bool split = false, contracted = false, column = false, row = false;
    bool depthColumn = false; // of a dot that runs along its depth
    bool packed = false;      // columns that lie in panels
    int64_t part = 0;         // of a step, if it is walked in parts
    int64_t floatBytes = 0, intBytes = 0;
  };

  int find(int x) const;
  void unite(int x, int y);
  llvm::ArrayRef<int> raw(mlir::Value tile);
  void uniteTiles(mlir::Value x, mlir::Value y);
  void uniteOp(mlir::Operation *op);
  void uniteReshape(ReshapeOp reshape);
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
  bool suitsMatrixUnit(DotOp dot, TargetUnitAttr unit) const;
  void stepsOfMatrices();
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
  mlir::Value twice;
  llvm::SmallVector<mlir::Value> carried; // tiles that loops carry
  bool hasDots = false, hasReduces = false, hasFunctions = false;
  bool sharesIndices = false; // rows whose elements are picked alike
  int64_t stores = 0, loads = 0;
};

/// Returns how many elements along the depth the right operand of a dot has in
/// a word of 32 bits; 1 if it does not lie in groups.
int64_t getDepthGroup(DotOp op);

/// Does this op start a computation of its own (its result, or what it
/// writes, is produced by loops), and over which tile? Null otherwise.
mlir::Value getRootTile(mlir::Operation *op);

/// A reshape whose dims match the source's up to unit dims; then the source
/// dimension of each result dimension (-1: unit) is written to `map`.
bool isUnitReshape(ReshapeOp reshape, llvm::SmallVectorImpl<int64_t> &map);

} // namespace adze::tile

#endif // ADZE_CONVERSION_TILETOVECTOR_DIMCLASSES_H
