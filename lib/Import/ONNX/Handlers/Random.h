// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The generator of random numbers that operators share.
#ifndef ADZE_LIB_IMPORT_ONNX_HANDLERS_RANDOM_H
#define ADZE_LIB_IMPORT_ONNX_HANDLERS_RANDOM_H

#include "../Binder.h"

namespace adze::importer {

/// Seeded by the node's attribute `seed`; another one in each run without.
class Random {
public:
  explicit Random(Binder &b);
  /// In [0, 1). Streams 0 to 3 are independent.
  mlir::Value uniform(mlir::Type type, const Dims &dims, unsigned stream);
  /// Mean 0, deviation 1; from streams 0 and 1.
  mlir::Value normal(mlir::Type type, const Dims &dims);

private:
  Binder &b;
  mlir::Value seed; // ui64
};

} // namespace adze::importer

#endif // ADZE_LIB_IMPORT_ONNX_HANDLERS_RANDOM_H
