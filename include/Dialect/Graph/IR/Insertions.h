// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Tensors of which insertions and scatters replace elements.
#ifndef ADZE_DIALECT_GRAPH_IR_INSERTIONS_H
#define ADZE_DIALECT_GRAPH_IR_INSERTIONS_H

#include "Dialect/Graph/IR/Graph.h"

namespace adze::graph {

/// Returns the insertions that a result consists of, last first: each changes
/// the result of the previous one, which has no other use.
llvm::SmallVector<InsertSliceOp> getInsertions(mlir::Value result);

/// Returns the tensor that equals the result except for the elements that its
/// insertions or its scatter replace, or null.
mlir::Value getUpdated(mlir::Value result);

/// Returns how a scatter combines updates with elements, or nothing if they
/// replace these.
std::optional<Combiner> getCombiner(mlir::Operation *scatter);

/// Returns true if the result of a scatter does not depend on the order of its
/// updates, and atomic operations combine them.
bool mayReorderUpdates(mlir::Operation *scatter);

} // namespace adze::graph

#endif // ADZE_DIALECT_GRAPH_IR_INSERTIONS_H
