// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// What a kernel of the reference path says of its loops.
#ifndef ADZE_DIALECT_HOST_IR_PROGRAMS_H
#define ADZE_DIALECT_HOST_IR_PROGRAMS_H

#include "llvm/ADT/StringRef.h"

namespace adze::host {

/// Of a loop around all that a kernel does: its iterations may run in any
/// order.
inline constexpr llvm::StringLiteral programsAttr = "adze.programs";

} // namespace adze::host

#endif // ADZE_DIALECT_HOST_IR_PROGRAMS_H
