// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Chains of insertions into one tensor.
#ifndef ADZE_DIALECT_GRAPH_IR_INSERTIONS_H
#define ADZE_DIALECT_GRAPH_IR_INSERTIONS_H

#include "Dialect/Graph/IR/Graph.h"

namespace adze::graph {

/// Returns the insertions that a result consists of, last first: each changes
/// the result of the previous one, which has no other use.
llvm::SmallVector<InsertSliceOp> getInsertions(mlir::Value result);

} // namespace adze::graph

#endif // ADZE_DIALECT_GRAPH_IR_INSERTIONS_H
