// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The generator of random numbers that operators share.
#ifndef ADZE_LIB_IMPORT_ONNX_HANDLERS_RANDOM_H
#define ADZE_LIB_IMPORT_ONNX_HANDLERS_RANDOM_H

#include "../Binder.h"

namespace adze::importer {

/// Of the node's attribute `seed`; without one others in each run.
class Random {
public:
  explicit Random(Binder &b);
  bool isSeeded() const { return bool(seed); }
  /// A type that rounds nothing which decides between two results.
  mlir::Type getExactType() const;
  /// In [0, 1). Without a seed, streams 0 to 3 are independent.
  mlir::Value uniform(mlir::Type type, const Dims &dims, unsigned stream);
  /// Mean 0, deviation 1.
  mlir::Value normal(mlir::Type type, const Dims &dims);

private:
  Binder &b;
  mlir::Value seed;    // i64; null: there is none
  mlir::Value entropy; // ui64, without a seed
};

} // namespace adze::importer

#endif // ADZE_LIB_IMPORT_ONNX_HANDLERS_RANDOM_H
