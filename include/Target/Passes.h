// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Passes that depend on the tables of all targets.
#ifndef ADZE_TARGET_PASSES_H
#define ADZE_TARGET_PASSES_H

#include "Dialect/Tile/IR/Targets.h"
#include "mlir/Pass/Pass.h"

namespace adze {
#define GEN_PASS_DECL
#include "Target/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "Target/Passes.h.inc"
} // namespace adze

#endif // ADZE_TARGET_PASSES_H
