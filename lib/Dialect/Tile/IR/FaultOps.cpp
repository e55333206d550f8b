// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Verifiers of the ops that raise faults or print.
#include "Dialect/Tile/IR/Faults.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace adze::tile;

#define GET_OP_CLASSES
#include "Dialect/Tile/IR/TileFaultOps.cpp.inc"
#define GET_OP_CLASSES
#include "Dialect/Tile/IR/TilePrintOps.cpp.inc"

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

LogicalResult PrintOp::verify() {
  Type type = getValue().getType();
  auto memory = dyn_cast<MemRefType>(type);
  bool isMemory = memory && memory.hasStaticShape();
  if (!isMemory && !type.isIntOrIndexOrFloat() &&
      !isa<RankedTensorType>(type)) // C1
    return emitOpError("expected a scalar, a tile or memory of static shape, "
                       "but got ")
           << type;
  constexpr unsigned mostBits = 64;
  Type element = getElementTypeOrSelf(type);
  if (!element.isIndex() && (!element.isIntOrFloat() ||
                             element.getIntOrFloatBitWidth() > mostBits)) // C2
    return emitOpError("expected elements of at most 64 bits, but got ")
           << element;
  if (getLabel().find_first_of(StringRef("\n\0", 2)) != StringRef::npos) // C3
    return emitOpError("expected a label of one line");
  return success();
}

bool adze::tile::hasPrints(Operation *op) {
  return op->walk([](PrintOp) { return WalkResult::interrupt(); })
      .wasInterrupted();
}

bool adze::tile::isLoweredByOp(Operation *op) {
  return op
      ->walk([](Operation *inner) {
        auto check = dyn_cast<CheckOp>(inner);
        return isa<PrintOp, ScatterOp, ScanOp, tensor::ExtractOp>(inner) ||
                       (check && check.getAbsolute())
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}
