// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Target attributes, and functions that find those of an op.
#ifndef ADZE_DIALECT_TILE_IR_TARGETS_H
#define ADZE_DIALECT_TILE_IR_TARGETS_H

#include "Dialect/Tile/IR/Tile.h"
#include "mlir/IR/BuiltinOps.h"

namespace adze::tile {

/// An attribute of a module: its targets, which are devices of one kind, in
/// order of preference.
inline constexpr llvm::StringLiteral kTargetsAttribute = "tile.targets";

/// Sets the targets of the module.
void setTargets(mlir::ModuleOp module, llvm::ArrayRef<mlir::Attribute> targets);

/// Returns the targets of the nearest op around `op` that has any, or an empty
/// list.
llvm::ArrayRef<mlir::Attribute> getTargets(mlir::Operation *op);

/// Returns the first CPU among the targets, or null.
CpuTargetAttr findCpuTarget(mlir::Operation *op);

/// Returns the first CPU among the targets. Without one, returns a CPU with
/// registers of 64 bytes, caches of 1 MiB and 32 MiB, and no units, features or
/// traits.
CpuTargetAttr getCpuTarget(mlir::Operation *op);

/// Returns the first target if the targets are GPUs, else null.
CudaTargetAttr findCudaTarget(mlir::Operation *op);

/// An attribute of a kernel: its schedule for a unit of its target.
inline constexpr llvm::StringLiteral kScheduleAttribute = "tile.schedule";
/// An attribute of a kernel: the value that cost models assume for its dynamic
/// sizes.
inline constexpr llvm::StringLiteral kUsualSizeAttribute = "tile.usual_size";

/// The unit of a schedule whose program is computed by threads: `split` blocks
/// of `threads` threads.
inline constexpr llvm::StringLiteral kThreadsUnit = "threads";

/// Returns the schedule of the kernel, or null.
inline ScheduleAttr getSchedule(KernelOp kernel) {
  return kernel->getAttrOfType<ScheduleAttr>(kScheduleAttribute);
}

} // namespace adze::tile

#endif // ADZE_DIALECT_TILE_IR_TARGETS_H
