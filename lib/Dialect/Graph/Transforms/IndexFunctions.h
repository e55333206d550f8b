// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Values that depend on positions and sizes only, such as positions of tokens
// and causal masks, and masks that compare positions with smaller values, such
// as lengths. They are not stored: each user computes them.
#ifndef ADZE_LIB_DIALECT_GRAPH_TRANSFORMS_INDEXFUNCTIONS_H
#define ADZE_LIB_DIALECT_GRAPH_TRANSFORMS_INDEXFUNCTIONS_H

#include "Dialect/Graph/IR/Graph.h"
#include "llvm/ADT/DenseSet.h"

namespace adze::graph {

/// Removes the limits of ranges whose number of elements is known, and the ops
/// that computed them, often from the shape of scores.
void dropRangeLimits(mlir::Operation *root);

/// Replaces sizes that are dims of inputs of the function by reads of the
/// inputs, so that other tensors are not kept for them.
void askInputsForSizes(mlir::Block &entry);

/// Copies these values for each op of the block that can compute them on
/// demand, and returns the copies.
llvm::DenseSet<mlir::Operation *> copyIndexFunctions(mlir::Block &block);

} // namespace adze::graph

#endif // ADZE_LIB_DIALECT_GRAPH_TRANSFORMS_INDEXFUNCTIONS_H
