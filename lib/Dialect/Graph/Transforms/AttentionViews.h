// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Data movement of the operands of attention: merged batch dims, transposed
// keys, extended small floats.
#ifndef ADZE_LIB_DIALECT_GRAPH_TRANSFORMS_ATTENTIONVIEWS_H
#define ADZE_LIB_DIALECT_GRAPH_TRANSFORMS_ATTENTIONVIEWS_H

#include "Matching.h"

namespace adze::graph {

/// Returns true for a reshape that preserves the last two dims.
bool isBatchReshape(ReshapeOp op);

bool isFloatCast(mlir::Operation *op);

/// Returns the product whose last two dims `op` swaps, if it has no other use.
MatmulOp getTransposedProduct(mlir::Operation *op);

Dims getBatch(mlir::Value value);

/// Returns the value with its last two dims swapped. Creates no op if it was
/// swapped already, also before its batch dims were merged.
mlir::Value swapLastTwo(mlir::OpBuilder &b, mlir::Value value);

/// Returns the number of dims that are not 1.
int64_t countLarge(mlir::Value value);

mlir::RankedTensorType withElement(mlir::Value value, mlir::Type element);

/// Returns the operand of a lossless cast to `value` from a float type of less
/// than 32 bits, moved as `value` is after the cast, or null.
mlir::Value getNarrow(mlir::OpBuilder &b, mlir::Value value);

/// Returns the cast to `type` that all users of `value` read, and the ops
/// before it that move elements.
CastOp findNarrowing(mlir::Value value, mlir::Type type,
                     llvm::SmallVectorImpl<mlir::Operation *> &ops);

} // namespace adze::graph

#endif // ADZE_LIB_DIALECT_GRAPH_TRANSFORMS_ATTENTIONVIEWS_H
