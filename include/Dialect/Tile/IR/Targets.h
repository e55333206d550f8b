// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Targets as attributes, and how passes find theirs.
#ifndef ADZE_DIALECT_TILE_IR_TARGETS_H
#define ADZE_DIALECT_TILE_IR_TARGETS_H

#include "Dialect/Tile/IR/Tile.h"
#include "mlir/IR/BuiltinOps.h"

namespace adze::tile {

/// On a module: the targets of one kind of device that it is compiled for, in
/// order of preference.
inline constexpr llvm::StringLiteral kTargetsAttribute = "tile.targets";

/// States what the module is compiled for.
void setTargets(mlir::ModuleOp module, llvm::ArrayRef<mlir::Attribute> targets);

/// Returns the targets of the nearest op around `op` that states any; empty if
/// none does.
llvm::ArrayRef<mlir::Attribute> getTargets(mlir::Operation *op);

/// Returns the first CPU among the targets; null if there is none.
CpuTargetAttr findCpuTarget(mlir::Operation *op);

/// Returns the same, or a CPU with registers of 64 bytes, caches of 1 MiB and
/// 32 MiB, and no units, features or traits if there is none.
CpuTargetAttr getCpuTarget(mlir::Operation *op);

/// Returns the first target if they are GPUs; null of a program for CPUs.
CudaTargetAttr findCudaTarget(mlir::Operation *op);

/// On a kernel: the schedule by which a unit of its target runs it.
inline constexpr llvm::StringLiteral kScheduleAttribute = "tile.schedule";

/// Returns the kernel's schedule; null if it has none.
inline ScheduleAttr getSchedule(KernelOp kernel) {
  return kernel->getAttrOfType<ScheduleAttr>(kScheduleAttribute);
}

} // namespace adze::tile

#endif // ADZE_DIALECT_TILE_IR_TARGETS_H
