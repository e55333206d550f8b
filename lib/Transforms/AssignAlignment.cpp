// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// assign-alignment: states the alignment of arguments of kernels for devices,
// and which arguments are constants.
#include "Dialect/Tile/IR/Targets.h"
#include "Launches.h"
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

namespace {
/// What is known of an argument at some launches.
struct Argument {
  int64_t alignment = 0;
  bool isConstant = false;
};
} // namespace

static Argument join(Argument a, Argument b) {
  return {std::min(a.alignment, b.alignment), a.isConstant && b.isConstant};
}

/// Returns the power of two that divides the address of a place, or 0 if the
/// caller provides it.
static int64_t getAlignment(Value place) {
  Operation *op = place.getDefiningOp();
  if (isa_and_present<host::SlotOp, host::ConstantOp, host::TransformOp>(op))
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
  llvm::MapVector<tile::KernelOp, SmallVector<Argument>> kernels;
  for (auto program : getOperation().getOps<func::FuncOp>()) {
    if (!tile::findCudaTarget(program))
      continue;
    program.walk([&](host::LaunchOp launch) {
      auto kernel = symbols.lookup<tile::KernelOp>(launch.getCallee());
      if (!kernel)
        return;
      SmallVector<Argument> &known = kernels[kernel];
      bool isFirst = known.empty();
      known.resize(launch.getNumOperands());
      for (auto [place, argument] : llvm::zip(launch.getOperands(), known)) {
        Argument here{getAlignment(place), isConstant(place)};
        argument = isFirst ? here : join(argument, here);
      }
    });
  }
  Builder b(&getContext());
  for (auto &[kernel, known] : kernels)
    for (auto [arg, argument] : llvm::enumerate(known)) {
      if (argument.isConstant)
        kernel.setArgAttr(arg, tile::kConstantAttribute, b.getUnitAttr());
      if (!argument.alignment || kernel.getArgAttr(arg, tile::kAlignAttribute))
        continue;
      kernel.setArgAttr(arg, tile::kAlignAttribute,
                        b.getI64IntegerAttr(argument.alignment));
      ++numAligned;
    }
}

} // namespace adze
