// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The mapping of elements by reshapes and transposes, in terms of digits of
// their indices.
#ifndef ADZE_DIALECT_GRAPH_IR_MOVE_H
#define ADZE_DIALECT_GRAPH_IR_MOVE_H

#include "Dialect/Graph/IR/Shape.h"
#include "mlir/IR/AffineMap.h"

namespace adze::graph {

/// A mapping between the indices of two values, which consist of the same
/// digits: parts of dims that each step preserves.
class Move {
public:
  /// Returns the mapping from `start` to `end`, which is `start` after reshapes
  /// and transposes only. Returns nothing if a reshape crosses dims, or if
  /// sizes are unknown.
  static std::optional<Move> get(mlir::Value start, mlir::Value end);
  /// Returns the mapping by these reshapes and transposes, in order.
  static std::optional<Move> get(mlir::Value start,
                                 llvm::ArrayRef<mlir::Operation *> steps);

  /// Returns the value that reshapes and transposes to `end` start from.
  static mlir::Value findStart(mlir::Value end);

  /// Returns true if a reshape on the way merges or splits dims.
  static bool takesDimsApart(mlir::Value end);

  /// Returns the inverse mapping.
  Move getInverse() const;

  /// Returns a map from indices of the start, in which `fromSpans` states how
  /// many dims each index merges, to those of the end, merged likewise. Returns
  /// nothing if it requires divisions by, or products of, dynamic sizes.
  std::optional<mlir::AffineMap> getMap(llvm::ArrayRef<unsigned> fromSpans,
                                        llvm::ArrayRef<unsigned> toSpans) const;

  /// Returns the number of trailing dims of the end that can be merged for all
  /// sizes: all but the first of them are constants.
  unsigned countMerged() const;

  /// Returns the number of elements along the last dim of the start that stay
  /// adjacent.
  int64_t getRun() const;

  /// Returns the sizes of runs of elements that the digits of the last dim of
  /// the start keep together: that of the fastest digit, of the two fastest and
  /// so on, without that of all.
  llvm::SmallVector<int64_t> getRuns() const;

  /// Returns the number of contiguous runs at the end that the first `count`
  /// elements of the last dim of the start become; runs that are fewer than
  /// `count` elements apart count as one.
  int64_t countPieces(int64_t count) const;

private:
  using Digits = llvm::SmallVector<unsigned, 4>; // slowest first

  bool reshape(llvm::ArrayRef<mlir::AffineExpr> dims);
  void split(unsigned digit, mlir::AffineExpr outer, mlir::AffineExpr inner);

  mlir::MLIRContext *context = nullptr;
  llvm::SmallVector<mlir::AffineExpr> sizes; // of digits, none of them 1
  llvm::SmallVector<Digits> from, to;        // of dims
};

/// Returns the dims of a value that are not of size 1.
Dims getRealDims(mlir::Value value);

/// Returns true if an elementwise op after a move can be applied before it: its
/// operands are splats, or have the size of its result.
bool canPrecedeMove(mlir::Operation *op);

} // namespace adze::graph

#endif // ADZE_DIALECT_GRAPH_IR_MOVE_H
