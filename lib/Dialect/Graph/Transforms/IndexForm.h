// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Integer tensors that are linear functions of the positions of their elements,
// as models compute them from ranges.
#ifndef ADZE_LIB_DIALECT_GRAPH_TRANSFORMS_INDEXFORM_H
#define ADZE_LIB_DIALECT_GRAPH_TRANSFORMS_INDEXFORM_H

#include "Matching.h"

namespace adze::graph {

/// The element at position p is offset + sum of slopes[d] * p[d]. Slopes along
/// dims of size 1 are 0.
struct IndexForm {
  llvm::SmallVector<int64_t, 4> slopes;
  mlir::AffineExpr offset;

  /// Returns true if no element is negative.
  bool isNonNegative() const;
};

/// Returns the form of a tensor of integers, if it has one.
std::optional<IndexForm> getIndexForm(mlir::Value value);

/// Returns the form that is <= 0 exactly where the condition is true (`truth`)
/// or false. Returns nothing if it is not a comparison of such integers.
std::optional<IndexForm> getConditionForm(mlir::Value condition, bool truth);

} // namespace adze::graph

#endif // ADZE_LIB_DIALECT_GRAPH_TRANSFORMS_INDEXFORM_H
