// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The schedules of a kernel on a GPU, for tile-choose-schedule and tuning.
#ifndef ADZE_DIALECT_TILE_TRANSFORMS_SCHEDULES_H
#define ADZE_DIALECT_TILE_TRANSFORMS_SCHEDULES_H

#include "Dialect/Tile/IR/Targets.h"

namespace adze::tile {

/// An attribute of a kernel: its parameters on GPUs.
inline constexpr llvm::StringLiteral kCudaBindings = "tile.params.cuda";

/// What tile-choose-schedule sets on a kernel: a schedule and the parameters on
/// GPUs. Both may be null.
struct ScheduleChoice {
  ScheduleAttr schedule;
  mlir::DictionaryAttr params;

  bool operator==(const ScheduleChoice &other) const {
    return schedule == other.schedule && params == other.params;
  }
};

/// Returns the choices of tile-choose-schedule for a kernel without a schedule,
/// in the order of their estimated time, at most `most`.
llvm::SmallVector<ScheduleChoice> listSchedules(KernelOp kernel,
                                                CudaTargetAttr target,
                                                bool batchInvariant,
                                                unsigned most);

/// Returns the greatest number of iterations of the loops of a kernel with the
/// parameters that it has on CPUs, or -1 if it is dynamic.
int64_t countIterations(KernelOp kernel);

/// Returns true if the parameter may be bound to the value.
bool mayBind(ParamOp param, int64_t value);

/// Sets the choice; a null attribute removes that of the kernel.
void setSchedule(KernelOp kernel, const ScheduleChoice &choice);

} // namespace adze::tile

#endif // ADZE_DIALECT_TILE_TRANSFORMS_SCHEDULES_H
