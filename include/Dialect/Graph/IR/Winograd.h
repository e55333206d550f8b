// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Minimal filtering F(tile, 3): three taps at `tile` outputs by tile + 2
// multiplications, `output * ((filter * g) . (input * d))`.
#ifndef ADZE_DIALECT_GRAPH_IR_WINOGRAD_H
#define ADZE_DIALECT_GRAPH_IR_WINOGRAD_H

#include "Dialect/Tile/IR/Targets.h"
#include "mlir/IR/AffineExpr.h"
#include "llvm/ADT/SmallVector.h"
#include <cstdint>
#include <optional>

namespace adze::graph {

struct Winograd {
  using Matrix = llvm::SmallVector<llvm::SmallVector<double, 6>, 6>;
  static constexpr int64_t taps = 3;

  int64_t tile, size; // outputs; inputs and products: tile + 2
  Matrix input;       // [size][size]
  Matrix filter;      // [size][taps]
  Matrix output;      // [tile][size]

  /// How many taps a window has: matrices of the filter as it is.
  static constexpr int64_t window = taps * taps;

  static bool isTile(int64_t tile) { return tile == 2 || tile == 4; }
  /// Built from the points at which the polynomials are multiplied: 0, pairs
  /// +p, -p, and infinity.
  explicit Winograd(int64_t tile);
};

/// The sizes of a convolution that could be transformed: those of its result,
/// and the channels of its input.
struct WinogradSizes {
  int64_t batch, rows, columns, inputs, outputs;
};

/// Those of a result [batch, rows, columns, outputs] as far as they are known;
/// what is not is taken for an image of middle size. None where the channels
/// are not known or nothing is computed.
std::optional<WinogradSizes>
getWinogradSizes(llvm::ArrayRef<mlir::AffineExpr> result,
                 mlir::AffineExpr inputs);

/// How a kernel is cut into programs. A program transforms its patches with all
/// their channels into memory near its core, and multiplies them with its part
/// of the filter; so patches are transformed again for each other part.
struct WinogradPlan {
  int64_t rows = 1;    ///< Rows of patches of a program,
  int64_t columns = 1; ///< and how many of each row: all, or one block.
  int64_t depth = 1;   ///< Channels that are multiplied in one go.
  int64_t panel = 32;  ///< Adjacent channels in the packed filter.
  int64_t outputs = 1; ///< Channels whose products wait to be transformed,
  int64_t steps = 1;   ///< and how many times as many a program makes.
  double cost = 0;     ///< Cycles of a vector of 16 lanes.
};
/// The plan of least cost; small enough for the target's second-level cache.
WinogradPlan planWinograd(const WinogradSizes &sizes, int64_t tile,
                          tile::CpuTargetAttr target);
/// The cost of the same convolution as it is.
double getDirectCost(const WinogradSizes &sizes);

/// Where the cost is that of images of dynamic size: the
/// convolution as it is costs less where
/// `pixels * pixel < patches * patch + more`.
struct WinogradLimit {
  int64_t pixel, patch, more;
};
WinogradLimit getWinogradLimit(const WinogradSizes &sizes, int64_t tile);

} // namespace adze::graph

#endif // ADZE_DIALECT_GRAPH_IR_WINOGRAD_H
