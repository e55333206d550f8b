// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Winograd's minimal filtering F(tile, 3): three taps for `tile` outputs with
// tile + 2 multiplications, `output * ((filter * g) . (input * d))`.
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

  /// The number of taps of a window, which is that of matrices of the
  /// untransformed filter.
  static constexpr int64_t window = taps * taps;

  static bool isTile(int64_t tile) { return tile == 2 || tile == 4; }
  /// Creates the matrices from the points at which the polynomials are
  /// multiplied: 0, pairs +p, -p, and infinity.
  explicit Winograd(int64_t tile);
};

/// The sizes of a convolution that may be transformed: those of its result, and
/// the input channels.
struct WinogradSizes {
  int64_t batch, rows, columns, inputs, outputs;
  /// The bytes of an element of a transformed patch, and of the filter.
  int64_t patchBytes = 4, filterBytes = 4;
  /// The input channels that an instruction multiplies in each lane.
  int64_t group = 1;
};

/// Returns the sizes for an image [.., inputs] and a result [batch, rows,
/// columns, outputs]; unknown ones are assumed to be those of a medium image.
/// Patches of narrow elements are narrow if a vector unit of `target` (may be
/// null) multiplies them, else f32. Returns nothing if the channels are unknown
/// or not in whole groups of the unit, or the result is empty.
std::optional<WinogradSizes> getWinogradSizes(mlir::Value input,
                                              mlir::Value result,
                                              tile::CpuTargetAttr target);

/// The tiling of a kernel into programs. A program transforms its patches with
/// all channels into memory near its core, and multiplies them by its part of
/// the filter; so patches are transformed again for each other part.
struct WinogradPlan {
  int64_t rows = 1;    ///< Rows of patches of a program,
  int64_t columns = 1; ///< and the patches of each row: all, or one block.
  int64_t depth = 1;   ///< Channels that are multiplied at once.
  int64_t panel = 32;  ///< Adjacent channels in the packed filter.
  /// Channels whose products are kept until they are transformed,
  int64_t outputs = 1;
  int64_t steps = 1; ///< and the number of such groups of a program.
  double cost = 0;   ///< Cycles for vectors of 16 lanes.
};
/// Returns the plan of least cost that fits into the second-level cache of the
/// target.
WinogradPlan planWinograd(const WinogradSizes &sizes, int64_t tile,
                          tile::CpuTargetAttr target);
/// Returns the cost of direct convolution.
double getDirectCost(const WinogradSizes &sizes);

/// The break-even point for images of dynamic size: direct convolution costs
/// less if `pixels * pixel < patches * patch + more`.
struct WinogradLimit {
  int64_t pixel, patch, more;
};
WinogradLimit getWinogradLimit(const WinogradSizes &sizes, int64_t tile);

} // namespace adze::graph

#endif // ADZE_DIALECT_GRAPH_IR_WINOGRAD_H
