// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Elements that are selected by index.
#ifndef ADZE_LIB_CONVERSION_GRAPHTOTILE_LOOKUPS_H
#define ADZE_LIB_CONVERSION_GRAPHTOTILE_LOOKUPS_H

#include "Dialect/Graph/IR/Graph.h"
#include "DimRanges.h"

namespace adze {

class KernelEmitter;

/// Emits elements of memory whose positions along dim `along` are those of its
/// range plus `positions`.
MaybeTile emitGathered(KernelEmitter &e, mlir::Value memory, RangesRef ranges,
                       unsigned along, const Emitted &positions,
                       llvm::ArrayRef<int> axes);

/// Emits the position in [0, extent) that one element of the indices of a
/// gather or scatter selects, and its check. For index tuples, `column` is the
/// element of the tuple.
MaybeValue emitIndex(KernelEmitter &e, mlir::Operation *lookup,
                     mlir::Value indices, RangesRef ranges, mlir::Value extent,
                     int64_t column = 0);

/// Returns a view of memory in which `count` dims from `first` on are merged.
mlir::Value mergeDims(KernelEmitter &e, mlir::Value memory, int64_t first,
                      int64_t count);
/// Returns positions, of type `index`, of indices that count from the end if
/// they are negative.
Emitted countFromEnd(KernelEmitter &e, const Emitted &indices,
                     mlir::Value extent);
/// Returns the positions in [0, extent) that are nearest to these, which the
/// check of the lookup may have rejected.
Emitted clampPositions(KernelEmitter &e, mlir::Operation *lookup,
                       const Emitted &positions, mlir::Value extent);

/// Emits a scatter whose indices select single elements, or slices (GPUs).
mlir::LogicalResult emitElementScatter(KernelEmitter &e, mlir::Operation *op);

/// Emits non-maximum suppression (GPUs).
mlir::LogicalResult emitBoxSelection(KernelEmitter &e, graph::SelectBoxesOp op);

/// Emits interpolated pooling over regions of interest (GPUs).
mlir::LogicalResult emitRoiAlign(KernelEmitter &e, graph::RoiAlignOp op);

} // namespace adze

#endif // ADZE_LIB_CONVERSION_GRAPHTOTILE_LOOKUPS_H
