// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Conversion of floats of at most 8 bits, whose bits are signless integers.
#ifndef ADZE_LIB_DIALECT_GRAPH_IR_SMALLFLOATS_H
#define ADZE_LIB_DIALECT_GRAPH_IR_SMALLFLOATS_H

#include "Dialect/Graph/IR/Graph.h"

namespace adze::graph {

/// Converts bits to f32, which holds all values.
mlir::Value decodeSmallFloat(ElementBuilder &builder, mlir::Value bits,
                             mlir::FloatType from);

/// Converts f32 to bits, by the rules of graph.cast.
mlir::Value encodeSmallFloat(ElementBuilder &builder, mlir::Value value,
                             mlir::FloatType to, CastRules rules);

} // namespace adze::graph

#endif // ADZE_LIB_DIALECT_GRAPH_IR_SMALLFLOATS_H
