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
  mlir::Value filter; // whose dims are the kernel; null if numbers are

  bool hasKnownKernel() const {
    return !llvm::is_contained(kernel, mlir::ShapedType::kDynamic);
  }
};

/// kernel_shape, strides and dilations of a node with a filter, whose dims say
/// the kernel (kDynamic where they are dynamic). The filter gets the
/// dims that kernel_shape says.
mlir::LogicalResult getFilterWindow(Binder &b, mlir::Value &filter,
                                    Window &window);

/// The same of a node without, for `spatial` dims.
mlir::LogicalResult getPoolWindow(Binder &b, int64_t spatial, Window &window);

/// How far the windows reach in each dim, as a vector.
mlir::Value getReach(Binder &b, const Window &window);

/// Pads from the attributes `pads` and `auto_pad`. Those that only the run
/// knows are put around the input here, as elements of `fill` (0 if null); the
/// window has none then.
mlir::LogicalResult addPads(Binder &b, mlir::Value &input, Window &window,
                            mlir::Value fill = {});

} // namespace adze::importer

#endif // ADZE_LIB_IMPORT_ONNX_HANDLERS_WINDOWS_H
