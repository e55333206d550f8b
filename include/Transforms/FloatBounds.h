// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Bounds of floats by constants, and constants of vectors.
#ifndef ADZE_TRANSFORMS_FLOATBOUNDS_H
#define ADZE_TRANSFORMS_FLOATBOUNDS_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include <limits>

namespace adze {

/// The bounds of a float, unless it is NaN.
struct FloatBounds {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
};

/// Returns the bounds of a float that follow from minima, maxima, narrow
/// integers and constants, through arithmetic.
FloatBounds getFloatBounds(mlir::Value value, int depth = 0);

/// Creates a constant of a scalar or vector type with equal elements.
inline mlir::Value createSplat(mlir::OpBuilder &b, mlir::Location loc,
                               mlir::Type type, mlir::TypedAttr number) {
  if (auto vector = llvm::dyn_cast<mlir::VectorType>(type))
    number = mlir::DenseElementsAttr::get(vector, mlir::Attribute(number));
  return mlir::arith::ConstantOp::create(b, loc, number);
}

} // namespace adze

#endif // ADZE_TRANSFORMS_FLOATBOUNDS_H
