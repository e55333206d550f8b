// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Simplifies roundings and conversions of clamped f32 numbers.
#ifndef ADZE_LIB_TARGET_CUDA_CLAMPEDMATH_H
#define ADZE_LIB_TARGET_CUDA_CLAMPEDMATH_H

#include "mlir/IR/Operation.h"

namespace adze::cuda {

/// Replaces conversions that an SM executes at a sixteenth of its usual rate,
/// where the bounds of a number permit it, as in quantization: f32 to i64 by
/// f32 to i32, and math.roundeven by additions. Those don't keep the sign of a
/// zero, which a clamped number does not need.
void simplifyClampedMath(mlir::Operation *root);

} // namespace adze::cuda

#endif // ADZE_LIB_TARGET_CUDA_CLAMPEDMATH_H
