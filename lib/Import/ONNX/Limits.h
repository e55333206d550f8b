// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Constraints that the definitions of ONNX state in prose only.
#ifndef ADZE_LIB_IMPORT_ONNX_LIMITS_H
#define ADZE_LIB_IMPORT_ONNX_LIMITS_H

#include "Binder.h"

namespace adze::importer {

/// Fails if an attribute, or the rank or a known element of a parameter, is
/// invalid for the operator, including operators with function bodies.
mlir::LogicalResult checkLimits(Binder &binder);

/// Fails if an operand is constant and an element is less than `least`.
mlir::LogicalResult checkElements(Binder &binder, unsigned operand,
                                  int64_t least);

} // namespace adze::importer

#endif // ADZE_LIB_IMPORT_ONNX_LIMITS_H
