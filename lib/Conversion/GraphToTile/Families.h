// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// How kernels of each family are cut into programs and blocks. Every function
// emits the whole kernel or fails with a reason in the emitter.
#ifndef ADZE_LIB_CONVERSION_GRAPHTOTILE_FAMILIES_H
#define ADZE_LIB_CONVERSION_GRAPHTOTILE_FAMILIES_H

#include "KernelEmitter.h"

namespace adze {

/// What runs along the axes of a tile; tried in this order.
enum class Cut {
  Flat,   // neighbouring dims are taken as one where all operands allow it
  Dims,   // the last two dims as they are
  Row,    // the last dim only
  Points, // nothing: one element at a time (what is picked by index)
};

mlir::LogicalResult emitPointwise(KernelEmitter &e, Cut cut);
mlir::LogicalResult emitConcat(KernelEmitter &e, graph::ConcatOp op);
mlir::LogicalResult emitMatmul(KernelEmitter &e, graph::MatmulOp op, Cut cut);
mlir::LogicalResult emitConv(KernelEmitter &e, graph::ConvOp op, Cut cut);
mlir::LogicalResult emitPool(KernelEmitter &e, mlir::Operation *op, Cut cut);
mlir::LogicalResult emitLRN(KernelEmitter &e, graph::LRNOp op, Cut cut);
mlir::LogicalResult emitRows(KernelEmitter &e, mlir::Operation *op, Cut cut);
mlir::LogicalResult emitReduction(KernelEmitter &e, graph::ReduceOpInterface op,
                                  Cut cut);

//===--- default bindings (the cost model) --------------------------------===//

/// The largest divisor of n that is at most `target`.
int64_t largestDivisor(int64_t n, int64_t target);
/// A block for n elements: all of them if they are few, else a divisor near
/// the target, else the target. n < 0: not known.
int64_t chooseBlock(int64_t n, int64_t target);

/// The same for the dim along the lanes: whole vectors.
int64_t chooseLanes(int64_t n, int64_t target);

struct ContractionBlocks {
  int64_t m, n, k, panel;
};
/// For [m, k] x [k, n]; a size below 0 is not known.
ContractionBlocks chooseContractionBlocks(int64_t m, int64_t n, int64_t k);

/// The value of a size if it is known, else -1.
int64_t getKnown(mlir::AffineExpr size);

} // namespace adze

#endif // ADZE_LIB_CONVERSION_GRAPHTOTILE_FAMILIES_H
