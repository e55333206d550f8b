// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Products of words: elements that hold several narrow ones along the depth.
#ifndef ADZE_CONVERSION_TILETOVECTOR_PRODUCTS_H
#define ADZE_CONVERSION_TILETOVECTOR_PRODUCTS_H

#include "Dialect/Tile/IR/Targets.h"

namespace adze::tile {

/// Returns the type without what it says of a sign.
mlir::Type getSignless(mlir::Type type);

/// Returns `sum` plus, lane by lane, the products of the elements of `product`
/// that the words `x` and `y` hold: one instruction where the target has a unit
/// for it, else a multiply-add for each element. All three are scalars, or
/// vectors of as many lanes.
mlir::Value createWordProducts(mlir::OpBuilder &b, mlir::Location loc,
                               CpuTargetAttr target, ProductAttr product,
                               mlir::Value x, mlir::Value y, mlir::Value sum);

} // namespace adze::tile

#endif // ADZE_CONVERSION_TILETOVECTOR_PRODUCTS_H
