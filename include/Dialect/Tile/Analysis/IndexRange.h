// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Ranges and divisors of the indices of tile kernels.
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

/// Returns the range of an index inside of a kernel, through constants,
/// `arith`, loop variables, program ids and dims of memory. Returns nothing if
/// the lower end is unknown.
std::optional<IndexRange> getIndexRange(mlir::OpFoldResult index);

/// Returns a number >= 1 that divides the index wherever the kernel computes
/// it, or 0 for the constant 0.
int64_t getKnownDivisor(mlir::OpFoldResult index);

/// Returns the step of a loop that iterates over whole parts of a dimension of
/// memory, from 0 to size / step * step, if `index` is the variable of such a
/// loop. Returns 1 if `index` is the id of one of as many programs as the
/// dimension has elements, and 0 otherwise. `index + step` is then never beyond
/// the dimension.
int64_t getWholeStep(mlir::OpFoldResult index, mlir::Value memref, int64_t dim);

/// Returns true if `index` is at least 0 and at most the last index of a
/// dimension of memory. This element exists whenever the index is used: code
/// with such an index does not run if the dimension is empty.
bool isClampedTo(mlir::OpFoldResult index, mlir::Value memref, int64_t dim);

/// Returns the size of a dimension of memory, an argument or a view of one, as
/// an expression of the symbols of `adze.dims`, or null if it is unknown.
mlir::AffineExpr getSizeExpr(mlir::Value memref, int64_t dim);

/// Returns true if two dimensions of memory have equal sizes: they are the
/// same, or those of arguments and views with equal `adze.dims`.
bool haveOneSize(mlir::Value x, int64_t xDim, mlir::Value y, int64_t yDim);

/// An attribute of an op that defines an index with unknown operands: its least
/// and greatest value, and a divisor.
inline constexpr llvm::StringLiteral kRangeAttribute = "tile.range";

/// An attribute of a load or store of the remainder of a dimension: along dims
/// without a loop around the body, it usually reaches beyond the end, so that
/// an unchecked version of the code is useless.
inline constexpr llvm::StringLiteral kTailAttribute = "tile.tail";

/// An attribute of a load: the distance, along each dim of the memory, of the
/// elements that the next program on the same thread reads.
inline constexpr llvm::StringLiteral kAheadAttribute = "tile.ahead";
/// A unit attribute of a load in a kernel whose programs run in steps: no
/// program of a step stores to the elements that it loads.
inline constexpr llvm::StringLiteral kEarlierAttribute = "tile.earlier";

} // namespace adze::tile

#endif // ADZE_DIALECT_TILE_ANALYSIS_INDEXRANGE_H
