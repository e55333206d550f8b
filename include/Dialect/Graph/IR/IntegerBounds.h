// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Bounds of the elements of integer tensors as expressions of sizes.
#ifndef ADZE_DIALECT_GRAPH_IR_INTEGERBOUNDS_H
#define ADZE_DIALECT_GRAPH_IR_INTEGERBOUNDS_H

#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/Value.h"

namespace adze::graph {

/// The least and the greatest of some elements, as expressions of the symbols.
struct IntegerBounds {
  mlir::AffineExpr least, greatest;
};

/// Returns bounds such that each element of an integer tensor is within one
/// pair of them, or nothing if elements are unknown. Looks through data
/// movement, casts, gathers, selections, counters, and reductions by minimum
/// and maximum.
llvm::SmallVector<IntegerBounds> getIntegerBounds(mlir::Value value);

} // namespace adze::graph

#endif // ADZE_DIALECT_GRAPH_IR_INTEGERBOUNDS_H
