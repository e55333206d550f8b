// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Where reshapes and transposes put elements: by digits of their indices.
#ifndef ADZE_DIALECT_GRAPH_IR_MOVE_H
#define ADZE_DIALECT_GRAPH_IR_MOVE_H

#include "Dialect/Graph/IR/Shape.h"
#include "mlir/IR/AffineMap.h"

namespace adze::graph {

/// The indices of both ends are made of the same digits: parts of dims that
/// each step keeps whole.
class Move {
public:
  /// From `start` to `end`, which is `start` seen through reshapes and
  /// transposes alone. None where a reshape cuts across dims, or sizes are not
  /// known.
  static std::optional<Move> get(mlir::Value start, mlir::Value end);
  /// By these reshapes and transposes, in order.
  static std::optional<Move> get(mlir::Value start,
                                 llvm::ArrayRef<mlir::Operation *> steps);

  /// The value that reshapes and transposes make `end` of.
  static mlir::Value findStart(mlir::Value end);

  /// Is there a reshape on the way that merges or splits dims?
  static bool takesDimsApart(mlir::Value end);

  /// The same from the end to the start.
  Move getInverse() const;

  /// From indices of the start, of which `fromSpans` says how many dims each
  /// are taken as one, to those of the end, grouped likewise. None where that
  /// takes divisions by dynamic sizes, or products of them.
  std::optional<mlir::AffineMap> getMap(llvm::ArrayRef<unsigned> fromSpans,
                                        llvm::ArrayRef<unsigned> toSpans) const;

  /// Dims at the end that can be taken as one with the last, whatever the sizes
  /// of a run are: all but the first of them are constants.
  unsigned countMerged() const;

  /// Neighbours along the last dim of the start that stay neighbours.
  int64_t getRun() const;

  /// The elements of what digits of the last dim of the start leave together:
  /// of the fastest, of the two fastest and so on, but for all of them.
  llvm::SmallVector<int64_t> getRuns() const;

  /// Runs of neighbours at the end, that `count` neighbours from the beginning
  /// of the last dim of the start become; those that lie fewer than `count`
  /// elements apart are one.
  int64_t countPieces(int64_t count) const;

private:
  using Digits = llvm::SmallVector<unsigned, 4>; // slowest first

  bool reshape(llvm::ArrayRef<mlir::AffineExpr> dims);
  void split(unsigned digit, mlir::AffineExpr outer, mlir::AffineExpr inner);

  mlir::MLIRContext *context = nullptr;
  llvm::SmallVector<mlir::AffineExpr> sizes; // of digits, none of them 1
  llvm::SmallVector<Digits> from, to;        // of dims
};

/// The dims of a value but those of size 1.
Dims getRealDims(mlir::Value value);

/// Whether an elementwise op behind a move can be done before it: its operands
/// are numbers that are the same everywhere, or as large as its result.
bool canPrecedeMove(mlir::Operation *op);

} // namespace adze::graph

#endif // ADZE_DIALECT_GRAPH_IR_MOVE_H
