// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Large pieces of work on the threads of a context.
#ifndef ADZE_SUPPORT_PARALLELUNITS_H
#define ADZE_SUPPORT_PARALLELUNITS_H

#include "mlir/IR/MLIRContext.h"
#include "mlir/Support/LLVM.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace adze {

/// Calls `compile` for 0 .. `count`-1 on the threads of `context`, in order on
/// this thread where it has none; no further ones after one has failed.
/// Diagnostics come in the order of the units. For units that use the threads
/// of the context themselves, as pass managers do: in MLIR's
/// failableParallelForEach a unit that waits for a part of its own may take the
/// loop over all other units meanwhile, and its thread then does them alone.
/// Not to be called on one of these threads.
llvm::LogicalResult
parallelForUnits(mlir::MLIRContext *context, size_t count,
                 llvm::function_ref<llvm::LogicalResult(size_t)> compile);

} // namespace adze

#endif // ADZE_SUPPORT_PARALLELUNITS_H
