// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// What ONNX's definitions say of operators in words only.
#ifndef ADZE_LIB_IMPORT_ONNX_LIMITS_H
#define ADZE_LIB_IMPORT_ONNX_LIMITS_H

#include "Binder.h"

namespace adze::importer {

/// Fails where an attribute, or the rank or the known elements of a parameter,
/// are none that the operator takes: also of those that ONNX's bodies stand
/// for.
mlir::LogicalResult checkLimits(Binder &binder);

/// Fails if an operand is constant and an element is less than `least`.
mlir::LogicalResult checkElements(Binder &binder, unsigned operand,
                                  int64_t least);

} // namespace adze::importer

#endif // ADZE_LIB_IMPORT_ONNX_LIMITS_H
