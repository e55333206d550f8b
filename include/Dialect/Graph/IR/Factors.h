// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// What a reshape keeps whole.
#ifndef ADZE_DIALECT_GRAPH_IR_FACTORS_H
#define ADZE_DIALECT_GRAPH_IR_FACTORS_H

#include "Dialect/Graph/IR/Shape.h"

namespace adze::graph {

/// A dim, or a part of one where a reshape splits or merges it: which dim it is
/// of before and behind the reshape.
struct Factor {
  size_t before, behind;
  mlir::AffineExpr size;
};

/// The factors that a reshape keeps whole, in order; none if it cuts across
/// them, or dims are not known. Dims of 1 that stay are factors, others are
/// not.
std::optional<llvm::SmallVector<Factor>>
getFactors(llvm::ArrayRef<mlir::AffineExpr> before,
           llvm::ArrayRef<mlir::AffineExpr> behind);

} // namespace adze::graph

#endif // ADZE_DIALECT_GRAPH_IR_FACTORS_H
