// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Minimal filtering F(tile, 3): three taps at `tile` outputs by tile + 2
// multiplications, `output * ((filter * g) . (input * d))`.
#ifndef ADZE_DIALECT_GRAPH_IR_WINOGRAD_H
#define ADZE_DIALECT_GRAPH_IR_WINOGRAD_H

#include "llvm/ADT/SmallVector.h"
#include <cstdint>

namespace adze::graph {

struct Winograd {
  using Matrix = llvm::SmallVector<llvm::SmallVector<double, 6>, 6>;
  static constexpr int64_t taps = 3;

  int64_t tile, size; // outputs; inputs and products: tile + 2
  Matrix input;       // [size][size]
  Matrix filter;      // [size][taps]
  Matrix output;      // [tile][size]

  static bool isTile(int64_t tile) { return tile == 2 || tile == 4; }
  /// Built from the points at which the polynomials are multiplied: 0, pairs
  /// +p, -p, and infinity.
  explicit Winograd(int64_t tile);
};

} // namespace adze::graph

#endif // ADZE_DIALECT_GRAPH_IR_WINOGRAD_H
