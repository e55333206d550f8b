// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Places: which elements of a value a tile holds.
#ifndef ADZE_LIB_CONVERSION_GRAPHTOTILE_PLACES_H
#define ADZE_LIB_CONVERSION_GRAPHTOTILE_PLACES_H

#include "mlir/IR/Value.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

namespace adze {

/// Where elements lie along `span` neighbouring dims of a value, taken as one
/// dim in row-major order: element i of the tile's axis `axis` at
/// `offset + stride * i`. Without an axis: the one place `offset`. Where it is
/// set, places from `end` on are outside, as those behind the memory are.
/// `ahead`: how much further on the program looks that runs next, for what
/// loads may ask memory for; 0 along all dims: not known.
struct Place {
  mlir::Value offset;
  int axis = -1;
  int64_t stride = 1;
  unsigned span = 1;
  mlir::Value end = nullptr;
  int64_t ahead = 0;

  bool operator==(const Place &other) const {
    return offset == other.offset && axis == other.axis &&
           stride == other.stride && span == other.span && end == other.end;
  }
};
/// The one place `offset`.
inline Place point(mlir::Value offset) { return Place{offset, -1, 1, 1}; }

using Places = llvm::SmallVector<Place, 4>;
using PlacesRef = llvm::ArrayRef<Place>;

/// Where elements of a value lie from which those of others follow.
struct Anchor {
  mlir::Value value;
  Places places;
};

/// Axes of the tile space.
using Axes = llvm::SmallVector<int, 4>;

/// A tile whose dims run along `axes` (ascending), or a scalar without axes.
struct Emitted {
  mlir::Value value;
  Axes axes;
};
using MaybeTile = mlir::FailureOr<Emitted>;
using MaybeValue = mlir::FailureOr<mlir::Value>;

} // namespace adze

#endif // ADZE_LIB_CONVERSION_GRAPHTOTILE_PLACES_H
