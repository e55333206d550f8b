// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Dots on a matrix unit (AMX).
#ifndef ADZE_CONVERSION_TILETOVECTOR_MATRIXDOTS_H
#define ADZE_CONVERSION_TILETOVECTOR_MATRIXDOTS_H

#include "KernelLowering.h"

namespace adze::tile {

/// Lowers dots whose operands and accumulators are in tile registers of a unit.
/// Accumulators stay there across dots and the loops between them, and are
/// stored to scratch memory for all other users.
class MatrixDots {
public:
  explicit MatrixDots(KernelLowering &kernel)
      : kernel(kernel), b(kernel.b), loc(kernel.loc),
        shape(kernel.classes.getMatrixUnit().getShape()) {}

  /// Lowers a dot at the insertion point of the kernel.
  void lower(DotOp op);
  /// Lowers a dot (DimClasses::isMatrixBlock) whose accumulators are in scratch
  /// memory.
  void lowerBlock(DotOp op);
  /// Packs an operand of such a dot, unless it is packed already or is read in
  /// place.
  void pack(DotOp op, bool isRhs);
  /// Returns the registers of the current slice of accumulators: live ones,
  /// zeros, or loads from scratch memory.
  Carried take(mlir::Value sums);
  /// Records the registers of accumulators, and stores them to scratch memory
  /// if an op other than a dot uses them.
  void keep(mlir::Value sums, const Carried &registers);
  /// Stores accumulators that are in registers of the unit only.
  void store(StoreOp op);
  /// Returns the types of the registers of the current slice of accumulators.
  llvm::SmallVector<mlir::Type> getTypes(mlir::Value sums);

private:
  int64_t countSteps(mlir::Value sums);
  /// A part of the accumulators that is one register.
  struct Piece {
    int64_t row, column, rows, columns;
  };
  llvm::SmallVector<Piece> cut(mlir::Value sums);
  mlir::Type getType(const Piece &piece);
  bool isInPlace(DotOp op);
  Located placeRow(DotOp op, const Layout &layout, int64_t row);
  mlir::Value readLeft(DotOp op, const Piece &piece, mlir::Value end),
      readRight(DotOp op, const Piece &piece);
  void prefetchPanel(DotOp op);
  Carried addStep(DotOp op, llvm::ArrayRef<mlir::Value> before,
                  mlir::Value end);
  Carried addDepth(DotOp op, Carried sums, mlir::Value end);

  // MatrixBlocks.cpp
  using StepBody = llvm::function_ref<Carried(llvm::ArrayRef<mlir::Value>)>;
  Carried forDepth(int k, Carried init, StepBody body);
  void packTransposed(DotOp op), packPairs(DotOp op);
  void copyTransposed(DotOp op);
  mlir::Value readBlockRows(DotOp op), readBorder(DotOp op);
  mlir::Value readBlockColumns(DotOp op, int64_t column);
  mlir::Value groupsOf(mlir::Value tile), groupRow(int k, int64_t row);
  Kept groupsFor(mlir::Value tile);
  Carried read(mlir::Value tile, const Layout &layout);
  std::optional<Kept> findHome(DotOp op);

  KernelLowering &kernel;
  mlir::OpBuilder &b;
  mlir::Location loc;
  llvm::ArrayRef<int64_t> shape; // of the unit
};

/// Multiplies registers of a matrix unit and adds the product to `sum`.
mlir::Value createMatrixProduct(mlir::OpBuilder &b, mlir::Location loc,
                                ProductAttr product, mlir::Value left,
                                mlir::Value right, mlir::Value sum);
/// Returns the stride of a dimension of memory, in elements.
mlir::Value strideOf(mlir::OpBuilder &b, mlir::Location loc, mlir::Value memory,
                     int64_t dim, int64_t step);
/// Returns the load of an operand, looking through its rounding, or null.
LoadOp getRoundedLoad(mlir::Value operand);
/// Returns true if a load reads memory that is contiguous along dimension `dim`
/// of the tile, and not packed.
bool isReadAlong(LoadOp load, int64_t dim);
/// Returns true if all elements of a tile are a constant zero.
bool isZeroTile(mlir::Value tile);

} // namespace adze::tile

#endif // ADZE_CONVERSION_TILETOVECTOR_MATRIXDOTS_H
