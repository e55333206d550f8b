// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// What is known at compile time of an index computed in a specialised kernel.
#ifndef ADZE_LIB_CONVERSION_TILETOGPU_INDEXFACTS_H
#define ADZE_LIB_CONVERSION_TILETOGPU_INDEXFACTS_H

#include "mlir/IR/OpDefinition.h"
#include <optional>

namespace adze::togpu {

/// Inclusive bounds; `kUnbounded` as the upper end means that it is not known.
struct IndexRange {
  int64_t low, high;
};
constexpr int64_t kUnbounded = int64_t(1) << 40;

/// Bounds that hold for every program and every iteration.
std::optional<IndexRange> getRange(mlir::OpFoldResult index,
                                   unsigned depth = 0);

/// A number that divides the index always; 0 stands for the index zero.
int64_t getDivisor(mlir::OpFoldResult index, unsigned depth = 0);

} // namespace adze::togpu

#endif // ADZE_LIB_CONVERSION_TILETOGPU_INDEXFACTS_H
