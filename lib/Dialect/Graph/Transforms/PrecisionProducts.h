// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The products that --precision applies to.
#ifndef ADZE_LIB_DIALECT_GRAPH_TRANSFORMS_PRECISIONPRODUCTS_H
#define ADZE_LIB_DIALECT_GRAPH_TRANSFORMS_PRECISIONPRODUCTS_H

#include "LinearFolds.h"
#include "Matching.h"

namespace adze::graph {

/// Returns true for a matrix product or convolution of f32 tensors that units
/// for elements of type `narrow` multiply: of one group, or of groups that
/// become one.
inline bool isPrecisionProduct(mlir::Operation *op, mlir::Type narrow) {
  auto conv = llvm::dyn_cast<ConvOp>(op);
  return (conv ? conv.getGroup() == 1 || formsBand(conv, narrow)
               : llvm::isa<MatmulOp>(op)) &&
         getElement(op->getResult(0)).isF32() &&
         getElement(op->getOperand(0)).isF32() &&
         getElement(op->getOperand(1)).isF32();
}

/// Returns those by constants, in the order of the module. Their indices in
/// this list identify them.
inline llvm::SmallVector<mlir::Operation *>
findPrecisionProducts(mlir::Operation *module, mlir::Type narrow) {
  llvm::SmallVector<mlir::Operation *> products;
  module->walk([&](mlir::Operation *op) {
    if (isPrecisionProduct(op, narrow) && isConstant(op->getOperand(1)))
      products.push_back(op);
  });
  return products;
}

} // namespace adze::graph

#endif // ADZE_LIB_DIALECT_GRAPH_TRANSFORMS_PRECISIONPRODUCTS_H
