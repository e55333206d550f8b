// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Scatters of rows into the memory of an operand, such as new rows of a cache.
#include "Families.h"
#include "Lookups.h"
#include "Pieces.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace adze;
using namespace adze::graph;

namespace {

/// Stores a block of columns of one row of the updates in each program, or of
/// several rows that have the same place, such as those of the heads of a
/// token. The places of rows are distinct.
class RowScatter {
public:
  RowScatter(KernelEmitter &e, ScatterElementsOp op)
      : e(e), op(op), axis(op.getAxis()), pieces{op.getUpdates()} {
    auto concat = op.getUpdates().getDefiningOp<ConcatOp>();
    if (concat && concat.getAxis() + 1 == getDims(op.getUpdates()).size())
      // An empty view at the end would be out of bounds.
      pieces = llvm::to_vector(
          llvm::make_filter_range(concat.getInputs(), [](Value piece) {
            return getConstant(getDims(piece).back()) != 0;
          }));
  }

  LogicalResult run();

private:
  std::pair<unsigned, int64_t> chooseRows(int64_t columns);
  LogicalResult setTiling();
  LogicalResult storePieces(Value place);
  void setViews();

  KernelEmitter &e;
  ScatterElementsOp op;
  unsigned axis;
  SmallVector<Value> pieces; // of a row
  SmallVector<Value> lengths, views;
  DimRanges ranges; // in the updates
};

} // namespace

constexpr int64_t kMostElements = 1024; ///< of a program

/// Chooses the dim of the rows of a program, along which the indices are
/// broadcast, and their number. One row is none of a dim.
std::pair<unsigned, int64_t> RowScatter::chooseRows(int64_t columns) {
  Dims dims = getDims(op.getUpdates()), indices = getDims(op.getIndices());
  for (unsigned dim = dims.size() - 1; dim-- > 0;) {
    auto size = getConstant(dims[dim]);
    if (dim == axis || !size || getConstant(indices[dim]) != 1)
      continue;
    for (int64_t rows = std::min(*size, kMostElements / columns); rows > 1;
         --rows)
      if (*size % rows == 0)
        return {dim, rows};
  }
  return {dims.size(), 1};
}

/// Determines the program ids: a block of columns, one of rows, and all other
/// dims.
LogicalResult RowScatter::setTiling() {
  Dims dims = getDims(op.getUpdates());
  auto all = emitLengths(e, pieces, dims.size() - 1);
  if (failed(all))
    return failure();
  lengths = all->values;
  int64_t columns = std::min(all->known, kMostElements);
  Value block = e.param("BLOCK_N", columns), blockRows;
  e.setAxis(1, block);
  auto [rowDim, rows] = chooseRows(columns);
  if (rows > 1) {
    blockRows = e.param("BLOCK_M", rows);
    e.setAxis(0, blockRows);
  }
  SmallVector<Value> counts{e.ceilDiv(all->longest, block)};
  for (unsigned dim = dims.size() - 1; dim-- > 0;) {
    Value size = e.size(dims[dim]);
    if (!size)
      return failure();
    counts.push_back(dim == rowDim ? e.ceilDiv(size, blockRows) : size);
  }
  SmallVector<Value> ids = e.programIds(counts);
  for (auto [dim, id] : llvm::enumerate(llvm::reverse(llvm::drop_begin(ids)))) {
    if (dim == rowDim)
      ranges.push_back({e.mul(id, blockRows), 0, 1, 1});
    else
      ranges.push_back(point(id));
  }
  ranges.push_back({e.mul(ids.front(), block), 1, 1, 1});
  return success();
}

/// Creates the views of the result that the pieces are stored to: its columns.
/// They are at the top of the kernel.
void RowScatter::setViews() {
  Value whole = e.getOutputMemory(0), begin = e.index(0);
  if (pieces.size() == 1)
    return views.push_back(whole);
  for (Value length : lengths) {
    views.push_back(viewColumns(e, whole, begin, length));
    begin = e.add(begin, length);
  }
}

LogicalResult RowScatter::storePieces(Value place) {
  DimRanges to = ranges;
  to[axis] = point(place);
  for (auto [piece, view] : llvm::zip(pieces, views)) {
    auto tile = e.emit(piece, ranges);
    if (failed(tile) || failed(e.store(*tile, view, to)))
      return failure();
  }
  return success();
}

LogicalResult RowScatter::run() {
  if (failed(setTiling()))
    return failure();
  setViews();
  Value rows = e.size(op.getData(), axis);
  auto where = e.mapRanges(
      ranges, op.getUpdates(), op.getIndices(),
      llvm::to_vector(llvm::seq<int64_t>(0, int64_t(ranges.size()))));
  if (failed(where) || !rows)
    return failure();
  auto place = emitIndex(e, op, op.getIndices(), *where, rows);
  if (failed(place))
    return failure();
  if (getConstantIntValue(rows).value_or(0) > 0)
    return storePieces(*place);
  // No index is valid in an empty dim.
  OpBuilder &b = e.builder();
  Value hasRows = arith::CmpIOp::create(b, e.loc(), arith::CmpIPredicate::ne,
                                        rows, e.index(0));
  auto branch =
      scf::IfOp::create(b, e.loc(), TypeRange(), hasRows, /*withElse=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(branch.thenBlock()->getTerminator());
  return storePieces(*place);
}

LogicalResult adze::emitScatter(KernelEmitter &e, Operation *op) {
  if (e.getOutputs().size() != 1)
    return e.fail("the kernel has results besides a scatter");
  Value data = op->getOperand(0);
  if (!isa<BlockArgument>(data) || !data.hasOneUse())
    return e.fail("the kernel reads the tensor of which it replaces elements");
  auto elements = dyn_cast<ScatterElementsOp>(op);
  return elements && elements.replacesRows() ? RowScatter(e, elements).run()
                                             : emitElementScatter(e, op);
}
