// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The generated definitions of the graph ops. Compiled once for each shard: the
// wrappers in the build folder define GET_OP_DEFS_K and include this file.
#include "Dialect/Graph/IR/Graph.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"

using namespace mlir;
using namespace adze::graph;

#include "Dialect/Graph/IR/GraphOps.cpp.inc"
