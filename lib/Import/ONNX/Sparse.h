// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Conversion of sparse tensors to dense ones.
#ifndef ADZE_LIB_IMPORT_ONNX_SPARSE_H
#define ADZE_LIB_IMPORT_ONNX_SPARSE_H

#include "Model.h"

namespace adze::importer {

/// The parts of a SparseTensorProto.
struct SparseData {
  TensorData values, indices;
  std::vector<int64_t> dims;
};

/// Returns the dense tensor, with the name of the values. `used` counts the
/// bytes of all such tensors of a model, which are limited. An error is the
/// `problem` of the result.
TensorData makeDense(const SparseData &sparse, uint64_t &used);

} // namespace adze::importer

#endif // ADZE_LIB_IMPORT_ONNX_SPARSE_H
