// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Expands f32 functions by instructions of an SM.
#ifndef ADZE_LIB_TARGET_CUDA_DEVICEMATH_H
#define ADZE_LIB_TARGET_CUDA_DEVICEMATH_H

#include "mlir/IR/Operation.h"

namespace adze::cuda {

/// Replaces f32 exp, exp2, tanh and quotients y / (1 + e^x) by a few
/// instructions of an SM. Errors are at most 2 to 4 ulp, as instructions for
/// 2^x and 1/x have up to 2. An exp of a value that is at most 0 (flag `arcp`)
/// has an error below 2^-22 of 1.
///
/// Replaces exp, exp2, tanh, erf and division that have the flag `afn` by fewer
/// instructions. The relative error stays below 2^-16, for erf where the result
/// is normal in f16. An erf to which 1 is added has an error below 2^-19 of the
/// sum. Results rounded to 16 bits are therefore as accurate as those of the
/// full-precision functions.
void expandDeviceMath(mlir::Operation *root);

} // namespace adze::cuda

#endif // ADZE_LIB_TARGET_CUDA_DEVICEMATH_H
