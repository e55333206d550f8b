// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// What all reductions have, those to numbers and those to places.
#ifndef ADZE_DIALECT_GRAPH_IR_REDUCED_H
#define ADZE_DIALECT_GRAPH_IR_REDUCED_H

#include "Dialect/Graph/IR/Graph.h"

namespace adze::graph {

/// Elements of the longest row that a tile holds whole.
inline constexpr int64_t longestTileRow = 16384;

/// `result` has a number or a place for all elements of `input` along `axes`.
struct Reduced {
  mlir::Value input, result;
  llvm::SmallVector<int64_t> axes; // none: each element is all there is
  bool keepdims;
};

/// What a reduction reduces; none of other ops.
std::optional<Reduced> getReduced(mlir::Operation *op);

/// Whether both make one of the same places.
bool reducesAlike(const Reduced &lhs, const Reduced &rhs);

} // namespace adze::graph

#endif // ADZE_DIALECT_GRAPH_IR_REDUCED_H
