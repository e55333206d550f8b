// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// What the one scalar body of an op is written with: it emits arith and math
// ops on scalars or on tiles alike.
#ifndef ADZE_DIALECT_GRAPH_IR_ELEMENTBUILDER_H
#define ADZE_DIALECT_GRAPH_IR_ELEMENTBUILDER_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"

namespace adze::graph {

/// On a math.exp: a result below the least normal number may be 0, as it meets
/// a 1 or more (1 + e^-x, the weights of a softmax). Such numbers are what x86
/// processors are slow with.
inline constexpr mlir::arith::FastMathFlags tinyIsZero =
    mlir::arith::FastMathFlags::afn;

/// How a reduction makes one value of two.
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

  /// A constant of the attribute's (scalar) type: a scalar or a splat.
  virtual mlir::Value constant(mlir::TypedAttr value);

  /// The type of the shape of `like` with another element type.
  virtual mlir::Type typeLike(mlir::Type elementType, mlir::Value like);

  /// A constant of a float or integer element type.
  mlir::Value number(mlir::Type elementType, double value);
  mlir::Value integer(mlir::Type elementType, int64_t value);
};

/// The signless type that stores and computes `type`: ui8 becomes i8. The bits
/// of floats of 8 bits and less are stored and moved as integers, too.
mlir::Type getSignlessType(mlir::Type type);

/// Floats of 8 bits and less, which are converted to compute with.
bool isSmallFloat(mlir::Type type);
/// Elements below 8 bits (but not bools), several a byte in memory, low bits
/// first. Only conversions read and write them.
bool isPacked(mlir::Type type);

enum class Rounding : uint32_t; // in the generated enums
/// How graph.cast makes floats of 8 bits and less.
struct CastRules {
  bool saturate = true;
  Rounding round = Rounding(0); // up
};

/// Converts elements by ONNX's rules (graph.cast). `from` and `to` are graph
/// element types; the operand is of the signless form of `from`.
mlir::Value buildCast(ElementBuilder &builder, mlir::Value value,
                      mlir::Type from, mlir::Type to, CastRules rules = {});

/// The type in which sums of `type` are accumulated: f32 for f16 and bf16.
mlir::Type getAccumulatorType(mlir::Type type);

/// Combines two accumulators of the (signless) type of `elementType`, which
/// says whether integers are unsigned.
mlir::Value buildCombine(ElementBuilder &builder, Combiner combiner,
                         mlir::Type elementType, mlir::Value lhs,
                         mlir::Value rhs);

/// What leaves any other value as it is under `combiner`.
mlir::TypedAttr getNeutral(Combiner combiner, mlir::Type elementType);

} // namespace adze::graph

#endif // ADZE_DIALECT_GRAPH_IR_ELEMENTBUILDER_H
