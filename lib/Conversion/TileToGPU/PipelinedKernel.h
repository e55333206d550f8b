// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Emits a scheduled product: one warpgroup copies blocks of the operands to a
// ring in shared memory, the others multiply them there.
#ifndef ADZE_LIB_CONVERSION_TILETOGPU_PIPELINEDKERNEL_H
#define ADZE_LIB_CONVERSION_TILETOGPU_PIPELINEDKERNEL_H

#include "DeviceBuilder.h"
#include "KernelLowering.h"
#include "PipelinePlan.h"

namespace adze::togpu {

class Fragments;

class PipelinedKernel {
public:
  /// `maps` are the pointers to the tensor maps of the plan, `programs` the
  /// number of tiles. `frame` holds at the function's entry.
  PipelinedKernel(tile::KernelOp kernel, PipelinePlan &plan,
                  KernelPlan &spreads, const KernelFrame &frame,
                  mlir::ValueRange maps, mlir::Value programs)
      : kernel(kernel), plan(plan), spreads(spreads), frame(frame), maps(maps),
        programs(programs), b(kernel.getContext()), d(b, kernel.getLoc()) {}

  /// Emits at the end of the entry block, with the terminator.
  void run(mlir::Block *entry);

private:
  using Values = llvm::SmallVector<mlir::Value>;
  using Step =
      llvm::function_ref<Values(mlir::IRMapping &, mlir::ValueRange carried)>;

  void emitSetup();
  void emitProducer();
  void emitConsumers();
  /// A loop over this block's tiles; `body` gets the frame of a tile.
  void forEachTile(
      mlir::ValueRange inits,
      llvm::function_ref<Values(const KernelFrame &, mlir::ValueRange)> body);
  mlir::Value getProgram(mlir::Value tile);
  /// The product's loops around `step`, which gets the scalars in them.
  Values emitLoops(unsigned level, mlir::IRMapping &map, Values carried,
                   Step step);

  // The producer.
  void copyOperand(const tile::TensorBox &box, tile::LoadOp load,
                   mlir::Value map, mlir::Value shared, mlir::Value full,
                   const mlir::IRMapping &scalars);

  // The consumers.
  mlir::Value makeDescriptor(mlir::Value shared, const tile::TensorBox &box);
  Values multiply(mlir::ValueRange sums, mlir::Value stage);
  void release(mlir::Value stage);
  void storeResults(const KernelFrame &at, mlir::ValueRange sums);
  void storePiece(Fragments &fragments, const KernelFrame &at,
                  const PipelineResult &result, int64_t rowBlock,
                  int64_t piece);
  mlir::Value packPair(const std::array<mlir::Value, 2> &pair);
  mlir::Type getSumsType();

  tile::KernelOp kernel;
  PipelinePlan &plan;
  KernelPlan &spreads;
  const KernelFrame &frame;
  mlir::ValueRange maps;
  mlir::Value programs;
  mlir::OpBuilder b;
  DeviceBuilder d;
  /// Of this thread: number in the block, in its warpgroup, in its warp.
  mlir::Value thread, inGroup, lane, warp;
  mlir::Value warpgroup, leads; ///< among those that multiply; the first thread
  mlir::Value shared, full, empty;
  mlir::Value lhsDescriptor, rhsDescriptor;
  unsigned numPieces = 0; ///< staged so far
};

} // namespace adze::togpu

#endif // ADZE_LIB_CONVERSION_TILETOGPU_PIPELINEDKERNEL_H
