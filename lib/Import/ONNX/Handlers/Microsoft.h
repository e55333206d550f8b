// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Common parts of the operators of com.microsoft.
#ifndef ADZE_LIB_IMPORT_ONNX_HANDLERS_MICROSOFT_H
#define ADZE_LIB_IMPORT_ONNX_HANDLERS_MICROSOFT_H

#include "../Binder.h"

namespace adze::importer {

/// Fails if an attribute is present with another value.
mlir::LogicalResult
expectInts(Binder &b,
           llvm::ArrayRef<std::pair<llvm::StringRef, int64_t>> values);

/// Unpacks numbers of `bits` bits from bytes, low bits first: the last dim
/// grows by the numbers in a byte.
mlir::Value unpack(Binder &b, mlir::Value bytes, int64_t bits);

/// Rotates pairs of the first elements of each head of x [B, S, N, D] by the
/// angles of the caches [.., half] for positions [B or 1, S].
mlir::Value rotate(Binder &b, mlir::Value x, mlir::Value positions,
                   mlir::Value cos, mlir::Value sin, bool interleaved);

} // namespace adze::importer

#endif // ADZE_LIB_IMPORT_ONNX_HANDLERS_MICROSOFT_H
