// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Emits scheduled attention.
#include "PipelinedAttention.h"
#include "Dialect/Tile/Analysis/IndexRange.h"

using namespace mlir;

namespace adze::togpu {

constexpr int64_t kDescriptorUnit = 16, kInstructionDepth = 16,
                  kCoreColumns = 8;
/// The threads at the barrier of a turn: those of the warpgroup that waits, and
/// of the one before.
constexpr int64_t kTurnThreads = 2 * kWarpgroupThreads;

Value PipelinedAttention::getValuesBarrier(Value stage) {
  return d.add(stage, plan.stages);
}

Value PipelinedAttention::getQueryBarrier() {
  return d.i32(plan.getRingBarriers());
}

/// Returns the number of the named barrier at which a warpgroup waits for its
/// turn. The ones before are those of the block, of each warpgroup and of all
/// warpgroups that multiply.
Value PipelinedAttention::getTurnBarrier(Value number) {
  return d.add(number, plan.warpgroups + 2);
}

void PipelinedAttention::letIssue(Value number) {
  d.create<NVVM::BarrierArriveOp>(getTurnBarrier(number), d.i32(kTurnThreads));
}

void PipelinedAttention::waitToIssue() {
  if (plan.warpgroups > 1)
    d.waitNamed(getTurnBarrier(warpgroup), kTurnThreads);
}

void PipelinedAttention::letNextIssue() {
  if (plan.warpgroups > 1)
    letIssue(
        d.fold<arith::RemUIOp>(d.add(warpgroup, 1), d.i32(plan.warpgroups)));
}

//===--- the producer -----------------------------------------------------===//

/// Copies a block of keys and one of values to a stage, each when its part of
/// the stage is free.
PipelinedKernel::Values PipelinedAttention::copyBlock(IRMapping &scalars,
                                                      ValueRange ring) {
  Value stage = ring[0], phase = ring[1];
  copyOperand(plan.maps[0], plan.attention->keys, maps[0],
              d.at(shared, d.mul(stage, plan.lhsBytes)),
              expectBytes(stage, phase, plan.lhsBytes), scalars);
  copyOperand(
      plan.maps[1], plan.attention->values, maps[1],
      d.at(d.at(shared, plan.getRhsOffset()), d.mul(stage, plan.rhsBytes)),
      expectBytes(getValuesBarrier(stage), phase, plan.rhsBytes), scalars);
  auto [nextStage, nextPhase] = d.advance(stage, phase, plan.stages);
  return {nextStage, nextPhase};
}

void PipelinedAttention::emitProducer() {
  // The last values: stage, phase, and the phase of the query.
  Values inits{d.i32(0), d.i32(1), d.i32(1)};
  forEachTile(inits, [&](const KernelFrame &at, ValueRange carried) -> Values {
    Value phase = carried[2];
    copyOperand(plan.maps[2], plan.attention->query, maps[2],
                d.at(shared, plan.getResidentOffset()),
                expectBytes(getQueryBarrier(), phase, plan.residentBytes),
                at.map);
    IRMapping map = at.map;
    Values ring = emitLoops(0, map, {carried[0], carried[1]},
                            [&](IRMapping &scalars, ValueRange ring) {
                              return copyBlock(scalars, ring);
                            });
    ring.push_back(d.fold<arith::XOrIOp>(phase, d.i32(1)));
    return ring;
  });
}

//===--- the consumers ----------------------------------------------------===//

PipelinedKernel::Values PipelinedAttention::State::join() const {
  Values values{sums};
  llvm::append_range(values, rows);
  llvm::append_range(values, weights);
  values.append({stage, phase});
  return values;
}

/// Returns a state of the same form from its joined values.
PipelinedAttention::State
PipelinedAttention::State::split(ValueRange values) const {
  State state;
  auto take = [&](unsigned count) {
    Values taken(values.take_front(count));
    values = values.drop_front(count);
    return taken;
  };
  state.sums = take(1).front();
  state.rows = take(rows.size());
  state.weights = take(weights.size());
  state.stage = values[0];
  state.phase = values[1];
  return state;
}

void PipelinedAttention::emitConsumers() {
  assignWarpgroups();
  constexpr int64_t rowBytes = 128;
  queryDescriptor =
      makeDescriptor(d.at(d.at(shared, plan.getResidentOffset()),
                          d.mul(warpgroup, kInstructionRows * rowBytes)),
                     plan.maps[2], plan.k);
  keysDescriptor = makeDescriptor(shared, plan.maps[0], plan.k);
  valuesDescriptor =
      makeDescriptor(d.at(shared, plan.getRhsOffset()), plan.maps[1], plan.n);
  // The first warpgroup has the first turn.
  if (plan.warpgroups > 1)
    d.when(d.equal(warpgroup, plan.warpgroups - 1),
           [&] { letIssue(d.i32(0)); });
  forEachTile({d.i32(0), d.i32(0), d.i32(0)},
              [&](const KernelFrame &at, ValueRange ring) {
                return runTile(at, ring);
              });
  d.when(leads, [&] {
    d.create<NVVM::CpAsyncBulkWaitGroupOp>(uint32_t(0), /*read=*/UnitAttr());
  });
}

Value PipelinedAttention::getSums(ValueRange tiles) {
  return tiles[plan.attention->getSumsNumber()];
}

void PipelinedAttention::setRows(Fragments &fragments, ValueRange tiles,
                                 ValueRange rows) {
  for (Value tile : tiles) {
    if (tile == getSums(tiles))
      continue;
    fragments.setRows(tile, {rows[0], rows[1]});
    rows = rows.drop_front(2);
  }
}

PipelinedKernel::Values PipelinedAttention::runTile(const KernelFrame &at,
                                                    ValueRange ring) {
  d.waitBarrier(full, getQueryBarrier(), ring[2]);
  Values last = runLoop(at, ring.take_front(2));
  Fragments fragments = makeFragments(at);
  setPlace(fragments, getRows(0));
  ValueRange results = plan.attention->loop.getResults();
  fragments.setRoot(getSums(results), getElements(last.front()));
  setRows(fragments, results, ValueRange(last).drop_front());
  beginPieces(plan.countSegments(plan.getResultColumns()));
  storeSpan(fragments, at, getRows(0));
  return {last.end()[-2], last.end()[-1],
          d.fold<arith::XOrIOp>(ring[2], d.i32(1))};
}

/// Runs the loop over the keys; returns the sums, the rows, the next stage and
/// its phase.
PipelinedKernel::Values PipelinedAttention::runLoop(const KernelFrame &at,
                                                    ValueRange ring) {
  scf::ForOp loop = plan.attention->loop;
  auto runAll = [&]() -> Values {
    State last = runBlocks(at, ring);
    release(getQueryBarrier());
    Values results{finish(last)};
    llvm::append_range(results, last.rows);
    results.append({last.stage, last.phase});
    return results;
  };
  auto lower = tile::getIndexRange(loop.getLowerBound()),
       upper = tile::getIndexRange(loop.getUpperBound());
  if (lower && upper && lower->isBounded() && upper->min > lower->max)
    return runAll();
  Values none{d.create<LLVM::ZeroOp>(getSumsType(plan.getResultColumns()))};
  Fragments fragments = makeFragments(at);
  setPlace(fragments, getRows(0));
  llvm::append_range(none, getRowInits(fragments));
  llvm::append_range(none, ring);
  auto [first, end, step] = getBounds(loop, at.map);
  Value hasKeys =
      d.create<arith::CmpIOp>(arith::CmpIPredicate::slt, first, end);
  auto choice = scf::IfOp::create(b, d.loc, ValueRange(none).getTypes(),
                                  hasKeys, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(choice.thenBlock());
  d.create<scf::YieldOp>(runAll());
  b.setInsertionPointToStart(choice.elseBlock());
  release(getQueryBarrier());
  d.create<scf::YieldOp>(none);
  return Values(choice.getResults());
}

/// Runs the loop, which is not empty, except for the last product.
PipelinedAttention::State PipelinedAttention::runBlocks(const KernelFrame &at,
                                                        ValueRange ring) {
  scf::ForOp loop = plan.attention->loop;
  KernelFrame inLoop = at;
  auto [lower, upper, step] = getBounds(loop, at.map);
  computeScalars(loop, lower, inLoop.map);
  State first = runFirst(inLoop, ring);
  auto made = scf::ForOp::create(b, d.loc, d.fold<arith::AddIOp>(lower, step),
                                 upper, step, first.join());
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(made.getBody());
  inLoop.map = at.map;
  computeScalars(loop, made.getInductionVar(), inLoop.map);
  State next = runNext(inLoop, first.split(made.getRegionIterArgs()));
  d.create<scf::YieldOp>(next.join());
  return first.split(made.getResults());
}

/// Returns the initial values of the loop's rows.
PipelinedKernel::Values PipelinedAttention::getRowInits(Fragments &fragments) {
  Values rows;
  ValueRange inits = plan.attention->loop.getInitArgs();
  for (Value init : inits)
    if (init != getSums(inits))
      llvm::append_range(rows, fragments.evaluateRows(init));
  return rows;
}

PipelinedAttention::State PipelinedAttention::runFirst(const KernelFrame &at,
                                                       ValueRange ring) {
  State state;
  std::tie(state.stage, state.phase) = d.advance(ring[0], ring[1], plan.stages);
  d.waitBarrier(full, ring[0], ring[1]);
  waitToIssue();
  Value scores = multiplyQuery(ring[0]);
  letNextIssue();
  d.create<NVVM::WgmmaWaitGroupSyncOp>(uint64_t(0));
  release(ring[0]);
  Fragments fragments = makeFragments(at);
  setPlace(fragments, getRows(0));
  setRows(fragments, plan.attention->loop.getRegionIterArgs(),
          getRowInits(fragments));
  state.rows = computeRows(fragments, scores);
  state.weights = packWeights(fragments);
  state.sums = scaleSums(
      fragments, d.create<LLVM::ZeroOp>(getSumsType(plan.getResultColumns())));
  return state;
}

PipelinedAttention::State PipelinedAttention::runNext(const KernelFrame &at,
                                                      const State &before) {
  State state;
  std::tie(state.stage, state.phase) =
      d.advance(before.stage, before.phase, plan.stages);
  d.waitBarrier(full, before.stage, before.phase);
  waitToIssue();
  Value scores = multiplyQuery(before.stage);
  Value sums = multiplyPending(before);
  letNextIssue();
  d.create<NVVM::WgmmaWaitGroupSyncOp>(uint64_t(1));
  release(before.stage);
  Fragments fragments = makeFragments(at);
  setPlace(fragments, getRows(0));
  setRows(fragments, plan.attention->loop.getRegionIterArgs(), before.rows);
  state.rows = computeRows(fragments, scores);
  // ptxas serializes the products if operands in registers are written before
  // the wait.
  d.create<NVVM::WgmmaWaitGroupSyncOp>(uint64_t(0));
  releaseValues(before);
  state.weights = packWeights(fragments);
  state.sums = scaleSums(fragments, sums);
  return state;
}

Value PipelinedAttention::finish(const State &last) {
  Value sums = multiplyPending(last);
  d.create<NVVM::WgmmaWaitGroupSyncOp>(uint64_t(0));
  releaseValues(last);
  return sums;
}

Value PipelinedAttention::getValuesStage(const State &state) {
  return d.getPrevious(state.stage, plan.stages);
}

Value PipelinedAttention::multiplyPending(const State &state) {
  Value stage = getValuesStage(state);
  // The phase changes where the ring begins again.
  Value phase = d.fold<arith::XOrIOp>(
      state.phase,
      d.create<arith::ExtUIOp>(b.getI32Type(), d.equal(state.stage, 0)));
  d.waitBarrier(full, getValuesBarrier(stage), phase);
  return multiplyWeights(state.sums, state.weights, stage);
}

void PipelinedAttention::releaseValues(const State &state) {
  release(getValuesBarrier(getValuesStage(state)));
}

PipelinedKernel::Values PipelinedAttention::computeRows(Fragments &fragments,
                                                        Value scores) {
  tile::Attention &attention = *plan.attention;
  fragments.setRoot(attention.scores.getResult(), getElements(scores));
  // A triangle, or the end of the keys, hides nothing of most blocks.
  for (auto select : attention.loop.getBody()->getOps<arith::SelectOp>())
    if (isTile(select.getResult()) &&
        tileType(select.getResult()).getRank() == 2)
      fragments.select(select, plan.n / kCoreColumns);
  for (auto reduce : attention.loop.getBody()->getOps<tile::ReduceOp>())
    fragments.reduce(reduce, plan.n / kCoreColumns);
  Values rows;
  for (Value v : attention.loop.getYieldedValues())
    if (v != attention.output.getResult())
      llvm::append_range(rows, fragments.evaluateRows(v));
  return rows;
}

PipelinedKernel::Values PipelinedAttention::packWeights(Fragments &fragments) {
  Values weights;
  for (Value pair : computePairs(fragments, plan.attention->output.getRhs(),
                                 /*firstGroup=*/0, plan.n / kCoreColumns))
    weights.push_back(toRegister(pair));
  return weights;
}

Value PipelinedAttention::scaleSums(Fragments &fragments, Value before) {
  tile::DotOp output = plan.attention->output;
  fragments.setRoot(getSums(plan.attention->loop.getRegionIterArgs()),
                    getElements(before));
  Value sums = d.create<LLVM::UndefOp>(getSumsType(plan.getResultColumns()));
  for (unsigned group = 0; group < plan.getResultColumns() / kCoreColumns;
       ++group)
    for (unsigned half = 0; half < 2; ++half)
      for (auto [lane, v] :
           llvm::enumerate(fragments.evaluate(output.getAcc(), half, group)))
        sums = d.create<LLVM::InsertValueOp>(
            sums, v, int64_t(4 * group + 2 * half + lane));
  return sums;
}

/// Issues the product of a warpgroup's rows and the keys of a stage.
Value PipelinedAttention::multiplyQuery(Value stage) {
  NVVM::WGMMATypes type = getUnitType(plan.types.getLhs());
  auto shape = NVVM::MMAShapeAttr::get(b.getContext(), kInstructionRows, plan.n,
                                       kInstructionDepth);
  Value number = d.create<arith::ExtUIOp>(b.getI64Type(), stage);
  Value keys =
      d.add(keysDescriptor, d.mul(number, plan.lhsBytes / kDescriptorUnit));
  Value scores = d.create<LLVM::ZeroOp>(getSumsType(plan.n));
  d.create<NVVM::WgmmaFenceAlignedOp>();
  // Elements of the last instruction beyond a key are zero.
  int64_t steps = llvm::divideCeil(plan.k, kInstructionDepth);
  for (int64_t k = 0; k < steps; ++k)
    scores = d.create<NVVM::WgmmaMmaAsyncOp>(
        getSumsType(plan.n), scores,
        d.add(queryDescriptor,
              getStep(plan.maps[2], k, plan.m) / kDescriptorUnit),
        d.add(keys, getStep(plan.maps[0], k, plan.n) / kDescriptorUnit), shape,
        type, type, NVVM::WGMMATypes::f32, NVVM::WGMMAScaleOut::one,
        NVVM::WGMMAScaleIn::one, NVVM::WGMMAScaleIn::one, NVVM::MMALayout::row,
        NVVM::MMALayout::col, /*satfinite=*/NVVM::MMAIntOverflowAttr());
  d.create<NVVM::WgmmaGroupSyncAlignedOp>();
  return scores;
}

/// Issues the product of weights in registers and the values of a stage.
Value PipelinedAttention::multiplyWeights(Value sums, ValueRange weights,
                                          Value stage) {
  constexpr unsigned registers = 4; // of an instruction
  Value number = d.create<arith::ExtUIOp>(b.getI64Type(), stage);
  Value values =
      d.add(valuesDescriptor, d.mul(number, plan.rhsBytes / kDescriptorUnit));
  d.create<NVVM::WgmmaFenceAlignedOp>();
  for (unsigned k = 0; k < plan.n / kInstructionDepth; ++k)
    sums = multiplyRegisters(
        sums, weights.slice(k * registers, registers),
        d.add(values, getStep(plan.maps[1], k, plan.n) / kDescriptorUnit));
  d.create<NVVM::WgmmaGroupSyncAlignedOp>();
  return sums;
}

/// NVVM has no form of the instruction whose left operand is in registers.
Value PipelinedAttention::multiplyRegisters(Value sums, ValueRange lhs,
                                            Value rhs) {
  Values operands = getElements(sums);
  unsigned count = operands.size();
  StringRef type = NVVM::stringifyWGMMATypes(getUnitType(plan.types.getLhs()));
  std::string text, constraints;
  llvm::raw_string_ostream os(text), cs(constraints);
  os << "wgmma.mma_async.sync.aligned.m64n" << plan.getResultColumns()
     << "k16.f32." << type << "." << type << " {";
  llvm::interleaveComma(llvm::seq(0u, count), os,
                        [&](unsigned i) { os << "$" << i; });
  os << "}, {";
  llvm::interleaveComma(llvm::seq(0u, 4u), os,
                        [&](unsigned i) { os << "$" << 2 * count + i; });
  // The immediates add to the accumulators, negate neither operand, and
  // transpose the right one.
  os << "}, $" << 2 * count + 4 << ", 1, 1, 1, 1;";
  for (unsigned i = 0; i < count; ++i)
    cs << "=f,";
  for (unsigned i = 0; i < count; ++i)
    cs << i << ",";
  cs << "r,r,r,r,l";
  operands.append(lhs.begin(), lhs.end());
  operands.push_back(rhs);
  return d.assemble(sums.getType(), operands, text, constraints);
}

} // namespace adze::togpu
