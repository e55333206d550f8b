// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Convolutions and products that other operators are made of.
#ifndef ADZE_LIB_IMPORT_ONNX_HANDLERS_CONTRACTION_H
#define ADZE_LIB_IMPORT_ONNX_HANDLERS_CONTRACTION_H

#include "../Binder.h"

namespace adze::importer {

/// The convolution [N, C, ..] by [M, C / group, ..], with the attributes of the
/// node that is bound; `bias` may be null. Null after an error.
mlir::Value buildConv(Binder &b, mlir::Value x, mlir::Value filter,
                      mlir::Value bias);

/// alpha * A' * B' + beta * C of the node that is bound; null after an error.
mlir::Value buildGemm(Binder &b);

} // namespace adze::importer

#endif // ADZE_LIB_IMPORT_ONNX_HANDLERS_CONTRACTION_H
