// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The graph dialect: tensor algebra, ONNX's meaning in a small closed set.
#ifndef ADZE_DIALECT_GRAPH_IR_GRAPHOPS
#define ADZE_DIALECT_GRAPH_IR_GRAPHOPS

include "Dialect/Graph/IR/GraphAttention.td"
include "Dialect/Graph/IR/GraphAttrs.td"
include "Dialect/Graph/IR/GraphBlocks.td"
include "Dialect/Graph/IR/GraphCluster.td"
include "Dialect/Graph/IR/GraphContraction.td"
include "Dialect/Graph/IR/GraphControl.td"
include "Dialect/Graph/IR/GraphData.td"
include "Dialect/Graph/IR/GraphElementwise.td"
include "Dialect/Graph/IR/GraphLookup.td"
include "Dialect/Graph/IR/GraphNormalization.td"
include "Dialect/Graph/IR/GraphPooling.td"
include "Dialect/Graph/IR/GraphRecurrent.td"
include "Dialect/Graph/IR/GraphReduction.td"
include "Dialect/Graph/IR/GraphRegion.td"
include "Dialect/Graph/IR/GraphStates.td"
include "Dialect/Graph/IR/GraphTypes.td"
include "Dialect/Graph/IR/GraphWinograd.td"

#endif // ADZE_DIALECT_GRAPH_IR_GRAPHOPS
