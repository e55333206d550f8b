// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Attributes for what the program that runs a module provides: operators and
// overridable weights.
#ifndef ADZE_DIALECT_HOST_IR_EXTERNAL_H
#define ADZE_DIALECT_HOST_IR_EXTERNAL_H

#include "llvm/ADT/StringRef.h"

namespace adze::host {

/// On a graph.call and a host.call: the call runs an operator that the program
/// registers with the run time, and its function is the operator's name. The
/// attribute is a dictionary of the two entries below.
inline constexpr llvm::StringLiteral operatorAttr = "adze.operator";
/// The node's attributes: a dictionary of i64, f32, strings, array<i64>,
/// array<f32> and arrays of strings.
inline constexpr llvm::StringLiteral operatorAttributes = "attributes";
/// For each input of the node, the number of the call's operand; -1 where the
/// node leaves the input out.
inline constexpr llvm::StringLiteral operatorInputs = "inputs";

/// On an argument of the host program: an overridable weight. The attribute is
/// the value that runs use unless the context has another one.
inline constexpr llvm::StringLiteral defaultAttr = "adze.default";
/// On the host.constant that assign-destinations makes of it: the number of the
/// input.
inline constexpr llvm::StringLiteral defaultOfAttr = "adze.default_of";

} // namespace adze::host

#endif // ADZE_DIALECT_HOST_IR_EXTERNAL_H
