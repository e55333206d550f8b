// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Convolutions that one kernel makes row by row, one after the other.
#ifndef ADZE_DIALECT_GRAPH_IR_CONVCHAIN_H
#define ADZE_DIALECT_GRAPH_IR_CONVCHAIN_H

#include "Dialect/Graph/IR/Graph.h"

namespace adze::graph {

/// Whether a kernel can keep the rows of its results that another convolution's
/// windows see, and whether it can make rows from such: 2-d, channels last, of
/// known size but for the batch, dense or of one channel a group.
bool isChainable(ConvOp op);

/// Rows (dim 0) or pixels of a row (dim 1) that a window sees, of known size.
int64_t getReach(ConvOp op, unsigned dim);

/// Whether `next`, which reads what follows element by element from the result
/// of `first`, can make its rows as soon as those that it sees are there.
bool canFollow(ConvOp first, ConvOp next);

/// The convolutions of a block in order, if each but the first reads what the
/// one before it makes; else nothing.
llvm::SmallVector<ConvOp> getConvChain(mlir::Block &body);

/// How one kernel makes a chain: a program makes a band of rows of the last
/// result, from rows of the others that its windows see. Those at the border of
/// a band are made for both neighbours.
struct ChainPlan {
  int64_t rows = 0; // of a band
  double again = 0; // operations an image that are done twice
  double flops = 0; // operations an image, without those
};
ChainPlan planChain(llvm::ArrayRef<ConvOp> chain);

} // namespace adze::graph

#endif // ADZE_DIALECT_GRAPH_IR_CONVCHAIN_H
