// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Checks of indices by the kernels that read them.
#ifndef ADZE_DIALECT_GRAPH_IR_CHECKS_H
#define ADZE_DIALECT_GRAPH_IR_CHECKS_H

#include "Dialect/Graph/IR/Graph.h"

namespace adze::graph {

/// An attribute of a gather or scatter: an index out of range ends the run with
/// this message, as graph.check_range with the range [-size, size) does.
inline constexpr llvm::StringLiteral messageAttr = "graph.message";
/// An attribute of a gather or scatter in a kernel: the number of the fault of
/// the launch that it raises. With index tuples it is that of the first column.
inline constexpr llvm::StringLiteral faultAttr = "graph.fault";
/// An attribute of a launch: the faults of its kernel, each a pair [nodes,
/// message].
inline constexpr llvm::StringLiteral checksAttr = "adze.checks";

/// Returns the number of faults that the op raises: one, or one for each column
/// of tuples.
inline int64_t getNumFaults(mlir::Operation *lookup) {
  return llvm::isa<GatherNDOp, ScatterNDOp>(lookup)
             ? *getConstant(getDims(lookup->getOperand(1)).back())
             : 1;
}

/// Returns the number of the fault that the op raises for an index, or with
/// tuples for an index in this column. Returns nothing if it checks nothing.
inline std::optional<int64_t> getFault(mlir::Operation *lookup,
                                       int64_t column = 0) {
  auto fault = lookup->getAttrOfType<mlir::IntegerAttr>(faultAttr);
  return fault ? std::optional(fault.getInt() + column) : std::nullopt;
}

} // namespace adze::graph

#endif // ADZE_DIALECT_GRAPH_IR_CHECKS_H
