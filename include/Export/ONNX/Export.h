// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Exports a function of the graph dialect to an ONNX file.
#ifndef ADZE_EXPORT_ONNX_EXPORT_H
#define ADZE_EXPORT_ONNX_EXPORT_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/Support/raw_ostream.h"

namespace adze {

/// Writes the function as a model of opset 21, with its constants as raw data.
/// Emits an "unsupported" error at the first op that has no ONNX operator, also
/// if only this form of the op has none, and then writes nothing.
mlir::LogicalResult exportONNX(mlir::func::FuncOp function,
                               llvm::raw_ostream &os);

} // namespace adze

#endif // ADZE_EXPORT_ONNX_EXPORT_H
