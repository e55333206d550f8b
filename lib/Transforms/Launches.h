// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// What passes on launches have in common.
#ifndef ADZE_LIB_TRANSFORMS_LAUNCHES_H
#define ADZE_LIB_TRANSFORMS_LAUNCHES_H

#include "Dialect/Host/IR/Host.h"
#include "Dialect/Tile/IR/Tile.h"

namespace adze {

/// Return the operands of a launch on memrefs that it reads and writes.
mlir::ValueRange getInputs(host::LaunchOp launch);
mlir::ValueRange getOutputs(host::LaunchOp launch);

/// Returns the place of which this one is a view.
mlir::Value getRoot(mlir::Value place);

/// Returns true for a place in the weights.
bool isConstant(mlir::Value place);

/// Returns the sum of a Host_Bytes attribute over the launches. The default for
/// a launch without it is the sum of the bytes of `places`, if there are any.
mlir::AffineExpr
sumBytes(llvm::ArrayRef<host::LaunchOp> launches, llvm::StringRef name,
         llvm::function_ref<mlir::ValueRange(host::LaunchOp)> places = {});

/// Calls `rewrite` for each block with launches, then erases the kernels that
/// are no longer launched.
void rewriteLaunches(mlir::ModuleOp module,
                     llvm::function_ref<void(mlir::Block &)> rewrite);

/// Returns true if a kernel stores the window that it loads: the memory of both
/// is the same argument, or arguments of one type.
bool haveSameWindow(tile::LoadOp load, tile::StoreOp store);

/// Returns true if elements of the tile are used for elements at the same
/// position only.
bool isUsedElementwise(mlir::Value tile);

/// Returns true if the kernel is one part whose programs run in any order, has
/// no schedule, raises no faults, whose numbers are those of its launch, and
/// has no op for which `isExcluded` returns true.
bool isSimpleKernel(tile::KernelOp kernel,
                    llvm::function_ref<bool(mlir::Operation *)> isExcluded);

} // namespace adze

#endif // ADZE_LIB_TRANSFORMS_LAUNCHES_H
