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

/// Steps in which a loop walks whole parts of a dimension of memory, from 0 to
/// size / step * step, if `index` is the variable of such a loop; 1 where it is
/// the id of one of as many programs as the dimension has elements; else 0.
/// Then `index + step` is never beyond the dimension, whatever its size.
int64_t getWholeStep(mlir::OpFoldResult index, mlir::Value memref, int64_t dim);

/// Is `index` the last of a dimension of memory at most, and 0 at least? There
/// is such an element wherever something is read: where the dimension has none,
/// no code that has such an index runs.
bool isClampedTo(mlir::OpFoldResult index, mlir::Value memref, int64_t dim);

/// Are two dimensions of memory of one size: the same one, or of arguments and
/// views of them whose `adze.dims` say so?
bool haveOneSize(mlir::Value x, int64_t xDim, mlir::Value y, int64_t yDim);

/// The attribute of an op that gives an index which nothing else is known of:
/// its least and its greatest value, and a number that divides it.
inline constexpr llvm::StringLiteral kRangeAttribute = "tile.range";

/// The attribute of a load or store that takes what is left of a dimension:
/// along dims that no loop around the body walks it reaches over the end as a
/// rule, so that a version of the code without checks is of no use.
inline constexpr llvm::StringLiteral kTailAttribute = "tile.tail";

/// The attribute of a load that says how much further on, along each dim of the
/// memory, the program reads that runs next on this thread.
inline constexpr llvm::StringLiteral kAheadAttribute = "tile.ahead";

} // namespace adze::tile

#endif // ADZE_DIALECT_TILE_ANALYSIS_INDEXRANGE_H
