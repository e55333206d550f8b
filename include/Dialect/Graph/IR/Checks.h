// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Checks of indices by the kernels that read them.
#ifndef ADZE_DIALECT_GRAPH_IR_CHECKS_H
#define ADZE_DIALECT_GRAPH_IR_CHECKS_H

#include "Dialect/Graph/IR/Graph.h"

namespace adze::graph {

/// On a look-up: an index that is out of range ends the run with this message,
/// as graph.check_range with the range [-size, size) does.
inline constexpr llvm::StringLiteral messageAttr = "graph.message";
/// On a look-up in a kernel: the number of the launch's fault that it raises.
/// Of one by tuples it is that of the first column.
inline constexpr llvm::StringLiteral faultAttr = "graph.fault";
/// On a launch: what its kernel raises, a pair [nodes, message] a fault.
inline constexpr llvm::StringLiteral checksAttr = "adze.checks";

/// Returns how many faults a look-up raises: by tuples, one a column.
inline int64_t getNumFaults(mlir::Operation *lookup) {
  return llvm::isa<GatherNDOp, ScatterNDOp>(lookup)
             ? *getConstant(getDims(lookup->getOperand(1)).back())
             : 1;
}

/// Returns the number of the fault that a look-up raises for an index, with
/// tuples for one in this column; none if it checks nothing.
inline std::optional<int64_t> getFault(mlir::Operation *lookup,
                                       int64_t column = 0) {
  auto fault = lookup->getAttrOfType<mlir::IntegerAttr>(faultAttr);
  return fault ? std::optional(fault.getInt() + column) : std::nullopt;
}

} // namespace adze::graph

#endif // ADZE_DIALECT_GRAPH_IR_CHECKS_H
