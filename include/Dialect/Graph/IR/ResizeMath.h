// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Resize: where an element of the result lies in the input along one dim, and
// which neighbours it is made of. The one definition of ONNX's formulas.
#ifndef ADZE_DIALECT_GRAPH_IR_RESIZEMATH_H
#define ADZE_DIALECT_GRAPH_IR_RESIZEMATH_H

#include "Dialect/Graph/IR/ElementBuilder.h"
#include "Dialect/Graph/IR/Graph.h"

namespace adze::graph {

/// The same dims keep their elements: nothing is computed along them.
bool isCopied(ResizeOp op, int64_t dim);
/// How often each element of a dim stands in the result, one after the other,
/// if that is all that the op does.
std::optional<int64_t> getRepeats(ResizeOp op, int64_t dim);
/// Result size over input size, or what is given in its place.
std::optional<double> getStaticScale(ResizeOp op, int64_t dim);

/// A neighbour: its position, an index inside of the input, and its weight
/// (null: 1).
struct ResizeTap {
  mlir::Value position, weight;
};

/// Emits coordinates (in f64) of one dim, as scalars or tiles: whatever the
/// builder and the sizes are.
class ResizeMath {
public:
  /// The sizes of the dim in the input and the result, as indices.
  ResizeMath(ResizeOp op, int64_t dim, ElementBuilder &builder,
             mlir::Value inSize, mlir::Value outSize);

  /// The place in the input of output index `out`.
  mlir::Value getCoordinate(mlir::Value out);
  /// Whether tf_crop_and_resize looks outside of the input there.
  mlir::Value isOutside(mlir::Value coordinate);
  /// All neighbours of a coordinate; none where their number is dynamic.
  llvm::SmallVector<ResizeTap> getTaps(mlir::Value coordinate);

  /// What `getTaps` has no list for: `count` neighbours from `first + start`
  /// on, each with a weight by its distance; to be divided by their sum.
  struct Stretched {
    mlir::Value first, fraction, scale, start, count;
  };
  Stretched getStretched(mlir::Value coordinate);
  /// Neighbour `first + offset`.
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
