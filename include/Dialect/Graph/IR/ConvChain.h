// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Chains of convolutions that one kernel computes row by row.
#ifndef ADZE_DIALECT_GRAPH_IR_CONVCHAIN_H
#define ADZE_DIALECT_GRAPH_IR_CONVCHAIN_H

#include "Dialect/Graph/IR/Graph.h"

namespace adze::graph {

/// Returns true if a kernel can compute the convolution row by row, as an
/// element of a chain: 2-D, channels last, of known sizes except the batch,
/// dense or depthwise.
bool isChainable(ConvOp op);

/// Returns the rows (dim 0) or pixels of a row (dim 1) that a window covers.
int64_t getReach(ConvOp op, unsigned dim);

/// Returns true if `next`, which reads elementwise results of `first`, can
/// compute a row as soon as the rows of its windows are available.
bool canFollow(ConvOp first, ConvOp next);

/// Returns the convolutions of a block in order, if each but the first reads
/// the result of the previous one, or nothing.
llvm::SmallVector<ConvOp> getConvChain(mlir::Block &body);

/// The plan of a chain: a program computes a band of rows of the last result
/// from the rows of the others that its windows cover. Rows of the halo are
/// computed by both adjacent bands.
struct ChainPlan {
  int64_t rows = 0; // of a band
  double again = 0; // recomputed operations for each image
  double flops = 0; // other operations for each image
};
ChainPlan planChain(llvm::ArrayRef<ConvOp> chain);

} // namespace adze::graph

#endif // ADZE_DIALECT_GRAPH_IR_CONVCHAIN_H
