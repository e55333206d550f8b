// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Constants of contractions that threads copy to shared memory (PTX ISA,
// cp.async) iterations before they use them. A thread reads only what it has
// copied, so that threads do not synchronize.
#include "DeviceBuilder.h"
#include "KernelLowering.h"
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

/// Returns the constants of a loop that threads copy, and the stages that fit
/// into shared memory; without stages, threads load what they need.
Stream KernelLowering::findStream(scf::ForOp loop) {
  constexpr int64_t leastBytes = 32, ofCopy = 4, ofReductions = 16384;
  // Elements of the rows are loaded behind the copies that are in flight.
  constexpr int64_t mostStages = 2, residentThreads = 768;
  Stream stream;
  if (!plan.hasContractions() || !onlyLoads(loop))
    return stream;
  for (auto load : loop.getBody()->getOps<tile::LoadOp>()) {
    if (!readsConstants(load) || load.getPad() ||
        !frame.views.contains(load.getMemref()))
      continue;
    Value tile = load.getResult();
    while (tile.hasOneUse() && isa<tile::ReshapeOp>(*tile.user_begin()))
      tile = tile.user_begin()->getResult(0);
    stream.loads.insert(load);
    stream.tiles.push_back(tile);
  }
  if (stream.tiles.empty())
    return stream;
  lowerScalars(loop, map.lookup(loop.getLowerBound()));
  emitStream(stream, StreamStep::Count);
  forget(*loop.getBody());
  stream.stageBytes = stream.bytes * plan.getBlockThreads();
  int64_t all = plan.getSharedBytes(),
          share = std::min(all * plan.getBlockThreads() / residentThreads,
                           all - sharedBytes - ofReductions);
  if (stream.bytes < leastBytes || stream.narrowest < ofCopy)
    return stream;
  int64_t trips = loop.getStaticTripCount()->getSExtValue();
  stream.stages = std::min({mostStages, share / stream.stageBytes, trips});
  stream.ahead = stream.stages == trips ? trips : stream.stages - 1;
  if (stream.stages > 1)
    stream.memory =
        allocateShared(b.getI8Type(), {stream.stages, stream.stageBytes});
  return stream;
}

/// Emits one step for all constants of an iteration, of which the scalars are
/// known, in a stage of the memory.
void KernelLowering::emitStream(Stream &stream, StreamStep step, Value stage) {
  stream.step = step;
  stream.bytes = 0;
  if (stage)
    stream.stage =
        sharedPointer(stream.memory,
                      {positionAxis(stage), positionAxis(constant(0))}, {0, 0});
  // Only what is read is known to the ops of the iteration.
  SmallVector<Scope> around;
  bool isRead = step == StreamStep::Read;
  if (!isRead) {
    std::swap(scopes, around);
    scopes.emplace_back();
  }
  streamed = &stream;
  for (Value tile : stream.tiles)
    emit(tile, axesFor(tile));
  streamed = nullptr;
  if (!isRead)
    std::swap(scopes, around);
}

/// Starts the copies of the iteration with this induction variable, if it is
/// less than the upper bound of the loop.
void KernelLowering::copyAhead(Stream &stream, scf::ForOp loop, Value at,
                               Value stage) {
  Value exists = b.createOrFold<arith::CmpIOp>(
      loc, arith::CmpIPredicate::ult, at, map.lookup(loop.getUpperBound()));
  DeviceBuilder(b, loc).when(exists, [&] {
    lowerScalars(loop, at);
    emitStream(stream, StreamStep::Copy, stage);
  });
  forget(*loop.getBody());
  NVVM::CpAsyncCommitGroupOp::create(b, loc);
}

/// Starts the copies of the first iterations: of all, or those that leave one
/// stage free.
void KernelLowering::beginStream(Stream &stream, scf::ForOp loop) {
  Value at = map.lookup(loop.getLowerBound()),
        step = map.lookup(loop.getStep());
  for (int64_t i = 0; i < stream.ahead; ++i) {
    copyAhead(stream, loop, at, constant(i));
    at = add(at, step);
  }
}

/// Waits for the constants of an iteration, reads them, and starts the copies
/// that reuse the stage of the iteration before. Returns the next stage.
Value KernelLowering::advanceStream(Stream &stream, scf::ForOp loop, Value at,
                                    Value stage) {
  NVVM::CpAsyncWaitGroupOp::create(b, loc, stream.ahead - 1);
  lowerScalars(loop, at);
  emitStream(stream, StreamStep::Read, stage);
  DeviceBuilder d(b, loc);
  if (stream.ahead < stream.stages)
    copyAhead(stream, loop,
              add(at, multiplyBy(map.lookup(loop.getStep()), stream.ahead)),
              d.getPrevious(stage, stream.stages));
  else // the number of groups states which ones are complete
    NVVM::CpAsyncCommitGroupOp::create(b, loc);
  map.map(loop.getInductionVar(), at);
  return d.getNext(stage, stream.stages);
}

} // namespace adze::togpu
