// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The attributes that convolutions and pooling share.
#ifndef ADZE_LIB_IMPORT_ONNX_HANDLERS_WINDOWS_H
#define ADZE_LIB_IMPORT_ONNX_HANDLERS_WINDOWS_H

#include "../Binder.h"

namespace adze::importer {

/// One number a spatial dim; pads: all before, then all after.
struct Window {
  llvm::SmallVector<int64_t> kernel, strides, dilations, pads;
};

/// kernel_shape, strides and dilations of a node with a filter, whose dims say
/// the kernel.
mlir::LogicalResult getFilterWindow(Binder &b, mlir::Value filter,
                                    Window &window);

/// The same of a node without, for `spatial` dims.
mlir::LogicalResult getPoolWindow(Binder &b, int64_t spatial, Window &window);

/// Pads from the attributes `pads` and `auto_pad`; `input` are all dims.
mlir::LogicalResult addPads(Binder &b, llvm::ArrayRef<mlir::AffineExpr> input,
                            Window &window);

} // namespace adze::importer

#endif // ADZE_LIB_IMPORT_ONNX_HANDLERS_WINDOWS_H
