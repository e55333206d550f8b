// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// What kernels can do with values that ops of the graph compute.
#ifndef ADZE_LIB_DIALECT_GRAPH_TRANSFORMS_FUSION_H
#define ADZE_LIB_DIALECT_GRAPH_TRANSFORMS_FUSION_H

#include "Dialect/Graph/IR/Graph.h"

namespace adze::graph {

/// Ops that compute each element from the elements at its place, and from that.
inline bool isPointwise(mlir::Operation *op) {
  return llvm::isa<ElementwiseOpInterface, BatchNormOp, TriluOp>(op);
}

/// Ops whose accumulator tile other ops can read before it is stored.
inline bool hasEpilogue(mlir::Operation *op) {
  return llvm::isa<AttentionOp, MatmulOp, ConvOp, ConvTransposeOp, MaxPoolOp,
                   AvgPoolOp, SoftmaxOp, LogSoftmaxOp, LayerNormOp, RMSNormOp,
                   LRNOp, WinogradConvOp, WordMatmulOp, ArgMaxOp, ArgMinOp>(
             op) ||
         llvm::isa<ReduceOpInterface>(op);
}

/// Ops that read an operand element by element in any form it is computed.
inline bool takesPointwisePrologue(mlir::Operation *op) {
  return llvm::isa<SoftmaxOp, LogSoftmaxOp, LayerNormOp, RMSNormOp, ConcatOp,
                   ArgMaxOp, ArgMinOp>(op) ||
         llvm::isa<ReduceOpInterface>(op);
}

/// Whether the dims other than 1 stay as they are.
bool isUnitReshape(ReshapeOp op);

/// Pooling whose kernel has the channels along its lanes.
inline bool isChannelsLastPool(mlir::Operation *op) {
  if (auto pool = llvm::dyn_cast<MaxPoolOp>(op))
    return pool.getLayout() == Layout::NHWC;
  auto pool = llvm::dyn_cast<AvgPoolOp>(op);
  return pool && pool.getLayout() == Layout::NHWC;
}

/// Resizing whose elements a kernel computes where it wants them.
inline bool isSampling(mlir::Operation *op) {
  auto resize = llvm::dyn_cast<ResizeOp>(op);
  return resize && !resize.getRoi() && !resize.getAntialias() &&
         (resize.getMode() == ResizeMode::Nearest ||
          llvm::isa<mlir::FloatType>(
              mlir::getElementTypeOrSelf(resize.getResult())));
}

/// One value put into a tensor: where a kernel stores it.
inline bool isStore(mlir::Operation *op) {
  auto insert = llvm::dyn_cast<InsertSliceOp>(op);
  return insert && insert.getSources().size() == 1;
}

/// Hash of a cluster's body that does not see value identities, only their
/// places. Of the ops of `isFree` the attributes may be any.
unsigned hashForm(
    mlir::Block &body, llvm::function_ref<bool(mlir::Operation &)> isFree =
                           [](mlir::Operation &) { return false; });

} // namespace adze::graph

#endif // ADZE_LIB_DIALECT_GRAPH_TRANSFORMS_FUSION_H
