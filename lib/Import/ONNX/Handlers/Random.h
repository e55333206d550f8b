// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The random number generator of all operators.
#ifndef ADZE_LIB_IMPORT_ONNX_HANDLERS_RANDOM_H
#define ADZE_LIB_IMPORT_ONNX_HANDLERS_RANDOM_H

#include "../Binder.h"

namespace adze::importer {

/// Generates numbers by the attribute `seed` of the node, or different ones in
/// each run.
class Random {
public:
  explicit Random(Binder &b);
  bool isSeeded() const { return bool(seed); }
  /// Returns a type whose rounding does not affect comparisons.
  mlir::Type getExactType() const;
  /// Returns numbers in [0, 1). Without a seed, streams 0 to 3 are independent.
  mlir::Value uniform(mlir::Type type, const Dims &dims, unsigned stream);
  /// Returns numbers with mean 0 and deviation 1.
  mlir::Value normal(mlir::Type type, const Dims &dims);

private:
  Binder &b;
  mlir::Value seed;    // i64, or null
  mlir::Value entropy; // ui64, without a seed
};

} // namespace adze::importer

#endif // ADZE_LIB_IMPORT_ONNX_HANDLERS_RANDOM_H
