// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Normalisations of groups of channels where these are the last dim.
#ifndef ADZE_LIB_DIALECT_GRAPH_TRANSFORMS_CHANNELSLASTNORM_H
#define ADZE_LIB_DIALECT_GRAPH_TRANSFORMS_CHANNELSLASTNORM_H

#include "mlir/IR/Builders.h"

namespace adze::graph {

/// (x - mean) / sqrt(variance + epsilon) of x = [batch, .., channels], over
/// groups of channels and all that is before these. The channels are known.
mlir::Value createChannelsLastNorm(mlir::OpBuilder &b, mlir::Location loc,
                                   mlir::Value x, int64_t groups,
                                   llvm::APFloat epsilon);

} // namespace adze::graph

#endif // ADZE_LIB_DIALECT_GRAPH_TRANSFORMS_CHANNELSLASTNORM_H
