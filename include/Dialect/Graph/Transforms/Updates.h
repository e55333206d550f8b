// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Launches that replace elements of their operands.
#ifndef ADZE_DIALECT_GRAPH_TRANSFORMS_UPDATES_H
#define ADZE_DIALECT_GRAPH_TRANSFORMS_UPDATES_H

#include "Dialect/Graph/IR/Graph.h"
#include "Dialect/Host/IR/Host.h"

namespace adze::graph {

/// Returns true if the kernel of the launch may replace elements of the
/// operand: it is the result of a launch or the buffer of a state, and has no
/// other use.
inline bool mayReplace(host::LaunchOp launch, mlir::Value operand) {
  mlir::Operation *producer = operand.getDefiningOp();
  return llvm::isa_and_nonnull<host::LaunchOp, OpenStateOp>(producer) &&
         producer->getBlock() == launch->getBlock() && operand.hasOneUse();
}

} // namespace adze::graph

#endif // ADZE_DIALECT_GRAPH_TRANSFORMS_UPDATES_H
