// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Passes across levels: the host program's destinations and memory.
#ifndef ADZE_TRANSFORMS_PASSES_H
#define ADZE_TRANSFORMS_PASSES_H

#include "mlir/Pass/Pass.h"

namespace adze {
#define GEN_PASS_DECL
#include "Transforms/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "Transforms/Passes.h.inc"
} // namespace adze

#endif // ADZE_TRANSFORMS_PASSES_H
