// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Compile-time facts about the indices of a specialised kernel.
#ifndef ADZE_LIB_CONVERSION_TILETOGPU_INDEXFACTS_H
#define ADZE_LIB_CONVERSION_TILETOGPU_INDEXFACTS_H

#include "mlir/IR/OpDefinition.h"
#include <optional>

namespace adze::togpu {

/// Inclusive bounds; an upper bound of `kUnbounded` is unknown.
struct IndexRange {
  int64_t low, high;
};
constexpr int64_t kUnbounded = int64_t(1) << 40;

/// Returns bounds that hold for every program and every iteration.
std::optional<IndexRange> getRange(mlir::OpFoldResult index,
                                   unsigned depth = 0);

/// Returns a number that always divides the index; 0 denotes the index zero.
int64_t getDivisor(mlir::OpFoldResult index, unsigned depth = 0);

} // namespace adze::togpu

#endif // ADZE_LIB_CONVERSION_TILETOGPU_INDEXFACTS_H
