// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Verifiers of the ops that raise faults.
#include "Dialect/Tile/IR/Faults.h"

using namespace mlir;
using namespace adze::tile;

#define GET_OP_CLASSES
#include "Dialect/Tile/IR/TileFaultOps.cpp.inc"

LogicalResult CheckOp::verify() {
  Type type = getPositions().getType();
  bool isKnown = isa<IndexType, RankedTensorType, VectorType>(type);
  if (!isKnown || !getElementTypeOrSelf(type).isIndex()) // C1
    return emitOpError("expected positions of type index, but got ") << type;
  if (int64_t(getFault()) < 0) // C2
    return emitOpError("expected a fault that is not negative, but got ")
           << int64_t(getFault());
  return success();
}
