// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Emits a scheduled product: a producer warpgroup copies blocks of the operands
// to a ring in shared memory, and the consumer warpgroups multiply them.
#ifndef ADZE_LIB_CONVERSION_TILETOGPU_PIPELINEDKERNEL_H
#define ADZE_LIB_CONVERSION_TILETOGPU_PIPELINEDKERNEL_H

#include "DeviceBuilder.h"
#include "Fragments.h"
#include "KernelLowering.h"
#include "PipelinePlan.h"

namespace adze::togpu {

class OperandProducer;

class PipelinedKernel {
public:
  /// `maps` are the pointers to the tensor maps of the plan, `programs` is the
  /// number of tiles. `frame` holds at the entry of the function.
  PipelinedKernel(tile::KernelOp kernel, PipelinePlan &plan,
                  KernelPlan &spreads, const KernelFrame &frame,
                  mlir::ValueRange maps, mlir::Value programs)
      : kernel(kernel), plan(plan), spreads(spreads), frame(frame), maps(maps),
        programs(programs), b(kernel.getContext()), d(b, kernel.getLoc()) {}

  virtual ~PipelinedKernel() = default;

  /// Emits the kernel at the end of the entry block, with the terminator. On
  /// failure, `reason` states why.
  void run(mlir::Block *entry);
  std::string reason;

protected:
  using Values = llvm::SmallVector<mlir::Value>;
  using Step =
      llvm::function_ref<Values(mlir::IRMapping &, mlir::ValueRange carried)>;
  using TileBody =
      llvm::function_ref<Values(const KernelFrame &, mlir::ValueRange carried)>;

  void emitSetup();
  virtual void emitProducer();
  virtual void emitConsumers();
  /// A loop over this block's tiles; `body` gets the frame of a tile.
  void forEachTile(mlir::ValueRange inits, TileBody body);
  void forEachPaired(mlir::Value block, mlir::Value blocks,
                     mlir::ValueRange inits, TileBody body);
  /// Emits `body` for one program, and yields its results.
  void runProgram(mlir::Value program, mlir::ValueRange carried, TileBody body);
  mlir::Value getProgram(mlir::Value tile);
  std::pair<mlir::Value, mlir::Value> getGrouped(mlir::Value number,
                                                 mlir::Value rows,
                                                 mlir::Value columns,
                                                 bool areWhole);
  /// Returns the lower bound, the upper bound and the step of a loop.
  std::array<mlir::Value, 3> getBounds(mlir::scf::ForOp loop,
                                       const mlir::IRMapping &map);
  /// Emits the scalars of a loop's body for one value of its variable.
  void computeScalars(mlir::scf::ForOp loop, mlir::Value at,
                      mlir::IRMapping &map);
  /// The product's loops around `step`, which gets the scalars in them.
  Values emitLoops(unsigned level, mlir::IRMapping &map, Values carried,
                   Step step);

  // The producer.
  /// Waits until a part of the ring is free, and announces the bytes that are
  /// copied to it; returns the barrier that counts them.
  mlir::Value expectBytes(mlir::Value number, mlir::Value phase, int64_t bytes);
  /// Does so for an empty part.
  mlir::Value announceBytes(mlir::Value number, int64_t bytes);
  /// Copies the operands of a stage; returns the next stage and its phase.
  Values copyStage(mlir::IRMapping &scalars, mlir::ValueRange ring);
  /// Starts the copies of an empty stage.
  void startCopies(mlir::IRMapping &scalars, mlir::Value stage);
  /// Returns the address of the right operands of a stage.
  mlir::Value getRhs(mlir::Value stage);
  /// Copies the left operand of the stages of a tile that this warpgroup takes,
  /// and computes the right operands; returns the place in the ring after them.
  Values computeStages(const KernelFrame &at, mlir::ValueRange ring);
  /// Does so for one stage. The carried values are the stage, its phase, and
  /// what was loaded for it.
  void computeStage(OperandProducer &operands, mlir::Value iteration,
                    mlir::IRMapping &scalars, mlir::ValueRange carried);
  void copyOperand(const tile::TensorBox &box, tile::LoadOp load,
                   mlir::Value map, mlir::Value shared, mlir::Value full,
                   const mlir::IRMapping &scalars);

  // The consumers.
  void assignWarpgroups();
  /// Computes and stores the results of a tile; returns the place in the ring
  /// after its stages.
  Values multiplyTile(const KernelFrame &at, mlir::ValueRange ring);
  /// Returns the number of stages of a tile, which all tiles have.
  mlir::Value countStages();
  /// `depth`: elements along the sum in a block of the operand.
  mlir::Value makeDescriptor(mlir::Value shared, const tile::TensorBox &box,
                             int64_t depth);
  /// Returns the bytes from the start of a block to the part of it that one
  /// instruction reads. `others`: elements of the block that are not along k.
  int64_t getStep(const tile::TensorBox &box, int64_t number, int64_t others);
  Values multiply(mlir::ValueRange sums, mlir::Value stage);
  void release(mlir::Value stage);
  /// Waits until the warpgroups of the tile before have read its stages. Waits
  /// on stages are for the next phase of a barrier, so none may be left out.
  void waitTurn(mlir::Value phase);
  void passTurn();
  Values getElements(mlir::Value sums);
  Fragments makeFragments(const KernelFrame &at);
  /// Adjacent columns of 64 rows of the result of a warpgroup.
  struct Span {
    mlir::Value rowBlock; ///< the number of the 64 rows, i32
    mlir::Value column;   ///< the first one, i32
    int64_t columns;
  };
  void setPlace(Fragments &fragments, const Span &span);
  /// Returns all columns of 64 rows.
  Span getRows(int64_t rowBlock);
  void storeResults(const KernelFrame &at, mlir::ValueRange sums);

  // Split-K: blocks that share the depth of a tile.
  /// Returns the bounds of this block's part of a loop over the depth.
  std::pair<mlir::Value, mlir::Value>
  getPart(mlir::Value lower, mlir::Value upper, mlir::Value step);
  /// Makes the blocks of the cluster reduce the accumulators of all of them,
  /// each for some spans of the result, which it stores.
  void storeShared(const KernelFrame &at, mlir::ValueRange sums);
  /// Writes the accumulators of this thread to shared memory.
  void writeSums(mlir::ValueRange sums);
  /// Returns the accumulators of a span for a product, added over the blocks of
  /// the cluster in the order of their ranks.
  Values addSums(const Span &span, int64_t product);
  void meetCluster();
  /// Returns the address of four accumulators of this thread in the shared
  /// memory of a block of the cluster.
  mlir::Value getSumsPlace(mlir::Value shared, mlir::Value number);
  mlir::NVVM::WGMMATypes getUnitType(mlir::Type element);
  /// Returns a thread's pairs of a tile as vectors: for each of these groups of
  /// columns, those of its two rows.
  Values computePairs(Fragments &fragments, mlir::Value tile,
                      unsigned firstGroup, unsigned numGroups);
  // Write a segment of a result to shared memory.
  void stageMatrices(llvm::ArrayRef<mlir::Value> pairs, mlir::Value staging,
                     int64_t rowBytes);
  void stagePairs(llvm::ArrayRef<mlir::Value> pairs, mlir::Value staging,
                  int64_t rowBytes);
  mlir::Value permute(mlir::Value number, mlir::Value row, int64_t rowBytes);
  /// Sets the number of segments of results that are staged in sequence.
  void beginPieces(int64_t count);
  void storeSpan(Fragments &fragments, const KernelFrame &at, const Span &span);
  /// Stores a span; `getSums` returns its accumulators of a product.
  void storeProducts(const KernelFrame &at, const Span &span,
                     llvm::function_ref<Values(unsigned product)> getSums);
  void storePiece(Fragments &fragments, const KernelFrame &at,
                  const PipelineResult &result, const Span &span,
                  int64_t piece);
  /// Returns two elements of 16 bits as a register.
  mlir::Value toRegister(mlir::Value pair);
  mlir::Type getSumsType(int64_t columns);

  tile::KernelOp kernel;
  PipelinePlan &plan;
  KernelPlan &spreads;
  const KernelFrame &frame;
  mlir::ValueRange maps;
  mlir::Value programs;
  mlir::OpBuilder b;
  DeviceBuilder d;
  /// Of this thread: index in the block, in its warpgroup, in its warp.
  mlir::Value thread, inGroup, lane, warp;
  mlir::Value warpgroup, leads; ///< among those that multiply; the first thread
  mlir::Value shared, full, empty;
  /// Of the block in its cluster, and the number of the cluster's blocks; null
  /// if no blocks share a tile.
  mlir::Value rank, split;
  /// Of a warpgroup that multiplies: its number among those of its tile, and
  /// the number of its tile among those in flight; null if there is one.
  mlir::Value part, turn;
  mlir::Value lhsDescriptor, rhsDescriptor;
  mlir::Value zero; ///< the first accumulators of 64 rows
  /// Segments of results that are staged in sequence: so far, and in all.
  int64_t numPieces = 0, allPieces = 0;
};

} // namespace adze::togpu

#endif // ADZE_LIB_CONVERSION_TILETOGPU_PIPELINEDKERNEL_H
