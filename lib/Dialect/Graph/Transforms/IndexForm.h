// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Integers that are linear in their own positions: what models compute from
// ranges, in whatever spelling.
#ifndef ADZE_LIB_DIALECT_GRAPH_TRANSFORMS_INDEXFORM_H
#define ADZE_LIB_DIALECT_GRAPH_TRANSFORMS_INDEXFORM_H

#include "Matching.h"

namespace adze::graph {

/// The element at position p is offset + sum of slopes[d] * p[d]. Along dims of
/// size 1 slopes are 0.
struct IndexForm {
  llvm::SmallVector<int64_t, 4> slopes;
  mlir::AffineExpr offset;

  /// Nowhere less than 0.
  bool isNonNegative() const;
};

/// The form of a tensor of integers, if it has one.
std::optional<IndexForm> getIndexForm(mlir::Value value);

/// The form that is <= 0 just where the condition is true (`truth`) or false;
/// none if it is no comparison of such integers.
std::optional<IndexForm> getConditionForm(mlir::Value condition, bool truth);

} // namespace adze::graph

#endif // ADZE_LIB_DIALECT_GRAPH_TRANSFORMS_INDEXFORM_H
