// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Attributes of loops in kernels of the reference path.
#ifndef ADZE_DIALECT_HOST_IR_PROGRAMS_H
#define ADZE_DIALECT_HOST_IR_PROGRAMS_H

#include "llvm/ADT/StringRef.h"

namespace adze::host {

/// An attribute of the outermost loop of a kernel: its iterations may run in
/// any order.
inline constexpr llvm::StringLiteral programsAttr = "adze.programs";

} // namespace adze::host

#endif // ADZE_DIALECT_HOST_IR_PROGRAMS_H
