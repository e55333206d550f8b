// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Scans along rows, and selections from them, for GPUs.
#ifndef ADZE_LIB_DIALECT_GRAPH_TRANSFORMS_SPLITSCANS_H
#define ADZE_LIB_DIALECT_GRAPH_TRANSFORMS_SPLITSCANS_H

#include "Dialect/Graph/IR/Graph.h"

namespace adze::graph {

/// Splits scans along contiguous dims of known size into parts, if the function
/// is for a GPU, and makes them scans along a dim before the contiguous one.
/// Returns the number of these scans.
unsigned splitScans(mlir::func::FuncOp function);
/// Splits selections of a few elements of rows that are too long for a tile, in
/// the same way. Returns their number.
unsigned splitSelections(mlir::func::FuncOp function);

} // namespace adze::graph

#endif // ADZE_LIB_DIALECT_GRAPH_TRANSFORMS_SPLITSCANS_H
