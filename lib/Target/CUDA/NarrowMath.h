// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Functions of f32 for results of 16 bits.
#ifndef ADZE_LIB_TARGET_CUDA_NARROWMATH_H
#define ADZE_LIB_TARGET_CUDA_NARROWMATH_H

#include "mlir/IR/Operation.h"

namespace adze::cuda {

/// Replaces exp, tanh, erf and division of f32 that have the flag `afn` by a
/// few instructions of an SM. Their relative error stays below 2^-16 (of erf
/// where the result is normal in f16; where 1 is added to it, 2^-19 of that),
/// so that a result which is rounded to 16 bits is as good as one of the
/// functions of full precision.
void expandNarrowMath(mlir::Operation *root);

} // namespace adze::cuda

#endif // ADZE_LIB_TARGET_CUDA_NARROWMATH_H
