// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Values and views of the memory of a kernel that is interpreted.
#ifndef ADZE_TESTS_TARGET_CUDA_TILEVIEWS_H
#define ADZE_TESTS_TARGET_CUDA_TILEVIEWS_H

#include "TileInterpreter.h"

namespace adze::test {

/// A scalar (no shape) or a tile; one of the arrays is used.
struct Number {
  mlir::SmallVector<int64_t> shape;
  bool isFloat = false;
  unsigned bits = 64;
  std::vector<double> f;
  std::vector<int64_t> i;

  int64_t count() const {
    int64_t n = 1;
    for (int64_t s : shape)
      n *= s;
    return n;
  }
};

/// A view: the argument, and the map of logical indices for each of its dims.
struct View {
  Memory *memory;
  mlir::SmallVector<int64_t> shape, strides;
  int64_t offset = 0;
  bool mapped = false;
  std::shared_ptr<View> source = {}; // indexed in another order: by `map`
  mlir::AffineMap map = {};

  int64_t locateInSource(mlir::ArrayRef<int64_t> at) const {
    for (auto [i, extent] : llvm::zip_equal(at, shape))
      if (i < 0 || i >= extent)
        return -1;
    mlir::Builder b(map.getContext());
    mlir::SmallVector<mlir::Attribute> indices, places;
    for (int64_t i : at)
      indices.push_back(b.getIndexAttr(i));
    (void)map.constantFold(indices, places);
    mlir::SmallVector<int64_t> there;
    for (mlir::Attribute place : places)
      there.push_back(mlir::cast<mlir::IntegerAttr>(place).getInt());
    return source->locate(there);
  }

  int64_t locate(mlir::ArrayRef<int64_t> at) const {
    if (source)
      return locateInSource(at);
    if (mapped)
      return memory->locate(at);
    int64_t linear = offset;
    for (auto [i, extent, stride] : llvm::zip_equal(at, shape, strides)) {
      if (i < 0 || i >= extent)
        return -1;
      linear += i * stride;
    }
    return linear;
  }
};

} // namespace adze::test

#endif // ADZE_TESTS_TARGET_CUDA_TILEVIEWS_H
