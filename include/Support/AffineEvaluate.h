// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
#ifndef ADZE_SUPPORT_AFFINE_EVALUATE_H
#define ADZE_SUPPORT_AFFINE_EVALUATE_H

#include "mlir/IR/AffineExpr.h"

namespace adze {

/// The value of `expr`, where `leaf` gives those of its dims and symbols. What
/// is divided by zero, at sizes no tensor has, counts as zero.
int64_t evaluateAffine(mlir::AffineExpr expr,
                       llvm::function_ref<int64_t(mlir::AffineExpr)> leaf);

} // namespace adze

#endif // ADZE_SUPPORT_AFFINE_EVALUATE_H
