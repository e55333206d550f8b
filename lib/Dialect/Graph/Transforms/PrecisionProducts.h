// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The products that --precision applies to.
#ifndef ADZE_LIB_DIALECT_GRAPH_TRANSFORMS_PRECISIONPRODUCTS_H
#define ADZE_LIB_DIALECT_GRAPH_TRANSFORMS_PRECISIONPRODUCTS_H

#include "LinearFolds.h"
#include "Matching.h"

namespace adze::graph {

/// Returns the matrix products and convolutions of f32 tensors by constants, in
/// the order of the module, that units for elements of type `narrow` multiply.
/// These have one group, or become one. Their indices in this list identify
/// them.
inline llvm::SmallVector<mlir::Operation *>
findPrecisionProducts(mlir::Operation *module, mlir::Type narrow) {
  llvm::SmallVector<mlir::Operation *> products;
  module->walk([&](mlir::Operation *op) {
    auto conv = llvm::dyn_cast<ConvOp>(op);
    if ((conv ? conv.getGroup() == 1 || formsBand(conv, narrow)
              : llvm::isa<MatmulOp>(op)) &&
        getElement(op->getResult(0)).isF32() &&
        getElement(op->getOperand(0)).isF32() &&
        getElement(op->getOperand(1)).isF32() && isConstant(op->getOperand(1)))
      products.push_back(op);
  });
  return products;
}

} // namespace adze::graph

#endif // ADZE_LIB_DIALECT_GRAPH_TRANSFORMS_PRECISIONPRODUCTS_H
