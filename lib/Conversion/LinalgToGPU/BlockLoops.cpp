// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Distributes code over the threads of a block.
#include "BlockLoops.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace adze::togpu {

/// Returns true if the iterations of the nest are shared out. Else the threads
/// run the outer loops together and share out the loops inside.
static bool isShared(const LoopNest &nest) {
  constexpr int64_t enough = 256;
  return !hasIndependentLoop(nest.getBody()) ||
         isa<scf::ParallelOp>(nest.getOuter()) ||
         nest.getStaticCount().value_or(0) >= enough;
}

std::optional<int64_t> BlockLoops::getMostIterations(Block &block) {
  int64_t most = 1;
  bool isStatic = true;
  block.walk<WalkOrder::PreOrder>([&](Operation *op) {
    std::optional<LoopNest> nest = LoopNest::find(op);
    if (!nest || !writesMemory(op) || !isShared(*nest))
      return WalkResult::advance();
    std::optional<int64_t> count = nest->getStaticCount();
    isStatic &= count.has_value();
    most = std::max(most, count.value_or(0));
    return WalkResult::skip();
  });
  return isStatic ? std::optional(most) : std::nullopt;
}

bool BlockLoops::isOfOneThread(Operation *op) const {
  for (; op; op = op->getParentOp())
    if (ofOneThread.contains(op))
      return true;
  return false;
}

void BlockLoops::barrier(Operation &before) {
  OpBuilder b(&before);
  gpu::BarrierOp::create(b, before.getLoc());
  lastWriter = Writer::None;
  hasReads = false;
}

void BlockLoops::prepareRead(Operation &op) {
  if (lastWriter != Writer::None)
    barrier(op);
  hasReads = true;
}

void BlockLoops::prepareWrite(Operation &op, Writer writer) {
  bool isSameThread =
      writer == Writer::Thread0 && lastWriter == Writer::Thread0;
  if (hasReads || (lastWriter != Writer::None && !isSameThread))
    barrier(op);
  lastWriter = writer;
}

/// Thread t runs the iterations t, t + threads, ..
void BlockLoops::share(LoopNest nest) {
  Operation *outer = nest.getOuter();
  OpBuilder b(outer);
  Location loc = outer->getLoc();
  SmallVector<Value> counts =
      nest.emitCounts(b, [](Value bound) { return bound; });
  Value total = multiply(b, loc, counts);
  Value step = arith::ConstantIndexOp::create(b, loc, threads);
  auto loop = scf::ForOp::create(b, loc, threadId, total, step);
  ofOneThread.insert(loop);
  b.setInsertionPointToStart(loop.getBody());
  nest.inlineIteration(b, loop.getInductionVar(), counts);
}

/// Other threads get the results through shared memory.
void BlockLoops::runOnThread0(Operation &op) {
  OpBuilder b(&op);
  Location loc = op.getLoc();
  Value zero = arith::ConstantIndexOp::create(b, loc, 0);
  Value isFirst =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, threadId, zero);
  auto branch = scf::IfOp::create(b, loc, isFirst, /*withElseRegion=*/false);
  op.moveBefore(branch.thenBlock(), branch.thenBlock()->begin());
  if (op.use_empty())
    return;
  OpBuilder inside = OpBuilder::atBlockTerminator(branch.thenBlock());
  b.setInsertionPointAfter(branch);
  gpu::BarrierOp::create(b, loc);
  for (Value result : op.getResults()) {
    OpBuilder before(branch);
    Value place = memref::AllocOp::create(
        before, loc, MemRefType::get({}, result.getType()));
    Value loaded = memref::LoadOp::create(b, loc, place);
    result.replaceAllUsesWith(loaded);
    memref::StoreOp::create(inside, loc, result, place);
  }
  lastWriter = Writer::None;
  hasReads = true;
}

void BlockLoops::distributeOp(Operation &op) {
  if (isMemoryEffectFree(&op) ||
      isa<memref::AllocOp, memref::AllocaOp, memref::DeallocOp>(op))
    return;
  if (!writesMemory(&op))
    return prepareRead(op);
  if (std::optional<LoopNest> nest = LoopNest::find(&op);
      nest && isShared(*nest)) {
    prepareWrite(op, Writer::All);
    return share(*nest);
  }
  bool recurses =
      isa<scf::ForOp, scf::IfOp, scf::WhileOp>(op) &&
      llvm::any_of(op.getRegions(), [](Region &region) {
        return !region.empty() && hasIndependentLoop(region.front());
      });
  if (!recurses) {
    prepareWrite(op, Writer::Thread0);
    return runOnThread0(op);
  }
  for (Region &region : op.getRegions()) {
    if (region.empty())
      continue;
    lastWriter = Writer::All; // of the previous iteration
    hasReads = true;
    distribute(region.front());
  }
  lastWriter = Writer::All;
  hasReads = true;
}

void BlockLoops::distribute(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(block))
    if (!op.hasTrait<OpTrait::IsTerminator>())
      distributeOp(op);
}

} // namespace adze::togpu
