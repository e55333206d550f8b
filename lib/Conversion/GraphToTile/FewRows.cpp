// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Matrix products of few rows for GPUs. Their time is that of reading the right
// operand once, so a program computes some columns: all its threads read along
// the depth, where the operand is contiguous, and their partial sums are
// reduced at the end.
#include "FewRows.h"
#include "Convolution.h"
#include "Dialect/Graph/IR/Precision.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace adze;
using namespace adze::graph;

/// The greatest number of rows of the version for few rows. Each row reads the
/// right operand from the second-level cache again.
static constexpr int64_t kFewRows = 4;
/// The greatest numbers of rows of other versions of products, which have
/// larger blocks for more rows: measured on an H200, blocks for 2048 rows take
/// up to three times as long for 128 or 512 rows as blocks for these.
static constexpr int64_t kRowBounds[] = {256, 1024};

AffineExpr adze::getRows(BlockMatmulOp op) {
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

/// Returns the version for at most `mostFew` rows and, for more rows, versions
/// that end at these bounds.
static SmallVector<RowVersion> chooseByRows(AffineExpr rows,
                                            ArrayRef<int64_t> bounds = {},
                                            int64_t mostFew = kFewRows) {
  const RowVersion few{0, mostFew, std::nullopt};
  int64_t known = getKnown(rows);
  if (known >= 0)
    return {known > mostFew ? RowVersion() : few};
  SmallVector<RowVersion> versions{few};
  for (int64_t bound : bounds)
    versions.push_back({*versions.back().most, bound, bound / 2});
  RowVersion last{*versions.back().most, std::nullopt, std::nullopt};
  if (!bounds.empty())
    last.usual = 2 * last.above;
  versions.push_back(last);
  for (RowVersion &version : versions)
    version.rows = rows;
  std::reverse(versions.begin(), versions.end());
  return versions;
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

/// Returns the greatest number of rows of the version for few. Without a matrix
/// unit, blocks of rows take longer: for 8 rows of 768 to 3072 columns, 64
/// instead of 29 microseconds on an H200.
static int64_t getMostFew(MatmulOp op) {
  bool hasUnit = !getElementTypeOrSelf(op.getRhs()).isF32() || getPrecision(op);
  return hasUnit ? kFewRows : 2 * kFewRows;
}

/// Returns the length of rows of the last dim that a softmax reads, if it is
/// dynamic, or null.
static AffineExpr getDynamicLength(Operation *anchor) {
  if (!isa_and_present<SoftmaxOp, LogSoftmaxOp>(anchor))
    return {};
  Dims dims = getDims(anchor->getOperand(0));
  int64_t axis = anchor->getAttrOfType<IntegerAttr>("axis").getInt();
  return axis + 1 == int64_t(dims.size()) && getKnown(dims.back()) < 0
             ? dims.back()
             : AffineExpr();
}

SmallVector<RowVersion>
adze::chooseRowVersions(Operation *anchor,
                        function_ref<bool(Value)> isConstant) {
  if (auto op = dyn_cast_or_null<BlockMatmulOp>(anchor))
    return mayUseUnit(op) ? chooseByRows(getRows(op), kRowBounds, kUnitRows)
                          : chooseByRows(getRows(op));
  if (auto op = dyn_cast_or_null<AttentionOp>(anchor)) {
    Dims dims = getDims(op.getQuery());
    return chooseByRows(dims[dims.size() - 2]);
  }
  if (AffineExpr length = getDynamicLength(anchor))
    return chooseByRows(length, /*bounds=*/{}, kShortRow);
  auto op = dyn_cast_or_null<MatmulOp>(anchor);
  AffineExpr rows = op ? getFlatRows(op) : AffineExpr();
  if (rows && isConstant(op.getRhs()) && readsAlongDepth(op))
    return chooseByRows(rows, kRowBounds, getMostFew(op));
  return {RowVersion()};
}

std::string adze::getVersionName(StringRef name, const RowVersion &version) {
  if (version.isFew())
    return (name + "_few").str();
  return (name + "_to_" + Twine(*version.most)).str();
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

Emitted adze::reshapeOn(KernelEmitter &e, Value tile, ArrayRef<int> axes) {
  SmallVector<Value> sizes;
  for (int axis : axes)
    if (!getConstantIntValue(e.getAxisSize(axis)))
      sizes.push_back(e.getAxisSize(axis));
  RankedTensorType type = e.tileType(axes, getElementTypeOrSelf(tile));
  return {tile::ReshapeOp::create(e.builder(), e.loc(), type, tile, sizes,
                                  type.getShape()),
          Axes(axes)};
}

Emitted adze::splitAxis(KernelEmitter &e, const Emitted &tile, int axis,
                        int outer, int inner) {
  if (!llvm::is_contained(tile.axes, axis))
    return tile;
  Axes axes;
  for (int other : tile.axes)
    if (other == axis)
      axes.append({outer, inner});
    else
      axes.push_back(other);
  return reshapeOn(e, tile.value, axes);
}

Value adze::countForVersion(KernelEmitter &e, Value programs) {
  if (!e.version.rows)
    return programs;
  Value rows = e.size(e.version.rows);
  if (!rows)
    return {};
  auto require = [&](arith::CmpIPredicate predicate, int64_t bound) {
    Value isOwn = arith::CmpIOp::create(e.builder(), e.loc(), predicate, rows,
                                        e.index(bound));
    programs = arith::SelectOp::create(e.builder(), e.loc(), isOwn, programs,
                                       e.index(0));
  };
  if (e.version.above)
    require(arith::CmpIPredicate::ugt, e.version.above);
  if (e.version.most)
    require(arith::CmpIPredicate::ule, *e.version.most);
  return programs;
}

/// The warps of a program, and the greatest part of a column that one reads at
/// a time.
static constexpr int64_t kWarps = 8, kLongestPart = 2048;

/// Returns the number of warps that read a column: one, or as many as read it
/// at once if programs of eight columns do not occupy all multiprocessors.
static int64_t chooseWarpsOfColumn(int64_t columns, int64_t depth,
                                   tile::CudaTargetAttr target) {
  constexpr int64_t most = 4;
  if (columns < 0 || columns > kWarps * target.getMultiprocessors())
    return 1;
  return std::min<int64_t>(
      most, llvm::PowerOf2Ceil(llvm::divideCeil(depth, kLongestPart)));
}

LogicalResult adze::emitFewRows(KernelEmitter &e, MatmulOp op) {
  // Adjacent products are added at once, so that a thread has few sums.
  enum Axis { Column, Depth, Group, Lane };
  constexpr int64_t adjacent = 8;
  Dims result = getDims(op.getResult());
  unsigned rank = result.size();
  int64_t depth = getKnown(getDims(op.getLhs()).back());
  int64_t warps = chooseWarpsOfColumn(getKnown(result.back()), depth, e.gpu),
          mostColumns = kWarps / warps;
  int64_t part = largestDivisor(depth, kLongestPart * warps);
  int64_t lanes = largestDivisor(part, adjacent);
  Value rows = e.size(getFlatRows(op)), columns = e.size(result.back());
  if (!rows || !columns)
    return failure();
  Value blockN =
      e.param("BLOCK_N", chooseBlock(getKnown(result.back()), mostColumns));
  Value blockK = e.index(part);
  e.setAxis(Column, blockN);
  e.setAxis(Depth, blockK);
  e.setAxis(Group, e.index(part / lanes));
  e.setAxis(Lane, e.index(lanes));
  e.setSummed(Depth);
  e.pack(op.getRhs(), packAlongDepth(op));
  SmallVector<Value> ids =
      e.programIds({countForVersion(e, rows), e.ceilDiv(columns, blockN)});
  Value row = ids[0], column = e.mul(ids[1], blockN);
  Axes sums{Column, Group};
  Type element = getSignlessType(getElementTypeOrSelf(op.getResult()));
  Type sum = getAccumulatorType(element);
  Value zero = e.constant(cast<TypedAttr>(e.builder().getZeroAttr(sum)), sums);
  unsigned rowSpan = rank - 1;
  auto products = e.loop(
      e.index(depth), blockK, zero,
      [&](Value k, ValueRange carried) -> FailureOr<KernelEmitter::Carried> {
        DimRange along{k, Depth, 1, 1}, across{column, Column, 1, 1};
        auto x = e.emit(op.getLhs(), {{row, -1, 1, rowSpan}, along});
        DimRanges ranges(getDims(op.getRhs()).size() - 2,
                         DimRange{e.index(0), -1, 1, 1});
        ranges.append({op.getTransposeB() ? across : along,
                       op.getTransposeB() ? along : across});
        auto y = e.emitOn(op.getRhs(), ranges, {Column, Depth});
        if (failed(x) || failed(y))
          return failure();
        auto divide = [&](const Emitted &tile) {
          return e.convert(splitAxis(e, tile, Depth, Group, Lane), sum);
        };
        Emitted right = divide({*y, {Column, Depth}});
        Value each = arith::MulFOp::create(
            e.builder(), e.loc(), e.broadcast(divide(*x), right.axes),
            right.value, arith::FastMathFlags::contract);
        Emitted added = e.reduce(Combiner::Add, sum, {each, right.axes}, Lane);
        return KernelEmitter::Carried{arith::AddFOp::create(
            e.builder(), e.loc(), carried[0], added.value)};
      });
  if (failed(products))
    return failure();
  Emitted total = e.reduce(Combiner::Add, sum, {(*products)[0], sums}, Group);
  DimRanges ranges{{row, -1, 1, rowSpan}, {column, Column, 1, 1}};
  e.define(op.getResult(), ranges, e.convert(total, element));
  return e.storeOutputs(op.getResult(), ranges);
}
