// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// launch-versions: launches the other versions of a kernel after it.
#include "Dialect/Host/IR/Host.h"
#include "Dialect/Tile/IR/Tile.h"
#include "Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;

namespace adze {
#define GEN_PASS_DEF_LAUNCHVERSIONS
#include "Transforms/Passes.h.inc"

namespace {
struct LaunchVersionsPass final : impl::LaunchVersionsBase<LaunchVersionsPass> {
  void runOnOperation() override;
};
} // namespace

void LaunchVersionsPass::runOnOperation() {
  SymbolTable symbols(getOperation());
  SmallVector<host::LaunchOp> launches;
  getOperation().walk(
      [&](host::LaunchOp launch) { launches.push_back(launch); });
  for (host::LaunchOp launch : launches) {
    auto kernel = symbols.lookup<tile::KernelOp>(launch.getCallee());
    auto versions =
        kernel ? kernel->getAttrOfType<ArrayAttr>(host::versionsAttr) : nullptr;
    if (!versions)
      continue;
    OpBuilder b(&getContext());
    b.setInsertionPointAfter(launch);
    for (auto version : versions.getAsRange<FlatSymbolRefAttr>()) {
      auto other = cast<host::LaunchOp>(b.clone(*launch));
      other.setCalleeAttr(version);
      other->setAttr(host::otherVersionAttr, b.getUnitAttr());
      ++numLaunches;
    }
  }
  for (auto kernel : getOperation().getOps<tile::KernelOp>())
    kernel->removeAttr(host::versionsAttr);
}

} // namespace adze
