// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The contents of small integer tensors under conditions.
#ifndef ADZE_DIALECT_GRAPH_IR_ELEMENTS_H
#define ADZE_DIALECT_GRAPH_IR_ELEMENTS_H

#include "Dialect/Graph/IR/Shape.h"

namespace adze::graph {

/// getElements of Shape.h, where `assumed` gets expressions that are taken not
/// to be negative: a quotient of what may be negative is cut, not rounded down.
std::optional<llvm::SmallVector<mlir::AffineExpr>>
getElementsAssuming(mlir::Value value,
                    llvm::SmallVectorImpl<mlir::AffineExpr> &assumed);

} // namespace adze::graph

#endif // ADZE_DIALECT_GRAPH_IR_ELEMENTS_H
