// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Parts of one tensor that a kernel stores.
#ifndef ADZE_DIALECT_GRAPH_IR_INSERTIONS_H
#define ADZE_DIALECT_GRAPH_IR_INSERTIONS_H

#include "Dialect/Graph/IR/Graph.h"

namespace adze::graph {

/// The insertions that a result is made of, last first: each that is not the
/// first changes what the one before it, which nobody else reads, gives.
llvm::SmallVector<InsertSliceOp> getInsertions(mlir::Value result);

} // namespace adze::graph

#endif // ADZE_DIALECT_GRAPH_IR_INSERTIONS_H
