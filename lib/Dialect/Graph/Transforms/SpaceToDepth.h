// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Which convolutions graph-space-to-depth converts.
#ifndef ADZE_LIB_DIALECT_GRAPH_TRANSFORMS_SPACETODEPTH_H
#define ADZE_LIB_DIALECT_GRAPH_TRANSFORMS_SPACETODEPTH_H

#include "Dialect/Graph/IR/Graph.h"
#include "Dialect/Tile/IR/Units.h"

namespace adze::graph {

/// Returns the channels of the input, with padding, of which the pass makes more
/// channels for this unit; 0 if it does not convert the convolution.
int64_t getShallowChannels(ConvOp op, adze::tile::TargetUnitAttr unit);

} // namespace adze::graph

#endif // ADZE_LIB_DIALECT_GRAPH_TRANSFORMS_SPACETODEPTH_H
