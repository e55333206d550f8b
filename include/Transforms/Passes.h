// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Passes on the host program, and on loops and vectors of kernels.
#ifndef ADZE_TRANSFORMS_PASSES_H
#define ADZE_TRANSFORMS_PASSES_H

#include "mlir/IR/PatternMatch.h"
#include "mlir/Pass/Pass.h"

namespace adze {
#define GEN_PASS_DECL
#include "Transforms/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "Transforms/Passes.h.inc"

/// Expands sin, cos and tan on f32 in `root` into arithmetic.
void expandTurns(mlir::Operation *root);

/// Adds the patterns of math-approximate for the other functions on f32.
/// `vectorBytes` is the size of a vector register: 64 implies AVX-512, 0 is
/// unknown.
void populateMathApproximatePatterns(mlir::RewritePatternSet &patterns,
                                     int64_t vectorBytes);
} // namespace adze

#endif // ADZE_TRANSFORMS_PASSES_H
