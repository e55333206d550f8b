// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Data movement with data-dependent shapes, starts, pads or axes: decisions
// that the importer makes for constants are computed at run time.
#ifndef ADZE_LIB_IMPORT_ONNX_DATASHAPES_H
#define ADZE_LIB_IMPORT_ONNX_DATASHAPES_H

#include "Binder.h"

namespace adze::importer {

// All functions return null after an error.

mlir::Value reshapeByData(Binder &b, mlir::Value x, mlir::Value shape,
                          bool allowZero);
/// Removes dims of size 1, after which `count` dims are left.
mlir::Value squeezeUnits(Binder &b, mlir::Value x, int64_t count);
mlir::Value squeezeByData(Binder &b, mlir::Value x, mlir::Value axes);
mlir::Value unsqueezeByData(Binder &b, mlir::Value x, mlir::Value axes);
/// `axes` and `steps` may be null.
mlir::Value sliceByData(Binder &b, mlir::Value x, mlir::Value starts,
                        mlir::Value ends, mlir::Value axes, mlir::Value steps);
llvm::SmallVector<mlir::Value> splitByData(Binder &b, mlir::Value x,
                                           mlir::Value sizes, int64_t axis);
/// `axes` and `fill` may be null.
mlir::Value padByData(Binder &b, mlir::Value x, mlir::Value pads,
                      mlir::Value axes, mlir::Value fill, graph::PadMode mode);

} // namespace adze::importer

#endif // ADZE_LIB_IMPORT_ONNX_DATASHAPES_H
