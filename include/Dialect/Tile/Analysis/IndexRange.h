// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// What is known of the indices that tile kernels compute: ranges and divisors.
#ifndef ADZE_DIALECT_TILE_ANALYSIS_INDEXRANGE_H
#define ADZE_DIALECT_TILE_ANALYSIS_INDEXRANGE_H

#include "mlir/IR/OpDefinition.h"
#include <optional>

namespace adze::tile {

/// An inclusive interval; `max` may be unbounded.
struct IndexRange {
  static constexpr int64_t unbounded = int64_t(1) << 40;
  int64_t min, max;
  bool isBounded() const { return max < unbounded; }
};

/// The range of an index inside a kernel, seen through constants, `arith`,
/// loop variables, program ids and dims of memory. Nothing if not even the
/// lower end is known.
std::optional<IndexRange> getIndexRange(mlir::OpFoldResult index);

/// A number >= 1 that divides the index wherever the kernel computes it; 0 is
/// returned for the constant 0, which everything divides.
int64_t getKnownDivisor(mlir::OpFoldResult index);

} // namespace adze::tile

#endif // ADZE_DIALECT_TILE_ANALYSIS_INDEXRANGE_H
