// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Patterns that run before normalisations are recognized.
#ifndef ADZE_LIB_DIALECT_GRAPH_TRANSFORMS_NORMALIZATIONPARTS_H
#define ADZE_LIB_DIALECT_GRAPH_TRANSFORMS_NORMALIZATIONPARTS_H

#include "mlir/IR/PatternMatch.h"

namespace adze::graph {

void populateNormalizationParts(mlir::RewritePatternSet &patterns);

} // namespace adze::graph

#endif // ADZE_LIB_DIALECT_GRAPH_TRANSFORMS_NORMALIZATIONPARTS_H
