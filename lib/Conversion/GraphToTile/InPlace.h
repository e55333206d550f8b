// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Which insertions can be done in the memory of the tensor that they change.
#ifndef ADZE_LIB_CONVERSION_GRAPHTOTILE_INPLACE_H
#define ADZE_LIB_CONVERSION_GRAPHTOTILE_INPLACE_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/DenseSet.h"

namespace adze {

/// The kernel functions with an insertion (`graph.insert_slice` of an argument)
/// that at some launch must leave the tensor as it was: somebody reads what was
/// there, or it is no kernel's to change.
llvm::DenseSet<mlir::Operation *> findCopyingInsertions(mlir::ModuleOp module);

} // namespace adze

#endif // ADZE_LIB_CONVERSION_GRAPHTOTILE_INPLACE_H
