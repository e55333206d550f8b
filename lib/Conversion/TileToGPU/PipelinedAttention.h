// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Emits scheduled attention: the ring holds keys and values; a warpgroup has 64
// rows, whose scores are the left operand of the second product in registers.
#ifndef ADZE_LIB_CONVERSION_TILETOGPU_PIPELINEDATTENTION_H
#define ADZE_LIB_CONVERSION_TILETOGPU_PIPELINEDATTENTION_H

#include "PipelinedKernel.h"

namespace adze::togpu {

class PipelinedAttention final : public PipelinedKernel {
public:
  using PipelinedKernel::PipelinedKernel;

private:
  void emitProducer() override;
  void emitConsumers() override;
  Values runTile(const KernelFrame &at, mlir::ValueRange ring);
  Values runStage(const KernelFrame &at, mlir::ValueRange carried);
  /// The loop's carried values as registers: the sums as one, rows as two each.
  Values getInits(Fragments &fragments);
  void setCarried(Fragments &fragments, mlir::ValueRange tiles,
                  mlir::ValueRange carried);
  mlir::Value multiplyQuery(mlir::Value stage);
  mlir::Value multiplyScores(Fragments &fragments, mlir::Value stage);
  mlir::Value multiplyRegisters(mlir::Value sums,
                                mlir::ArrayRef<mlir::Value> lhs,
                                mlir::Value rhs);

  mlir::Value queryDescriptor, keysDescriptor, valuesDescriptor;
};

} // namespace adze::togpu

#endif // ADZE_LIB_CONVERSION_TILETOGPU_PIPELINEDATTENTION_H
