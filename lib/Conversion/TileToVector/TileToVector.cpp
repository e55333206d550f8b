// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// convert-tile-to-vector: specialised kernels to scf and vector on memrefs.
#include "Conversion/Passes.h"
#include "Dialect/Tile/IR/DynamicTiles.h"
#include "KernelFunctions.h"
#include "KnownTiles.h"
#include "mlir/Dialect/AMX/AMXDialect.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace adze {
#define GEN_PASS_DEF_CONVERTTILETOVECTOR
#include "Conversion/Passes.h.inc"
} // namespace adze

using namespace mlir;
using namespace adze;

/// A dot computes in the type of its accumulator. If the rounding of an operand
/// to a narrower type may be omitted (`contract`), the dot uses the operand
/// before rounding. Matrix units multiply rounded operands.
static void skipRounding(tile::KernelOp kernel, tile::CpuTargetAttr target) {
  kernel.walk([&](tile::DotOp dot) {
    tile::ProductAttr product = dot.getProduct();
    if (auto unit = target.findMatrixUnit(product.getLhs(), product.getRhs(),
                                          product.getAcc());
        unit && dot.getType().getDimSize(0) >= unit.getShape()[0] &&
        dot.getType().getDimSize(1) >= unit.getShape()[1])
      return;
    for (OpOperand &operand : dot->getOpOperands()) {
      auto rounded = operand.get().getDefiningOp<arith::TruncFOp>();
      if (rounded &&
          bitEnumContainsAll(
              rounded.getFastmath().value_or(arith::FastMathFlags::none),
              arith::FastMathFlags::contract) &&
          getElementTypeOrSelf(rounded.getIn()) ==
              dot.getType().getElementType())
        operand.set(rounded.getIn());
    }
  });
}

namespace {
struct ConvertTileToVector final
    : adze::impl::ConvertTileToVectorBase<ConvertTileToVector> {
  using ConvertTileToVectorBase::ConvertTileToVectorBase;

  void runOnOperation() override {
    tile::CpuTargetAttr target = tile::getCpuTarget(getOperation());
    for (auto kernel :
         llvm::make_early_inc_range(getOperation().getOps<tile::KernelOp>())) {
      auto [op, why] = tile::findDynamicTile(kernel);
      if (!op) {
        skipRounding(kernel, target);
        tile::foldKnownTiles(kernel);
        tile::KernelFunctions lowering(kernel, target);
        if (succeeded(lowering.run())) {
          kernel.erase();
          ++numKernels;
          continue;
        }
        std::tie(op, why) = lowering.getFailure();
      }
      ++numRefused;
      if (keepRefused) {
        op->emitRemark(why);
        continue;
      }
      op->emitError(why);
      return signalPassFailure();
    }
  }
};
} // namespace
