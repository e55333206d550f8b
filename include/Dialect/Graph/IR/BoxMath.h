// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Arithmetic on boxes, for all lowerings.
#ifndef ADZE_DIALECT_GRAPH_IR_BOXMATH_H
#define ADZE_DIALECT_GRAPH_IR_BOXMATH_H

#include "Dialect/Graph/IR/ElementBuilder.h"
#include <array>

namespace adze::graph {

/// A box, or a tile of boxes: the lower ends along two dims, the upper ends,
/// and the area.
using Box = std::array<mlir::Value, 5>;

/// Returns an i1 that is true if the area of the intersection is more than
/// `threshold` times that of the union. A box without an area overlaps none.
mlir::Value buildOverlap(ElementBuilder &b, const Box &x, const Box &y,
                         double threshold);

} // namespace adze::graph

#endif // ADZE_DIALECT_GRAPH_IR_BOXMATH_H
