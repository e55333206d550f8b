// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Expands f32 functions whose results are rounded to 16 bits.
#ifndef ADZE_LIB_TARGET_CUDA_NARROWMATH_H
#define ADZE_LIB_TARGET_CUDA_NARROWMATH_H

#include "mlir/IR/Operation.h"

namespace adze::cuda {

/// Replaces f32 exp, tanh, erf and division that have the flag `afn` by a few
/// instructions of an SM. The relative error stays below 2^-16, for erf where
/// the result is normal in f16. An erf to which 1 is added has an error below
/// 2^-19 of the sum. Results rounded to 16 bits are therefore as accurate as
/// those of the full-precision functions.
void expandNarrowMath(mlir::Operation *root);

} // namespace adze::cuda

#endif // ADZE_LIB_TARGET_CUDA_NARROWMATH_H
