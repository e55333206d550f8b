// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Known elements of small float tensors: scales and sizes that models compute
// in floats. Such an element is the constant of its bits, so that what moves
// elements need not know of floats.
#ifndef ADZE_LIB_DIALECT_GRAPH_IR_FLOATELEMENTS_H
#define ADZE_LIB_DIALECT_GRAPH_IR_FLOATELEMENTS_H

#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/BuiltinTypes.h"

namespace adze::graph {

/// Whether elements of this type are known as their bits: those that every
/// level computes in their own precision.
bool isKnownByBits(mlir::Type elementType);

/// The element that stands for a float.
mlir::AffineExpr getBits(const llvm::APFloat &value,
                         mlir::MLIRContext *context);

/// Whether an op makes floats or is told by floats.
bool isOfFloats(mlir::Operation *op);

/// One element of the result of an arithmetic op of floats, as a run rounds it;
/// null where it is not known.
mlir::AffineExpr computeFloats(mlir::Operation *op,
                               llvm::ArrayRef<mlir::AffineExpr> operands);

} // namespace adze::graph

#endif // ADZE_LIB_DIALECT_GRAPH_IR_FLOATELEMENTS_H
