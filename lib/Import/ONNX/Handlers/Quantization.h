// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Common parts of quantised operators.
#ifndef ADZE_LIB_IMPORT_ONNX_HANDLERS_QUANTIZATION_H
#define ADZE_LIB_IMPORT_ONNX_HANDLERS_QUANTIZATION_H

#include "../Binder.h"

namespace adze::importer {

/// Implements numpy.matmul (Contraction.cpp).
mlir::Value buildMatmul(Binder &b, mlir::Value lhs, mlir::Value rhs);

/// Creates the product of (lhs - zero of lhs) and (rhs - zero of rhs) in i32;
/// zero points have one element for each row and column, or are null.
mlir::Value buildIntegerMatmul(Binder &b, mlir::Value lhs, mlir::Value lhsZero,
                               mlir::Value rhs, mlir::Value rhsZero);

/// Repeats each number `block` times along `axis`, cropped to the size of `x`
/// there.
mlir::Value repeatBlocks(Binder &b, mlir::Value numbers, mlir::Value x,
                         int64_t axis, int64_t block);

/// Computes round(scaled) + zero, clamped to `to`; `zero` may be null.
mlir::Value buildRequantize(Binder &b, mlir::Value scaled, mlir::Value zero,
                            mlir::Type to);

/// A quantized operand in the form that CPUs multiply: bytes of one signedness,
/// and an i32 zero point (null: 0) that broadcasts.
struct Bytes {
  mlir::Value values, zero;
};

/// Converts to the other signedness: half of the range is added to or
/// subtracted from numbers and zero points.
Bytes toBytes(Binder &b, mlir::Value x, mlir::Value zero, bool isSigned);

/// Returns true if a value is a constant, a part of one, or has its bits.
bool isMadeOfConstant(mlir::Value value);

/// The ui8 result, the f32 scale and the ui8 zero point of
/// DynamicQuantizeLinear.
struct DynamicBytes {
  mlir::Value values, scale, zero;
};
DynamicBytes buildDynamicQuantization(Binder &b, mlir::Value x);

/// Creates the convolution of (x - zero) with (filter - its zero) in i32, with
/// the attributes of the bound node. Zero points and bias may be null; those of
/// the filter have one element for each channel, or one.
mlir::Value buildIntegerConv(Binder &b, mlir::Value x, mlir::Value zero,
                             mlir::Value filter, mlir::Value filterZero,
                             mlir::Value bias);

} // namespace adze::importer

#endif // ADZE_LIB_IMPORT_ONNX_HANDLERS_QUANTIZATION_H
