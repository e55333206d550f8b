// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Computes the right operands of a pipelined product into shared memory.
#ifndef ADZE_LIB_CONVERSION_TILETOGPU_OPERANDPRODUCER_H
#define ADZE_LIB_CONVERSION_TILETOGPU_OPERANDPRODUCER_H

#include "DeviceBuilder.h"
#include "KernelLowering.h"
#include "PipelinePlan.h"

namespace adze::togpu {

/// The right operands of one tile of the result. Each thread of a warpgroup
/// computes whole columns of them, and loads what it needs iterations ahead.
class OperandProducer {
public:
  /// `at` is the frame of the tile, and `thread` the index in the warpgroup, of
  /// type i32.
  OperandProducer(tile::KernelOp kernel, const PipelinePlan &plan,
                  KernelPlan &spreads, const KernelFrame &at, DeviceBuilder &d,
                  mlir::Value thread);

  /// Loads what this thread needs for the iteration with this induction
  /// variable.
  llvm::SmallVector<mlir::Value> load(mlir::Value iteration);
  /// Computes the operands of an iteration from what was loaded for it, and
  /// stores them to a stage in shared memory.
  void store(mlir::Value iteration, mlir::ValueRange loaded, mlir::Value stage);

  /// Returns why operands cannot be computed, or an empty string.
  const std::string &getReason() const { return lowering.reason; }

private:
  void enter(mlir::Value iteration);
  Axes getAxes(tile::LoadOp load);
  void storeColumn(mlir::Value operand, int64_t number, mlir::Value memory);

  const PipelinePlan &plan;
  KernelPlan &spreads;
  DeviceBuilder &d;
  mlir::Value thread;
  mlir::scf::ForOp loop;
  KernelLowering lowering;
  const Axis *columns;
  /// By size: all positions of a dim.
  llvm::DenseMap<int64_t, const Axis *> wholes;
  llvm::SmallVector<tile::LoadOp> loads;
};

} // namespace adze::togpu

#endif // ADZE_LIB_CONVERSION_TILETOGPU_OPERANDPRODUCER_H
