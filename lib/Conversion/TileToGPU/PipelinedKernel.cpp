// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Emits a scheduled product: its roles, loops and copies.
#include "PipelinedKernel.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;

namespace adze::togpu {

/// Registers of a thread after the roles diverge; the launch gives each 168.
constexpr int kProducerRegisters = 40, kConsumerRegisters = 232;

void PipelinedKernel::run(Block *entry) {
  b.setInsertionPointToEnd(entry);
  emitSetup();
  Value copies = d.equal(warpgroup, 0);
  auto roles = scf::IfOp::create(b, d.loc, copies, /*withElseRegion=*/true);
  {
    OpBuilder::InsertionGuard guard(b);
    // Two warpgroups fit with as many registers as a thread can have.
    bool givesRegisters = plan.warpgroups > 1;
    b.setInsertionPointToStart(roles.thenBlock());
    if (givesRegisters)
      d.create<NVVM::SetMaxRegisterOp>(kProducerRegisters,
                                       NVVM::SetMaxRegisterAction::decrease);
    d.when(d.equal(thread, 0), [&] { emitProducer(); });
    b.setInsertionPointToStart(roles.elseBlock());
    if (givesRegisters)
      d.create<NVVM::SetMaxRegisterOp>(kConsumerRegisters,
                                       NVVM::SetMaxRegisterAction::increase);
    emitConsumers();
  }
  d.create<LLVM::ReturnOp>(ValueRange());
}

/// Emits the thread's indices, and the barriers of the ring.
void PipelinedKernel::emitSetup() {
  constexpr int64_t warpThreads = 32;
  thread = d.create<NVVM::ThreadIdXOp>(b.getI32Type());
  inGroup = d.fold<arith::AndIOp>(thread, d.i32(kWarpgroupThreads - 1));
  lane = d.fold<arith::AndIOp>(thread, d.i32(warpThreads - 1));
  warp = d.fold<arith::DivUIOp>(inGroup, d.i32(warpThreads));
  leads = d.equal(inGroup, 0);
  // The value is uniform in the warp: branches on it do not diverge.
  warpgroup = d.create<NVVM::ShflOp>(
      b.getI32Type(), d.i32(-1),
      d.fold<arith::DivUIOp>(thread, d.i32(kWarpgroupThreads)), d.i32(0),
      d.i32(warpThreads - 1), NVVM::ShflKind::idx,
      /*return_value_and_is_valid=*/UnitAttr());
  if (plan.split > 1)
    rank = d.create<NVVM::ClusterId>(b.getI32Type());
  shared = d.create<LLVM::AddressOfOp>(
      LLVM::LLVMPointerType::get(b.getContext(), 3), frame.sharedSymbol);
  full = d.at(shared, plan.getFullOffset());
  empty = d.at(shared, plan.getEmptyOffset());
  d.when(d.equal(thread, 0), [&] {
    for (int64_t stage = 0; stage <= plan.stages; ++stage) {
      d.create<NVVM::MBarrierInitOp>(d.barrierAt(full, d.i32(stage)), d.i32(1),
                                     /*predicate=*/Value());
      d.create<NVVM::MBarrierInitOp>(d.barrierAt(empty, d.i32(stage)),
                                     d.i32(plan.warpgroups),
                                     /*predicate=*/Value());
    }
    d.create<NVVM::FenceMbarrierInitOp>();
    d.create<NVVM::FenceProxyOp>(NVVM::ProxyKind::async,
                                 NVVM::SharedSpaceAttr());
    for (Value map : maps)
      d.create<NVVM::PrefetchOp>(NVVM::PrefetchCacheLevelAttr(),
                                 NVVM::CacheEvictionPriorityAttr(), map,
                                 /*predicate=*/Value(),
                                 /*tensormap=*/b.getUnitAttr());
  });
  d.create<gpu::BarrierOp>();
}

//===--- tiles and loops --------------------------------------------------===//

/// Returns the linear index of the program that computes a tile. Groups of rows
/// of tiles are traversed column by column, so that operands stay in the
/// second-level cache.
Value PipelinedKernel::getProgram(Value tile) {
  tile::ProgramIdOp ids = plan.product.ids;
  if (ids.getGrid().size() < 2)
    return tile;
  Value rows = d.toI32(frame.map.lookup(ids.getGrid()[0])),
        columns = d.toI32(frame.map.lookup(ids.getGrid()[1]));
  Value matrix = d.fold<arith::MulIOp>(rows, columns);
  Value before =
      d.fold<arith::MulIOp>(d.fold<arith::DivUIOp>(tile, matrix), matrix);
  Value inMatrix = d.fold<arith::SubIOp>(tile, before);
  Value together = d.mul(columns, plan.tilesTogether);
  Value group = d.fold<arith::DivUIOp>(inMatrix, together);
  Value firstRow = d.mul(group, plan.tilesTogether);
  Value height = d.fold<arith::MinUIOp>(d.fold<arith::SubIOp>(rows, firstRow),
                                        d.i32(plan.tilesTogether));
  Value inGroupOfTiles = d.fold<arith::RemUIOp>(inMatrix, together);
  Value row = d.add(firstRow, d.fold<arith::RemUIOp>(inGroupOfTiles, height)),
        column = d.fold<arith::DivUIOp>(inGroupOfTiles, height);
  return d.add(before, d.add(row, d.fold<arith::MulIOp>(column, rows)));
}

void PipelinedKernel::forEachTile(
    ValueRange inits,
    llvm::function_ref<Values(const KernelFrame &, ValueRange)> body) {
  Value block = d.create<NVVM::BlockIdXOp>(b.getI32Type()),
        blocks = d.create<NVVM::GridDimXOp>(b.getI32Type()), tiles = programs;
  if (rank) { // a grid has as many clusters as there are tiles
    Value split = d.i32(plan.split);
    block = d.fold<arith::DivUIOp>(block, split);
    blocks = d.fold<arith::DivUIOp>(blocks, split);
    tiles = d.fold<arith::DivUIOp>(tiles, split);
  }
  auto loop = scf::ForOp::create(b, d.loc, block, tiles, blocks, inits);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  KernelFrame at = frame;
  at.programId = d.toIndex(getProgram(loop.getInductionVar()));
  KernelLowering scalars(kernel, spreads, at, /*fast=*/true);
  scalars.lowerPrologue(b);
  // The builder inserted before the same point.
  Values results = body(scalars.getFrame(), loop.getRegionIterArgs());
  d.create<scf::YieldOp>(results);
}

PipelinedKernel::Values PipelinedKernel::emitLoops(unsigned level,
                                                   IRMapping &map,
                                                   Values carried, Step step) {
  if (level == plan.product.loops.size())
    return step(map, carried);
  scf::ForOp loop = plan.product.loops[level];
  Value lower = map.lookupOrDefault(loop.getLowerBound()),
        upper = map.lookupOrDefault(loop.getUpperBound()),
        stepSize = map.lookupOrDefault(loop.getStep());
  if (rank && level == 0)
    std::tie(lower, upper) = getPart(lower, upper, stepSize);
  auto made = scf::ForOp::create(b, d.loc, lower, upper, stepSize, carried);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(made.getBody());
  map.map(loop.getInductionVar(), made.getInductionVar());
  for (Operation &op : loop.getBody()->without_terminator())
    if (!op.getNumRegions() && llvm::none_of(op.getResults(), isTile))
      b.clone(op, map);
  Values next =
      emitLoops(level + 1, map, Values(made.getRegionIterArgs()), step);
  d.create<scf::YieldOp>(next);
  return Values(made.getResults());
}

std::pair<Value, Value> PipelinedKernel::getPart(Value lower, Value upper,
                                                 Value step) {
  Value number = d.toIndex(rank);
  Value trips =
      d.fold<arith::CeilDivUIOp>(d.fold<arith::SubIOp>(upper, lower), step);
  Value each = d.fold<arith::MulIOp>(
      d.fold<arith::CeilDivUIOp>(trips, d.index(plan.split)), step);
  Value first = d.add(lower, d.fold<arith::MulIOp>(number, each));
  return {first, d.fold<arith::MinUIOp>(upper, d.add(first, each))};
}

//===--- the producer -----------------------------------------------------===//

void PipelinedKernel::copyOperand(const tile::TensorBox &box, tile::LoadOp load,
                                  Value map, Value shared, Value full,
                                  const IRMapping &scalars) {
  SmallVector<Value> offsets;
  for (OpFoldResult offset : load.getMixedOffsets()) {
    auto constant = getConstantIntValue(offset);
    offsets.push_back(constant ? d.index(*constant)
                               : scalars.lookupOrDefault(cast<Value>(offset)));
  }
  // Innermost first.
  SmallVector<Value> coordinates;
  auto type = cast<MemRefType>(load.getMemref().getType());
  for (AffineExpr expr :
       llvm::reverse(type.getLayout().getAffineMap().getResults())) {
    auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
    // Windows start at whole panels.
    bool inPanel = binary && binary.getKind() == AffineExprKind::Mod;
    coordinates.push_back(
        inPanel ? d.i32(0)
                : d.toI32(expandAffine(b, d.loc, expr, offsets, {})));
  }
  int64_t boxBytes = plan.getElementBytes();
  for (int64_t size : box.box)
    boxBytes *= size;
  Value first = coordinates.front();
  for (int64_t copy = 0; copy < box.numCopies; ++copy) {
    coordinates.front() = d.add(first, copy * box.box.back());
    Value to = d.create<LLVM::AddrSpaceCastOp>(
        LLVM::LLVMPointerType::get(b.getContext(), 7),
        d.at(shared, copy * boxBytes));
    d.create<NVVM::CpAsyncBulkTensorGlobalToSharedClusterOp>(
        to, map, coordinates, full, /*im2colOffsets=*/ValueRange(),
        /*multicastMask=*/Value(), /*l2CacheHint=*/Value(),
        NVVM::TMALoadMode::TILE, /*isCTAOnly=*/false,
        /*group=*/NVVM::CTAGroupKindAttr(), /*predicate=*/Value());
  }
}

PipelinedKernel::Values PipelinedKernel::copyStage(IRMapping &scalars,
                                                   ValueRange ring) {
  Value stage = ring[0], phase = ring[1];
  d.waitBarrier(empty, stage, phase);
  Value bar = d.barrierAt(full, stage);
  d.create<NVVM::MBarrierArriveExpectTxOp>(
      /*res=*/Type(), bar, d.i32(plan.lhsBytes + plan.rhsBytes),
      NVVM::MemScopeKind::CTA, /*relaxed=*/false, /*predicate=*/Value());
  Value lhs = d.at(shared, d.mul(stage, plan.lhsBytes)),
        rhs = d.at(d.at(shared, plan.getRhsOffset()),
                   d.mul(stage, plan.rhsBytes));
  copyOperand(plan.maps[0], plan.product.lhs, maps[0], lhs, bar, scalars);
  copyOperand(plan.maps[1], plan.product.rhs, maps[1], rhs, bar, scalars);
  auto [nextStage, nextPhase] = d.advance(stage, phase, plan.stages);
  return {nextStage, nextPhase};
}

void PipelinedKernel::emitProducer() {
  // All stages are empty: the phase before the first one is over.
  Values inits{d.i32(0), d.i32(1)};
  forEachTile(inits, [&](const KernelFrame &at, ValueRange carried) {
    IRMapping map = at.map;
    return emitLoops(0, map, Values(carried),
                     [&](IRMapping &scalars, ValueRange ring) {
                       return copyStage(scalars, ring);
                     });
  });
}

} // namespace adze::togpu
