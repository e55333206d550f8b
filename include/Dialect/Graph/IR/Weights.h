// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// What is known of the weights of a softmax where they are computed.
#ifndef ADZE_DIALECT_GRAPH_IR_WEIGHTS_H
#define ADZE_DIALECT_GRAPH_IR_WEIGHTS_H

#include "Dialect/Graph/IR/ElementBuilder.h"

namespace adze::graph {

/// On a math.exp: its argument is no more than 0, or NaN.
inline constexpr mlir::arith::FastMathFlags isAtMostOne =
    mlir::arith::FastMathFlags::arcp;
/// Of e to what an element is below the greatest.
inline constexpr mlir::arith::FastMathFlags isWeight = tinyIsZero | isAtMostOne;

} // namespace adze::graph

#endif // ADZE_DIALECT_GRAPH_IR_WEIGHTS_H
