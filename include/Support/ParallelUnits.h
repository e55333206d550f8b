// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Large work items on the threads of a context.
#ifndef ADZE_SUPPORT_PARALLELUNITS_H
#define ADZE_SUPPORT_PARALLELUNITS_H

#include "mlir/IR/MLIRContext.h"
#include "mlir/Support/LLVM.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace adze {

/// Calls `compile` for 0 .. `count`-1 on the threads of `context`, or in order
/// on this thread if it has none. No further items start after one has failed.
/// Diagnostics are in the order of the items. This is for items that use the
/// threads of the context themselves, as pass managers do: in
/// failableParallelForEach of MLIR, an item that waits for a part of its own
/// may run the loop over all other items meanwhile, and its thread then runs
/// them alone. Must not be called on one of these threads.
llvm::LogicalResult
parallelForUnits(mlir::MLIRContext *context, size_t count,
                 llvm::function_ref<llvm::LogicalResult(size_t)> compile);

} // namespace adze

#endif // ADZE_SUPPORT_PARALLELUNITS_H
