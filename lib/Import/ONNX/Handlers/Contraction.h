// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Convolutions and products that other operators use.
#ifndef ADZE_LIB_IMPORT_ONNX_HANDLERS_CONTRACTION_H
#define ADZE_LIB_IMPORT_ONNX_HANDLERS_CONTRACTION_H

#include "../Binder.h"

namespace adze::importer {

/// Creates the convolution [N, C, ..] by [M, C / group, ..], with the
/// attributes of the bound node; `bias` may be null. Returns null after an
/// error.
mlir::Value buildConv(Binder &b, mlir::Value x, mlir::Value filter,
                      mlir::Value bias);

/// Creates alpha * A' * B' + beta * C of the bound node. Returns null after an
/// error.
mlir::Value buildGemm(Binder &b);

} // namespace adze::importer

#endif // ADZE_LIB_IMPORT_ONNX_HANDLERS_CONTRACTION_H
