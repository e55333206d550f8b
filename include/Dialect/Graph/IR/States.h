// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// States: function results that update the state held by an argument.
#ifndef ADZE_DIALECT_GRAPH_IR_STATES_H
#define ADZE_DIALECT_GRAPH_IR_STATES_H

#include "llvm/ADT/StringRef.h"

namespace adze::graph {

/// An attribute of a function: the list of its states (StateAttr).
inline constexpr llvm::StringLiteral statesAttr = "graph.states";

} // namespace adze::graph

#endif // ADZE_DIALECT_GRAPH_IR_STATES_H
