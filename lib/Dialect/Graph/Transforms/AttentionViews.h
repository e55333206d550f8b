// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// How operands of attention are moved about: batch dims merged, keys
// transposed, small floats widened.
#ifndef ADZE_LIB_DIALECT_GRAPH_TRANSFORMS_ATTENTIONVIEWS_H
#define ADZE_LIB_DIALECT_GRAPH_TRANSFORMS_ATTENTIONVIEWS_H

#include "Matching.h"

namespace adze::graph {

/// A reshape that leaves the last two dims as they are.
bool isBatchReshape(ReshapeOp op);

bool isFloatCast(mlir::Operation *op);

/// The product of which `op` swaps the last two dims, if nobody else reads it.
MatmulOp getTransposedProduct(mlir::Operation *op);

Dims getBatch(mlir::Value value);

/// The value with its last two dims swapped; no op where it is swapped already,
/// also before its batch dims were merged.
mlir::Value swapLastTwo(mlir::OpBuilder &b, mlir::Value value);

/// How many dims are not 1.
int64_t countLarge(mlir::Value value);

mlir::RankedTensorType withElement(mlir::Value value, mlir::Type element);

/// What `value` is a lossless cast of, as far as elements are only moved about
/// behind it; null if it is none of a float type below 32 bits.
mlir::Value getNarrow(mlir::OpBuilder &b, mlir::Value value);

/// The cast to `type` that all readers of `value` read, and the ops before it
/// that move elements about.
CastOp findNarrowing(mlir::Value value, mlir::Type type,
                     llvm::SmallVectorImpl<mlir::Operation *> &ops);

} // namespace adze::graph

#endif // ADZE_LIB_DIALECT_GRAPH_TRANSFORMS_ATTENTIONVIEWS_H
