// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Products of words: elements that hold several narrow ones along the
// contracted dimension.
#ifndef ADZE_CONVERSION_TILETOVECTOR_PRODUCTS_H
#define ADZE_CONVERSION_TILETOVECTOR_PRODUCTS_H

#include "Dialect/Tile/IR/Targets.h"

namespace adze::tile {

/// Returns the type without signedness.
mlir::Type getSignless(mlir::Type type);

/// Returns the sum, lane by lane, of `sum` and the products of the elements of
/// `product` in the words `x` and `y`. This is one instruction if the target
/// has a unit for it, several if it has one for pairs of 16-bit integers, else a
/// multiply-add for each element. The operands are scalars, or vectors of equal
/// length.
mlir::Value createWordProducts(mlir::OpBuilder &b, mlir::Location loc,
                               CpuTargetAttr target, ProductAttr product,
                               mlir::Value x, mlir::Value y, mlir::Value sum);

} // namespace adze::tile

#endif // ADZE_CONVERSION_TILETOVECTOR_PRODUCTS_H
