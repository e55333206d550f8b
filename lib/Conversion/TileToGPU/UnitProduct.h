// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Products by the matrix instruction of a warp (PTX ISA, mma.sync and
// ldmatrix).
#ifndef ADZE_LIB_CONVERSION_TILETOGPU_UNITPRODUCT_H
#define ADZE_LIB_CONVERSION_TILETOGPU_UNITPRODUCT_H

#include "KernelLowering.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

namespace adze::togpu {

/// Emits the instructions of a warp.
class WarpUnit {
public:
  WarpUnit(mlir::OpBuilder &b, mlir::Location loc, tile::TargetUnitAttr unit)
      : b(b), loc(loc), unit(unit) {}

  /// Loads one, two or four matrices, the addresses of whose rows are in the
  /// lanes.
  llvm::SmallVector<mlir::Value> load(mlir::Value pointer, int64_t count,
                                      bool transposed);
  /// Adds a product to four accumulators. With one register of the right
  /// operand it has half the depth.
  void multiply(llvm::ArrayRef<mlir::Value> lhs,
                llvm::ArrayRef<mlir::Value> rhs,
                llvm::MutableArrayRef<mlir::Value *> sums);
  /// Returns a vector of two adjacent elements along k as an operand.
  mlir::Value fromPair(mlir::Value pair);

private:
  mlir::Value toOperand(mlir::Value word);

  mlir::OpBuilder &b;
  mlir::Location loc;
  tile::TargetUnitAttr unit;
};

/// The product of the parts of two operands that are in shared memory, or of
/// which the left one is in registers: accumulators stay in registers. A step
/// has the depth of one instruction. Instructions are emitted where the builder
/// of the kernel is.
class UnitProduct {
public:
  /// `start` is the position of the parts in operands that are whole; null: 0.
  UnitProduct(KernelLowering &lowering, tile::DotOp dot,
              const std::array<Operand, 2> &operands, mlir::Value start,
              const Axes &out);

  int64_t countSteps() const { return llvm::divideCeil(chunk, depth); }
  /// Returns the registers of both operands of a step.
  llvm::SmallVector<mlir::Value> load(int64_t step);
  /// Adds the product of what `load` returns for a step.
  void multiply(int64_t step, llvm::ArrayRef<mlir::Value> registers,
                Fragment &acc);
  /// Adds the product of all steps, and loads right operands as they are used.
  void multiplyAll(Fragment &acc);

private:
  enum Start { Left, Right, HalfRight };

  bool isHalf(int64_t step) const { return (step + 1) * depth > chunk; }
  llvm::SmallVector<mlir::Value> load(Start start, int64_t k, int64_t other,
                                      int64_t count);
  llvm::SmallVector<mlir::Value> loadLeft(int64_t step, int64_t row);
  llvm::SmallVector<mlir::Value> loadRight(int64_t step, int64_t column);
  llvm::SmallVector<mlir::Value> takeLeft(int64_t step, int64_t row);
  void multiply(llvm::ArrayRef<mlir::Value> lhs,
                llvm::ArrayRef<mlir::Value> rhs, int64_t row, int64_t column,
                Fragment &acc);

  KernelLowering &lowering;
  WarpUnit warpUnit;
  bool isTransposed;
  Operand left, right;
  int64_t chunk, depth;        ///< of all steps, of one
  int64_t rowThreads;          ///< that share the rows
  int64_t numRows, numColumns; ///< registers of an accumulator
  mlir::Value starts[3];
  Axes ownAxes; ///< of a left operand in registers
  Fragment own;
};

} // namespace adze::togpu

#endif // ADZE_LIB_CONVERSION_TILETOGPU_UNITPRODUCT_H
