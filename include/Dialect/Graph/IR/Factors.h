// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The dims, or parts of dims, that a reshape preserves.
#ifndef ADZE_DIALECT_GRAPH_IR_FACTORS_H
#define ADZE_DIALECT_GRAPH_IR_FACTORS_H

#include "Dialect/Graph/IR/Shape.h"

namespace adze::graph {

/// A dim, or a part of one that a reshape splits off or merges, with the dims
/// before and after the reshape that contain it.
struct Factor {
  size_t before, after;
  mlir::AffineExpr size;
};

/// Returns the factors of a reshape in order. Returns nothing if a factor would
/// cross dims, or if dims are unknown. Dims of 1 that stay are factors, others
/// are not.
std::optional<llvm::SmallVector<Factor>>
getFactors(llvm::ArrayRef<mlir::AffineExpr> before,
           llvm::ArrayRef<mlir::AffineExpr> after);

} // namespace adze::graph

#endif // ADZE_DIALECT_GRAPH_IR_FACTORS_H
