// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Passes over the graph dialect.
#ifndef ADZE_DIALECT_GRAPH_TRANSFORMS_PASSES_H
#define ADZE_DIALECT_GRAPH_TRANSFORMS_PASSES_H

#include "Dialect/Graph/IR/Graph.h"
#include "Dialect/Host/IR/Host.h"
#include "Dialect/Tile/IR/Targets.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

namespace adze::graph {

/// What graph-form-clusters puts into one cluster.
enum class ClusterMode { Fuse, Single };

/// What graph-probe-precision says of each product: a name and its work.
inline constexpr llvm::StringLiteral kProbedProductsAttribute =
    "graph.probed_products";

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "Dialect/Graph/Transforms/Passes.h.inc"

} // namespace adze::graph

#endif // ADZE_DIALECT_GRAPH_TRANSFORMS_PASSES_H
