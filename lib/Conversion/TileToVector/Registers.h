// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The current slice of a tile in registers and in memory.
#ifndef ADZE_CONVERSION_TILETOVECTOR_REGISTERS_H
#define ADZE_CONVERSION_TILETOVECTOR_REGISTERS_H

#include "Dialect/Tile/IR/Tile.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinAttributeInterfaces.h"
#include "mlir/IR/OpDefinition.h"

namespace adze::tile {

class DimClasses;

/// Part of a class: `size` positions from `start + at`; a null start is 0.
struct Slice {
  mlir::Value start;
  int64_t at = 0, size = 0;
  bool operator==(const Slice &other) const {
    return start == other.start && at == other.at && size == other.size;
  }
};

/// The layout of the current slice of a tile in registers: row-major over
/// `counts`, where `laneDim` (-1: none) counts vectors of `lanes` elements.
struct Layout {
  llvm::SmallVector<int, 4> classes;
  llvm::SmallVector<Slice, 0> slices;
  llvm::SmallVector<int64_t, 4> counts;
  int64_t laneDim = -1, lanes = 1;
  int64_t total() const;
  /// Returns the coordinates of register `index`, in elements.
  llvm::SmallVector<int64_t> coordinates(int64_t index) const;
  /// Returns the register that holds the element at these coordinates.
  int64_t indexOf(llvm::ArrayRef<int64_t> coordinates) const;
};

struct Registers {
  Layout layout;
  llvm::SmallVector<mlir::Value, 0> values;
};

/// A memory dimension that a tile dimension runs along.
struct Digit {
  int64_t dim, size, step;
};

/// The memory that a load or store accesses. A tile dimension runs along one
/// memory dimension, along several ones after a reshape (digits, slowest
/// first), or along none.
struct Window {
  mlir::Operation *op = nullptr;
  mlir::Value memref, tile;
  llvm::SmallVector<mlir::OpFoldResult> offsets;
  llvm::SmallVector<llvm::SmallVector<Digit, 1>> dims;
  mlir::TypedAttr pad; // loads
  mlir::Value indices; // gathers: the tile of indices
  int64_t along = -1;  // gathers: the memory dimension they index

  /// Returns true if two dimensions that a class runs along have equal offsets
  /// and extents.
  bool endsAlike(int64_t dim, const Window &other, int64_t otherDim) const;
};

/// The elements of a window that are proven to be in bounds.
enum class Proof { whole, exceptDeadLanes, none };

/// A window, given by its op, and a memory dimension along which it is in
/// bounds.
using Settled = std::pair<mlir::Operation *, int64_t>;
using SettledRef = llvm::ArrayRef<Settled>;

/// The steps of a split class that are in bounds, and the memory dimensions
/// that this holds for.
struct Interior {
  int64_t begin = 0, end = 0; // positions
  llvm::SmallVector<Settled> bounded;
};

/// An interior with dynamic bounds.
struct RunInterior {
  mlir::Value begin, end;
  llvm::SmallVector<Settled> bounded;
};

/// Restores the slice of a class at the end of the scope.
class SliceScope {
public:
  SliceScope(llvm::DenseMap<int, Slice> &context, int c)
      : context(context), c(c) {
    if (auto it = context.find(c); it != context.end())
      outer = it->second;
  }
  ~SliceScope() {
    if (outer)
      context[c] = *outer;
    else
      context.erase(c);
  }

private:
  llvm::DenseMap<int, Slice> &context;
  int c;
  std::optional<Slice> outer;
};

/// The address of an element of memory.
struct Located {
  mlir::Value memory;
  llvm::SmallVector<mlir::Value> indices;
};

/// A value that is available.
struct Kept {
  Registers registers;
  llvm::SmallVector<mlir::Value, 0> matrices; // or in the matrix unit
  mlir::Value scratch;                        // or in memory
  mlir::Value groups; // or packed for the matrix unit, in groups of the depth
  llvm::SmallVector<int64_t, 0> scratchOrder;
  // The indices of its part of the memory.
  llvm::SmallVector<mlir::Value, 0> prefix;
  bool isWhole = false; // including split classes, not only the current slice
};
using Scope = llvm::DenseMap<mlir::Value, llvm::SmallVector<Kept, 0>>;
using Carried = llvm::SmallVector<mlir::Value, 0>;

/// The run-time condition for non-temporal stores, by argument and required
/// divisor of its row size.
using Streams = llvm::DenseMap<std::pair<mlir::Value, int64_t>, mlir::Value>;

/// The representation of a value that a loop or branch carries: a tile in
/// registers of this layout, in this buffer, or in the matrix unit, or a
/// scalar.
struct Handover {
  llvm::SmallVector<Layout, 0> layouts;
  llvm::SmallVector<Kept, 0> buffers;
  llvm::SmallVector<llvm::SmallVector<mlir::Type>, 0> matrices;
  bool inLoop = false;
};

/// A right operand of a dot that is copied to scratch memory in panels.
struct Staged {
  mutable DotOp dot;
  llvm::SmallVector<mlir::scf::ForOp> loops;    // around it, outermost first
  llvm::SmallVector<mlir::Operation *> sources; // ops that it is computed from
  mlir::Value scratch; // [iteration of each loop.., panel, k, column]
};

/// A dot that runs along its contracted dimension: its operands have no lanes
/// along `columns`, and the lanes along `depth` in the mask (null: all) are
/// active.
struct AlongDepth {
  int columns = -1, depth = -1;
  mlir::Value mask;
};

/// The rows of the left operand of a dot that may be out of bounds: memory
/// along the contracted dimension, or zeros, for each row; null if the tile
/// does not have the row.
struct BorderRows {
  mlir::Value operand; // null: it is read as others are
  llvm::SmallVector<mlir::Value, 0> rows;
  mlir::Value any; // true if one is in bounds; null: always true
};

/// Concatenates short vectors, a power of two of them.
mlir::Value concatenate(mlir::OpBuilder &b, mlir::Location loc,
                        llvm::ArrayRef<mlir::Value> parts);

/// Transposes the square blocks that adjacent registers hold: with r registers
/// of n * r lanes, lane b * r + j of register i becomes lane b * r + i of
/// register j, by exchanging halves, quarters and so on between pairs.
void transposeBlocks(mlir::OpBuilder &b, mlir::Location loc,
                     llvm::MutableArrayRef<mlir::Value> rows);

/// Returns the conjunction of both masks; a null mask is all lanes.
mlir::Value bothMasks(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x,
                      mlir::Value y);

/// Converts a value in memory to the type of the tile: bools are bytes in
/// memory.
mlir::Value fromMemory(mlir::OpBuilder &b, mlir::Location loc,
                       mlir::Value value, mlir::Type element);
mlir::Value toMemory(mlir::OpBuilder &b, mlir::Location loc, mlir::Value value);

struct ShuffledLoad; // Shuffled.cpp

/// The places of the lanes of a register relative to its first one: for each
/// lane, the distance along each memory dimension.
using LanePlaces = llvm::SmallVector<llvm::SmallVector<int64_t, 4>>;

/// Returns how many lanes of the register at a coordinate are inside of the
/// tile.
int64_t liveLanes(const DimClasses &classes, const Layout &layout,
                  int64_t coordinate);

/// The elements of a register in memory: indices into the physical memref, the
/// condition under which the register exists (null: always), and the mask of
/// its lanes.
struct Access {
  llvm::SmallVector<mlir::Value> indices;
  mlir::Value exists, mask;
  bool never = false; // the register does not exist
};

/// A prefetch: the distance in rows (0: the default distance), and the cache
/// level, as locality 3 (first) or 2 (second).
struct RowsAhead {
  int64_t rows = 0;
  unsigned locality = 3;
};

} // namespace adze::tile

#endif // ADZE_CONVERSION_TILETOVECTOR_REGISTERS_H
