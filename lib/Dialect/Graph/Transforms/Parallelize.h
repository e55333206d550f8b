// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The parts of graph-parallelize. Each rewrites the ops of a function for a GPU
// and returns their number.
#ifndef ADZE_LIB_DIALECT_GRAPH_TRANSFORMS_PARALLELIZE_H
#define ADZE_LIB_DIALECT_GRAPH_TRANSFORMS_PARALLELIZE_H

#include "Dialect/Graph/IR/Graph.h"

namespace adze::graph {

/// Splits scans along contiguous dims of known size into parts, and makes those
/// from the end scans of reversed rows.
unsigned splitScans(mlir::func::FuncOp function);

/// Splits selections of a few elements of rows that are too long for a tile, in
/// the same way.
unsigned splitSelections(mlir::func::FuncOp function);

/// Makes scatters that add floats of at most 32 bits scatters that add
/// integers.
unsigned addScatteredIntegers(mlir::func::FuncOp function);

/// Makes calls of non-maximum suppression that select at most a known number of
/// boxes for each class `graph.select_boxes`.
unsigned selectBoxes(mlir::func::FuncOp function);

} // namespace adze::graph

#endif // ADZE_LIB_DIALECT_GRAPH_TRANSFORMS_PARALLELIZE_H
