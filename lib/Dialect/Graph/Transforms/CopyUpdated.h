// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Copies of the tensors of which launches replace elements.
#ifndef ADZE_LIB_DIALECT_GRAPH_TRANSFORMS_COPYUPDATED_H
#define ADZE_LIB_DIALECT_GRAPH_TRANSFORMS_COPYUPDATED_H

#include "mlir/IR/BuiltinOps.h"

namespace adze::graph {

/// Inserts a launch that copies a tensor before each launch that replaces some
/// of its elements, unless the tensor has no other use and kernels own its
/// memory.
void copyUpdated(mlir::ModuleOp module);

} // namespace adze::graph

#endif // ADZE_LIB_DIALECT_GRAPH_TRANSFORMS_COPYUPDATED_H
