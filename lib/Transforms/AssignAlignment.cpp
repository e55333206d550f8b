// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// assign-alignment: states the alignment of arguments of kernels for devices.
#include "Dialect/Host/IR/Host.h"
#include "Dialect/Tile/IR/Targets.h"
#include "Dialect/Tile/IR/Tile.h"
#include "Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace adze {
#define GEN_PASS_DEF_ASSIGNALIGNMENT
#include "Transforms/Passes.h.inc"

namespace {
struct AssignAlignmentPass final
    : impl::AssignAlignmentBase<AssignAlignmentPass> {
  void runOnOperation() override;
};
} // namespace

/// Returns the power of two that divides the address of a place, or 0 if the
/// caller provides it.
static int64_t getAlignment(Value place) {
  Operation *op = place.getDefiningOp();
  if (isa_and_present<host::SlotOp, host::ConstantOp>(op))
    return host::placeAlignment;
  auto view = dyn_cast_or_null<host::ViewOp>(op);
  int64_t source = view ? getAlignment(view.getSource()) : 0;
  if (!source)
    return 0;
  int64_t offset = host::getBytesExpr(view.getOffsetAttr(), view.getContext())
                       .getLargestKnownDivisor();
  return llvm::MinAlign(source, offset);
}

void AssignAlignmentPass::runOnOperation() {
  SymbolTable symbols(getOperation());
  llvm::MapVector<tile::KernelOp, SmallVector<int64_t>> alignments;
  for (auto program : getOperation().getOps<func::FuncOp>()) {
    if (!tile::findCudaTarget(program))
      continue;
    program.walk([&](host::LaunchOp launch) {
      auto kernel = symbols.lookup<tile::KernelOp>(launch.getCallee());
      if (!kernel)
        return;
      SmallVector<int64_t> &known = alignments[kernel];
      bool isFirst = known.empty();
      known.resize(launch.getNumOperands());
      for (auto [place, alignment] : llvm::zip(launch.getOperands(), known)) {
        int64_t here = getAlignment(place);
        alignment = isFirst ? here : std::min(alignment, here);
      }
    });
  }
  Type i64 = IntegerType::get(&getContext(), 64);
  for (auto &[kernel, known] : alignments)
    for (auto [arg, alignment] : llvm::enumerate(known)) {
      if (!alignment || kernel.getArgAttr(arg, tile::kAlignAttribute))
        continue;
      kernel.setArgAttr(arg, tile::kAlignAttribute,
                        IntegerAttr::get(i64, alignment));
      ++numAligned;
    }
}

} // namespace adze
