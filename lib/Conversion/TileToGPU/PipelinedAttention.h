// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Emits scheduled attention: the ring holds keys and values; a warpgroup has 64
// rows, whose weights are the left operand of the second product in registers.
#ifndef ADZE_LIB_CONVERSION_TILETOGPU_PIPELINEDATTENTION_H
#define ADZE_LIB_CONVERSION_TILETOGPU_PIPELINEDATTENTION_H

#include "PipelinedKernel.h"

namespace adze::togpu {

/// The matrix units multiply while the other units compute weights (Shah et
/// al., FlashAttention-3, 2024): warpgroups issue the products of a block of
/// keys in turn, so that one multiplies while others compute weights
/// (section 3.1). The scores of a block are issued together with the product of
/// the weights of the block before and its values (section 3.2).
class PipelinedAttention final : public PipelinedKernel {
public:
  using PipelinedKernel::PipelinedKernel;

private:
  /// What one block of keys leaves to the next one.
  struct State {
    mlir::Value sums;  ///< scaled for the weights of this block
    Values rows;       ///< the loop's other values, two for each
    Values weights;    ///< of this block, as registers of 16-bit pairs
    mlir::Value stage; ///< of the next block, and its phase
    mlir::Value phase;

    Values join() const;
    State split(mlir::ValueRange values) const;
  };

  void emitProducer() override;
  void emitConsumers() override;
  Values copyBlock(mlir::IRMapping &scalars, mlir::ValueRange ring);
  Values runTile(const KernelFrame &at, mlir::ValueRange ring);
  Values runLoop(const KernelFrame &at, mlir::ValueRange ring);
  Values getRowInits(Fragments &fragments);
  State runBlocks(const KernelFrame &at, mlir::ValueRange ring);
  State runFirst(const KernelFrame &at, mlir::ValueRange ring);
  State runNext(const KernelFrame &at, const State &before);
  /// Multiplies the weights of the last block by its values.
  mlir::Value finish(const State &last);
  /// Waits for the values of a state's block, and issues the product with its
  /// weights.
  mlir::Value multiplyPending(const State &state);
  void releaseValues(const State &state);
  /// Returns the stage of the state's block.
  mlir::Value getValuesStage(const State &state);
  // Turns of the warpgroups. Each takes as many as the others: once for each
  // block of keys.
  void waitToIssue();
  void letNextIssue();
  void letIssue(mlir::Value number);
  mlir::Value getTurnBarrier(mlir::Value number);
  /// Reduces the scores of a block, and returns the loop's values except for
  /// the sums.
  Values computeRows(Fragments &fragments, mlir::Value scores);
  /// Returns the weights of the block as registers.
  Values packWeights(Fragments &fragments);
  /// Computes the sums that the product of a block adds to, from those of the
  /// block before.
  mlir::Value scaleSums(Fragments &fragments, mlir::Value before);
  /// Sets the loop's values except for the sums.
  void setRows(Fragments &fragments, mlir::ValueRange tiles,
               mlir::ValueRange rows);
  mlir::Value getSums(mlir::ValueRange tiles);
  mlir::Value multiplyQuery(mlir::Value stage);
  mlir::Value multiplyWeights(mlir::Value sums, mlir::ValueRange weights,
                              mlir::Value stage);
  mlir::Value multiplyRegisters(mlir::Value sums, mlir::ValueRange lhs,
                                mlir::Value rhs);
  /// The number of the barriers of a stage's values, and of the query.
  mlir::Value getValuesBarrier(mlir::Value stage);
  mlir::Value getQueryBarrier();

  mlir::Value queryDescriptor, keysDescriptor, valuesDescriptor;
};

} // namespace adze::togpu

#endif // ADZE_LIB_CONVERSION_TILETOGPU_PIPELINEDATTENTION_H
