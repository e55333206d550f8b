// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// join-programs: makes a kernel that runs a range of programs run all of them.
#include "Dialect/Host/IR/Host.h"
#include "Dialect/Host/IR/Programs.h"
#include "Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace adze {
#define GEN_PASS_DEF_JOINPROGRAMS
#include "Transforms/Passes.h.inc"

namespace {
class JoinProgramsPass final : public impl::JoinProgramsBase<JoinProgramsPass> {
public:
  void runOnOperation() override;
};
} // namespace

/// Returns the only loop from `low` to `high`, or null.
static scf::ForOp findLoop(Value low, Value high) {
  if (!low.hasOneUse() || !high.hasOneUse())
    return {};
  auto loop = dyn_cast<scf::ForOp>(*low.user_begin());
  bool isRange =
      loop && loop.getLowerBound() == low && loop.getUpperBound() == high;
  return isRange ? loop : scf::ForOp();
}

/// Clones the body of @k_programs to the start of the kernel. Returns the
/// number of programs.
static Value cloneCount(func::FuncOp programs, func::FuncOp kernel) {
  Block &from = programs.front();
  IRMapping map;
  for (BlockArgument argument : from.getArguments())
    map.map(argument, kernel.getArgument(argument.getArgNumber()));
  OpBuilder b = OpBuilder::atBlockBegin(&kernel.front());
  for (Operation &op : from.without_terminator())
    b.clone(op, map);
  return map.lookupOrDefault(from.getTerminator()->getOperand(0));
}

/// Returns true if the function runs programs [lo, hi).
static bool hasRange(func::FuncOp kernel, func::FuncOp programs) {
  ArrayRef<Type> types = kernel.getArgumentTypes();
  return programs && types.size() >= 2 && types.back().isIndex() &&
         types[types.size() - 2].isIndex() &&
         programs.getNumArguments() + 2 == types.size() &&
         programs.getNumResults() == 1;
}

void JoinProgramsPass::runOnOperation() {
  SymbolTable symbols(getOperation());
  SmallVector<func::FuncOp> joined;
  for (auto kernel : getOperation().getOps<func::FuncOp>()) {
    if (!kernel->hasAttr(host::kernelAttr) || kernel.isExternal())
      continue;
    std::string name = (kernel.getName() + "_programs").str();
    auto programs = symbols.lookup<func::FuncOp>(name);
    if (!hasRange(kernel, programs))
      continue;
    unsigned low = kernel.getNumArguments() - 2, high = low + 1;
    if (scf::ForOp loop =
            findLoop(kernel.getArgument(low), kernel.getArgument(high));
        loop && !kernel->hasAttr(host::orderedAttr))
      loop->setAttr(host::programsAttr, UnitAttr::get(&getContext()));
    kernel.getArgument(high).replaceAllUsesWith(cloneCount(programs, kernel));
    OpBuilder b = OpBuilder::atBlockBegin(&kernel.front());
    kernel.getArgument(low).replaceAllUsesWith(
        arith::ConstantIndexOp::create(b, kernel.getLoc(), 0));
    if (failed(kernel.eraseArguments(
            llvm::BitVector(kernel.getNumArguments()).set(low, high + 1))))
      return signalPassFailure();
    joined.push_back(programs);
    ++numJoined;
  }
  // These may follow their kernels, so they are erased after the iteration.
  for (func::FuncOp programs : joined)
    symbols.erase(programs);
}
} // namespace adze
