// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Registration of the graph dialect.
#include "Dialect/Graph/IR/Graph.h"

using namespace mlir;
using namespace adze::graph;

#include "Dialect/Graph/IR/GraphDialect.cpp.inc"
#define GET_OP_CLASSES
#include "Dialect/Graph/IR/GraphOps.cpp.inc"

void GraphDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "Dialect/Graph/IR/GraphOps.cpp.inc"
      >();
}
