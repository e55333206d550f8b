// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Constants of the contractions in a loop that are copied to shared memory
// (PTX ISA, cp.async) before the iteration that multiplies them.
#ifndef ADZE_LIB_CONVERSION_TILETOGPU_LOOPSTREAM_H
#define ADZE_LIB_CONVERSION_TILETOGPU_LOOPSTREAM_H

#include "KernelLowering.h"

namespace adze::togpu {

/// Two stages of a loop in shared memory. A thread reads only what it has
/// copied, so that threads do not synchronize.
class LoopStream {
public:
  /// Is empty if the loop has other ops than loads and arithmetic, or its
  /// constants do not fit into shared memory.
  LoopStream(KernelLowering &lowering, mlir::scf::ForOp loop);

  bool isEmpty() const { return !ahead; }
  bool contains(tile::LoadOp load) const { return loads.contains(load); }
  /// Starts the first copies, and returns the stage of the first iteration.
  mlir::Value begin();
  /// Begins the iteration of the induction variable `at`: waits for its
  /// constants in the stage, reads them, and starts the copies that reuse the
  /// stage of the iteration before. Returns the stage of the next iteration.
  mlir::Value enter(mlir::Value at, mlir::Value stageNumber);

  /// Returns the place in shared memory of the next access to constants of this
  /// many bytes, or null while the accesses are counted.
  mlir::Value takePlace(int64_t accessBytes);
  /// Returns true while constants are copied, and not read.
  bool copies() const { return step == Step::Copy; }

private:
  enum class Step { Count, Copy, Read };
  /// Other loads wait for all copies that are in flight, so more stages would
  /// delay them.
  static constexpr int64_t kStages = 2;

  void findLoads();
  void chooseDistance();
  void emitConstants(Step next, mlir::Value stageNumber = {});
  void copyAhead(mlir::Value at, mlir::Value stageNumber);

  KernelLowering &lowering;
  mlir::scf::ForOp loop;
  llvm::DenseSet<mlir::Operation *> loads; ///< of constants
  llvm::SmallVector<mlir::Value> tiles;    ///< of these loads
  int64_t ahead = 0; ///< iterations from a copy to its use, or 0
  SharedTile memory;
  Step step = Step::Count;
  /// Bytes of a thread, up to the access that is emitted; of the narrowest one.
  int64_t bytes = 0, narrowest = 16;
  mlir::Value stage; ///< pointer to that of the iteration
};

} // namespace adze::togpu

#endif // ADZE_LIB_CONVERSION_TILETOGPU_LOOPSTREAM_H
