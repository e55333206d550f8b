// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
#ifndef ADZE_SUPPORT_AFFINE_EVALUATE_H
#define ADZE_SUPPORT_AFFINE_EVALUATE_H

#include "mlir/IR/AffineExpr.h"

namespace adze {

/// Returns the value of `expr`, where `leaf` returns those of its dims and
/// symbols. A division by zero, which occurs only for sizes that no tensor has,
/// is zero.
int64_t evaluateAffine(mlir::AffineExpr expr,
                       llvm::function_ref<int64_t(mlir::AffineExpr)> leaf);

} // namespace adze

#endif // ADZE_SUPPORT_AFFINE_EVALUATE_H
