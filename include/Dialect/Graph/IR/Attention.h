// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Which attention has a kernel of its own.
#ifndef ADZE_DIALECT_GRAPH_IR_ATTENTION_H
#define ADZE_DIALECT_GRAPH_IR_ATTENTION_H

#include "Dialect/Graph/IR/Shape.h"

namespace adze::graph {

/// Whether a kernel keeps a head of so many elements (of query and key, or of
/// value) whole: it is known and not long. Of longer ones, as where channels
/// attend to channels by all tokens, two products and a softmax are faster.
inline bool isHeadSize(mlir::AffineExpr size) {
  constexpr int64_t longest = 512;
  std::optional<int64_t> known = getConstant(size);
  return known && *known >= 1 && *known <= longest;
}

} // namespace adze::graph

#endif // ADZE_DIALECT_GRAPH_IR_ATTENTION_H
