// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Lowers dots.
#include "LoopRing.h"
#include "UnitProduct.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace adze::togpu {

/// Returns the size of the part of the contracted dimension that is in shared
/// memory at a time.
static int64_t chooseChunk(int64_t k, int64_t others) {
  int64_t limit = others >= 128 ? 16 : others >= 64 ? 32 : 64;
  if (k <= limit)
    return k;
  for (int64_t d = limit; d >= limit / 2; --d)
    if (k % d == 0)
      return d;
  return limit;
}

/// Returns this size for a unit: about 64 bytes of each row and column of large
/// blocks, 128 of others.
static int64_t chooseUnitChunk(int64_t k, int64_t others,
                               tile::TargetUnitAttr unit) {
  int64_t step = unit.getShape()[2], most = (others >= 256 ? 2 : 4) * step;
  if (k <= most)
    return k;
  for (int64_t d = most; d >= most / 2; d -= step)
    if (k % d == 0)
      return d;
  return most;
}

bool Operand::isAlongDepth() const {
  return memoryOrder(tile, /*isOperand=*/true).front() == kDim;
}

/// A unit transposes elements of 16 bits only as it loads them.
bool Operand::hasRowsAlongDepth() const {
  return isUnits && (isAlongDepth() || bytesOf(shared.elementType) != 2);
}

/// An operand is in shared memory as [k][other], in the type of the
/// accumulator, or in its own type for a unit. A computed operand that uses a
/// root is staged whole, before the loop over chunks.
Operand KernelLowering::describeOperand(tile::DotOp dot, unsigned number,
                                        int64_t chunk) {
  Value tile = dot->getOperand(number);
  Operand operand;
  operand.tile = tile;
  operand.kDim = 1 - number;
  if (plan.dependsOnRoot(tile))
    operand.place = OperandPlace::Whole;
  operand.chunk = chunk;
  operand.type = number ? dot.getProduct().getRhs() : dot.getProduct().getLhs();
  operand.isUnits = bool(plan.getUnit(dot));
  operand.shared.elementType = getElementTypeOrSelf(
      (operand.isUnits ? tile : dot.getResult()).getType());
  return operand;
}

/// Allocates the stages of an operand.
void KernelLowering::allocate(Operand &operand) {
  Value tile = operand.tile;
  unsigned kDim = operand.kDim, other = 1 - kDim;
  int64_t sizes[2] = {operand.chunk, tileType(tile).getShape()[other]};
  if (operand.isWhole()) {
    Axes axes = axesFor(tile);
    for (int i : {0, 1}) {
      const Spread &spread =
          plan.spreadOf(plan.classesOf(tile)[i ? other : kDim]);
      const Axis *axis = axes[i ? other : kDim];
      sizes[i] = std::max(axis->spread.threads * axis->spread.regs *
                              axis->spread.chunks,
                          spread.threads * spread.regs * spread.chunks);
    }
  } else {
    for (const auto &[i, spread] : llvm::enumerate(operandSpreads(operand)))
      sizes[i == kDim ? 0 : 1] = spread.threads * spread.regs;
  }
  // Rows are multiples of 16 bytes. The distance of rows of an operand of a
  // unit is an odd number of 16-byte segments, so that the rows of a matrix are
  // in different banks; the padding of others spreads the columns of a
  // transposed tile over banks.
  Type type = operand.shared.elementType;
  bool alongDepth = operand.hasRowsAlongDepth();
  unsigned inner = alongDepth ? 0 : 1;
  int64_t piece = std::max<int64_t>(1, 16 / bytesOf(type));
  int64_t pieces = llvm::divideCeil(sizes[inner], piece);
  pieces = operand.isUnits ? pieces | 1 : pieces + operand.isAlongDepth();
  int64_t row = pieces * piece;
  operand.stageElements = sizes[1 - inner] * row;
  operand.shared =
      allocateShared(type, {sizes[1 - inner] * operand.stages, sizes[inner]},
                     row - sizes[inner]);
  if (alongDepth)
    std::swap(operand.shared.strides[0], operand.shared.strides[1]);
  operand.staged = operand.shared;
  if (kDim == 1)
    std::swap(operand.staged.strides[0], operand.staged.strides[1]);
}

/// Allocates the operands of a product. If all memory is used, they are where
/// those of the first one are, which are not needed at the same time, unless
/// these stay for all steps of a loop.
void KernelLowering::allocateOperands(Operands &operands) {
  int64_t used = sharedBytes;
  auto allocateFrom = [&](int64_t begin) {
    sharedBytes = begin;
    for (Operand &operand : operands)
      allocate(operand);
  };
  allocateFrom(used);
  if (operandsEnd == 0) {
    operandsBegin = used;
    operandsEnd = sharedBytes;
    return;
  }
  if (sharedBytes <= plan.getSharedBytes() || getGroup(kernel))
    return;
  int64_t all = sharedBytes;
  allocateFrom(operandsBegin);
  if (sharedBytes > operandsEnd)
    return void(sharedBytes = all);
  sharedBytes = used;
  for (Operand &operand : operands)
    operand.isReused = true;
}

/// Returns the distribution by which the threads of the block fetch one chunk
/// of an operand.
SmallVector<Spread> KernelLowering::operandSpreads(const Operand &operand) {
  SmallVector<int64_t> sizes(tileType(operand.tile).getShape());
  sizes[operand.kDim] = operand.chunk;
  unsigned bytes = bytesOf(tileType(operand.tile).getElementType());
  int64_t vec = std::max<int64_t>(1, 16 / bytes);
  int64_t each = std::max<int64_t>(1, sizes[0] * sizes[1] / plan.getThreads());
  vec = std::min<int64_t>({vec, 8, int64_t(llvm::bit_floor(uint64_t(each)))});
  // A copy has adjacent elements on both sides.
  if (operand.stages > 1 &&
      operand.isAlongDepth() != operand.hasRowsAlongDepth())
    vec = 1;
  return spreadDims(sizes, memoryOrder(operand.tile, /*isOperand=*/true),
                    plan.getThreads(), vec);
}

/// Returns the elements of an operand at the positions `from`, in the type in
/// which they are multiplied, in the vectors in which they are stored at the
/// positions `to`.
Fragment KernelLowering::take(const Operand &operand, const Axes &from,
                              const Axes &to) {
  Type type = operand.shared.elementType;
  bool isRounded = operand.isUnits && isa<FloatTF32Type>(operand.type);
  Fragment elements = emit(operand.tile, from);
  forEachElement(from, [&](Registers regs, int64_t i) {
    Value &element = elements[i];
    element = operand.type.isUnsignedInteger() && element.getType() != type
                  ? arith::ExtUIOp::create(b, loc, type, element).getResult()
                  : convert(element, type);
    if (isRounded)
      element = LLVM::BitcastOp::create(
          b, loc, type,
          NVVM::ConvertFloatToTF32Op::create(b, loc, b.getI32Type(), element,
                                             NVVM::FPRoundingMode::RNA));
    // Positions past the end of the contracted dimension contribute zero.
    if (Value valid = from[operand.kDim]->valid[regs[operand.kDim]];
        valid && !operand.isWhole())
      element = arith::SelectOp::create(
          b, loc, valid, element,
          arith::ConstantOp::create(b, loc,
                                    cast<TypedAttr>(b.getZeroAttr(type))));
  });
  return packShared(operand.staged, to, elements);
}

/// Loads a chunk of an operand from `start` on, in vectors for `put`.
Fragment KernelLowering::fetch(const Operand &operand, Value start) {
  Axes to = getStaging(operand);
  scopes.emplace_back();
  Fragment fetched = take(operand, getPositions(operand, to, start), to);
  scopes.pop_back();
  return fetched;
}

/// Returns the positions of a chunk in shared memory.
Axes KernelLowering::getStaging(const Operand &operand) {
  Axes to;
  for (const Spread &spread : operandSpreads(operand))
    to.push_back(stagingAxis(spread));
  return to;
}

/// Returns the positions in the tile of a chunk that begins at `start`.
Axes KernelLowering::getPositions(const Operand &operand, const Axes &staging,
                                  Value start) {
  Axes from = staging;
  int64_t k = tileType(operand.tile).getShape()[operand.kDim];
  if (operand.chunk != k)
    from[operand.kDim] = shiftedAxis(staging[operand.kDim], start, k);
  return from;
}

/// Stores fetched elements to shared memory.
void KernelLowering::put(const Operand &operand, ArrayRef<Value> packed) {
  writePacked(operand.staged, getStaging(operand), packed);
}

/// Copies an operand, or its part from `start` on, to shared memory.
void KernelLowering::stage(const Operand &operand, Value start) {
  if (!operand.isWhole())
    return put(operand, fetch(operand, start));
  forChunks(operand.tile, [&] {
    Axes axes = axesFor(operand.tile);
    writePacked(operand.staged, axes, take(operand, axes, axes));
  });
}

/// Copies all of an operand to shared memory, by parts of the depth that fit
/// into registers.
void KernelLowering::stageAll(const Operand &operand) {
  constexpr int64_t mostBytes = 128; // of a part, in a thread
  RankedTensorType type = tileType(operand.tile);
  Operand part = operand;
  int64_t each = type.getNumElements() * bytesOf(operand.shared.elementType) /
                 plan.getThreads();
  for (; each > mostBytes && part.chunk % 2 == 0; each /= 2)
    part.chunk /= 2;
  // Threads write all positions that they hold, also those past the end.
  Spread spread = operandSpreads(part)[part.kDim];
  if (part.chunk == operand.chunk || spread.threads * spread.regs != part.chunk)
    return stage(operand, {});
  auto parts = scf::ForOp::create(b, loc, constant(0),
                                  constant(type.getDimSize(operand.kDim)),
                                  constant(part.chunk));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(parts.getBody()->getTerminator());
  Value start = parts.getInductionVar();
  part.staged.start = multiplyBy(start, part.staged.strides[part.kDim]);
  stage(part, start);
}

/// Copies the operands of products that are equal in all steps of a loop over
/// steps to shared memory.
void KernelLowering::stageBefore(scf::ForOp loop) {
  loop.walk([&](tile::DotOp dot) {
    getOperands(dot, /*repeats=*/false);
    for (Operand &operand : dotOperands.find(dot)->second) {
      if (operand.isWhole() ||
          operand.chunk < tileType(operand.tile).getDimSize(operand.kDim) ||
          loop->isAncestor(operand.tile.getDefiningOp()))
        continue;
      operand.place = OperandPlace::Kept;
      stageAll(operand);
    }
  });
}

/// Caches staging axes that recur.
const Axis *KernelLowering::stagingAxis(const Spread &spread) {
  for (auto &[have, axis] : stagingAxes)
    if (have == spread)
      return axis;
  stagingAxes.emplace_back(spread, makeAxis(spread));
  return stagingAxes.back().second;
}

/// Returns the positions shifted by `start`; those from `size` on are invalid.
const Axis *KernelLowering::shiftedAxis(const Axis *axis, Value start,
                                        int64_t size) {
  auto shifted = std::make_unique<Axis>(*axis);
  bool ragged = size % axis->spread.size != 0 || axis->spread.ragged();
  for (int64_t r = 0; r < axis->regs(); ++r) {
    shifted->base[r] = r && axis->base[r] == axis->base[r - 1]
                           ? shifted->base[r - 1]
                           : add(axis->base[r], start);
    if (!ragged)
      continue;
    Value inside = arith::CmpIOp::create(
        b, loc, arith::CmpIPredicate::ult,
        add(shifted->base[r], constant(shifted->offset[r])), constant(size));
    shifted->valid[r] = both(axis->valid[r], inside);
  }
  // Adjacent positions may be on both sides of the end.
  if (size % shifted->vec)
    shifted->vec = 1;
  axisPool.push_back(std::move(shifted));
  return axisPool.back().get();
}

/// Returns acc + lhs * rhs over the chunk in shared memory; `start` is the
/// position of the chunk.
Fragment KernelLowering::multiply(tile::DotOp dot, const Operands &operands,
                                  Value start, Fragment acc, const Axes &out) {
  if (plan.getUnit(dot)) {
    UnitProduct(*this, dot, operands, start, out).multiplyAll(acc);
    return acc;
  }
  // Operands of more steps would not fit into registers if they were loaded
  // together.
  constexpr int64_t mostSteps = 16, mostWork = 1024;
  int64_t chunk = operands[0].chunk;
  int64_t work = out[0]->regs() * out[1]->regs(),
          unroll = std::min(chunk, mostSteps);
  while (unroll > 1 && (work * unroll > mostWork || chunk % unroll))
    --unroll;
  auto step = [&](Value k, int64_t offset) {
    Fragment sides[2];
    for (int i : {0, 1}) {
      Value at = operands[i].isWhole() && start ? add(k, start) : k;
      sides[i] =
          readShared(operands[i].shared, {positionAxis(at, offset), out[i]});
    }
    forEachElement(out, [&](Registers regs, int64_t i) {
      Value x = sides[0][regs[0]], y = sides[1][regs[1]];
      if (isa<FloatType>(acc[i].getType()))
        acc[i] = math::FmaOp::create(b, loc, x, y, acc[i]);
      else
        acc[i] = arith::AddIOp::create(b, loc, acc[i],
                                       arith::MulIOp::create(b, loc, x, y));
    });
  };
  if (unroll == chunk) {
    Value zero = constant(0);
    for (int64_t k = 0; k < chunk; ++k)
      step(zero, k);
    return acc;
  }
  auto loop = scf::ForOp::create(b, loc, constant(0), constant(chunk),
                                 constant(unroll), acc);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToEnd(loop.getBody());
  acc = Fragment(loop.getRegionIterArgs());
  for (int64_t k = 0; k < unroll; ++k)
    step(loop.getInductionVar(), k);
  scf::YieldOp::create(b, loc, acc);
  return Fragment(loop.getResults());
}

/// Returns the operands of a dot, which copies bring to shared memory if they
/// may and there are several chunks: of k, or with `repeats` of iterations.
const KernelLowering::Operands &KernelLowering::getOperands(tile::DotOp dot,
                                                            bool repeats) {
  if (auto it = dotOperands.find(dot); it != dotOperands.end())
    return it->second;
  int64_t k = tileType(dot.getLhs()).getShape()[1];
  ArrayRef<int64_t> shape = tileType(dot.getResult()).getShape();
  tile::TargetUnitAttr unit = plan.getUnit(dot);
  int64_t others = shape[0] + shape[1];
  Type type =
      getElementTypeOrSelf((unit ? dot.getLhs() : dot.getResult()).getType());
  int64_t step = unit ? unit.getShape()[2] : 1;
  int64_t chunk =
      k % step == 0 && plan.hasFewPrograms(k * others * bytesOf(type)) ? k
      : unit ? chooseUnitChunk(k, others, unit)
             : chooseChunk(k, others);
  // A partial last chunk would read a whole operand past its end.
  if (k % chunk &&
      (plan.dependsOnRoot(dot.getLhs()) || plan.dependsOnRoot(dot.getRhs())))
    chunk = k;
  Operands operands = {describeOperand(dot, 0, chunk),
                       describeOperand(dot, 1, chunk)};
  bool areCopied = (repeats || chunk < k) &&
                   llvm::all_of(operands, [&](const Operand &operand) {
                     return mayCopy(operand);
                   });
  int64_t stages = areCopied ? countStages(operands) : 1;
  for (Operand &operand : operands)
    operand.stages = stages;
  allocateOperands(operands);
  return dotOperands.try_emplace(dot, operands).first->second;
}

void KernelLowering::lowerDot(tile::DotOp dot) {
  if (dot.getWordElements() > 1)
    return fail(dot, "expected a product of elements, not of words of them");
  Axes out = axesFor(dot.getResult());
  Fragment acc = emit(dot.getAcc(), out);
  int64_t k = tileType(dot.getLhs()).getShape()[1];
  if (ring && ring->contains(dot))
    return remember(dot.getResult(), out,
                    multiply(dot, ring->take(dot), {}, acc, out));
  Operands operands = getOperands(dot, /*repeats=*/false);
  if (operands[0].stages > 1)
    return remember(dot.getResult(), out,
                    multiplyRing(dot, operands, /*loops=*/{}, acc, out));
  int64_t chunk = operands[0].chunk;
  // Operands that use a root may use shared memory themselves, so they are
  // computed before the barrier.
  barrier();
  for (const Operand &operand : operands)
    if (operand.isWhole())
      stage(operand, {});
  bool chunked = !(operands[0].isWhole() && operands[1].isWhole()) && chunk < k;
  if (!chunked) {
    for (const Operand &operand : operands)
      if (operand.place == OperandPlace::Chunks)
        stageAll(operand);
    barrier();
    if (operands[0].isWhole() && operands[1].isWhole())
      operands[0].chunk = operands[1].chunk = k;
    remember(dot.getResult(), out, multiply(dot, operands, {}, acc, out));
    return;
  }
  if (plan.getUnit(dot))
    return remember(dot.getResult(), out,
                    multiplyPipelined(dot, operands, acc, out));
  auto loop = scf::ForOp::create(b, loc, constant(0), constant(k),
                                 constant(chunk), acc);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToEnd(loop.getBody());
    barrier();
    for (const Operand &operand : operands)
      if (!operand.isWhole())
        stage(operand, loop.getInductionVar());
    barrier();
    Fragment sum = multiply(dot, operands, loop.getInductionVar(),
                            Fragment(loop.getRegionIterArgs()), out);
    scf::YieldOp::create(b, loc, sum);
  }
  remember(dot.getResult(), out, Fragment(loop.getResults()));
}

} // namespace adze::togpu
