// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Operands and parameters of attention.
#ifndef ADZE_LIB_CONVERSION_GRAPHTOTILE_ATTENTIONPARTS_H
#define ADZE_LIB_CONVERSION_GRAPHTOTILE_ATTENTIONPARTS_H

#include "Dialect/Graph/IR/Graph.h"
#include "Dialect/Tile/IR/Targets.h"

namespace adze {

/// Separates the scales of the rows of quantized keys or values, so that they
/// are one factor of each score or weight, and not of each element.
std::pair<mlir::Value, mlir::Value> separateScales(mlir::Value operand);

/// Returns the choices of the parameter for blocks of keys: if `block` divides
/// the keys, no score is masked (hideKeys), so other choices must divide them,
/// too.
llvm::SmallVector<int64_t> getEvenKeyBlocks(int64_t keys, int64_t block);

/// Returns the default number of keys that matrix units of a GPU multiply at a
/// time. It divides the keys only if blocks that do are as efficient as any.
int64_t chooseKeysOfMatrices(tile::CudaTargetAttr target, int64_t keys);

/// Returns the number of keys, of `elements` elements, that a warp of a GPU
/// multiplies by few queries at a time.
int64_t chooseKeysOfPart(int64_t elements);

} // namespace adze

#endif // ADZE_LIB_CONVERSION_GRAPHTOTILE_ATTENTIONPARTS_H
