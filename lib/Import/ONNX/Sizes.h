// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Arithmetic on small integer tensors: data-dependent sizes.
#ifndef ADZE_LIB_IMPORT_ONNX_SIZES_H
#define ADZE_LIB_IMPORT_ONNX_SIZES_H

#include "Binder.h"

namespace adze::importer {

/// Builds graph ops on i64 vectors and scalars. Values that the symbolic dims
/// determine stay visible to graph::getElements; others are computed at run
/// time.
class Sizes {
public:
  explicit Sizes(Binder &b) : b(b) {}

  mlir::Value number(int64_t value);
  mlir::Value vector(llvm::ArrayRef<int64_t> values) { return b.ints(values); }
  mlir::Value splat(int64_t count, int64_t value) {
    return b.ints(llvm::SmallVector<int64_t>(count, value));
  }
  /// Returns the dims of a tensor.
  mlir::Value shape(mlir::Value x) { return b.create<graph::ShapeOp>(x); }
  /// Returns an integer tensor as a vector of i64.
  mlir::Value toVector(mlir::Value value);
  /// Return one element as a tensor of one element, or as a scalar.
  mlir::Value pick(mlir::Value values, int64_t index);
  mlir::Value pickScalar(mlir::Value values, int64_t index) {
    return b.reshape(pick(values, index), {});
  }
  mlir::Value concat(llvm::ArrayRef<mlir::Value> pieces);

  mlir::Value add(mlir::Value x, mlir::Value y) {
    return b.create<graph::AddOp>({x, y});
  }
  mlir::Value sub(mlir::Value x, mlir::Value y) {
    return b.create<graph::SubOp>({x, y});
  }
  mlir::Value mul(mlir::Value x, mlir::Value y) {
    return b.create<graph::MulOp>({x, y});
  }
  /// Rounds towards 0; y is not 0.
  mlir::Value div(mlir::Value x, mlir::Value y) {
    return b.create<graph::DivOp>({x, y});
  }
  mlir::Value min(mlir::Value x, mlir::Value y) {
    return b.create<graph::MinimumOp>({x, y});
  }
  mlir::Value max(mlir::Value x, mlir::Value y) {
    return b.create<graph::MaximumOp>({x, y});
  }
  mlir::Value select(mlir::Value condition, mlir::Value x, mlir::Value y) {
    return b.create<graph::SelectOp>({condition, x, y});
  }
  mlir::Value equal(mlir::Value x, mlir::Value y) {
    return b.create<graph::EqualOp>({x, y});
  }
  mlir::Value less(mlir::Value x, mlir::Value y) {
    return b.create<graph::LessOp>({x, y});
  }
  mlir::Value either(mlir::Value x, mlir::Value y) {
    return b.create<graph::OrOp>({x, y});
  }
  /// Reduce all elements to a scalar.
  mlir::Value product(mlir::Value x);
  mlir::Value sum(mlir::Value x);
  mlir::Value all(mlir::Value conditions);

  /// Converts axes counted from the end to ones from the front.
  mlir::Value normalizeAxes(mlir::Value axes, int64_t rank);
  /// Returns the vector `rest` with `values` at the positions `axes`. For known
  /// axes, the elements stay visible.
  mlir::Value spread(mlir::Value values, mlir::Value axes, mlir::Value rest);
  /// Returns 0, 1, .. with the length of a vector.
  mlir::Value iota(mlir::Value vector);
  /// Returns `count` numbers: start, start + step, ... (scalars).
  mlir::Value range(mlir::Value start, mlir::Value step,
                    mlir::AffineExpr count);

private:
  Binder &b;
};

} // namespace adze::importer

#endif // ADZE_LIB_IMPORT_ONNX_SIZES_H
