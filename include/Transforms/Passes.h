// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Passes across levels: the host program's destinations and memory.
#ifndef ADZE_TRANSFORMS_PASSES_H
#define ADZE_TRANSFORMS_PASSES_H

#include "mlir/IR/PatternMatch.h"
#include "mlir/Pass/Pass.h"

namespace adze {
#define GEN_PASS_DECL
#include "Transforms/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "Transforms/Passes.h.inc"

/// Expands sin, cos and tan of f32 below `root` into arithmetic.
void expandTurns(mlir::Operation *root);

/// Adds the patterns of math-approximate for the other functions of f32.
/// `vectorBytes`: of a vector register; 64 stands for AVX-512, 0 for unknown.
void populateMathApproximatePatterns(mlir::RewritePatternSet &patterns,
                                     int64_t vectorBytes);
} // namespace adze

#endif // ADZE_TRANSFORMS_PASSES_H
