// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Perfect nests of independent loops.
#include "LoopNest.h"
#include "Dialect/Host/IR/Programs.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace adze::togpu {

bool isIndependentLoop(Operation *op) {
  if (auto loop = dyn_cast<scf::ParallelOp>(op))
    return loop.getNumResults() == 0;
  auto loop = dyn_cast<scf::ForOp>(op);
  return loop && loop.getNumResults() == 0 &&
         loop->hasAttr(host::independentAttr);
}

bool writesMemory(Operation *op) {
  WalkResult walk = op->walk([](Operation *inner) {
    if (isa<memref::AllocOp, memref::AllocaOp, memref::DeallocOp>(inner))
      return WalkResult::advance();
    if (auto effects = dyn_cast<MemoryEffectOpInterface>(inner))
      return effects.hasEffect<MemoryEffects::Write>() ? WalkResult::interrupt()
                                                       : WalkResult::advance();
    bool isRecursive = inner->hasTrait<OpTrait::HasRecursiveMemoryEffects>();
    return isRecursive || isMemoryEffectFree(inner) ? WalkResult::advance()
                                                    : WalkResult::interrupt();
  });
  return walk.wasInterrupted();
}

bool hasIndependentLoop(Block &block) {
  return block
      .walk([](Operation *op) {
        return isIndependentLoop(op) && writesMemory(op)
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

SmallVector<Operation *> getWriters(Block &block) {
  SmallVector<Operation *> writers;
  for (Operation &op : block)
    if (!op.hasTrait<OpTrait::IsTerminator>() && writesMemory(&op))
      writers.push_back(&op);
  return writers;
}

Block &LoopNest::getBody() const { return loops.back()->getRegion(0).front(); }

/// Adds a loop if its bounds are defined outside of the nest.
bool LoopNest::add(Operation *loop) {
  SmallVector<Dim> added;
  if (auto parallel = dyn_cast<scf::ParallelOp>(loop)) {
    for (auto [low, high, step, index] :
         llvm::zip(parallel.getLowerBound(), parallel.getUpperBound(),
                   parallel.getStep(), parallel.getInductionVars()))
      added.push_back({low, high, step, index});
  } else {
    auto single = cast<scf::ForOp>(loop);
    added.push_back({single.getLowerBound(), single.getUpperBound(),
                     single.getStep(), single.getInductionVar()});
  }
  for (const Dim &dim : added)
    for (Value bound : {dim.low, dim.high, dim.step})
      if (!loops.empty() &&
          loops.front()->isAncestor(bound.getParentBlock()->getParentOp()))
        return false;
  loops.push_back(loop);
  llvm::append_range(dims, added);
  return true;
}

std::optional<LoopNest> LoopNest::find(Operation *op) {
  if (!isIndependentLoop(op))
    return std::nullopt;
  LoopNest nest;
  nest.add(op);
  while (true) {
    Operation *only = nullptr;
    for (Operation &inner : nest.getBody().without_terminator()) {
      if (isMemoryEffectFree(&inner))
        continue;
      if (only)
        return nest;
      only = &inner;
    }
    if (!only || !isIndependentLoop(only) || !nest.add(only))
      return nest;
  }
}

std::optional<int64_t> LoopNest::getStaticCount() const {
  int64_t count = 1;
  for (const Dim &dim : dims) {
    auto low = getConstantIntValue(dim.low),
         high = getConstantIntValue(dim.high),
         step = getConstantIntValue(dim.step);
    if (!low || !high || !step)
      return std::nullopt;
    count *= std::max<int64_t>(0, llvm::divideCeil(*high - *low, *step));
  }
  return count;
}

SmallVector<Value> LoopNest::emitCounts(OpBuilder &b,
                                        function_ref<Value(Value)> get) const {
  Location loc = loops.front()->getLoc();
  Value zero = arith::ConstantIndexOp::create(b, loc, 0);
  SmallVector<Value> counts;
  for (const Dim &dim : dims) {
    Value low = get(dim.low), high = get(dim.high), step = get(dim.step);
    if (!low || !high || !step)
      return {};
    Value length = b.createOrFold<arith::SubIOp>(loc, high, low);
    length = b.createOrFold<arith::MaxSIOp>(loc, length, zero);
    if (getConstantIntValue(step) != 1) {
      Value one = arith::ConstantIndexOp::create(b, loc, 1);
      Value last = b.createOrFold<arith::SubIOp>(loc, step, one);
      length = b.createOrFold<arith::AddIOp>(loc, length, last);
      length = b.createOrFold<arith::DivUIOp>(loc, length, step);
    }
    counts.push_back(length);
  }
  return counts;
}

void LoopNest::inlineIteration(OpBuilder &b, Value linear, ValueRange counts) {
  Location loc = loops.front()->getLoc();
  for (size_t i = dims.size(); i-- > 0;) {
    Value place = linear;
    if (i > 0) {
      place = b.createOrFold<arith::RemUIOp>(loc, linear, counts[i]);
      linear = b.createOrFold<arith::DivUIOp>(loc, linear, counts[i]);
    }
    place = b.createOrFold<arith::MulIOp>(loc, place, dims[i].step);
    place = b.createOrFold<arith::AddIOp>(loc, place, dims[i].low);
    dims[i].index.replaceAllUsesWith(place);
  }
  for (auto [number, loop] : llvm::enumerate(loops)) {
    Operation *inner = number + 1 < loops.size() ? loops[number + 1] : nullptr;
    Block &body = loop->getRegion(0).front();
    for (Operation &op :
         llvm::make_early_inc_range(body.without_terminator())) {
      if (&op == inner)
        break; // what follows has no effects and no users
      op.moveBefore(b.getInsertionBlock(), b.getInsertionPoint());
    }
  }
  loops.front()->erase();
}

Value multiply(OpBuilder &b, Location loc, ValueRange factors) {
  Value product;
  for (Value factor : factors)
    product =
        product ? b.createOrFold<arith::MulIOp>(loc, product, factor) : factor;
  return product ? product
                 : arith::ConstantIndexOp::create(b, loc, 1).getResult();
}

} // namespace adze::togpu
