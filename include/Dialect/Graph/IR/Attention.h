// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Selection of the attention ops that become one kernel.
#ifndef ADZE_DIALECT_GRAPH_IR_ATTENTION_H
#define ADZE_DIALECT_GRAPH_IR_ATTENTION_H

#include "Dialect/Graph/IR/Shape.h"

namespace adze::graph {

/// Returns true if a kernel keeps a head of this size (of query and key, or of
/// value) whole: the size is known and not large. For larger ones, as in
/// attention between channels, two products and a softmax are faster.
inline bool isHeadSize(mlir::AffineExpr size) {
  constexpr int64_t longest = 512;
  std::optional<int64_t> known = getConstant(size);
  return known && *known >= 1 && *known <= longest;
}

} // namespace adze::graph

#endif // ADZE_DIALECT_GRAPH_IR_ATTENTION_H
