// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The current slice of a tile: where it is, in registers and in memory.
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

  /// Do dimensions that one class runs along begin and end with it alike?
  bool endsAlike(int64_t dim, const Window &other, int64_t otherDim) const;
};

/// Which elements of a window are in bounds for sure.
enum class Proof { whole, exceptDeadLanes, none };

/// A window, by its op, and a memory dimension along which it lies inside.
using Settled = std::pair<mlir::Operation *, int64_t>;
using SettledRef = llvm::ArrayRef<Settled>;

/// Steps of a split class that stay in bounds, and of which memory dimensions.
struct Interior {
  int64_t begin = 0, end = 0; // positions
  llvm::SmallVector<Settled> bounded;
};

/// The same, where the number is dynamic.
struct RunInterior {
  mlir::Value begin, end;
  llvm::SmallVector<Settled> bounded;
};

/// Puts the slice of a class back at the end.
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

/// An element of memory.
struct Located {
  mlir::Value memory;
  llvm::SmallVector<mlir::Value> indices;
};

/// A value that is at hand.
struct Kept {
  Registers registers;
  llvm::SmallVector<mlir::Value, 0> matrices; // or in the matrix unit
  mlir::Value scratch;                        // or in memory
  llvm::SmallVector<int64_t, 0> scratchOrder;
  llvm::SmallVector<mlir::Value, 0> prefix; // which part of the scratch
  bool isWhole = false; // of split classes too, not the current slice only
};
using Scope = llvm::DenseMap<mlir::Value, llvm::SmallVector<Kept, 0>>;
using Carried = llvm::SmallVector<mlir::Value, 0>;

/// By argument, and what its rows have to be multiples of: whether stores are
/// non-temporal.
using Streams = llvm::DenseMap<std::pair<mlir::Value, int64_t>, mlir::Value>;

/// How a loop or branch hands each of its values over: a tile in registers
/// of this layout, in this buffer, or in the matrix unit; a scalar as it is.
struct Handover {
  llvm::SmallVector<Layout, 0> layouts;
  llvm::SmallVector<Kept, 0> buffers;
  llvm::SmallVector<llvm::SmallVector<mlir::Type>, 0> matrices;
  bool inLoop = false;
};

/// A right operand of a dot that is copied to scratch in panels.
struct Staged {
  mutable DotOp dot;
  llvm::SmallVector<mlir::scf::ForOp> loops;    // around it, outermost first
  llvm::SmallVector<mlir::Operation *> sources; // what it is computed from
  mlir::Value scratch; // [an iteration of each loop.., panel, k, column]
};

/// A dot that runs along its depth: in its operands no lanes lie along
/// `columns`, and of the lanes along `depth` those of the mask (null: all) take
/// part.
struct AlongDepth {
  int columns = -1, depth = -1;
  mlir::Value mask;
};

/// The rows of a dot's left operand that may be outside of memory, each as
/// memory along the depth, or zeros; null where the tile has no such row.
struct BorderRows {
  mlir::Value operand; // null: it is read as any other
  llvm::SmallVector<mlir::Value, 0> rows;
  mlir::Value any; // is one inside? Null: for sure
};

/// Short vectors, a power of two of them, one after the other.
mlir::Value concatenate(mlir::OpBuilder &b, mlir::Location loc,
                        llvm::ArrayRef<mlir::Value> parts);

/// How many lanes of the register at `coordinate` lie inside the tile.
int64_t liveLanes(const class DimClasses &classes, const Layout &layout,
                  int64_t coordinate);

/// The lanes of both masks; a null one is all lanes.
mlir::Value bothMasks(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x,
                      mlir::Value y);

/// Bools are bytes in memory.
mlir::Value fromMemory(mlir::OpBuilder &b, mlir::Location loc,
                       mlir::Value value, mlir::Type element);
mlir::Value toMemory(mlir::OpBuilder &b, mlir::Location loc, mlir::Value value);

struct ShuffledLoad; // Shuffled.cpp

/// Where the lanes of a register lie in memory, beside the first of them: by
/// lane, how much further along each memory dimension.
using LanePlaces = llvm::SmallVector<llvm::SmallVector<int64_t, 4>>;

/// How many lanes of the register at a coordinate lie inside the tile.
int64_t liveLanes(const DimClasses &classes, const Layout &layout,
                  int64_t coordinate);

/// Where one register lies: indices into the physical memref, the condition
/// under which a point of it exists (null: always), the mask of its lanes.
struct Place {
  llvm::SmallVector<mlir::Value> indices;
  mlir::Value exists, mask;
  bool never = false; // no point of it exists
};

/// Memory to ask for: that of so many rows on (0: at the usual distance), for
/// the first level of cache (3) or the second one (2).
struct RowsAhead {
  int64_t rows = 0;
  unsigned locality = 3;
};

} // namespace adze::tile

#endif // ADZE_CONVERSION_TILETOVECTOR_REGISTERS_H
