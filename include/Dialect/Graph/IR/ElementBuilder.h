// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The builder of scalar bodies of ops, which emits arith and math ops on
// scalars or tiles.
#ifndef ADZE_DIALECT_GRAPH_IR_ELEMENTBUILDER_H
#define ADZE_DIALECT_GRAPH_IR_ELEMENTBUILDER_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"

namespace adze::graph {

/// Flags of a math.exp whose results below the least normal number may be 0, as
/// they are added to a number of at least 1 (1 + e^-x, the weights of a
/// softmax). Subnormal numbers are slow on x86.
inline constexpr mlir::arith::FastMathFlags tinyIsZero =
    mlir::arith::FastMathFlags::afn;

/// The function by which a reduction combines two values.
enum class Combiner { Add, Mul, Max, Min };

/// Emits arithmetic on scalars. For tiles, override `constant` (and
/// `typeLike`, if tiles are not shaped types that can be cloned).
class ElementBuilder {
public:
  ElementBuilder(mlir::OpBuilder &builder, mlir::Location loc)
      : builder(builder), loc(loc) {}
  virtual ~ElementBuilder() = default;

  mlir::OpBuilder &builder;
  mlir::Location loc;

  /// Returns a constant of the (scalar) type of the attribute: a scalar or a
  /// splat.
  virtual mlir::Value constant(mlir::TypedAttr value);

  /// Returns the type with the shape of `like` and another element type.
  virtual mlir::Type typeLike(mlir::Type elementType, mlir::Value like);

  /// Returns the elements of a table of 256 bytes at these positions, which are
  /// unsigned bytes.
  virtual mlir::Value lookUp(mlir::Value bytes, mlir::DenseElementsAttr table);

  /// Returns a constant of a float or integer element type.
  mlir::Value number(mlir::Type elementType, double value);
  mlir::Value integer(mlir::Type elementType, int64_t value);
};

/// Returns the signless type that stores and computes `type`: ui8 becomes i8.
/// The bits of floats of at most 8 bits are stored and moved as integers, too.
mlir::Type getSignlessType(mlir::Type type);

/// Returns true for floats of at most 8 bits, which are converted for
/// arithmetic.
bool isSmallFloat(mlir::Type type);
/// Returns true for elements of less than 8 bits other than bools, several of
/// which share a byte in memory, low bits first. Only conversions access them.
bool isPacked(mlir::Type type);

enum class Rounding : uint32_t; // in the generated enums
/// The rules by which graph.cast makes floats of at most 8 bits.
struct CastRules {
  bool saturate = true;
  Rounding round = Rounding(0); // up
};

/// Converts elements by the rules of graph.cast. `from` and `to` are graph
/// element types; the operand has the signless type of `from`.
mlir::Value buildCast(ElementBuilder &builder, mlir::Value value,
                      mlir::Type from, mlir::Type to, CastRules rules = {});

/// Returns the type of accumulators of `type`: f32 for f16 and bf16.
mlir::Type getAccumulatorType(mlir::Type type);

/// Combines two accumulators of the (signless) type of `elementType`, which
/// states the signedness of integers.
mlir::Value buildCombine(ElementBuilder &builder, Combiner combiner,
                         mlir::Type elementType, mlir::Value lhs,
                         mlir::Value rhs);

/// Returns the neutral element of `combiner`.
mlir::TypedAttr getNeutral(Combiner combiner, mlir::Type elementType);

} // namespace adze::graph

#endif // ADZE_DIALECT_GRAPH_IR_ELEMENTBUILDER_H
