// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The coordinates and taps of Resize along one dim. This is the only definition
// of the formulas of ONNX.
#ifndef ADZE_DIALECT_GRAPH_IR_RESIZEMATH_H
#define ADZE_DIALECT_GRAPH_IR_RESIZEMATH_H

#include "Dialect/Graph/IR/ElementBuilder.h"
#include "Dialect/Graph/IR/Graph.h"

namespace adze::graph {

/// Returns true if the elements along the dim are copied without arithmetic.
bool isCopied(ResizeOp op, int64_t dim);
/// Returns how often each element of a dim is repeated, if the op does nothing
/// else along it.
std::optional<int64_t> getRepeats(ResizeOp op, int64_t dim);
/// Returns the quotient of the sizes of result and input, or the given scale.
std::optional<double> getStaticScale(ResizeOp op, int64_t dim);

/// A tap: its position, an index in bounds of the input, and its weight (null:
/// 1).
struct ResizeTap {
  mlir::Value position, weight;
};

/// Emits the coordinates (in f64) and taps of one dim, on scalars or tiles, for
/// static and dynamic sizes.
class ResizeMath {
public:
  /// `inSize` and `outSize` are the sizes of the dim in input and result, as
  /// indices.
  ResizeMath(ResizeOp op, int64_t dim, ElementBuilder &builder,
             mlir::Value inSize, mlir::Value outSize);

  /// Returns the coordinate in the input of index `out` of the output.
  mlir::Value getCoordinate(mlir::Value out);
  /// Returns the condition that tf_crop_and_resize reads outside of the input.
  mlir::Value isOutside(mlir::Value coordinate);
  /// Returns all taps of a coordinate, or nothing if their number is dynamic.
  llvm::SmallVector<ResizeTap> getTaps(mlir::Value coordinate);

  /// A dynamic number of taps: `count` taps from `first + start` on, each with
  /// a weight by its distance; the sum has to be divided by the sum of the
  /// weights.
  struct Stretched {
    mlir::Value first, fraction, scale, start, count;
  };
  Stretched getStretched(mlir::Value coordinate);
  /// Returns tap `first + offset`.
  ResizeTap getStretchedTap(const Stretched &stretched, mlir::Value offset);

private:
  mlir::Value num(double value);
  mlir::Value index(int64_t value);
  mlir::Value toNumber(mlir::Value index);
  mlir::Value toIndex(mlir::Value number);
  mlir::Value add(mlir::Value lhs, mlir::Value rhs);
  mlir::Value sub(mlir::Value lhs, mlir::Value rhs);
  mlir::Value mul(mlir::Value lhs, mlir::Value rhs);
  mlir::Value div(mlir::Value lhs, mlir::Value rhs);
  mlir::Value isLess(mlir::Value lhs, mlir::Value rhs);
  mlir::Value select(mlir::Value condition, mlir::Value lhs, mlir::Value rhs);
  mlir::Value floor(mlir::Value x);
  mlir::Value ceil(mlir::Value x);
  mlir::Value clamp(mlir::Value position);
  mlir::Value orNoneOutside(mlir::Value weight, mlir::Value position);
  mlir::Value roundNearest(mlir::Value x);
  mlir::Value getCubicWeight(mlir::Value distance);
  mlir::Value getWeight(mlir::Value distance, mlir::Value position);
  void normalize(llvm::MutableArrayRef<ResizeTap> taps);
  llvm::SmallVector<ResizeTap> getInterpolation(mlir::Value coordinate);
  llvm::SmallVector<ResizeTap> getAntialiased(mlir::Value coordinate,
                                              double scale);

  ResizeOp op;
  int64_t dim;
  ElementBuilder &e;
  mlir::Value inSize, outSize; // indices
  mlir::Value in, out, scale;  // numbers
};

} // namespace adze::graph

#endif // ADZE_DIALECT_GRAPH_IR_RESIZEMATH_H
