// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The elements of small integer tensors, including minima and maxima of sizes.
#ifndef ADZE_DIALECT_GRAPH_IR_ELEMENTS_H
#define ADZE_DIALECT_GRAPH_IR_ELEMENTS_H

#include "Dialect/Graph/IR/Shape.h"

namespace adze::graph {

/// Returns getElements of Shape.h, where the maximum or minimum of two sizes,
/// and quotients of values that may be negative, are expressions, too
/// (Clamp.h).
std::optional<llvm::SmallVector<mlir::AffineExpr>>
getCutElements(mlir::Value value);

} // namespace adze::graph

#endif // ADZE_DIALECT_GRAPH_IR_ELEMENTS_H
