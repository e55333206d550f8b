// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Matchers of quantized values: conversions from and to 8-bit integers.
#ifndef ADZE_LIB_DIALECT_GRAPH_TRANSFORMS_QUANTIZED_H
#define ADZE_LIB_DIALECT_GRAPH_TRANSFORMS_QUANTIZED_H

#include "Matching.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <cmath>

namespace adze::graph {

/// The parts of (bytes - zero) * scale, the form of DequantizeLinear.
struct Dequantized {
  mlir::Value bytes;
  int64_t zero = 0;
  mlir::Value scale; // constant

  bool isSigned() const { return !getElement(bytes).isUnsignedInteger(); }
};

/// Creates a constant f32 scalar.
mlir::Value createF32(mlir::OpBuilder &b, mlir::Location loc, double number);

/// Creates a constant scalar of a float or integer type; of an integer, the low
/// bits of the number.
mlir::Value createNumber(mlir::OpBuilder &b, mlir::Location loc,
                         mlir::Type type, int64_t number);

/// Returns the integer of a constant that may be a zero point of 8-bit
/// integers.
std::optional<int64_t> getZeroPoint(mlir::Value value);

/// Returns the parts of an f32 value that is dequantized from 8-bit integers
/// with one zero point.
std::optional<Dequantized> matchDequantized(mlir::Value value);

/// Returns true if all targets of the op have a unit for ui8 * si8 + si32, or
/// one for pairs of 16-bit integers, which multiplies extended bytes.
bool haveUnit(mlir::Operation *op);
/// Returns true if they do and are CPUs.
bool areCpusWithUnit(mlir::Operation *op);

/// minimum(maximum(x, low), high), in either order and with either missing.
struct Bounded {
  mlir::Value x;
  double low = -HUGE_VAL, high = HUGE_VAL;
};

/// Returns the value without its bounds. Values with other uses keep theirs.
Bounded matchBounds(mlir::Value value);

/// Returns true if an f32 value is an integer that the 8-bit type holds: the
/// result of a rounding between such bounds.
bool isByte(mlir::Value value, mlir::IntegerType type);

/// Replaces conversions to 8-bit integers and back within clusters by the f32
/// value, which is such an integer. Zero points are moved to a summand of the
/// sum that such a value is a term of.
void skipConversions(mlir::func::FuncOp function);

} // namespace adze::graph

#endif // ADZE_LIB_DIALECT_GRAPH_TRANSFORMS_QUANTIZED_H
