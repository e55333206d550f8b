// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Operands that are copied into one output: concatenations and insertions.
#include "Pieces.h"
#include "Families.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace adze;
using namespace adze::graph;

FailureOr<PieceLengths> adze::emitLengths(KernelEmitter &e, ValueRange pieces,
                                          unsigned axis) {
  PieceLengths lengths;
  lengths.longest = e.index(1);
  for (Value piece : pieces) {
    Dims dims = getDims(piece);
    AffineExpr length =
        product(piece.getContext(), ArrayRef(dims).drop_front(axis));
    Value size = e.size(length);
    if (!size)
      return failure();
    lengths.values.push_back(size);
    lengths.longest = e.max(lengths.longest, size);
    lengths.known = getKnown(length) < 0
                        ? INT64_MAX
                        : std::max(lengths.known, getKnown(length));
  }
  return lengths;
}

Value adze::viewColumns(KernelEmitter &e, Value memory, Value begin,
                        Value length) {
  OpBuilder &b = e.builder();
  SmallVector<OpFoldResult> sizes = memref::getMixedSizes(b, e.loc(), memory);
  SmallVector<OpFoldResult> offsets(sizes.size(), b.getIndexAttr(0)),
      steps(sizes.size(), b.getIndexAttr(1));
  offsets.back() = getAsOpFoldResult(begin);
  sizes.back() = getAsOpFoldResult(length);
  return memref::SubViewOp::create(b, e.loc(), memory, offsets, sizes, steps);
}

namespace {

/// Copies each operand to its part of the output, whose bounds drop the
/// remainder.
class PieceEmitter {
public:
  /// `cut` determines whether the dims before the axis are merged to rows, or
  /// only the last of them is the rows and the others are program ids.
  PieceEmitter(KernelEmitter &e, ValueRange pieces, unsigned axis,
               Tiling tiling)
      : e(e), pieces(pieces), dims(getDims(e.getOutputs()[0])), axis(axis),
        outer(tiling == Tiling::Flat || axis == 0 ? 0 : axis - 1) {}

  /// Copies the operands to `offsets`, or one after the other without offsets.
  LogicalResult run(ArrayRef<AffineExpr> offsets);

private:
  LogicalResult setTiling();
  LogicalResult store(Value piece, Value begin, Value length);
  Value getColumns(Value begin, Value length);
  AffineExpr count(ArrayRef<AffineExpr> dims) {
    return product(e.getOutputs()[0].getContext(), dims);
  }

  KernelEmitter &e;
  ValueRange pieces;
  Dims dims;
  unsigned axis, outer; // dims from `outer` to the axis are rows
  SmallVector<Value> lengths;
  DimRanges ranges;
};

} // namespace

/// Returns the columns [begin, begin + length) of the output viewed as outer
/// dims, rows and columns.
Value PieceEmitter::getColumns(Value begin, Value length) {
  OpBuilder &b = e.builder();
  Value output = e.getOutputMemory(0);
  int64_t rank = cast<MemRefType>(output.getType()).getRank();
  SmallVector<ReassociationIndices> groups;
  auto add = [&](int64_t from, int64_t to) {
    groups.push_back(llvm::to_vector<2>(llvm::seq(from, to)));
  };
  for (unsigned dim = 0; dim < outer; ++dim)
    add(dim, dim + 1);
  if (axis > 0)
    add(outer, axis);
  add(axis, rank);
  Value whole = output;
  if (groups.size() != size_t(rank))
    whole = memref::CollapseShapeOp::create(b, e.loc(), output, groups);
  return viewColumns(e, whole, begin, length);
}

/// Chooses blocks of rows and columns.
LogicalResult PieceEmitter::setTiling() {
  constexpr int64_t elements = 4096, maxColumns = 1024;
  auto all = emitLengths(e, pieces, axis);
  if (failed(all))
    return failure();
  lengths = all->values;
  AffineExpr rowCount = count(ArrayRef(dims).slice(outer, axis - outer));
  Value rows = e.size(rowCount);
  if (!rows)
    return failure();
  int64_t columnBlock = std::min(all->known, maxColumns);
  Value blockN = e.param("BLOCK_N", columnBlock);
  Value blockM = e.param(
      "BLOCK_M", chooseBlock(getKnown(rowCount), elements / columnBlock));
  e.setAxis(0, blockM);
  e.setAxis(1, blockN);
  SmallVector<Value> counts{e.ceilDiv(all->longest, blockN),
                            e.ceilDiv(rows, blockM)};
  for (unsigned dim = outer; dim-- > 0;) {
    counts.push_back(e.size(dims[dim]));
    if (!counts.back())
      return failure();
  }
  SmallVector<Value> ids = e.programIds(counts);
  for (unsigned dim = 0; dim < outer; ++dim)
    ranges.push_back(point(ids[ids.size() - 1 - dim]));
  if (axis > 0)
    ranges.push_back({e.mul(ids[1], blockM), 0, 1, axis - outer});
  ranges.push_back({e.mul(ids[0], blockN), 1, 1, unsigned(dims.size()) - axis});
  return success();
}

LogicalResult PieceEmitter::store(Value piece, Value begin, Value length) {
  auto tile = e.emit(piece, ranges);
  if (failed(tile))
    return failure();
  DimRanges within = ranges;
  for (DimRange &range : within)
    range.span = 1;
  return e.store(*tile, getColumns(begin, length), within);
}

LogicalResult PieceEmitter::run(ArrayRef<AffineExpr> offsets) {
  if (failed(setTiling()))
    return failure();
  Value inner = e.size(count(ArrayRef(dims).drop_front(axis + 1)));
  if (!inner)
    return failure();
  Value begin = e.index(0);
  auto isAfter = [&](size_t i) {
    AffineExpr before = getDims(pieces[i - 1])[axis];
    return areEqual(addExprs(offsets[i - 1], before), offsets[i]);
  };
  for (auto [i, piece] : llvm::enumerate(pieces)) {
    if (!offsets.empty() && (i == 0 || !isAfter(i))) {
      Value offset = e.size(offsets[i]);
      if (!offset)
        return failure();
      begin = e.mul(offset, inner);
    }
    // An empty operand is skipped, as an empty view at the end would be out of
    // bounds.
    if (getConstantIntValue(lengths[i]) == 0)
      continue;
    if (failed(store(piece, begin, lengths[i])))
      return failure();
    begin = e.add(begin, lengths[i]);
  }
  return success();
}

LogicalResult adze::emitConcat(KernelEmitter &e, ConcatOp op, Tiling tiling) {
  if (e.getOutputs().size() != 1 || e.getOutputs()[0] != op.getResult())
    return e.fail("the concatenation is not the result of its kernel");
  if (e.getPartAxis(0) >= 0)
    return e.fail("the concatenation is stored to a slice");
  return PieceEmitter(e, op.getInputs(), op.getAxis(), tiling).run({});
}

LogicalResult adze::emitInsertions(KernelEmitter &e, InsertSliceOp op) {
  if (e.getOutputs().size() != 1)
    return e.fail("the kernel has results besides insertions");
  if (!isa<BlockArgument>(op.getDest()))
    return e.fail("the kernel computes the destination of an insertion");
  return PieceEmitter(e, op.getSources(), op.getAxis(), Tiling::Flat)
      .run(op.getOffsets().getResults());
}
