// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Detects kernels with unbound parameters.
#include "Dialect/Tile/IR/DynamicTiles.h"

using namespace mlir;

std::pair<Operation *, std::string>
adze::tile::findDynamicTile(KernelOp kernel) {
  std::pair<Operation *, std::string> found = {};
  kernel.walk([&](Operation *op) {
    for (Type type : op->getResultTypes()) {
      auto tile = dyn_cast<RankedTensorType>(type);
      if (!tile || tile.hasStaticShape())
        continue;
      found.first = op;
      llvm::raw_string_ostream(found.second)
          << "expected tiles of static shape, but got " << tile
          << "; run tile-specialize first";
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return found;
}
