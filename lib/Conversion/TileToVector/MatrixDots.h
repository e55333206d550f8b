// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Dots by a unit that multiplies matrices.
#ifndef ADZE_CONVERSION_TILETOVECTOR_MATRIXDOTS_H
#define ADZE_CONVERSION_TILETOVECTOR_MATRIXDOTS_H

#include "KernelLowering.h"

namespace adze::tile {

/// Lowers dots whose operands and sums lie in tile registers of a unit. The
/// sums stay there from dot to dot, loops between them included, and go to
/// scratch for what else reads them.
class MatrixDots {
public:
  explicit MatrixDots(KernelLowering &kernel)
      : kernel(kernel), b(kernel.b), loc(kernel.loc),
        shape(kernel.classes.getMatrixUnit().getShape()) {}

  /// Computes a dot where the kernel's code goes now.
  void lower(DotOp op);
  /// Returns the registers of the current slice of sums: those at hand, zeros,
  /// or read from scratch.
  Carried take(mlir::Value sums);
  /// Makes these the registers of sums, and stores them to scratch if anything
  /// but a dot reads the sums.
  void keep(mlir::Value sums, const Carried &registers);
  /// Stores sums that only registers of the unit hold.
  void store(StoreOp op);
  /// Returns the types of the registers of the current slice of sums.
  llvm::SmallVector<mlir::Type> getTypes(mlir::Value sums);

private:
  /// A part of sums that one register holds.
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

  KernelLowering &kernel;
  mlir::OpBuilder &b;
  mlir::Location loc;
  llvm::ArrayRef<int64_t> shape; // of the unit
};

} // namespace adze::tile

#endif // ADZE_CONVERSION_TILETOVECTOR_MATRIXDOTS_H
