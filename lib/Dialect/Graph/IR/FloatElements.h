// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Known elements of small float tensors: scales and sizes that models compute
// in floats. Such an element is represented by the constant of its bits, so
// that data movement does not depend on the type.
#ifndef ADZE_LIB_DIALECT_GRAPH_IR_FLOATELEMENTS_H
#define ADZE_LIB_DIALECT_GRAPH_IR_FLOATELEMENTS_H

#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/BuiltinTypes.h"

namespace adze::graph {

/// Returns true if elements of this type are represented by their bits: those
/// types that all optimisation levels compute in their own precision.
bool isKnownByBits(mlir::Type elementType);

/// Returns the element that represents a float.
mlir::AffineExpr getBits(const llvm::APFloat &value,
                         mlir::MLIRContext *context);

/// Returns true if the op has float operands or results.
bool isOfFloats(mlir::Operation *op);

/// Computes one element of the result of an arithmetic op on floats, with the
/// rounding of a run. Returns null if it is unknown.
mlir::AffineExpr computeFloats(mlir::Operation *op,
                               llvm::ArrayRef<mlir::AffineExpr> operands);

} // namespace adze::graph

#endif // ADZE_LIB_DIALECT_GRAPH_IR_FLOATELEMENTS_H
