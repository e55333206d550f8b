// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Sums of products that a warp's matrix instruction computes from registers.
#ifndef ADZE_LIB_CONVERSION_TILETOGPU_CONTRACTIONS_H
#define ADZE_LIB_CONVERSION_TILETOGPU_CONTRACTIONS_H

#include "Dialect/Tile/IR/Targets.h"
#include <optional>

namespace adze::togpu {

/// A tile, and the dims of it that consecutive reductions reduce.
struct Reduced {
  mlir::Value source;
  llvm::SmallVector<unsigned> dims;
};

/// Returns the only user of a reduction if it reduces the result in the same
/// block and way, or null.
tile::ReduceOp getNext(tile::ReduceOp reduce);
/// Returns what `last` and the reductions before it reduce that are joined with
/// the next one.
Reduced getReduced(tile::ReduceOp last,
                   llvm::function_ref<bool(tile::ReduceOp)> joinsNext);

/// Consecutive sums of a tile that is the product of two narrower ones, each
/// repeated along the dims that it does not have. The left operand has `rows`,
/// the right one has `columns`, and both have all other dims.
struct Contraction {
  struct Operand {
    mlir::Value tile;
    llvm::SmallVector<unsigned> dims; ///< of the source that its dims are
  };

  mlir::Value source;
  llvm::SmallVector<unsigned> summed; ///< dims of the source, ascending
  unsigned rows, columns;             ///< dims of the source
  Operand lhs, rhs;
  tile::TargetUnitAttr unit;
};

/// Returns the contractions of a specialised kernel, by their last reduction.
llvm::DenseMap<mlir::Operation *, Contraction>
findContractions(tile::KernelOp kernel, tile::CudaTargetAttr target);

} // namespace adze::togpu

#endif // ADZE_LIB_CONVERSION_TILETOGPU_CONTRACTIONS_H
