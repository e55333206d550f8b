// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// DimRanges: the elements of a value that a tile holds.
#ifndef ADZE_LIB_CONVERSION_GRAPHTOTILE_DIMRANGES_H
#define ADZE_LIB_CONVERSION_GRAPHTOTILE_DIMRANGES_H

#include "mlir/IR/Value.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

namespace adze {

/// The elements of a tile along `span` adjacent dims of a value, which are
/// merged in row-major order: element i of the axis `axis` of the tile is at
/// `offset + stride * i`. Without an axis, it is the one position `offset`. If
/// `end` is set, positions from it on are out of bounds. `ahead` is the
/// prefetch distance of loads: that of the elements of the next program; 0
/// along all dims is unknown.
struct DimRange {
  mlir::Value offset;
  int axis = -1;
  int64_t stride = 1;
  unsigned span = 1;
  mlir::Value end = nullptr;
  int64_t ahead = 0;

  bool operator==(const DimRange &other) const {
    return offset == other.offset && axis == other.axis &&
           stride == other.stride && span == other.span && end == other.end;
  }
};
/// Returns the range of one position.
inline DimRange point(mlir::Value offset) { return DimRange{offset, -1, 1, 1}; }

using DimRanges = llvm::SmallVector<DimRange, 4>;
using RangesRef = llvm::ArrayRef<DimRange>;
/// Returns `ranges` after the position `row` along the first `before` dims,
/// which are merged and may be none.
inline DimRanges rowRanges(mlir::Value row, unsigned before, RangesRef ranges) {
  DimRanges all(ranges);
  if (before)
    all.insert(all.begin(), DimRange{row, -1, 1, before});
  return all;
}

/// The ranges of a value from which those of others are derived.
struct Anchor {
  mlir::Value value;
  DimRanges ranges;
};

/// Axes of the tile space.
using Axes = llvm::SmallVector<int, 4>;

/// A tile whose dims are `axes` (ascending), or a scalar without axes.
struct Emitted {
  mlir::Value value;
  Axes axes;
};
using MaybeTile = mlir::FailureOr<Emitted>;
using MaybeValue = mlir::FailureOr<mlir::Value>;

} // namespace adze

#endif // ADZE_LIB_CONVERSION_GRAPHTOTILE_DIMRANGES_H
