// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The options of an attempt to emit a kernel.
#ifndef ADZE_LIB_CONVERSION_GRAPHTOTILE_EMITTERCHOICES_H
#define ADZE_LIB_CONVERSION_GRAPHTOTILE_EMITTERCHOICES_H

#include "Dialect/Tile/IR/Targets.h"

namespace adze {

/// The numbers of rows that a kernel computes: more than `above`, and at most
/// `most` if that is given. A kernel with versions has no programs for the
/// numbers of another version.
struct RowVersion {
  int64_t above = 0;
  std::optional<int64_t> most;
  std::optional<int64_t> usual; ///< what cost models assume
  /// What the bounds are for, the number of rows or the length of the rows of a
  /// softmax: the same of all versions, or null for a kernel without other
  /// versions.
  mlir::AffineExpr rows = {};

  bool isAll() const { return !above && !most; }
  /// Returns true for the version of the least numbers of rows, whose time is
  /// that of reading the right operand.
  bool isFew() const { return !above && most; }
};

struct EmitterChoices {
  /// No choice may depend on the number of rows.
  bool batchInvariant = false;
  /// Blocks may end at dynamic positions.
  bool tilesEvenly = true;
  /// Positions along merged dims may be split by divisions.
  bool splitsPoints = false;
  /// The numbers of rows of the kernel.
  RowVersion version;
  /// The target CPU; for a GPU kernel, a typical one.
  tile::CpuTargetAttr target;
  /// The first target GPU, or null for a CPU kernel.
  tile::CudaTargetAttr gpu;
};

} // namespace adze

#endif // ADZE_LIB_CONVERSION_GRAPHTOTILE_EMITTERCHOICES_H
