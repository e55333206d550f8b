// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// map-loops-to-programs: turns the iterations of the outermost loop of kernels
// of the reference path into programs.
#include "Dialect/Host/IR/Host.h"
#include "Dialect/Host/IR/Programs.h"
#include "Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace adze {
#define GEN_PASS_DEF_MAPLOOPSTOPROGRAMS
#include "Transforms/Passes.h.inc"

namespace {
struct MapLoopsToProgramsPass final
    : impl::MapLoopsToProgramsBase<MapLoopsToProgramsPass> {
  void runOnOperation() override;
};
} // namespace

/// Returns the loop of programs, if all ops outside of it may run once for each
/// program.
static scf::ForOp findLoop(func::FuncOp kernel) {
  scf::ForOp found;
  for (Operation &op : kernel.front().without_terminator()) {
    auto loop = dyn_cast<scf::ForOp>(op);
    if (loop && loop->hasAttr(host::programsAttr) && !found) {
      found = loop;
      continue;
    }
    if (!isa<memref::AllocOp, memref::AllocaOp>(op) && !isMemoryEffectFree(&op))
      return {};
  }
  bool isPlain = found && found.getNumResults() == 0 &&
                 getConstantIntValue(found.getLowerBound()) == 0 &&
                 getConstantIntValue(found.getStep()) == 1;
  return isPlain ? found : scf::ForOp();
}

/// Creates @k_programs, which returns the number of iterations. Returns false
/// if it does not depend on sizes only.
static bool makePrograms(func::FuncOp kernel, scf::ForOp loop) {
  OpBuilder b(kernel);
  Location loc = kernel.getLoc();
  auto programs = func::FuncOp::create(
      b, loc, (kernel.getName() + "_programs").str(),
      b.getFunctionType(kernel.getArgumentTypes(), b.getIndexType()));
  Block *entry = programs.addEntryBlock();
  b.setInsertionPointToEnd(entry);
  IRMapping map;
  map.map(kernel.getArguments(), entry->getArguments());
  for (Operation &op : kernel.front()) {
    if (&op == loop)
      break;
    bool isReady = llvm::all_of(op.getOperands(),
                                [&](Value v) { return map.contains(v); });
    if (op.getNumRegions() == 0 && isMemoryEffectFree(&op) && isReady)
      b.clone(op, map);
  }
  Value count = map.lookupOrNull(loop.getUpperBound());
  if (!count) {
    programs.erase();
    return false;
  }
  func::ReturnOp::create(b, loc, count);
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(*entry)))
    if (isOpTriviallyDead(&op))
      op.erase();
  return true;
}

void MapLoopsToProgramsPass::runOnOperation() {
  for (auto kernel :
       llvm::make_early_inc_range(getOperation().getOps<func::FuncOp>())) {
    bool isWhole = kernel->hasAttr(host::kernelAttr) && !kernel.isExternal() &&
                   llvm::none_of(kernel.getArgumentTypes(),
                                 [](Type type) { return type.isIndex(); });
    scf::ForOp loop = isWhole ? findLoop(kernel) : scf::ForOp();
    if (!loop || !makePrograms(kernel, loop))
      continue;
    Type index = IndexType::get(&getContext());
    Block &entry = kernel.front();
    loop.setLowerBound(entry.addArgument(index, kernel.getLoc()));
    loop.setUpperBound(entry.addArgument(index, kernel.getLoc()));
    loop->removeAttr(host::programsAttr);
    SmallVector<Type> types(entry.getArgumentTypes());
    SmallVector<Attribute> attributes;
    if (ArrayAttr all = kernel.getAllArgAttrs()) {
      attributes.append(all.begin(), all.end());
      attributes.resize(types.size(), DictionaryAttr::get(&getContext()));
    }
    kernel.setFunctionType(FunctionType::get(&getContext(), types, {}));
    if (!attributes.empty())
      kernel.setAllArgAttrs(attributes);
    ++numMapped;
  }
}
} // namespace adze
