// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Emits scheduled attention.
#include "PipelinedAttention.h"

using namespace mlir;

namespace adze::togpu {

constexpr int64_t kDescriptorUnit = 16, kInstructionDepth = 16,
                  kCoreColumns = 8;

//===--- the producer -----------------------------------------------------===//

void PipelinedAttention::emitProducer() {
  // The last values: stage, phase, and the phase of the query.
  Values inits{d.i32(0), d.i32(1), d.i32(1)};
  forEachTile(inits, [&](const KernelFrame &at, ValueRange carried) -> Values {
    Value number = d.i32(plan.stages), phase = carried[2];
    d.waitBarrier(empty, number, phase);
    Value bar = d.barrierAt(full, number);
    d.create<NVVM::MBarrierArriveExpectTxOp>(
        /*res=*/Type(), bar, d.i32(plan.residentBytes), NVVM::MemScopeKind::CTA,
        /*relaxed=*/false, /*predicate=*/Value());
    copyOperand(plan.maps[2], plan.attention->query, maps[2],
                d.at(shared, plan.getResidentOffset()), bar, at.map);
    IRMapping map = at.map;
    Values ring = emitLoops(0, map, {carried[0], carried[1]},
                            [&](IRMapping &scalars, ValueRange ring) {
                              return copyStage(scalars, ring);
                            });
    ring.push_back(d.fold<arith::XOrIOp>(phase, d.i32(1)));
    return ring;
  });
}

//===--- the consumers ----------------------------------------------------===//

void PipelinedAttention::emitConsumers() {
  warpgroup = d.add(warpgroup, -1);
  constexpr int64_t rowBytes = 128;
  queryDescriptor =
      makeDescriptor(d.at(d.at(shared, plan.getResidentOffset()),
                          d.mul(warpgroup, kInstructionRows * rowBytes)),
                     plan.maps[2], plan.k);
  keysDescriptor = makeDescriptor(shared, plan.maps[0], plan.k);
  valuesDescriptor =
      makeDescriptor(d.at(shared, plan.getRhsOffset()), plan.maps[1], plan.n);
  forEachTile({d.i32(0), d.i32(0), d.i32(0)},
              [&](const KernelFrame &at, ValueRange ring) {
                return runTile(at, ring);
              });
  d.when(leads, [&] {
    d.create<NVVM::CpAsyncBulkWaitGroupOp>(uint32_t(0), /*read=*/UnitAttr());
  });
}

PipelinedKernel::Values PipelinedAttention::getInits(Fragments &fragments) {
  Values inits;
  unsigned sums = plan.attention->getSumsNumber();
  for (auto [i, init] : llvm::enumerate(plan.attention->loop.getInitArgs())) {
    if (i == sums)
      inits.push_back(d.create<LLVM::ZeroOp>(getSumsType(plan.k)));
    else
      llvm::append_range(inits, fragments.evaluateRows(init));
  }
  return inits;
}

void PipelinedAttention::setCarried(Fragments &fragments, ValueRange tiles,
                                    ValueRange carried) {
  unsigned sums = plan.attention->getSumsNumber();
  for (auto [i, tile] : llvm::enumerate(tiles)) {
    if (i == sums) {
      fragments.setRoot(tile, getElements(carried[0]));
      carried = carried.drop_front();
      continue;
    }
    fragments.setRows(tile, {carried[0], carried[1]});
    carried = carried.drop_front(2);
  }
}

PipelinedKernel::Values PipelinedAttention::runTile(const KernelFrame &at,
                                                    ValueRange ring) {
  Value query = d.i32(plan.stages);
  d.waitBarrier(full, query, ring[2]);
  Fragments fragments = makeFragments(at);
  setPlace(fragments, 0);
  Values carried = getInits(fragments);
  carried.append({ring[0], ring[1]});
  IRMapping map = at.map;
  Values done =
      emitLoops(0, map, carried, [&](IRMapping &scalars, ValueRange carried) {
        KernelFrame inLoop = at;
        inLoop.map = scalars;
        return runStage(inLoop, carried);
      });
  release(query);
  setPlace(fragments, 0);
  setCarried(fragments, plan.attention->loop.getResults(), done);
  numPieces = 0;
  storeBlock(fragments, at, /*rowBlock=*/0);
  return {done.end()[-2], done.end()[-1],
          d.fold<arith::XOrIOp>(ring[2], d.i32(1))};
}

PipelinedKernel::Values PipelinedAttention::runStage(const KernelFrame &at,
                                                     ValueRange carried) {
  tile::Attention &attention = *plan.attention;
  Value stage = carried.end()[-2], phase = carried.end()[-1];
  d.waitBarrier(full, stage, phase);
  Fragments fragments = makeFragments(at);
  setPlace(fragments, 0);
  setCarried(fragments, attention.loop.getRegionIterArgs(), carried);
  fragments.setRoot(attention.scores.getResult(),
                    getElements(multiplyQuery(stage)));
  for (auto reduce : attention.loop.getBody()->getOps<tile::ReduceOp>())
    fragments.reduce(reduce, plan.n / kCoreColumns);
  Value sums = multiplyScores(fragments, stage);
  release(stage);
  Values next;
  for (Value v : attention.loop.getYieldedValues()) {
    if (v == attention.output.getResult())
      next.push_back(sums);
    else
      llvm::append_range(next, fragments.evaluateRows(v));
  }
  auto [nextStage, nextPhase] = d.advance(stage, phase, plan.stages);
  next.append({nextStage, nextPhase});
  return next;
}

/// Computes the scores of a warpgroup's rows with the keys of a stage.
Value PipelinedAttention::multiplyQuery(Value stage) {
  NVVM::WGMMATypes type = getUnitType(plan.types.getLhs());
  auto shape = NVVM::MMAShapeAttr::get(b.getContext(), kInstructionRows, plan.n,
                                       kInstructionDepth);
  Value number = d.create<arith::ExtUIOp>(b.getI64Type(), stage);
  Value keys =
      d.add(keysDescriptor, d.mul(number, plan.lhsBytes / kDescriptorUnit));
  Value scores = d.create<LLVM::ZeroOp>(getSumsType(plan.n));
  d.create<NVVM::WgmmaFenceAlignedOp>();
  for (int64_t k = 0; k < plan.k / kInstructionDepth; ++k)
    scores = d.create<NVVM::WgmmaMmaAsyncOp>(
        getSumsType(plan.n), scores,
        d.add(queryDescriptor,
              getStep(plan.maps[2], k, plan.m) / kDescriptorUnit),
        d.add(keys, getStep(plan.maps[0], k, plan.n) / kDescriptorUnit), shape,
        type, type, NVVM::WGMMATypes::f32, NVVM::WGMMAScaleOut::one,
        NVVM::WGMMAScaleIn::one, NVVM::WGMMAScaleIn::one, NVVM::MMALayout::row,
        NVVM::MMALayout::col, /*satfinite=*/NVVM::MMAIntOverflowAttr());
  d.create<NVVM::WgmmaGroupSyncAlignedOp>();
  d.create<NVVM::WgmmaWaitGroupSyncOp>(uint64_t(0));
  return scores;
}

/// Adds to the sums of the loop the products of the transformed scores and the
/// values of a stage.
Value PipelinedAttention::multiplyScores(Fragments &fragments, Value stage) {
  tile::DotOp output = plan.attention->output;
  Value sums = d.create<LLVM::UndefOp>(getSumsType(plan.k));
  for (unsigned group = 0; group < plan.k / kCoreColumns; ++group)
    for (unsigned half = 0; half < 2; ++half)
      for (auto [lane, v] :
           llvm::enumerate(fragments.evaluate(output.getAcc(), half, group)))
        sums = d.create<LLVM::InsertValueOp>(
            sums, v, int64_t(4 * group + 2 * half + lane));
  SmallVector<Values> operands;
  for (unsigned k = 0; k < plan.n / kInstructionDepth; ++k) {
    Values &registers = operands.emplace_back();
    for (unsigned i = 0; i < 4; ++i)
      registers.push_back(
          packPair(fragments.evaluate(output.getRhs(), i % 2, 2 * k + i / 2)));
  }
  Value number = d.create<arith::ExtUIOp>(b.getI64Type(), stage);
  Value values =
      d.add(valuesDescriptor, d.mul(number, plan.rhsBytes / kDescriptorUnit));
  d.create<NVVM::WgmmaFenceAlignedOp>();
  for (auto [k, registers] : llvm::enumerate(operands))
    sums = multiplyRegisters(
        sums, registers,
        d.add(values, getStep(plan.maps[1], k, plan.k) / kDescriptorUnit));
  d.create<NVVM::WgmmaGroupSyncAlignedOp>();
  d.create<NVVM::WgmmaWaitGroupSyncOp>(uint64_t(0));
  return sums;
}

/// NVVM has no form of the instruction whose left operand is in registers.
Value PipelinedAttention::multiplyRegisters(Value sums, ArrayRef<Value> lhs,
                                            Value rhs) {
  Values operands = getElements(sums);
  unsigned count = operands.size();
  StringRef type = NVVM::stringifyWGMMATypes(getUnitType(plan.types.getLhs()));
  std::string text, constraints;
  llvm::raw_string_ostream os(text), cs(constraints);
  os << "wgmma.mma_async.sync.aligned.m64n" << plan.k << "k16.f32." << type
     << "." << type << " {";
  llvm::interleaveComma(llvm::seq(0u, count), os,
                        [&](unsigned i) { os << "$" << i; });
  os << "}, {";
  llvm::interleaveComma(llvm::seq(0u, 4u), os,
                        [&](unsigned i) { os << "$" << 2 * count + i; });
  // Add to the sums; neither operand is negated; the right one is transposed.
  os << "}, $" << 2 * count + 4 << ", 1, 1, 1, 1;";
  for (unsigned i = 0; i < count; ++i)
    cs << "=f,";
  for (unsigned i = 0; i < count; ++i)
    cs << i << ",";
  cs << "r,r,r,r,l";
  operands.append(lhs.begin(), lhs.end());
  operands.push_back(rhs);
  return d
      .create<LLVM::InlineAsmOp>(
          sums.getType(), operands, StringRef(text), StringRef(constraints),
          /*has_side_effects=*/true, /*is_align_stack=*/false,
          LLVM::TailCallKind::None,
          LLVM::AsmDialectAttr::get(b.getContext(), LLVM::AsmDialect::AD_ATT),
          /*operand_attrs=*/ArrayAttr())
      .getResult(0);
}

} // namespace adze::togpu
