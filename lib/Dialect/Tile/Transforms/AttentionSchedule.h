// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Schedules of attention: a part of tile-choose-schedule.
#ifndef ADZE_LIB_DIALECT_TILE_TRANSFORMS_ATTENTIONSCHEDULE_H
#define ADZE_LIB_DIALECT_TILE_TRANSFORMS_ATTENTIONSCHEDULE_H

#include "Dialect/Tile/IR/Targets.h"

namespace adze::tile {

/// Returns the parameter that is the size of a tile, or null.
ParamOp getSizeParam(LoadOp load, unsigned dim);

/// Sets the schedule of a kernel that computes attention; as many others are
/// passed over as `alternative` states, if there are as many. On failure, `why`
/// is the reason.
mlir::LogicalResult scheduleAttention(KernelOp kernel, CudaTargetAttr target,
                                      unsigned alternative, std::string &why);

} // namespace adze::tile

#endif // ADZE_LIB_DIALECT_TILE_TRANSFORMS_ATTENTIONSCHEDULE_H
