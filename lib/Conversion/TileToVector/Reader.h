// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Tiles that are read from memory.
#ifndef ADZE_LIB_CONVERSION_TILETOVECTOR_READER_H
#define ADZE_LIB_CONVERSION_TILETOVECTOR_READER_H

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace adze::tile {

/// Returns the op that reads a tile from memory, looking through a conversion
/// to a wider type, which is done in registers.
inline mlir::Operation *getReader(mlir::Value tile) {
  mlir::Operation *op = tile.getDefiningOp();
  return llvm::isa_and_nonnull<mlir::arith::ExtFOp, mlir::arith::SIToFPOp>(op)
             ? op->getOperand(0).getDefiningOp()
             : op;
}

} // namespace adze::tile

#endif // ADZE_LIB_CONVERSION_TILETOVECTOR_READER_H
