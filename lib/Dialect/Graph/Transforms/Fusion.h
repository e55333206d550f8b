// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Properties of graph ops that determine their fusion into kernels.
#ifndef ADZE_LIB_DIALECT_GRAPH_TRANSFORMS_FUSION_H
#define ADZE_LIB_DIALECT_GRAPH_TRANSFORMS_FUSION_H

#include "Dialect/Graph/IR/Graph.h"

namespace adze::graph {

/// Returns true for ops that compute each element from the elements, and the
/// index, at its position.
inline bool isPointwise(mlir::Operation *op) {
  return llvm::isa<ElementwiseOpInterface, BatchNormOp, TriluOp>(op);
}

/// Returns true for ops whose accumulator tile other ops can read before it is
/// stored.
inline bool hasEpilogue(mlir::Operation *op) {
  return llvm::isa<AttentionOp, MatmulOp, ConvOp, ConvTransposeOp, MaxPoolOp,
                   AvgPoolOp, SoftmaxOp, LogSoftmaxOp, LayerNormOp, RMSNormOp,
                   LRNOp, WinogradConvOp, WinogradOutputOp, WordMatmulOp,
                   BlockMatmulOp, ArgMaxOp, ArgMinOp>(op) ||
         llvm::isa<ReduceOpInterface>(op);
}

/// Returns true for ops that read elements of an operand computed on demand.
inline bool takesPointwisePrologue(mlir::Operation *op) {
  return llvm::isa<SoftmaxOp, LogSoftmaxOp, LayerNormOp, RMSNormOp, ConcatOp,
                   ArgMaxOp, ArgMinOp>(op) ||
         llvm::isa<ReduceOpInterface>(op);
}

/// Returns true if the dims other than 1 do not change.
bool isUnitReshape(ReshapeOp op);

/// Returns true for pooling whose kernel has the channels along its lanes.
inline bool isChannelsLastPool(mlir::Operation *op) {
  if (auto pool = llvm::dyn_cast<MaxPoolOp>(op))
    return pool.getLayout() == Layout::NHWC;
  auto pool = llvm::dyn_cast<AvgPoolOp>(op);
  return pool && pool.getLayout() == Layout::NHWC;
}

/// Returns true for resizing whose elements a kernel computes on demand.
inline bool isSampling(mlir::Operation *op) {
  auto resize = llvm::dyn_cast<ResizeOp>(op);
  return resize && !resize.getRoi() && !resize.getAntialias() &&
         (resize.getMode() == ResizeMode::Nearest ||
          llvm::isa<mlir::FloatType>(
              mlir::getElementTypeOrSelf(resize.getResult())));
}

/// Returns true for the insertion of one value into a tensor, which a kernel
/// stores.
inline bool isStore(mlir::Operation *op) {
  auto insert = llvm::dyn_cast<InsertSliceOp>(op);
  return insert && insert.getSources().size() == 1;
}

/// Returns a hash of the body of a cluster that depends on the positions of
/// values, not their identities. Attributes of ops for which `isFree` is true
/// are ignored.
unsigned hashForm(
    mlir::Block &body, llvm::function_ref<bool(mlir::Operation &)> isFree =
                           [](mlir::Operation &) { return false; });

} // namespace adze::graph

#endif // ADZE_LIB_DIALECT_GRAPH_TRANSFORMS_FUSION_H
