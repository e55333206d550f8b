// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Common properties of reductions to values and to indices.
#ifndef ADZE_DIALECT_GRAPH_IR_REDUCED_H
#define ADZE_DIALECT_GRAPH_IR_REDUCED_H

#include "Dialect/Graph/IR/Graph.h"

namespace adze::graph {

/// Returns the elements of the longest row that a tile holds whole: the threads
/// of a GPU hold more of them in registers than a CPU has in its first-level
/// cache.
int64_t getLongestTileRow(mlir::Operation *op);

/// A selection of more elements of a row than these does not select one after
/// the other.
constexpr int64_t mostSelected = 16;

/// The elements of the longest row that a program holds in registers while it
/// finds the least key that is selected.
constexpr int64_t longestSelectedRow = 16384;

/// A reduction: `result` has a value or an index for all elements of `input`
/// along `axes`.
struct Reduced {
  mlir::Value input, result;
  llvm::SmallVector<int64_t> axes; // empty: each element by itself
  bool keepdims;
};

/// Returns the reduction of an op, or nothing for other ops.
std::optional<Reduced> getReduced(mlir::Operation *op);

/// Returns true if both reduce the same elements to the same positions.
bool reducesAlike(const Reduced &lhs, const Reduced &rhs);

} // namespace adze::graph

#endif // ADZE_DIALECT_GRAPH_IR_REDUCED_H
