// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Passes on the graph dialect.
#ifndef ADZE_DIALECT_GRAPH_TRANSFORMS_PASSES_H
#define ADZE_DIALECT_GRAPH_TRANSFORMS_PASSES_H

#include "Dialect/Graph/IR/Graph.h"
#include "Dialect/Host/IR/Host.h"
#include "Dialect/Tile/IR/Targets.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

namespace adze::graph {

/// The ops that graph-form-clusters groups.
enum class ClusterMode { Fuse, Single };

/// The module attribute of graph-probe-precision: name and work of each
/// product.
inline constexpr llvm::StringLiteral kProbedProductsAttribute =
    "graph.probed_products";

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "Dialect/Graph/Transforms/Passes.h.inc"

} // namespace adze::graph

#endif // ADZE_DIALECT_GRAPH_TRANSFORMS_PASSES_H
