// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Between which sizes the elements of an integer tensor are.
#ifndef ADZE_DIALECT_GRAPH_IR_INTEGERBOUNDS_H
#define ADZE_DIALECT_GRAPH_IR_INTEGERBOUNDS_H

#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/Value.h"

namespace adze::graph {

/// The least and the greatest of some elements, in terms of the symbols.
struct IntegerBounds {
  mlir::AffineExpr least, greatest;
};

/// Returns bounds such that each element of an integer tensor lies between one
/// pair of them; empty if nothing is known. It looks through movement, casts,
/// look-ups, choices, counters and reductions by minimum and maximum.
llvm::SmallVector<IntegerBounds> getIntegerBounds(mlir::Value value);

} // namespace adze::graph

#endif // ADZE_DIALECT_GRAPH_IR_INTEGERBOUNDS_H
