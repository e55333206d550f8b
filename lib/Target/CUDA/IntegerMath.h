// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Expands functions of integers.
#ifndef ADZE_LIB_TARGET_CUDA_INTEGERMATH_H
#define ADZE_LIB_TARGET_CUDA_INTEGERMATH_H

#include "mlir/IR/Operation.h"

namespace adze::cuda {

/// Replaces absolute values and powers of integers by arithmetic, as libdevice
/// has functions of floats only.
void expandIntegerMath(mlir::Operation *root);

} // namespace adze::cuda

#endif // ADZE_LIB_TARGET_CUDA_INTEGERMATH_H
