// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Tiles in the accumulator layout of a warpgroup's matrix instruction.
#ifndef ADZE_LIB_CONVERSION_TILETOGPU_FRAGMENTS_H
#define ADZE_LIB_CONVERSION_TILETOGPU_FRAGMENTS_H

#include "DeviceBuilder.h"
#include "KernelLowering.h"

namespace adze::togpu {

/// Computes tiles of the shape of a product, and tiles broadcast to it, element
/// by element. A thread holds pairs of adjacent elements of a row: of row `row`
/// and of row + 8 (`half` 0 and 1), at the columns column + 8 * `group`.
class Fragments {
public:
  using Pair = std::array<mlir::Value, 2>;

  /// The layout of results over rows and columns.
  struct Form {
    int64_t imageColumns; ///< of a block of an image that the rows are
    bool transposed;      ///< results are [columns, rows]
    /// True if all results are rounded to 16 bits, so that functions may be
    /// approximated to that precision.
    bool narrow;
  };

  /// `frame` has the scalars and views at the insertion point of the builder.
  Fragments(DeviceBuilder &d, const KernelFrame &frame, const Form &form)
      : d(d), frame(frame), form(form) {}

  /// Sets the position of the thread: indices in the tile.
  void setPlace(mlir::Value row, mlir::Value column);
  /// Sets a thread's elements of a tile that an instruction or a loop computes.
  void setRoot(mlir::Value tile, llvm::ArrayRef<mlir::Value> elements);
  /// Sets the values of a thread's two rows.
  void setRows(mlir::Value tile, const Pair &rows) { rowRoots[tile] = rows; }

  /// Sets the elements of a select of the given number of groups. Where the
  /// bounds of a comparison say that it holds for the rows of the warp and all
  /// columns, nothing is selected. Without such bounds the elements are
  /// computed on demand.
  void select(mlir::arith::SelectOp op, unsigned groups);
  /// Reduces along the columns of the given number of groups: over the thread's
  /// elements, then over the four threads that share its rows.
  void reduce(tile::ReduceOp op, unsigned groups);
  /// Returns the values of a tile in the two rows of the thread.
  Pair evaluateRows(mlir::Value tile);
  Pair evaluate(mlir::Value tile, unsigned half, unsigned group) {
    return evaluate(tile, getAxes(tile), half, group);
  }
  /// Stores a pair from registers; elements out of bounds are dropped.
  void store(tile::StoreOp op, unsigned half, unsigned group);

private:
  /// Rows of the product, or the two dims of the image block that they flatten.
  enum class Axis { Row, ImageRow, ImageColumn, Column };
  using TileAxes = llvm::SmallVector<Axis, 3>;
  TileAxes getAxes(mlir::Value result) const;
  /// Returns the axes of the source of a broadcast.
  static TileAxes getSourceAxes(tile::BroadcastOp op, const TileAxes &axes);
  /// An element of a window in memory: its indices, and the condition that it
  /// is in bounds (null: always).
  struct Access {
    llvm::SmallVector<mlir::Value> indices;
    mlir::Value inBounds;
  };

  /// Returns the least and the greatest element of an integer tile in the rows
  /// of the thread and in all columns.
  std::optional<Pair> getBounds(mlir::Value tile, const TileAxes &axes);
  /// Returns a condition, equal in all threads of the warp, that is true only
  /// if all their elements of the tile are; null if none is known.
  mlir::Value getUniform(mlir::Value condition, const TileAxes &axes);
  Pair evaluate(mlir::Value tile, TileAxes axes, unsigned half, unsigned group);
  Pair compute(mlir::Value tile, const TileAxes &axes, unsigned half,
               unsigned group);
  Pair computeElementwise(mlir::Operation *op, const TileAxes &axes,
                          unsigned half, unsigned group);
  Pair load(tile::LoadOp op, const TileAxes &axes, unsigned half,
            unsigned group);
  mlir::Value getPosition(Axis axis, unsigned half, unsigned group,
                          unsigned lane);
  template <typename Op>
  Access getAccess(Op op, const TileAxes &axes, mlir::RankedTensorType type,
                   unsigned half, unsigned group, unsigned lane);
  template <typename Op>
  bool isPairInMemory(Op op, const TileAxes &axes);
  mlir::Value getPointer(const MemView &view, const Access &access);
  mlir::Value scalar(mlir::OpFoldResult value);

  DeviceBuilder &d;
  const KernelFrame &frame;
  Form form;
  mlir::Value row, column;
  llvm::DenseMap<mlir::Value, llvm::SmallVector<mlir::Value>> roots;
  llvm::DenseMap<mlir::Value, Pair> rowRoots; ///< by half
  /// By tile, half and group; -1 where the tile has no such axis.
  llvm::DenseMap<std::pair<mlir::Value, std::pair<int, int>>, Pair> known;
};

} // namespace adze::togpu

#endif // ADZE_LIB_CONVERSION_TILETOGPU_FRAGMENTS_H
