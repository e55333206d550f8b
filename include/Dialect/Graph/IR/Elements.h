// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The contents of small integer tensors where sizes may be cut.
#ifndef ADZE_DIALECT_GRAPH_IR_ELEMENTS_H
#define ADZE_DIALECT_GRAPH_IR_ELEMENTS_H

#include "Dialect/Graph/IR/Shape.h"

namespace adze::graph {

/// getElements of Shape.h, where the greater or the lesser of two sizes and the
/// quotient of what may be negative are expressions, too (Clamp.h).
std::optional<llvm::SmallVector<mlir::AffineExpr>>
getCutElements(mlir::Value value);

} // namespace adze::graph

#endif // ADZE_DIALECT_GRAPH_IR_ELEMENTS_H
