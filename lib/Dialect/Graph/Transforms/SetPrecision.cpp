// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// graph-set-precision: products of f32 tensors in a narrower type.
#include "Dialect/Graph/IR/Graph.h"
#include "Dialect/Graph/Transforms/Passes.h"
#include "Dialect/Tile/IR/Targets.h"
#include "PrecisionProducts.h"
#include "mlir/IR/BuiltinOps.h"

namespace adze::graph {
#define GEN_PASS_DEF_SETPRECISIONPASS
#include "Dialect/Graph/Transforms/Passes.h.inc"
} // namespace adze::graph

using namespace mlir;
using namespace adze;
using namespace adze::graph;

namespace {

class SetPrecisionPass final
    : public adze::graph::impl::SetPrecisionPassBase<SetPrecisionPass> {
public:
  using SetPrecisionPassBase::SetPrecisionPassBase;

  void runOnOperation() override {
    narrow = type == "f16" ? Type(Float16Type::get(&getContext()))
                           : Type(BFloat16Type::get(&getContext()));
    if (failed(findUnits()))
      return signalPassFailure();
    SmallVector<Operation *> products;
    for (auto [i, op] : llvm::enumerate(findPrecisionProducts(getOperation())))
      if (suits(op) && !llvm::is_contained(wide, int64_t(i)))
        products.push_back(op);
    IRRewriter b(&getContext());
    for (Operation *op : products) {
      b.setInsertionPoint(op);
      for (OpOperand &operand : op->getOpOperands().take_front(2)) {
        Value x = operand.get();
        operand.set(
            CastOp::create(b, op->getLoc(), makeType(narrow, getDims(x)), x));
      }
      op->setAttr("wide_result", b.getUnitAttr());
      ++narrowed;
    }
  }

private:
  /// Looks for the instruction in all targets, and takes the group of elements
  /// along the depth that it sums.
  LogicalResult findUnits() {
    Type f32 = Float32Type::get(&getContext());
    for (Attribute target : tile::getTargets(getOperation())) {
      tile::TargetUnitAttr unit;
      if (auto cpu = dyn_cast<tile::CpuTargetAttr>(target))
        unit = cpu.findUnit(narrow, narrow, f32);
      else if (auto cuda = dyn_cast<tile::CudaTargetAttr>(target))
        unit = cuda.findUnit(narrow, narrow, f32);
      if (!unit)
        return emitError(UnknownLoc::get(&getContext()),
                         "unsupported: --precision=")
               << type << ": "
               << cast<tile::CodegenTargetAttrInterface>(target).getChip()
               << " has no instruction for products of " << narrow
               << "; leave the flag out, or name another CPU by --mcpu";
      group = std::max(group, unit.getGroup());
    }
    return success();
  }

  /// Whether the depth is a multiple of the group.
  bool suits(Operation *op) {
    auto matmul = dyn_cast<MatmulOp>(op);
    Dims weight = getDims(op->getOperand(1));
    auto depth = getConstant(
        matmul ? weight.end()[matmul.getTransposeB() ? -1 : -2] : weight[1]);
    return depth && *depth % group == 0;
  }

  Type narrow;
  int64_t group = 1;
};

} // namespace
