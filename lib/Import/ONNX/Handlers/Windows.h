// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Common attributes of convolutions and pooling.
#ifndef ADZE_LIB_IMPORT_ONNX_HANDLERS_WINDOWS_H
#define ADZE_LIB_IMPORT_ONNX_HANDLERS_WINDOWS_H

#include "../Binder.h"

namespace adze::importer {

/// One number for each spatial dim; pads are all before, then all after.
struct Window {
  llvm::SmallVector<int64_t> kernel, strides, dilations, pads;
  mlir::Value filter; // whose dims are the kernel, or null

  bool hasKnownKernel() const {
    return !llvm::is_contained(kernel, mlir::ShapedType::kDynamic);
  }
};

/// Reads kernel_shape, strides and dilations of a node with a filter, whose
/// dims are the kernel (kDynamic if they are dynamic). The filter is refined by
/// kernel_shape.
mlir::LogicalResult getFilterWindow(Binder &b, mlir::Value &filter,
                                    Window &window);

/// Reads the attributes of a node without a filter, for `spatial` dims.
mlir::LogicalResult getPoolWindow(Binder &b, int64_t spatial, Window &window);

/// Returns the extent of the windows in each dim, as a vector.
mlir::Value getReach(Binder &b, const Window &window);

/// Reads the attributes `pads` and `auto_pad`. Dynamic pads are added to the
/// input here, with elements `fill` (0 if null); the window then has none.
mlir::LogicalResult addPads(Binder &b, mlir::Value &input, Window &window,
                            mlir::Value fill = {});

} // namespace adze::importer

#endif // ADZE_LIB_IMPORT_ONNX_HANDLERS_WINDOWS_H
