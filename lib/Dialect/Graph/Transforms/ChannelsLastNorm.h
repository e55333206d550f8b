// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Normalisations of groups of channels, where channels are the last dim.
#ifndef ADZE_LIB_DIALECT_GRAPH_TRANSFORMS_CHANNELSLASTNORM_H
#define ADZE_LIB_DIALECT_GRAPH_TRANSFORMS_CHANNELSLASTNORM_H

#include "mlir/IR/Builders.h"

namespace adze::graph {

/// Emits (x - mean) / sqrt(variance + epsilon) for x = [batch, .., channels],
/// over groups of channels and all dims before these. The number of channels is
/// known.
mlir::Value createChannelsLastNorm(mlir::OpBuilder &b, mlir::Location loc,
                                   mlir::Value x, int64_t groups,
                                   llvm::APFloat epsilon);

} // namespace adze::graph

#endif // ADZE_LIB_DIALECT_GRAPH_TRANSFORMS_CHANNELSLASTNORM_H
