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

/// An attribute of a kernel with a range of programs: these run in order.
inline constexpr llvm::StringLiteral orderedAttr = "adze.ordered";

/// An attribute of any loop: its iterations may run in any order, also at the
/// same time. Memory that is allocated outside of the loop is not private to an
/// iteration.
inline constexpr llvm::StringLiteral independentAttr = "adze.independent";

} // namespace adze::host

#endif // ADZE_DIALECT_HOST_IR_PROGRAMS_H
