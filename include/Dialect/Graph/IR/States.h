// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// States: results of a function that continue arguments.
#ifndef ADZE_DIALECT_GRAPH_IR_STATES_H
#define ADZE_DIALECT_GRAPH_IR_STATES_H

#include "llvm/ADT/StringRef.h"

namespace adze::graph {

/// On a function: the list of its states (StateAttr).
inline constexpr llvm::StringLiteral statesAttr = "graph.states";

} // namespace adze::graph

#endif // ADZE_DIALECT_GRAPH_IR_STATES_H
