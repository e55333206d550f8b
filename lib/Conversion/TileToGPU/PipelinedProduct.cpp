// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Emits a scheduled product: the consumer warpgroups and their results.
#include "Dialect/Tile/IR/Reduction.h"
#include "PipelinedKernel.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace adze::togpu {

/// The columns of a core matrix, and the rows of a warp.
constexpr int64_t kCoreColumns = 8, kWarpRows = 16;
/// The accumulators of a thread that are adjacent in shared memory.
constexpr int64_t kSumsTogether = 4;
/// The bytes of a row of shared memory that are swizzled as a unit.
constexpr int64_t kPermutedBytes = 16;

Type PipelinedKernel::getSumsType(int64_t columns) {
  // Each of 128 threads has its share of 64 rows.
  int64_t sums = kInstructionRows * columns / kWarpgroupThreads;
  return LLVM::LLVMStructType::getLiteral(
      b.getContext(), SmallVector<Type>(sums, plan.getSumElement()));
}

//===--- multiplication ---------------------------------------------------===//

/// Creates the descriptor of a matrix in shared memory: its address, and the
/// distances of its parts, in units of 16 bytes.
Value PipelinedKernel::makeDescriptor(Value shared, const tile::TensorBox &box,
                                      int64_t depth) {
  constexpr int64_t unit = 16, addressMask = 0x3FFFF, coreRows = 8;
  constexpr int leadingShift = 16, strideShift = 32, swizzleShift = 62;
  // If elements along k are adjacent, rows of 128 bytes are contiguous;
  // otherwise, panels of the columns of a row are.
  int64_t leading = box.alongSum ? unit : depth * box.rowBytes;
  int64_t stride = coreRows * box.rowBytes;
  int64_t swizzle = box.rowBytes == 128 ? 1 : box.rowBytes == 64 ? 2 : 3;
  int64_t form = leading / unit << leadingShift | stride / unit << strideShift |
                 int64_t(uint64_t(swizzle) << swizzleShift);
  Value address = d.create<LLVM::PtrToIntOp>(b.getI64Type(), shared);
  address = d.fold<arith::AndIOp>(address, d.i64(addressMask));
  address = d.fold<arith::ShRUIOp>(address, d.i64(4));
  return d.fold<arith::OrIOp>(address, d.i64(form));
}

int64_t PipelinedKernel::getStep(const tile::TensorBox &box, int64_t number,
                                 int64_t others) {
  int64_t first = number * plan.getInstructionDepth();
  if (!box.alongSum)
    return first * box.rowBytes;
  // Rows of 128 bytes of all others precede the next part of k.
  return first / box.box.back() * others * box.rowBytes +
         first % box.box.back() * plan.getElementBytes();
}

NVVM::WGMMATypes PipelinedKernel::getUnitType(Type element) {
  return llvm::TypeSwitch<Type, NVVM::WGMMATypes>(element)
      .Case<Float16Type>([](Type) { return NVVM::WGMMATypes::f16; })
      .Case<BFloat16Type>([](Type) { return NVVM::WGMMATypes::bf16; })
      .Case<FloatTF32Type>([](Type) { return NVVM::WGMMATypes::tf32; })
      .Case<Float8E4M3FNType>([](Type) { return NVVM::WGMMATypes::e4m3; })
      .Case<Float32Type>([](Type) { return NVVM::WGMMATypes::f32; })
      .Case<IntegerType>([](IntegerType type) {
        return type.getWidth() == 32 ? NVVM::WGMMATypes::s32
               : type.isUnsigned()   ? NVVM::WGMMATypes::u8
                                     : NVVM::WGMMATypes::s8;
      });
}

/// Issues the instructions of one stage as one group. The accumulators are
/// those of all products for a block of rows, then for the next one.
PipelinedKernel::Values PipelinedKernel::multiply(ValueRange sums,
                                                  Value stage) {
  constexpr int64_t unit = 16;
  const tile::TensorBox &lhsBox = plan.maps[0], &rhsBox = plan.rhs;
  Value number = d.create<arith::ExtUIOp>(b.getI64Type(), stage);
  Value lhs = d.add(lhsDescriptor, d.mul(number, plan.lhsBytes / unit)),
        rhs = d.add(rhsDescriptor, d.mul(number, plan.rhsBytes / unit));
  int64_t rowBlockBytes =
      lhsBox.alongSum
          ? kInstructionRows * lhsBox.rowBytes
          : kInstructionRows / lhsBox.box.back() * plan.k * lhsBox.rowBytes;
  int64_t depth = plan.getInstructionDepth();
  auto shape =
      NVVM::MMAShapeAttr::get(b.getContext(), kInstructionRows, plan.n, depth);
  int64_t productBytes = plan.rhsBytes / plan.countProducts();
  d.create<NVVM::WgmmaFenceAlignedOp>();
  Values results(sums);
  for (int64_t k = 0; k < plan.k / depth; ++k)
    for (auto [i, result] : llvm::enumerate(results)) {
      int64_t block = i / plan.countProducts(),
              product = i % plan.countProducts();
      result = d.create<NVVM::WgmmaMmaAsyncOp>(
          getSumsType(plan.n), result,
          d.add(lhs,
                (getStep(lhsBox, k, plan.m) + block * rowBlockBytes) / unit),
          d.add(rhs,
                (getStep(rhsBox, k, plan.n) + product * productBytes) / unit),
          shape, getUnitType(plan.types.getLhs()),
          getUnitType(plan.types.getRhs()), getUnitType(plan.types.getAcc()),
          NVVM::WGMMAScaleOut::one, NVVM::WGMMAScaleIn::one,
          NVVM::WGMMAScaleIn::one,
          lhsBox.alongSum ? NVVM::MMALayout::row : NVVM::MMALayout::col,
          rhsBox.alongSum ? NVVM::MMALayout::col : NVVM::MMALayout::row,
          /*satfinite=*/NVVM::MMAIntOverflowAttr());
    }
  d.create<NVVM::WgmmaGroupSyncAlignedOp>();
  return results;
}

void PipelinedKernel::waitTurn(Value phase) {
  d.waitBarrier(full, d.add(turn, plan.getRingBarriers()), phase);
}

void PipelinedKernel::passTurn() {
  Value next = d.fold<arith::RemUIOp>(d.add(turn, 1), d.i32(plan.tiles));
  d.when(leads, [&] { d.arrive(full, d.add(next, plan.getRingBarriers())); });
}

/// Returns a stage to the producer; a negative index means no stage.
void PipelinedKernel::release(Value stage) {
  Value isStage =
      d.create<arith::CmpIOp>(arith::CmpIPredicate::sge, stage, d.i32(0));
  d.when(d.fold<arith::AndIOp>(leads, isStage),
         [&] { d.arrive(empty, stage); });
}

void PipelinedKernel::assignWarpgroups() {
  warpgroup = d.add(warpgroup, -plan.producers);
  part = warpgroup;
  if (plan.tiles == 1)
    return;
  Value ofTile = d.i32(plan.getTileWarpgroups());
  part = d.fold<arith::RemUIOp>(warpgroup, ofTile);
  turn = d.fold<arith::DivUIOp>(warpgroup, ofTile);
}

Value PipelinedKernel::countStages() {
  Value number = d.index(1);
  for (scf::ForOp loop : plan.product.loops) {
    auto [lower, upper, step] = getBounds(loop, frame.map);
    number = d.fold<arith::MulIOp>(number, d.countTrips(lower, upper, step));
  }
  return d.toI32(number);
}

PipelinedKernel::Values PipelinedKernel::multiplyTile(const KernelFrame &at,
                                                      ValueRange ring) {
  unsigned numSums = plan.getRowBlocks() * plan.countProducts();
  Values carried(numSums, zero);
  carried.append({ring[0], ring[1], d.i32(-1)});
  IRMapping map = at.map;
  // A stage is returned when the group after it has been issued and the groups
  // up to it are complete.
  auto multiplyStage = [&](IRMapping &, ValueRange carried) -> Values {
    Value stage = carried[numSums], phase = carried[numSums + 1];
    d.waitBarrier(full, stage, phase);
    Values next = multiply(carried.take_front(numSums), stage);
    d.create<NVVM::WgmmaWaitGroupSyncOp>(uint64_t(plan.inflight));
    release(plan.inflight ? carried[numSums + 2] : stage);
    auto [nextStage, nextPhase] = d.advance(stage, phase, plan.stages);
    next.append({nextStage, nextPhase, plan.inflight ? stage : d.i32(-1)});
    return next;
  };
  Values done = emitLoops(0, map, carried, multiplyStage);
  if (turn)
    passTurn();
  d.create<NVVM::WgmmaWaitGroupSyncOp>(uint64_t(0));
  if (plan.inflight)
    release(done[numSums + 2]);
  ValueRange sums = ValueRange(done).take_front(numSums);
  if (!rank) {
    storeResults(at, sums);
  } else {
    Value isShared =
        d.create<arith::CmpIOp>(arith::CmpIPredicate::ugt, split, d.i32(1));
    d.when(
        isShared, [&] { storeShared(at, sums); },
        [&] { storeResults(at, sums); });
  }
  return {done[numSums], done[numSums + 1]};
}

void PipelinedKernel::emitConsumers() {
  assignWarpgroups();
  int64_t rows = plan.getRowBlocks() * kInstructionRows;
  const tile::TensorBox &lhs = plan.maps[0];
  int64_t groupBytes = lhs.alongSum
                           ? rows * lhs.rowBytes
                           : rows / lhs.box.back() * plan.k * lhs.rowBytes;
  lhsDescriptor =
      makeDescriptor(d.at(shared, d.mul(part, groupBytes)), lhs, plan.k);
  rhsDescriptor =
      makeDescriptor(d.at(shared, plan.getRhsOffset()), plan.rhs, plan.k);
  zero = d.create<LLVM::ZeroOp>(getSumsType(plan.n));
  Values ring{d.i32(0), d.i32(0)};
  Value stages;
  // After the stages of this many tiles.
  auto skipTiles = [&](ValueRange ring, Value tiles) -> Values {
    auto [stage, phase] = d.advance(ring[0], ring[1], plan.stages,
                                    d.fold<arith::MulIOp>(tiles, stages));
    return {stage, phase};
  };
  if (turn) {
    stages = countStages();
    ring = skipTiles(ring, turn);
    // No tile is before the first one.
    ring.push_back(d.select(d.equal(turn, 0), d.i32(1), d.i32(0)));
  }
  forEachTile(ring, [&](const KernelFrame &at, ValueRange ring) {
    if (!turn)
      return multiplyTile(at, ring);
    waitTurn(ring[2]);
    Values next = skipTiles(multiplyTile(at, ring), d.i32(plan.tiles - 1));
    next.push_back(d.fold<arith::XOrIOp>(ring[2], d.i32(1)));
    return next;
  });
  d.when(leads, [&] {
    d.create<NVVM::CpAsyncBulkWaitGroupOp>(uint32_t(0), /*read=*/UnitAttr());
  });
}

//===--- results ----------------------------------------------------------===//

Value PipelinedKernel::toRegister(Value pair) {
  return d.create<LLVM::BitcastOp>(b.getI32Type(), pair);
}

PipelinedKernel::Values PipelinedKernel::getElements(Value sums) {
  Values elements;
  auto type = cast<LLVM::LLVMStructType>(sums.getType());
  for (int64_t i = 0, e = type.getBody().size(); i < e; ++i)
    elements.push_back(d.create<LLVM::ExtractValueOp>(sums, i));
  return elements;
}

Fragments PipelinedKernel::makeFragments(const KernelFrame &at) {
  return Fragments(
      d, at, {plan.columns, plan.attention.has_value(), spreads.isNarrow()});
}

PipelinedKernel::Span PipelinedKernel::getRows(int64_t rowBlock) {
  return {d.i32(rowBlock), d.i32(0), plan.getResultColumns()};
}

/// Sets the position of a thread in a span of its warpgroup's result.
void PipelinedKernel::setPlace(Fragments &fragments, const Span &span) {
  constexpr int64_t quad = 4;
  Value row = d.add(d.mul(part, plan.getRowBlocks() * kInstructionRows),
                    d.mul(span.rowBlock, kInstructionRows));
  row = d.add(row, d.add(d.mul(warp, kWarpRows),
                         d.fold<arith::DivUIOp>(lane, d.i32(quad))));
  Value column = d.mul(d.fold<arith::RemUIOp>(lane, d.i32(quad)), 2);
  fragments.setPlace(d.toIndex(row), d.toIndex(d.add(span.column, column)));
}

void PipelinedKernel::storeResults(const KernelFrame &at, ValueRange sums) {
  beginPieces(plan.countSegments(plan.getResultColumns()) *
              plan.getRowBlocks());
  for (unsigned block = 0; block < plan.getRowBlocks(); ++block)
    storeProducts(at, getRows(block), [&](unsigned product) {
      return getElements(sums[block * plan.countProducts() + product]);
    });
}

void PipelinedKernel::storeProducts(
    const KernelFrame &at, const Span &span,
    llvm::function_ref<Values(unsigned product)> getSums) {
  Fragments fragments = makeFragments(at);
  setPlace(fragments, span);
  for (unsigned product = 0; product < plan.countProducts(); ++product)
    fragments.setRoot(plan.product.getSums(product), getSums(product));
  storeSpan(fragments, at, span);
}

void PipelinedKernel::beginPieces(int64_t count) {
  numPieces = 0;
  allPieces = count;
}

/// Stores a span of all results, some of the columns at a time, so that
/// operands of these are computed once for all results.
void PipelinedKernel::storeSpan(Fragments &fragments, const KernelFrame &at,
                                const Span &span) {
  for (int64_t first = 0; first < span.columns; first += kColumnGranule)
    for (const PipelineResult &result : plan.results)
      for (int64_t piece = llvm::divideCeil(first, result.columns);
           piece * result.columns <
           std::min(first + kColumnGranule, span.columns);
           ++piece)
        storePiece(fragments, at, result, span, piece);
}

/// The values of the threads of a warp are adjacent, four accumulators each.
Value PipelinedKernel::getSumsPlace(Value shared, Value number) {
  constexpr int64_t bytes = 16;
  int64_t threads = plan.warpgroups * kWarpgroupThreads;
  Value own = d.add(d.mul(warpgroup, kWarpgroupThreads), inGroup);
  return d.at(d.at(shared, d.mul(number, threads * bytes)), d.mul(own, bytes));
}

void PipelinedKernel::writeSums(ValueRange sums) {
  // No other warpgroup of this block still reads the ring, and all copies to it
  // are complete when the accumulators are.
  if (plan.warpgroups > 1)
    d.waitNamed(d.i32(plan.warpgroups + 1),
                plan.warpgroups * kWarpgroupThreads);
  int64_t number = 0;
  for (Value block : sums) {
    Values elements = getElements(block);
    for (size_t i = 0; i < elements.size(); i += kSumsTogether)
      d.create<LLVM::StoreOp>(
          d.makeVector(ArrayRef(elements).slice(i, kSumsTogether)),
          getSumsPlace(shared, d.i32(number++)), /*alignment=*/16);
  }
}

PipelinedKernel::Values PipelinedKernel::addSums(const Span &span,
                                                 int64_t product) {
  auto vector = VectorType::get({kSumsTogether}, plan.getSumElement());
  Value none = d.create<arith::ConstantOp>(
      cast<TypedAttr>(b.getZeroAttr(plan.getSumElement())));
  int64_t ofRows = plan.n / kCoreColumns, count = span.columns / kCoreColumns;
  Value first = d.add(
      d.mul(d.add(d.mul(span.rowBlock, plan.countProducts()), product), ofRows),
      d.fold<arith::DivUIOp>(span.column, d.i32(kCoreColumns)));
  auto blocks = d.create<scf::ForOp>(d.i32(0), split, d.i32(1),
                                     Values(count * kSumsTogether, none));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(blocks.getBody());
  Value theirs =
      d.create<NVVM::MapaOp>(LLVM::LLVMPointerType::get(b.getContext(), 7),
                             shared, blocks.getInductionVar());
  Values sums(blocks.getRegionIterArgs());
  for (int64_t i = 0; i < count; ++i) {
    Value loaded = d.create<LLVM::LoadOp>(
        vector, getSumsPlace(theirs, d.add(first, i)), /*alignment=*/16);
    for (unsigned j = 0; j < kSumsTogether; ++j) {
      Value &sum = sums[i * kSumsTogether + j];
      sum = tile::createCombine(
          b, d.loc, tile::ReduceKind::add, sum,
          d.create<LLVM::ExtractElementOp>(loaded, d.i32(j)));
    }
  }
  d.create<scf::YieldOp>(sums);
  return Values(blocks.getResults());
}

void PipelinedKernel::meetCluster() {
  d.create<NVVM::ClusterArriveOp>(/*aligned=*/UnitAttr());
  d.create<NVVM::ClusterWaitOp>(/*aligned=*/UnitAttr());
}

void PipelinedKernel::storeShared(const KernelFrame &at, ValueRange sums) {
  writeSums(sums);
  meetCluster();
  int64_t columns = plan.getSharedColumns(), ofRows = plan.n / columns;
  auto spans =
      d.create<scf::ForOp>(rank, d.i32(plan.getRowBlocks() * ofRows), split);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(spans.getBody());
    Value number = spans.getInductionVar();
    Span span{d.fold<arith::DivUIOp>(number, d.i32(ofRows)),
              d.mul(d.fold<arith::RemUIOp>(number, d.i32(ofRows)), columns),
              columns};
    beginPieces(plan.countSegments(columns));
    storeProducts(at, span,
                  [&](unsigned product) { return addSums(span, product); });
  }
  // A block must not exit before its shared memory has been read.
  meetCluster();
}

PipelinedKernel::Values PipelinedKernel::computePairs(Fragments &fragments,
                                                      Value tile,
                                                      unsigned firstGroup,
                                                      unsigned numGroups) {
  Values pairs;
  for (unsigned group = 0; group < numGroups; ++group)
    for (unsigned half = 0; half < 2; ++half)
      pairs.push_back(
          d.makeVector(fragments.evaluate(tile, half, firstGroup + group)));
  return pairs;
}

/// Returns the number of the 16 bytes of a row of shared memory at which the
/// 16 bytes `number` of that row of the segment are. Rows of half the bytes are
/// swizzled by half the index of the row.
Value PipelinedKernel::permute(Value number, Value row, int64_t rowBytes) {
  constexpr int64_t wholeRow = 128;
  return d.fold<arith::XOrIOp>(
      number, d.fold<arith::DivUIOp>(row, d.i32(wholeRow / rowBytes)));
}

/// Stages elements of 16 bits: an instruction of a warp stores four matrices of
/// 8 rows of 16 bytes.
void PipelinedKernel::stageMatrices(ArrayRef<Value> pairs, Value staging,
                                    int64_t rowBytes) {
  Value inCore = d.fold<arith::AndIOp>(lane, d.i32(kCoreColumns - 1)),
        matrix = d.fold<arith::DivUIOp>(lane, d.i32(kCoreColumns));
  Value row =
      d.add(d.add(d.mul(warp, kWarpRows), inCore),
            d.mul(d.fold<arith::AndIOp>(matrix, d.i32(1)), kCoreColumns));
  Value rowPlace = d.mul(row, rowBytes),
        right = d.fold<arith::DivUIOp>(matrix, d.i32(2));
  constexpr size_t together = 4;
  for (size_t first = 0; first < pairs.size(); first += together) {
    Values registers;
    for (Value pair : pairs.drop_front(first).take_front(together))
      registers.push_back(toRegister(pair));
    Value number = d.add(right, int64_t(first / 2));
    Value place = d.mul(permute(number, inCore, rowBytes), kPermutedBytes);
    d.create<NVVM::StMatrixOp>(
        d.at(staging, d.add(rowPlace, place)), registers, NVVM::MMALayout::row,
        NVVM::LdStMatrixShapeAttr::get(b.getContext(), 8, 8),
        NVVM::LdStMatrixEltType::B16);
  }
}

/// Stages elements of other widths: each thread stores its pairs.
void PipelinedKernel::stagePairs(ArrayRef<Value> pairs, Value staging,
                                 int64_t rowBytes) {
  constexpr int64_t quad = 4, permutedRows = 8;
  int64_t bytes =
      cast<VectorType>(pairs[0].getType()).getElementTypeBitWidth() / 8;
  Value inCore = d.fold<arith::DivUIOp>(lane, d.i32(quad)),
        own = d.mul(d.fold<arith::RemUIOp>(lane, d.i32(quad)), 2 * bytes);
  Value piece = d.fold<arith::DivUIOp>(own, d.i32(kPermutedBytes)),
        inPiece = d.fold<arith::RemUIOp>(own, d.i32(kPermutedBytes));
  for (size_t group = 0; group < pairs.size() / 2; ++group) {
    int64_t first = int64_t(group) * kCoreColumns * bytes;
    Value number = d.add(piece, first / kPermutedBytes);
    Value permuted = d.mul(permute(number, inCore, rowBytes), kPermutedBytes);
    Value place = d.add(d.add(permuted, inPiece), first % kPermutedBytes);
    for (unsigned half = 0; half < 2; ++half) {
      Value row = d.add(d.add(d.mul(warp, kWarpRows), inCore),
                        int64_t(half) * permutedRows);
      d.create<LLVM::StoreOp>(pairs[2 * group + half],
                              d.at(staging, d.add(d.mul(row, rowBytes), place)),
                              /*alignment=*/2 * bytes);
    }
  }
}

/// Stores a segment of 64 rows, through shared memory and a tensor map, or from
/// registers.
void PipelinedKernel::storePiece(Fragments &fragments, const KernelFrame &at,
                                 const PipelineResult &result, const Span &span,
                                 int64_t piece) {
  int64_t firstColumn = piece * result.columns,
          columns = std::min(result.columns, span.columns - firstColumn);
  unsigned firstGroup = firstColumn / kCoreColumns;
  tile::StoreOp op = result.store;
  if (!result.map) {
    for (unsigned group = 0; group < columns / kCoreColumns; ++group)
      for (unsigned half = 0; half < 2; ++half)
        fragments.store(op, half, firstGroup + group);
    return;
  }
  int64_t number = numPieces++;
  Value staging =
      d.at(d.at(shared, plan.getStagingOffset() +
                            number % plan.stagingParts * plan.getPieceBytes()),
           d.mul(warpgroup, plan.stagingParts * plan.getPieceBytes()));
  // Waits until the segment that was staged here before has been read.
  d.when(leads, [&] {
    d.create<NVVM::CpAsyncBulkWaitGroupOp>(
        uint32_t(plan.getCopiesInFlight(number, allPieces)), b.getUnitAttr());
  });
  d.waitWarpgroup(warpgroup);
  // The loads of all pairs may be issued before the first one is used. Before
  // the barrier ptxas 13.0 would read accumulators that are not complete.
  Values pairs = computePairs(fragments, op.getValue(), firstGroup,
                              columns / kCoreColumns);
  constexpr unsigned matrixBits = 16;
  unsigned bits =
      std::max(8u, tileType(op.getValue()).getElementTypeBitWidth());
  int64_t rowBytes = result.columns * bits / 8;
  if (bits == matrixBits)
    stageMatrices(pairs, staging, rowBytes);
  else
    stagePairs(pairs, staging, rowBytes);
  d.fenceShared();
  d.waitWarpgroup(warpgroup);
  d.when(leads, [&] {
    SmallVector<Value> coordinates;
    SmallVector<int64_t> dims = op.getMemDims();
    if (plan.attention) // [depth, rows]
      std::swap(dims[0], dims[1]);
    int64_t rowsBefore = dims.size() > 2 ? plan.columns : 1;
    Value firstRow =
        d.add(d.mul(part, plan.getRowBlocks() * kInstructionRows / rowsBefore),
              d.mul(span.rowBlock, kInstructionRows / rowsBefore));
    for (auto [dim, offset] : llvm::enumerate(op.getMixedOffsets())) {
      auto constant = getConstantIntValue(offset);
      Value at32 = constant
                       ? d.i32(*constant)
                       : d.toI32(at.map.lookupOrDefault(cast<Value>(offset)));
      // Segments of the block of an image are whole rows of it.
      if (int64_t(dim) == dims[0])
        at32 = d.add(at32, firstRow);
      else if (int64_t(dim) == dims.back())
        at32 = d.add(d.add(at32, span.column), piece * result.columns);
      coordinates.insert(coordinates.begin(), at32);
    }
    d.create<NVVM::CpAsyncBulkTensorSharedCTAToGlobalOp>(
        maps[*result.map], staging, coordinates, /*l2CacheHint=*/Value(),
        NVVM::TMAStoreMode::TILE, /*predicate=*/Value());
    d.create<NVVM::CpAsyncBulkCommitGroupOp>();
  });
}

} // namespace adze::togpu
