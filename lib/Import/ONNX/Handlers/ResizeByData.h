// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Resize by dynamic scales or a dynamic region.
#ifndef ADZE_LIB_IMPORT_ONNX_HANDLERS_RESIZEBYDATA_H
#define ADZE_LIB_IMPORT_ONNX_HANDLERS_RESIZEBYDATA_H

#include "../Binder.h"

namespace adze::importer {

/// The attributes of a node that determine coordinates and taps.
struct ResizeModes {
  graph::ResizeMode mode = graph::ResizeMode::Nearest;
  graph::CoordinateMode coordinates = graph::CoordinateMode::HalfPixel;
  graph::NearestMode nearest = graph::NearestMode::RoundPreferFloor;
  double cubic = -0.75, extrapolation = 0;
  bool excludeOutside = false, antialias = false;

  bool crops() const {
    return coordinates == graph::CoordinateMode::TfCropAndResize;
  }
};

/// The resized dims, and vectors with one number for each of them.
struct DataResize {
  llvm::ArrayRef<int64_t> axes;
  Dims dims;          // of the result
  mlir::Value sizes;  // i64, the same
  mlir::Value scales; // f64
  mlir::Value region; // f64, all starts, then all ends; null without cropping
};

/// Returns null after an error.
mlir::Value resizeByData(Binder &b, mlir::Value x, const DataResize &resize,
                         const ResizeModes &modes);

} // namespace adze::importer

#endif // ADZE_LIB_IMPORT_ONNX_HANDLERS_RESIZEBYDATA_H
