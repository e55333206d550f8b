// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Copies constants of the contractions in a loop ahead of their use.
#include "LoopStream.h"
#include "DeviceBuilder.h"
#include "Dialect/Tile/IR/Units.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace adze::togpu {

/// Returns true for a loop of several iterations that only loads and computes.
static bool onlyLoads(scf::ForOp loop) {
  auto trips = loop.getStaticTripCount();
  return trips && trips->ugt(1) &&
         llvm::all_of(loop.getBody()->without_terminator(), [](Operation &op) {
           return !op.getNumRegions() && !isa<tile::DotOp>(op) &&
                  (isa<tile::LoadOp>(op) || isMemoryEffectFree(&op));
         });
}

LoopStream::LoopStream(KernelLowering &lowering, scf::ForOp loop)
    : lowering(lowering), loop(loop) {
  if (!lowering.plan.hasContractions() || !onlyLoads(loop))
    return;
  findLoads();
  if (tiles.empty())
    return;
  lowering.lowerScalars(loop, lowering.map.lookup(loop.getLowerBound()));
  emitConstants(Step::Count);
  lowering.forget(*loop.getBody());
  chooseDistance();
}

/// Finds the loads of constants, and their tiles.
void LoopStream::findLoads() {
  for (auto load : loop.getBody()->getOps<tile::LoadOp>()) {
    if (!readsConstants(load) || load.getPad() ||
        !lowering.frame.views.contains(load.getMemref()))
      continue;
    Value tile = load.getResult();
    while (tile.hasOneUse() && isa<tile::ReshapeOp>(*tile.user_begin()))
      tile = tile.user_begin()->getResult(0);
    loads.insert(load);
    tiles.push_back(tile);
  }
}

/// Chooses the iterations from a copy to its use, if two stages fit into shared
/// memory.
void LoopStream::chooseDistance() {
  constexpr int64_t leastBytes = 32, ofReductions = 16384;
  constexpr int64_t residentThreads = 768;
  int64_t threads = lowering.plan.getBlockThreads(),
          all = lowering.plan.getSharedBytes(),
          share = std::min(all * threads / residentThreads,
                           all - lowering.sharedBytes - ofReductions),
          stageBytes = bytes * threads;
  if (bytes < leastBytes || narrowest < tile::kLeastCopyBytes ||
      kStages * stageBytes > share)
    return;
  ahead = *loop.getStaticTripCount() == kStages ? kStages : kStages - 1;
  memory =
      lowering.allocateShared(lowering.b.getI8Type(), {kStages, stageBytes});
}

Value LoopStream::takePlace(int64_t accessBytes) {
  int64_t before = bytes * lowering.plan.getBlockThreads();
  bytes += accessBytes;
  narrowest = std::min(narrowest, accessBytes);
  if (step == Step::Count)
    return {};
  DeviceBuilder d(lowering.b, lowering.loc);
  return d.at(d.at(stage, before),
              d.mul(d.toI32(lowering.getThreadInBlock()), accessBytes));
}

/// Emits one step for all constants of an iteration, of which the scalars are
/// known, in a stage of the memory.
void LoopStream::emitConstants(Step next, Value stageNumber) {
  step = next;
  bytes = 0;
  if (stageNumber)
    stage =
        lowering.sharedPointer(memory,
                               {lowering.positionAxis(stageNumber),
                                lowering.positionAxis(lowering.constant(0))},
                               {0, 0});
  // Only what is read is known to the ops of the iteration.
  SmallVector<KernelLowering::Scope> around;
  bool isRead = step == Step::Read;
  if (!isRead) {
    std::swap(lowering.scopes, around);
    lowering.scopes.emplace_back();
  }
  lowering.streamed = this;
  for (Value tile : tiles)
    lowering.emit(tile, lowering.axesFor(tile));
  lowering.streamed = nullptr;
  if (!isRead)
    std::swap(lowering.scopes, around);
}

/// Starts the copies of the iteration with this induction variable, if it is
/// less than the upper bound of the loop.
void LoopStream::copyAhead(Value at, Value stageNumber) {
  OpBuilder &b = lowering.b;
  Value exists =
      b.createOrFold<arith::CmpIOp>(lowering.loc, arith::CmpIPredicate::ult, at,
                                    lowering.map.lookup(loop.getUpperBound()));
  DeviceBuilder(b, lowering.loc).when(exists, [&] {
    lowering.lowerScalars(loop, at);
    emitConstants(Step::Copy, stageNumber);
  });
  lowering.forget(*loop.getBody());
  NVVM::CpAsyncCommitGroupOp::create(b, lowering.loc);
}

/// Copies the first iterations: all of a loop of two, or those that leave one
/// stage free.
Value LoopStream::begin() {
  Value at = lowering.map.lookup(loop.getLowerBound()),
        step = lowering.map.lookup(loop.getStep());
  for (int64_t i = 0; i < ahead; ++i) {
    copyAhead(at, lowering.constant(i));
    at = lowering.add(at, step);
  }
  return lowering.constant(0);
}

Value LoopStream::enter(Value at, Value stageNumber) {
  NVVM::CpAsyncWaitGroupOp::create(lowering.b, lowering.loc, ahead - 1);
  lowering.lowerScalars(loop, at);
  emitConstants(Step::Read, stageNumber);
  Value step = lowering.map.lookup(loop.getStep()),
        other = DeviceBuilder(lowering.b, lowering.loc)
                    .getNext(stageNumber, kStages);
  if (ahead < kStages)
    copyAhead(lowering.add(at, lowering.multiplyBy(step, ahead)), other);
  else // the number of groups states which ones are complete
    NVVM::CpAsyncCommitGroupOp::create(lowering.b, lowering.loc);
  lowering.map.map(loop.getInductionVar(), at);
  return other;
}

} // namespace adze::togpu
