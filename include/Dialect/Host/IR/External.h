// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Attributes of operators and overridable weights, which the program that runs
// a module provides.
#ifndef ADZE_DIALECT_HOST_IR_EXTERNAL_H
#define ADZE_DIALECT_HOST_IR_EXTERNAL_H

#include "llvm/ADT/StringRef.h"

namespace adze::host {

/// An attribute of graph.call and host.call: the call runs an operator that the
/// program registers with the run time, and `function` is the name of the
/// operator. The value is a dictionary of the two entries below.
inline constexpr llvm::StringLiteral operatorAttr = "adze.operator";
/// The attributes of the node: a dictionary of i64, f32, strings, array<i64>,
/// array<f32> and arrays of strings.
inline constexpr llvm::StringLiteral operatorAttributes = "attributes";
/// For each input of the node, the index of the operand of the call, or -1 if
/// the node omits the input.
inline constexpr llvm::StringLiteral operatorInputs = "inputs";

/// An attribute of an argument of the host program: an overridable weight. The
/// value is used unless the context has another one.
inline constexpr llvm::StringLiteral defaultAttr = "adze.default";
/// An attribute of the host.constant that assign-destinations creates for it:
/// the index of the input.
inline constexpr llvm::StringLiteral defaultOfAttr = "adze.default_of";

} // namespace adze::host

#endif // ADZE_DIALECT_HOST_IR_EXTERNAL_H
