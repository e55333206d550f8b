// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// What operators of com.microsoft share.
#ifndef ADZE_LIB_IMPORT_ONNX_HANDLERS_MICROSOFT_H
#define ADZE_LIB_IMPORT_ONNX_HANDLERS_MICROSOFT_H

#include "../Binder.h"

namespace adze::importer {

/// Fails if an attribute is there and says something else.
mlir::LogicalResult
expectInts(Binder &b,
           llvm::ArrayRef<std::pair<llvm::StringRef, int64_t>> values);

/// Numbers of `bits` bits in bytes, low bits first: the last dim gets as many
/// elements for each byte as it holds.
mlir::Value unpack(Binder &b, mlir::Value bytes, int64_t bits);

/// Rotates pairs of the first elements of each head of x [B, S, N, D] by the
/// angles that caches [.., half] hold for positions [B or 1, S].
mlir::Value rotate(Binder &b, mlir::Value x, mlir::Value positions,
                   mlir::Value cos, mlir::Value sin, bool interleaved);

} // namespace adze::importer

#endif // ADZE_LIB_IMPORT_ONNX_HANDLERS_MICROSOFT_H
