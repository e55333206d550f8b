// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Lets a launch begin before the previous launch has ended.
#include "OverlapLaunches.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;

namespace adze::cuda {

/// Emits griddepcontrol.wait as inline assembly: LLVM models its intrinsic as
/// not accessing memory, and could move loads before it.
static void waitForLaunches(OpBuilder &b, Location loc) {
  LLVM::InlineAsmOp::create(
      b, loc, TypeRange(), ValueRange(), StringRef("griddepcontrol.wait;"),
      StringRef("~{memory}"),
      /*has_side_effects=*/true, /*is_align_stack=*/false,
      LLVM::TailCallKind::None,
      LLVM::AsmDialectAttr::get(b.getContext(), LLVM::AsmDialect::AD_ATT),
      /*operand_attrs=*/ArrayAttr());
}

void overlapLaunches(gpu::GPUModuleOp module) {
  for (auto function : module.getOps<LLVM::LLVMFuncOp>()) {
    if (!function->hasAttr("adze.kernel"))
      continue;
    Block &entry = function.getBody().front();
    OpBuilder b = OpBuilder::atBlockBegin(&entry);
    // The code before the first barrier of a kernel with tensor maps accesses
    // only its own shared memory and prefetches the maps, which are parameters.
    if (function->hasAttr("adze.tensor_maps"))
      for (auto barrier : entry.getOps<gpu::BarrierOp>()) {
        b.setInsertionPointAfter(barrier);
        break;
      }
    Location loc = function.getLoc();
    NVVM::GriddepcontrolOp::create(b, loc,
                                   NVVM::GridDepActionKind::launch_dependents);
    waitForLaunches(b, loc);
    function->setAttr("adze.waits", b.getUnitAttr());
  }
}

} // namespace adze::cuda
