// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Emits a scheduled product: its roles, loops and copies.
#include "PipelinedKernel.h"
#include "Dialect/Tile/IR/PhysicalType.h"
#include "OperandProducer.h"
#include "Support/LoopAnnotation.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;

namespace adze::togpu {

/// Registers of a thread after the roles diverge, of those that the launch
/// gives to all threads alike. Both are multiples of 8 (PTX ISA, setmaxnreg).
struct RoleRegisters {
  explicit RoleRegisters(const PipelinePlan &plan) {
    constexpr int64_t ofMultiprocessor = 65536, unit = 8;
    int64_t warpgroups = plan.producers + plan.warpgroups;
    int64_t launched =
        ofMultiprocessor / (warpgroups * kWarpgroupThreads) / unit * unit;
    // Where two warpgroups compute operands, a thread has one column.
    if (plan.computesOperands())
      producer = plan.producers > 1 ? 80 : 136;
    else
      producer = warpgroups > 3 ? 32 : 40;
    consumer = (warpgroups * launched - plan.producers * producer) /
               plan.warpgroups / unit * unit;
  }
  int64_t producer, consumer;
};

void PipelinedKernel::run(Block *entry) {
  b.setInsertionPointToEnd(entry);
  emitSetup();
  Value copies = d.create<arith::CmpIOp>(arith::CmpIPredicate::ult, warpgroup,
                                         d.i32(plan.producers));
  auto roles = scf::IfOp::create(b, d.loc, copies, /*withElseRegion=*/true);
  {
    OpBuilder::InsertionGuard guard(b);
    // Two warpgroups fit with the maximum of registers for each thread.
    bool givesRegisters = plan.warpgroups > 1;
    RoleRegisters registers(plan);
    b.setInsertionPointToStart(roles.thenBlock());
    if (givesRegisters)
      d.create<NVVM::SetMaxRegisterOp>(int(registers.producer),
                                       NVVM::SetMaxRegisterAction::decrease);
    if (plan.computesOperands())
      emitProducer();
    else
      d.when(d.equal(thread, 0), [&] { emitProducer(); });
    b.setInsertionPointToStart(roles.elseBlock());
    if (givesRegisters)
      d.create<NVVM::SetMaxRegisterOp>(int(registers.consumer),
                                       NVVM::SetMaxRegisterAction::increase);
    emitConsumers();
  }
  d.create<LLVM::ReturnOp>(ValueRange());
}

/// Emits the indices of the thread, and the barriers of the ring.
void PipelinedKernel::emitSetup() {
  thread = d.create<NVVM::ThreadIdXOp>(b.getI32Type());
  inGroup = d.fold<arith::AndIOp>(thread, d.i32(kWarpgroupThreads - 1));
  lane = d.fold<arith::AndIOp>(thread, d.i32(kWarp - 1));
  warp = d.fold<arith::DivUIOp>(inGroup, d.i32(kWarp));
  leads = d.equal(inGroup, 0);
  // The value is uniform in the warp, so branches on it do not diverge.
  warpgroup = d.create<NVVM::ShflOp>(
      b.getI32Type(), d.i32(-1),
      d.fold<arith::DivUIOp>(thread, d.i32(kWarpgroupThreads)), d.i32(0),
      d.i32(kWarp - 1), NVVM::ShflKind::idx,
      /*return_value_and_is_valid=*/UnitAttr());
  if (plan.split > 1) {
    rank = d.create<NVVM::ClusterId>(b.getI32Type());
    split = d.create<NVVM::ClusterDim>(b.getI32Type());
  }
  shared = d.create<LLVM::AddressOfOp>(
      LLVM::LLVMPointerType::get(b.getContext(), 3), frame.sharedSymbol);
  full = d.at(shared, plan.getFullOffset());
  empty = d.at(shared, plan.getEmptyOffset());
  d.when(d.equal(thread, 0), [&] {
    for (int64_t i = 0; i < plan.getBarriers(); ++i) {
      bool isComputed = plan.computesOperands() && i < plan.getRingBarriers();
      d.create<NVVM::MBarrierInitOp>(
          d.barrierAt(full, d.i32(i)),
          d.i32(isComputed ? 1 + kWarpgroupThreads / kWarp : 1),
          /*predicate=*/Value());
      d.create<NVVM::MBarrierInitOp>(d.barrierAt(empty, d.i32(i)),
                                     d.i32(plan.getTileWarpgroups()),
                                     /*predicate=*/Value());
    }
    d.create<NVVM::FenceMbarrierInitOp>();
    for (Value map : maps)
      d.create<NVVM::PrefetchOp>(NVVM::PrefetchCacheLevelAttr(),
                                 NVVM::CacheEvictionPriorityAttr(), map,
                                 /*predicate=*/Value(),
                                 /*tensormap=*/b.getUnitAttr());
  });
  d.create<gpu::BarrierOp>();
}

//===--- tiles and loops --------------------------------------------------===//

/// Returns the row and the column of an element of a matrix of which groups of
/// rows are traversed column by column. With `areWhole`, no group has less
/// rows.
std::pair<Value, Value> PipelinedKernel::getGrouped(Value number, Value rows,
                                                    Value columns,
                                                    bool areWhole) {
  Value together = d.mul(columns, plan.tilesTogether);
  Value group = d.fold<arith::DivUIOp>(number, together);
  Value firstRow = d.mul(group, plan.tilesTogether);
  Value height = d.i32(plan.tilesTogether);
  if (!areWhole)
    height =
        d.fold<arith::MinUIOp>(d.fold<arith::SubIOp>(rows, firstRow), height);
  Value inGroup = d.fold<arith::RemUIOp>(number, together);
  return {d.add(firstRow, d.fold<arith::RemUIOp>(inGroup, height)),
          d.fold<arith::DivUIOp>(inGroup, height)};
}

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
  auto [row, column] = getGrouped(inMatrix, rows, columns, /*areWhole=*/false);
  return d.add(before, d.add(row, d.fold<arith::MulIOp>(column, rows)));
}

void PipelinedKernel::forEachTile(ValueRange inits, TileBody body) {
  Value block = d.create<NVVM::BlockIdXOp>(b.getI32Type()),
        blocks = d.create<NVVM::GridDimXOp>(b.getI32Type()), tiles = programs;
  if (rank) { // the blocks of a cluster compute the same tile
    block = d.fold<arith::DivUIOp>(block, split);
    blocks = d.fold<arith::DivUIOp>(blocks, split);
  }
  if (plan.attention && plan.attention->isTriangular())
    return forEachPaired(block, blocks, inits, body);
  if (turn) {
    block = d.add(block, d.fold<arith::MulIOp>(turn, blocks));
    blocks = d.mul(blocks, plan.tiles);
  }
  auto loop = scf::ForOp::create(b, d.loc, block, tiles, blocks, inits);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  runProgram(getProgram(loop.getInductionVar()), loop.getRegionIterArgs(),
             body);
}

/// Programs of later rows take longer, as in causal attention. The row blocks i
/// and n - 1 - i of a matrix are a pair, and all pairs take about the same
/// time. Blocks of threads compute a pair each in two rounds. What remains is
/// divided among all of them: the late row blocks of the last pairs, the early
/// ones, and the row blocks in the middle.
void PipelinedKernel::forEachPaired(Value block, Value blocks, ValueRange inits,
                                    TileBody body) {
  Value rows = d.toI32(frame.map.lookup(plan.product.ids.getGrid()[0]));
  Value half = d.fold<arith::DivUIOp>(rows, d.i32(2)),
        matrices = d.fold<arith::DivUIOp>(programs, rows),
        pairs = d.fold<arith::MulIOp>(half, matrices),
        last = d.fold<arith::RemUIOp>(pairs, blocks),
        others = d.fold<arith::SubIOp>(pairs, last);
  Values carried(inits);
  carried.push_back(d.i32(0));
  auto loop = scf::ForOp::create(b, d.loc, block, programs, blocks, carried);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  auto isFrom = [&](Value x, Value first) -> Value {
    return d.create<arith::CmpIOp>(arith::CmpIPredicate::uge, x, first);
  };
  Value tile = loop.getInductionVar(), round = loop.getRegionIterArgs().back();
  Value before =
      d.fold<arith::MulIOp>(d.fold<arith::DivUIOp>(round, d.i32(2)), blocks);
  Value rest = d.fold<arith::SubIOp>(tile, d.mul(others, 2)),
        isRest = isFrom(tile, d.mul(others, 2)),
        isEarlyRest = isFrom(rest, last);
  Value inRest =
      d.fold<arith::SubIOp>(rest, d.select(isEarlyRest, last, d.i32(0)));
  Value isEarly = d.select(isRest, isEarlyRest,
                           d.equal(d.fold<arith::RemUIOp>(round, d.i32(2)), 1));
  Value middle = d.fold<arith::SubIOp>(tile, d.mul(pairs, 2)),
        isMiddle = isFrom(tile, d.mul(pairs, 2));
  Value pair = d.select(isRest, d.add(others, inRest), d.add(before, block));
  // The pairs of a group of matrices are in the order of their early row
  // blocks, so that those of the last pairs are adjacent.
  bool areWhole =
      llvm::any_of(plan.product.ids.getGrid().drop_front(), [&](Value size) {
        auto count = getConstantIntValue(size);
        return count && *count % plan.tilesTogether == 0;
      });
  auto [matrix, early] =
      getGrouped(d.select(isMiddle, d.i32(0), pair), matrices,
                 d.fold<arith::MaxUIOp>(half, d.i32(1)), areWhole);
  Value late = d.fold<arith::SubIOp>(d.add(rows, -1), early);
  Value row = d.select(isMiddle, half, d.select(isEarly, early, late)),
        first = d.fold<arith::MulIOp>(d.select(isMiddle, middle, matrix), rows);
  runProgram(d.add(first, row), loop.getRegionIterArgs(),
             [&](const KernelFrame &at, ValueRange carried) {
               Values results = body(at, carried.drop_back());
               results.push_back(d.add(carried.back(), 1));
               return results;
             });
}

void PipelinedKernel::runProgram(Value program, ValueRange carried,
                                 TileBody body) {
  KernelFrame at = frame;
  at.programId = d.toIndex(program);
  KernelLowering scalars(kernel, spreads, at, /*fast=*/true);
  scalars.lowerPrologue(b);
  // The builder inserted before the same point.
  Values results = body(scalars.getFrame(), carried);
  d.create<scf::YieldOp>(results);
}

std::array<Value, 3> PipelinedKernel::getBounds(scf::ForOp loop,
                                                const IRMapping &map) {
  return {map.lookupOrDefault(loop.getLowerBound()),
          map.lookupOrDefault(loop.getUpperBound()),
          map.lookupOrDefault(loop.getStep())};
}

void PipelinedKernel::computeScalars(scf::ForOp loop, Value at,
                                     IRMapping &map) {
  map.map(loop.getInductionVar(), at);
  for (Operation &op : loop.getBody()->without_terminator())
    if (!op.getNumRegions() && llvm::none_of(op.getResults(), isTile))
      b.clone(op, map);
}

PipelinedKernel::Values PipelinedKernel::emitLoops(unsigned level,
                                                   IRMapping &map,
                                                   Values carried, Step step) {
  if (level == plan.product.loops.size())
    return step(map, carried);
  scf::ForOp loop = plan.product.loops[level];
  auto [lower, upper, stepSize] = getBounds(loop, map);
  if (rank && level == 0)
    std::tie(lower, upper) = getPart(lower, upper, stepSize);
  auto made = scf::ForOp::create(b, d.loc, lower, upper, stepSize, carried);
  // ptxas serializes the products of unrolled stages of several row blocks, and
  // spills where other warpgroups need registers, too.
  if (plan.tiles > 1 || plan.computesOperands())
    disableUnrolling(made);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(made.getBody());
  computeScalars(loop, made.getInductionVar(), map);
  Values next =
      emitLoops(level + 1, map, Values(made.getRegionIterArgs()), step);
  d.create<scf::YieldOp>(next);
  return Values(made.getResults());
}

std::pair<Value, Value> PipelinedKernel::getPart(Value lower, Value upper,
                                                 Value step) {
  Value number = d.toIndex(rank);
  Value trips = d.countTrips(lower, upper, step);
  Value each = d.fold<arith::MulIOp>(
      d.fold<arith::CeilDivUIOp>(trips, d.toIndex(split)), step);
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
  // Coordinates are innermost first.
  SmallVector<Value> coordinates;
  auto type = cast<MemRefType>(load.getMemref().getType());
  for (AffineExpr expr :
       llvm::reverse(tile::getPhysicalMap(type).getResults())) {
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

Value PipelinedKernel::expectBytes(Value number, Value phase, int64_t bytes) {
  d.waitBarrier(empty, number, phase);
  return announceBytes(number, bytes);
}

Value PipelinedKernel::announceBytes(Value number, int64_t bytes) {
  Value bar = d.barrierAt(full, number);
  d.create<NVVM::MBarrierArriveExpectTxOp>(
      /*res=*/Type(), bar, d.i32(bytes), NVVM::MemScopeKind::CTA,
      /*relaxed=*/false, /*predicate=*/Value());
  return bar;
}

void PipelinedKernel::startCopies(IRMapping &scalars, Value stage) {
  int64_t bytes = plan.lhsBytes;
  if (!plan.computesOperands())
    bytes += plan.rhsBytes;
  Value bar = announceBytes(stage, bytes);
  copyOperand(plan.maps[0], plan.product.lhs, maps[0],
              d.at(shared, d.mul(stage, plan.lhsBytes)), bar, scalars);
  int64_t ofProduct = plan.rhsBytes / plan.countProducts();
  for (auto [i, load] : llvm::enumerate(plan.product.rhs)) {
    unsigned map = PipelinePlan::getRhsMap(i);
    copyOperand(plan.maps[map], load, maps[map],
                d.at(getRhs(stage), i * ofProduct), bar, scalars);
  }
}

Value PipelinedKernel::getRhs(Value stage) {
  return d.at(d.at(shared, plan.getRhsOffset()), d.mul(stage, plan.rhsBytes));
}

PipelinedKernel::Values PipelinedKernel::copyStage(IRMapping &scalars,
                                                   ValueRange ring) {
  d.waitBarrier(empty, ring[0], ring[1]);
  startCopies(scalars, ring[0]);
  auto [nextStage, nextPhase] = d.advance(ring[0], ring[1], plan.stages);
  return {nextStage, nextPhase};
}

PipelinedKernel::Values PipelinedKernel::computeStages(const KernelFrame &at,
                                                       ValueRange ring) {
  scf::ForOp loop = plan.product.loops.front();
  OperandProducer operands(kernel, plan, spreads, at, d, inGroup);
  IRMapping map = at.map;
  std::array<Value, 3> bounds = getBounds(loop, map);
  Value lower = bounds[0], upper = bounds[1], step = bounds[2];
  Value trips = d.countTrips(lower, upper, step),
        last = d.add(lower, d.fold<arith::MulIOp>(d.add(trips, -1), step));
  // Loads past the end of the loop repeat those of its last iteration.
  auto load = [&](Value iteration) {
    return operands.load(d.fold<arith::MinUIOp>(iteration, last));
  };
  if (rank)
    std::tie(lower, upper) = getPart(lower, upper, step);
  // The warpgroups take iterations in turn. The last value of the ring is the
  // number of iterations before the first one of this warpgroup.
  Value skipped = d.fold<arith::MulIOp>(d.toIndex(ring[2]), step),
        first = d.add(lower, skipped), stride = d.mul(step, plan.producers);
  Values carried(ring.take_front(2));
  llvm::append_range(carried, load(first));
  auto stages = scf::ForOp::create(b, d.loc, first, upper, stride, carried);
  disableUnrolling(stages);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(stages.getBody());
    Value iteration = stages.getInductionVar();
    ValueRange arguments = stages.getRegionIterArgs();
    // Loads are in flight while the thread waits and computes.
    Values loaded = load(d.add(iteration, stride));
    computeScalars(loop, iteration, map);
    computeStage(operands, iteration, map, arguments);
    auto [stage, phase] = d.advance(arguments[0], arguments[1], plan.stages,
                                    d.i32(plan.producers));
    loaded.insert(loaded.begin(), {stage, phase});
    d.create<scf::YieldOp>(loaded);
  }
  if (reason.empty())
    reason = operands.getReason();
  // The turns go on in the next tile. A part of a tile may have no iteration.
  trips = d.countTrips(lower, d.fold<arith::MaxUIOp>(lower, upper), step);
  Value taken = d.fold<arith::RemUIOp>(d.toI32(trips), d.i32(plan.producers)),
        next = d.fold<arith::SubIOp>(d.add(ring[2], plan.producers), taken);
  return {stages.getResult(0), stages.getResult(1),
          d.fold<arith::RemUIOp>(next, d.i32(plan.producers))};
}

void PipelinedKernel::computeStage(OperandProducer &operands, Value iteration,
                                   IRMapping &scalars, ValueRange carried) {
  Value stage = carried[0], phase = carried[1];
  d.waitBarrier(empty, stage, phase);
  d.when(leads, [&] { startCopies(scalars, stage); });
  operands.store(iteration, carried.drop_front(2), getRhs(stage));
  d.fenceShared();
  d.create<NVVM::SyncWarpOp>(d.i32(-1));
  d.when(d.equal(lane, 0), [&] { d.arrive(full, stage); });
}

void PipelinedKernel::emitProducer() {
  // All stages are empty: the phase before the first one is over.
  Values inits{d.i32(0), d.i32(1)};
  if (plan.computesOperands())
    inits = {warpgroup, d.i32(1), warpgroup};
  forEachTile(inits, [&](const KernelFrame &at, ValueRange carried) {
    if (plan.computesOperands())
      return computeStages(at, carried);
    IRMapping map = at.map;
    return emitLoops(0, map, Values(carried),
                     [&](IRMapping &scalars, ValueRange ring) {
                       return copyStage(scalars, ring);
                     });
  });
}

} // namespace adze::togpu
