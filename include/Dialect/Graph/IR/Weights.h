// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Flags of the exponentials of a softmax.
#ifndef ADZE_DIALECT_GRAPH_IR_WEIGHTS_H
#define ADZE_DIALECT_GRAPH_IR_WEIGHTS_H

#include "Dialect/Graph/IR/ElementBuilder.h"

namespace adze::graph {

/// Flags of a math.exp whose argument is at most 0, or NaN.
inline constexpr mlir::arith::FastMathFlags isAtMostOne =
    mlir::arith::FastMathFlags::arcp;
/// Flags of the exponential of the difference to the maximum.
inline constexpr mlir::arith::FastMathFlags isWeight = tinyIsZero | isAtMostOne;

} // namespace adze::graph

#endif // ADZE_DIALECT_GRAPH_IR_WEIGHTS_H
