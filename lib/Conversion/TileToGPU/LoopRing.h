// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Operands of the products in the body of a loop that are copied to shared
// memory (PTX ISA, cp.async) before the iteration that multiplies them.
#ifndef ADZE_LIB_CONVERSION_TILETOGPU_LOOPRING_H
#define ADZE_LIB_CONVERSION_TILETOGPU_LOOPRING_H

#include "KernelLowering.h"

namespace adze::togpu {

/// Returns the load of a tile, which a reshape may follow, or null.
tile::LoadOp getLoad(mlir::Value tile);
/// Returns true if an op computes scalars from scalars.
bool isScalar(mlir::Operation &op);

/// Each product of a unit in the loop has a ring of stages in shared memory for
/// the operands that the body loads. The barrier before a product shows that
/// all threads have multiplied the operands of the product before, so the next
/// copy is to their stage. Operands from outside of the loop are in shared
/// memory before it, and computed ones are in registers.
class LoopRing {
public:
  /// Has no products if the loop has none of this form.
  LoopRing(KernelLowering &lowering, mlir::scf::ForOp loop);

  bool isEmpty() const { return dots.empty(); }
  bool contains(tile::DotOp dot) const { return llvm::is_contained(dots, dot); }
  /// Copies the operands that the loop does not change, and starts the first
  /// copies of the others.
  void begin();
  /// Begins an iteration: `at` is its induction variable, `stage` its stage.
  void enter(mlir::Value at, mlir::Value stage);
  /// Returns the stage of the next iteration.
  mlir::Value getNextStage();
  /// Waits for the operands of a product, starts the next copies, and returns
  /// the operands.
  std::array<Operand, 2> take(tile::DotOp dot);

private:
  bool findOperands(tile::DotOp dot);
  void chooseStages();
  mlir::Value getIteration(int64_t ahead);
  void copy(tile::DotOp dot, mlir::Value at, mlir::Value stage);

  KernelLowering &lowering;
  mlir::scf::ForOp loop;
  llvm::SmallVector<tile::DotOp> dots;
  int64_t stages = 0;
  mlir::Value at, stage; ///< of the iteration
};

} // namespace adze::togpu

#endif // ADZE_LIB_CONVERSION_TILETOGPU_LOOPRING_H
