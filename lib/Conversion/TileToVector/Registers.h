// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The current slice of a tile: where it is, in registers and in memory.
#ifndef ADZE_CONVERSION_TILETOVECTOR_REGISTERS_H
#define ADZE_CONVERSION_TILETOVECTOR_REGISTERS_H

#include "mlir/IR/BuiltinAttributeInterfaces.h"
#include "mlir/IR/OpDefinition.h"

namespace adze::tile {

/// Part of a class: `size` positions from `start + at`; a null start is 0.
struct Slice {
  mlir::Value start;
  int64_t at = 0, size = 0;
  bool operator==(const Slice &other) const {
    return start == other.start && at == other.at && size == other.size;
  }
};

/// How the current slice of a tile lies in registers: row-major over
/// `counts`, where `laneDim` (-1: none) counts vectors of `lanes` elements.
struct Layout {
  llvm::SmallVector<int, 4> classes;
  llvm::SmallVector<Slice, 0> slices;
  llvm::SmallVector<int64_t, 4> counts;
  int64_t laneDim = -1, lanes = 1;
  int64_t total() const;
  /// The place of register `index` in each dimension, in elements.
  llvm::SmallVector<int64_t> coordinates(int64_t index) const;
  /// The register that holds the element at these coordinates.
  int64_t indexOf(llvm::ArrayRef<int64_t> coordinates) const;
};

struct Registers {
  Layout layout;
  llvm::SmallVector<mlir::Value, 0> values;
};

/// One memory dimension that a tile dimension runs along.
struct Digit {
  int64_t dim, size, step;
};

/// The memory that a load or store touches. A tile dimension runs along one
/// memory dimension, or, where a reshape merged dimensions, along several
/// (digits, slowest first), or along none.
struct Window {
  mlir::Operation *op = nullptr;
  mlir::Value memref, tile;
  llvm::SmallVector<mlir::OpFoldResult> offsets;
  llvm::SmallVector<llvm::SmallVector<Digit, 1>> dims;
  mlir::TypedAttr pad; // loads
  mlir::Value indices; // gathers: the tile of indices
  int64_t along = -1;  // gathers: the memory dimension they index
};

} // namespace adze::tile

#endif // ADZE_CONVERSION_TILETOVECTOR_REGISTERS_H
