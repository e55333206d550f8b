// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Values that are made of positions and sizes alone: positions of tokens, masks
// of triangles. They need no memory: each reader computes its own.
#ifndef ADZE_LIB_DIALECT_GRAPH_TRANSFORMS_INDEXFUNCTIONS_H
#define ADZE_LIB_DIALECT_GRAPH_TRANSFORMS_INDEXFUNCTIONS_H

#include "Dialect/Graph/IR/Graph.h"
#include "llvm/ADT/DenseSet.h"

namespace adze::graph {

/// Ranges that know how many numbers they have do not ask where they end: what
/// only said so, often the shape of scores, is gone.
void dropRangeLimits(mlir::Operation *root);

/// Sizes that inputs of the function have are asked of these: their readers do
/// not keep other tensors.
void askInputsForSizes(mlir::Block &entry);

/// Gives each op of the block that can compute such values on its way copies of
/// its own; the copies.
llvm::DenseSet<mlir::Operation *> copyIndexFunctions(mlir::Block &block);

} // namespace adze::graph

#endif // ADZE_LIB_DIALECT_GRAPH_TRANSFORMS_INDEXFUNCTIONS_H
