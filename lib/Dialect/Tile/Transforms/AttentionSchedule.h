// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Schedules of attention: a part of tile-choose-schedule.
#ifndef ADZE_LIB_DIALECT_TILE_TRANSFORMS_ATTENTIONSCHEDULE_H
#define ADZE_LIB_DIALECT_TILE_TRANSFORMS_ATTENTIONSCHEDULE_H

#include "Dialect/Tile/IR/Targets.h"

namespace adze::tile {

/// On a kernel: its parameters on GPUs.
inline constexpr llvm::StringLiteral kCudaBindings = "tile.params.cuda";

/// Returns the parameter that a tile's size is; null if it is none.
ParamOp getSizeParam(LoadOp load, unsigned dim);

/// Writes a schedule on a kernel that is attention. On failure `why` says what
/// stands against it.
mlir::LogicalResult scheduleAttention(KernelOp kernel, CudaTargetAttr target,
                                      std::string &why);

} // namespace adze::tile

#endif // ADZE_LIB_DIALECT_TILE_TRANSFORMS_ATTENTIONSCHEDULE_H
