// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Matrix products of few rows for GPUs, and products by blockwise quantized
// weights. Their time is that of reading the right operand once, so a program
// computes some columns: all its threads read along the depth, where the
// operand is contiguous, and their partial sums are reduced at the end.
#include "FewRows.h"
#include "Convolution.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace adze;
using namespace adze::graph;

/// The greatest number of rows of the version for few rows. Each row reads the
/// right operand from the second-level cache again.
static constexpr int64_t kFewRows = 4;

static AffineExpr getRows(BlockMatmulOp op) {
  return product(op.getContext(),
                 ArrayRef<AffineExpr>(getDims(op.getResult())).drop_back());
}

AffineExpr adze::getFlatRows(MatmulOp op) {
  Dims result = getDims(op.getResult()), lhs = getDims(op.getLhs()),
       rhs = getDims(op.getRhs());
  bool oneMatrix = llvm::all_of(ArrayRef<AffineExpr>(rhs).drop_back(2),
                                [](AffineExpr s) { return getKnown(s) == 1; });
  if (!oneMatrix || op.getTransposeA() || lhs.size() != result.size())
    return {};
  return product(op.getContext(), ArrayRef<AffineExpr>(result).drop_back());
}

static SmallVector<RowVersion> chooseByRows(AffineExpr rows) {
  int64_t known = getKnown(rows);
  if (known > kFewRows)
    return {RowVersion::All};
  if (known >= 0)
    return {RowVersion::Few};
  return {RowVersion::Many, RowVersion::Few};
}

/// Returns true if the version for few rows can read the right operand.
static bool readsAlongDepth(MatmulOp op) {
  // Tensor maps, which the version for many rows may use, copy rows of the
  // right operand that are multiples of 16 bytes.
  constexpr int64_t granuleBits = 128, leastDepth = 128;
  Type element = getElementTypeOrSelf(op.getRhs());
  int64_t depth = getKnown(getDims(op.getLhs()).back());
  return isa<FloatType>(element) && !element.isF64() && depth >= leastDepth &&
         depth * int64_t(element.getIntOrFloatBitWidth()) % granuleBits == 0;
}

SmallVector<RowVersion>
adze::chooseRowVersions(Operation *anchor,
                        function_ref<bool(Value)> isConstant) {
  if (auto op = dyn_cast_or_null<BlockMatmulOp>(anchor))
    return chooseByRows(getRows(op));
  if (auto op = dyn_cast_or_null<AttentionOp>(anchor)) {
    Dims dims = getDims(op.getQuery());
    return chooseByRows(dims[dims.size() - 2]);
  }
  auto op = dyn_cast_or_null<MatmulOp>(anchor);
  AffineExpr rows = op ? getFlatRows(op) : AffineExpr();
  if (rows && isConstant(op.getRhs()) && readsAlongDepth(op))
    return chooseByRows(rows);
  return {RowVersion::All};
}

AffineMap adze::packAlongDepth(MatmulOp op) {
  unsigned rank = getDims(op.getRhs()).size();
  AffineMap rows = AffineMap::getMultiDimIdentityMap(rank, op.getContext());
  if (op.getTransposeB())
    return rows;
  SmallVector<AffineExpr> exprs(rows.getResults());
  std::swap(exprs[rank - 1], exprs[rank - 2]);
  return AffineMap::get(rank, 0, exprs, op.getContext());
}

Value adze::countForVersion(KernelEmitter &e, Value rows, Value programs) {
  if (e.version == RowVersion::All || getConstantIntValue(rows))
    return programs;
  auto predicate = e.version == RowVersion::Few ? arith::CmpIPredicate::ule
                                                : arith::CmpIPredicate::ugt;
  Value isOwn = arith::CmpIOp::create(e.builder(), e.loc(), predicate, rows,
                                      e.index(kFewRows));
  return arith::SelectOp::create(e.builder(), e.loc(), isOwn, programs,
                                 e.index(0));
}

LogicalResult adze::emitFewRows(KernelEmitter &e, MatmulOp op) {
  // A warp reads a column.
  constexpr int64_t longestPart = 2048, mostColumns = 8;
  Dims result = getDims(op.getResult());
  unsigned rank = result.size();
  int64_t depth = getKnown(getDims(op.getLhs()).back());
  int64_t part = largestDivisor(depth, longestPart);
  Value rows = e.size(getFlatRows(op)), columns = e.size(result.back());
  if (!rows || !columns)
    return failure();
  Value blockN =
      e.param("BLOCK_N", chooseBlock(getKnown(result.back()), mostColumns));
  Value blockK = e.index(part);
  e.setAxis(N, blockN);
  e.setAxis(K, blockK);
  e.setSummed(K);
  e.pack(op.getRhs(), packAlongDepth(op));
  SmallVector<Value> ids = e.programIds(
      {countForVersion(e, rows, rows), e.ceilDiv(columns, blockN)});
  Value row = ids[0], column = e.mul(ids[1], blockN);
  Axes axes{K, N};
  Type element = getSignlessType(getElementTypeOrSelf(op.getResult()));
  Type sum = getAccumulatorType(element);
  Value zero = e.constant(cast<TypedAttr>(e.builder().getZeroAttr(sum)), axes);
  unsigned rowSpan = rank - 1;
  auto products = e.loop(
      e.index(depth), blockK, zero,
      [&](Value k, ValueRange carried) -> FailureOr<KernelEmitter::Carried> {
        DimRange along{k, K, 1, 1}, across{column, N, 1, 1};
        auto x = e.emit(op.getLhs(), {{row, -1, 1, rowSpan}, along});
        DimRanges ranges(getDims(op.getRhs()).size() - 2,
                         DimRange{e.index(0), -1, 1, 1});
        ranges.append({op.getTransposeB() ? across : along,
                       op.getTransposeB() ? along : across});
        auto y = e.emitOn(op.getRhs(), ranges, axes);
        if (failed(x) || failed(y))
          return failure();
        return KernelEmitter::Carried{
            multiplyAdd(e, *x, {*y, axes}, carried[0], axes)};
      });
  if (failed(products))
    return failure();
  Emitted total = e.reduce(Combiner::Add, sum, {(*products)[0], axes}, K);
  DimRanges ranges{{row, -1, 1, rowSpan}, {column, N, 1, 1}};
  e.define(op.getResult(), ranges, e.convert(total, element));
  return e.storeOutputs(op.getResult(), ranges);
}

namespace {
/// Emits a product by blockwise quantized weights, in blocks of 1 or several
/// rows. All threads dequantize words along the depth, and multiply them by
/// adjacent elements of the rows.
class BlockMatmul {
public:
  BlockMatmul(KernelEmitter &e, BlockMatmulOp op)
      : e(e), op(op), f32(e.builder().getF32Type()), bits(op.getBits()) {}

  LogicalResult emit();

private:
  /// `Part`: the elements of a word.
  enum Axis { Row = 0, Column = 1, Block = 2, Word = 3, Part = 4 };

  FailureOr<Value> emitWeights(Value block);
  FailureOr<Value> addBlocks(Value block, Value sums);
  FailureOr<Value> emitFloats(Value operand, Value block);
  Axes withRows(ArrayRef<int> axes) const {
    Axes all;
    if (rowAxis >= 0)
      all.push_back(rowAxis);
    all.append(axes.begin(), axes.end());
    return all;
  }
  Value number(double value, ArrayRef<int> axes) {
    return e.constant(e.builder().getF32FloatAttr(value), axes);
  }

  KernelEmitter &e;
  BlockMatmulOp op;
  Type f32;
  int64_t bits;
  int rowAxis = -1;
  Value row, column;
  unsigned rowSpan = 1;
};
} // namespace

/// Returns the scales or zero points of blocks as floats.
FailureOr<Value> BlockMatmul::emitFloats(Value operand, Value block) {
  Axes axes{Column, Block};
  auto tile =
      e.emitOn(operand, {{column, Column, 1, 1}, {block, Block, 1, 1}}, axes);
  if (failed(tile))
    return failure();
  if (isa<FloatType>(getElementTypeOrSelf(tile->getType())))
    return e.convert({*tile, axes}, f32).value;
  return arith::UIToFPOp::create(e.builder(), e.loc(), e.tileType(axes, f32),
                                 *tile)
      .getResult();
}

/// Returns the dequantized weights of the blocks from `block` on. An element q
/// is placed in the significand of a float, 1 + q / 2^bits, so that no integer
/// is converted; a multiply-add subtracts the 1 with the zero point.
FailureOr<Value> BlockMatmul::emitWeights(Value block) {
  constexpr int64_t significandBits = 23, one = 0x3f800000;
  OpBuilder &b = e.builder();
  Location loc = e.loc();
  Type i32 = b.getI32Type();
  double levels = int64_t(1) << bits;
  Axes axes{Column, Block, Word, Part}, each{Column, Block};
  auto words = e.emitOn(
      op.getRhs(),
      {{column, Column, 1, 1}, {block, Block, 1, 1}, {e.index(0), Word, 1, 1}},
      {Column, Block, Word});
  auto scales = emitFloats(op.getScales(), block);
  auto zeros = op.getZeros() ? emitFloats(op.getZeros(), block)
                             : FailureOr<Value>(number(levels / 2, each));
  if (failed(words) || failed(scales) || failed(zeros))
    return failure();
  auto word = [&](int64_t value, ArrayRef<int> of) {
    return e.constant(b.getI32IntegerAttr(value), of);
  };
  // Four adjacent elements are in one thread, which shifts its word once to the
  // first of them, and by constants to each.
  constexpr int64_t adjacent = 4;
  Emitted parts = e.emitPositions(Part, i32);
  Axes part{Part};
  auto getShift = [&](int64_t mask) {
    Value position =
        arith::AndIOp::create(b, loc, parts.value, word(mask, part));
    Value shift = arith::MulIOp::create(b, loc, position, word(bits, part));
    return e.broadcast({shift, part}, axes);
  };
  Value first = arith::ShRUIOp::create(
      b, loc, e.broadcast({*words, {Column, Block, Word}}, axes),
      getShift(-adjacent));
  Value moved = arith::ShRUIOp::create(b, loc, first, getShift(adjacent - 1));
  Value low = arith::AndIOp::create(b, loc, moved,
                                    word((int64_t(1) << bits) - 1, axes));
  Value element =
      arith::ShLIOp::create(b, loc, low, word(significandBits - bits, axes));
  Value fraction = arith::BitcastOp::create(
      b, loc, e.tileType(axes, f32),
      arith::OrIOp::create(b, loc, element, word(one, axes)));
  Value factors = arith::MulFOp::create(b, loc, *scales, number(levels, each));
  Value offsets = arith::MulFOp::create(
      b, loc, *scales,
      arith::SubFOp::create(b, loc, number(-levels, each), *zeros));
  return math::FmaOp::create(b, loc, fraction,
                             e.broadcast({factors, each}, axes),
                             e.broadcast({offsets, each}, axes))
      .getResult();
}

/// Adds the products of the blocks from `block` on.
FailureOr<Value> BlockMatmul::addBlocks(Value block, Value sums) {
  auto weights = emitWeights(block);
  auto x = e.emit(op.getLhs(), {{row, rowAxis, 1, rowSpan},
                                {block, Block, 1, 1},
                                {e.index(0), Word, 1, 1},
                                {e.index(0), Part, 1, 1}});
  if (failed(weights) || failed(x))
    return failure();
  return multiplyAdd(e, *x, {*weights, {Column, Block, Word, Part}}, sums,
                     withRows({Column, Block, Word, Part}));
}

LogicalResult BlockMatmul::emit() {
  // A warp reads a column, with few blocks at a time, so that several blocks of
  // threads share a multiprocessor. Several rows share the weights, with as
  // many sums as there are registers for.
  constexpr int64_t rowsAtOnce = 8, fewBlocks = 16, mostBlocks = 32,
                    fewColumns = 2, mostColumns = 8;
  Dims result = getDims(op.getResult()), rhs = getDims(op.getRhs());
  int64_t blocks = getKnown(rhs[1]), words = getKnown(rhs[2]);
  bool isFew = e.version == RowVersion::Few;
  Value rows = e.size(getRows(op)), columns = e.size(result.back());
  if (!rows || !columns)
    return failure();
  Value blockM = e.index(isFew ? 1 : rowsAtOnce);
  Value blockN =
      e.param("BLOCK_N", chooseBlock(getKnown(result.back()),
                                     isFew ? mostColumns : fewColumns));
  Value blockK =
      e.index(largestDivisor(blocks, isFew ? fewBlocks : mostBlocks));
  if (!isFew) {
    rowAxis = Row;
    e.setAxis(Row, blockM);
  }
  e.setAxis(Column, blockN);
  e.setAxis(Block, blockK);
  e.setAxis(Word, e.index(words));
  e.setAxis(Part, e.index(32 / bits));
  e.setSummed(Block);
  SmallVector<Value> ids =
      e.programIds({countForVersion(e, rows, e.ceilDiv(rows, blockM)),
                    e.ceilDiv(columns, blockN)});
  row = e.mul(ids[0], blockM);
  column = e.mul(ids[1], blockN);
  rowSpan = result.size() - 1;
  auto sums = e.loop(
      e.index(blocks), blockK, number(0, withRows({Column, Block, Word, Part})),
      [&](Value block,
          ValueRange carried) -> FailureOr<KernelEmitter::Carried> {
        auto next = addBlocks(block, carried[0]);
        if (failed(next))
          return failure();
        return KernelEmitter::Carried{*next};
      });
  if (failed(sums))
    return failure();
  Emitted total{(*sums)[0], withRows({Column, Block, Word, Part})};
  for (int axis : {Block, Word, Part})
    total = e.reduce(Combiner::Add, f32, total, axis);
  DimRanges ranges{{row, rowAxis, 1, rowSpan}, {column, Column, 1, 1}};
  Type element = getSignlessType(getElementTypeOrSelf(op.getResult()));
  e.define(op.getResult(), ranges, e.convert(total, element));
  return e.storeOutputs(op.getResult(), ranges);
}

LogicalResult adze::emitBlockMatmul(KernelEmitter &e, BlockMatmulOp op,
                                    Tiling tiling) {
  if (tiling != Tiling::Flat)
    return e.fail("no other tiling of a product by quantized blocks");
  return BlockMatmul(e, op).emit();
}
