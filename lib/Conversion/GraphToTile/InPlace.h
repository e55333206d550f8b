// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Finds insertions that may run in the memory of the tensor that they change.
#ifndef ADZE_LIB_CONVERSION_GRAPHTOTILE_INPLACE_H
#define ADZE_LIB_CONVERSION_GRAPHTOTILE_INPLACE_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/DenseSet.h"

namespace adze {

/// Returns the kernel functions with an insertion (`graph.insert_slice` of an
/// argument) that must not change the tensor in place at some launch: the old
/// elements are read later, or the memory is not owned by kernels.
llvm::DenseSet<mlir::Operation *> findCopyingInsertions(mlir::ModuleOp module);

} // namespace adze

#endif // ADZE_LIB_CONVERSION_GRAPHTOTILE_INPLACE_H
