// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The conversions between levels.
#ifndef ADZE_CONVERSION_PASSES_H
#define ADZE_CONVERSION_PASSES_H

#include "mlir/Pass/Pass.h"

namespace adze {
#define GEN_PASS_DECL
#include "Conversion/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "Conversion/Passes.h.inc"
} // namespace adze

#endif // ADZE_CONVERSION_PASSES_H
