// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// What quantised operators share with others.
#ifndef ADZE_LIB_IMPORT_ONNX_HANDLERS_QUANTIZATION_H
#define ADZE_LIB_IMPORT_ONNX_HANDLERS_QUANTIZATION_H

#include "../Binder.h"

namespace adze::importer {

/// numpy.matmul (Contraction.cpp).
mlir::Value buildMatmul(Binder &b, mlir::Value lhs, mlir::Value rhs);

/// The product of (lhs - lhs's zero) and (rhs - rhs's zero) in i32; zero points
/// are per row and per column, or null.
mlir::Value buildIntegerMatmul(Binder &b, mlir::Value lhs, mlir::Value lhsZero,
                               mlir::Value rhs, mlir::Value rhsZero);

/// Each number `block` times along `axis`, cut to the size of `x` there.
mlir::Value repeatBlocks(Binder &b, mlir::Value numbers, mlir::Value x,
                         int64_t axis, int64_t block);

/// round(scaled) + zero, clamped to `to`; `zero` may be null.
mlir::Value buildRequantize(Binder &b, mlir::Value scaled, mlir::Value zero,
                            mlir::Type to);

/// A quantized operand in the form that CPUs multiply: bytes of one kind, and
/// an i32 zero point (null: 0) that broadcasts along it.
struct Bytes {
  mlir::Value values, zero;
};

/// The same numbers less their zero points, without or with sign: half the
/// range is added to both, or taken away.
Bytes toBytes(Binder &b, mlir::Value x, mlir::Value zero, bool isSigned);

/// Returns whether a value is a constant or a part of one, or has its bits.
bool isMadeOfConstant(mlir::Value value);

/// The u8 result, the f32 scale and the u8 zero point of DynamicQuantizeLinear.
struct DynamicBytes {
  mlir::Value values, scale, zero;
};
DynamicBytes buildDynamicQuantization(Binder &b, mlir::Value x);

/// The convolution of (x - zero) with (filter - its zero) in i32, with the
/// attributes of the node that is bound; zero points and bias may be null,
/// those of the filter are one a channel or one.
mlir::Value buildIntegerConv(Binder &b, mlir::Value x, mlir::Value zero,
                             mlir::Value filter, mlir::Value filterZero,
                             mlir::Value bias);

} // namespace adze::importer

#endif // ADZE_LIB_IMPORT_ONNX_HANDLERS_QUANTIZATION_H
