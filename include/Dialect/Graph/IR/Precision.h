// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The attribute of products that may round their operands.
#ifndef ADZE_DIALECT_GRAPH_IR_PRECISION_H
#define ADZE_DIALECT_GRAPH_IR_PRECISION_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Operation.h"

namespace adze::graph {

/// An attribute of a matrix product, convolution or attention of f32: the type
/// that the operands of its products may be rounded to. It is discardable: an
/// operation without it, or whose target has no unit for it, is computed in
/// f32.
inline constexpr llvm::StringLiteral kPrecisionAttribute = "graph.precision";

/// Returns the type that the operands of the product may be rounded to, if any.
inline std::optional<mlir::Type> getPrecision(mlir::Operation *op) {
  if (auto type = op->getAttrOfType<mlir::TypeAttr>(kPrecisionAttribute))
    return type.getValue();
  return std::nullopt;
}

} // namespace adze::graph

#endif // ADZE_DIALECT_GRAPH_IR_PRECISION_H
