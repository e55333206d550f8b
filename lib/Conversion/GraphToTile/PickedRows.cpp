// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Kernels without an anchor that gather elements along rows of dynamic width at
// functions of their positions: resized and mirrored images. The source indices
// and weights are computed once for a block of columns, and used for the same
// row of many channels.
#include "Dialect/Graph/IR/ResizeMath.h"
#include "Families.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/SmallBitVector.h"

using namespace mlir;
using namespace adze;
using namespace adze::graph;

/// Returns the dims that a repeating pad or a resize copies from its operand.
/// Returns nothing if the last dim is copied, or is static: a row then has few
/// vectors.
static std::optional<llvm::SmallBitVector> getCopiedDims(Operation *op) {
  if (!isa<ResizeOp, PadOp>(op))
    return std::nullopt;
  Dims to = getDims(op->getResult(0));
  llvm::SmallBitVector copied(to.size());
  auto resize = dyn_cast<ResizeOp>(op);
  if (to.empty() || getKnown(to.back()) >= 0)
    return std::nullopt;
  for (unsigned dim = 0; dim < to.size(); ++dim)
    if (resize)
      copied[dim] = isCopied(resize, dim);
    else if (auto pad = cast<PadOp>(op); pad.getMode() != PadMode::Constant)
      copied[dim] = pad.getLow()[dim] == 0 && pad.getHigh()[dim] == 0;
    else
      return std::nullopt;
  return copied[to.size() - 1] ? std::nullopt : std::optional(copied);
}

namespace {
/// The dim along which a program iterates; -1 if nothing is gathered, or if
/// there are no rows.
struct Walk {
  int64_t dim = -1;
  bool wholeRows = false; // indices are constants, and not computed
};
} // namespace

/// Finds the dim. For indices computed at run time, it is the last dim that all
/// such ops copy, if it is long and no row has separate indices; otherwise it
/// is that of the rows.
static Walk findWalk(KernelEmitter &e) {
  constexpr int64_t few = 8;
  Dims dims = getDims(e.getOutputs()[0]);
  llvm::SmallBitVector copiedByAll(dims.size(), true), real(dims.size(), true);
  bool found = false, repeats = true;
  for (Operation &op : e.getSource().getBody().front().without_terminator())
    if (auto copied = getCopiedDims(&op)) {
      if (!areEqual(getDims(op.getResult(0)), dims))
        return {};
      auto resize = dyn_cast<ResizeOp>(op);
      repeats &= resize && getRepeats(resize, dims.size() - 1).has_value();
      copiedByAll &= *copied;
      found = true;
    }
  if (!found)
    return {};
  real.reset(dims.size() - 1);
  for (auto [dim, size] : llvm::enumerate(dims))
    if (int64_t known = getKnown(size); known >= 0 && known < few) {
      copiedByAll.reset(dim);
      if (known == 1)
        real.reset(dim);
    }
  bool walksCopied = !repeats && copiedByAll.any();
  return {walksCopied ? copiedByAll.find_last() : real.find_last(), repeats};
}

bool adze::picksAlikeInRows(KernelEmitter &e) {
  return !e.gpu && findWalk(e).dim >= 0;
}

namespace {
/// The rows of a program along a dim, and a block of columns.
struct RowsOfProgram {
  DimRanges ranges; // of the first row
  unsigned dim;
  Value count;
};
} // namespace

static LogicalResult storeRows(KernelEmitter &e, const RowsOfProgram &rows) {
  auto done =
      e.loop(rows.count, e.index(1), {},
             [&](Value row, ValueRange) -> FailureOr<KernelEmitter::Carried> {
               DimRanges here = rows.ranges;
               here[rows.dim].offset = e.add(here[rows.dim].offset, row);
               SmallVector<Anchor> anchors;
               for (Value output : e.getOutputs())
                 anchors.push_back({output, here});
               if (failed(e.storeOutputs(anchors)))
                 return failure();
               return KernelEmitter::Carried();
             });
  return LogicalResult(done);
}

/// Stores short rows in a few vectors at a time, so that the mask of the last
/// ones is computed once for all rows. Longer rows are stored in memory order.
static LogicalResult storeShortOrWhole(KernelEmitter &e,
                                       const RowsOfProgram &rows, Value width) {
  constexpr int64_t shortest = 120, columns = 64;
  OpBuilder &b = e.builder();
  e.setAxis(2, e.index(columns));
  Value isShort = arith::CmpIOp::create(b, e.loc(), arith::CmpIPredicate::ule,
                                        width, e.index(shortest));
  auto branch =
      scf::IfOp::create(b, e.loc(), TypeRange(), isShort, /*withElse=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(branch.thenBlock()->getTerminator());
  auto done = e.loop(
      width, e.index(columns), {},
      [&](Value column, ValueRange) -> FailureOr<KernelEmitter::Carried> {
        RowsOfProgram part = rows;
        part.ranges.back() = {column, 2, 1, 1};
        if (failed(storeRows(e, part)))
          return failure();
        return KernelEmitter::Carried();
      });
  b.setInsertionPoint(branch.elseBlock()->getTerminator());
  return success(succeeded(done) && succeeded(storeRows(e, rows)));
}

LogicalResult adze::emitPickedRows(KernelEmitter &e) {
  constexpr int64_t rows = 32; // of a program
  Value first = e.getOutputs()[0];
  Dims dims = getDims(first);
  Walk walk = findWalk(e);
  int64_t last = int64_t(dims.size()) - 1;
  for (Value output : e.getOutputs())
    if (!areEqual(getDims(output), dims))
      return e.fail("the outputs have different shapes");
  Value columnSize = e.param("BLOCK_N", walk.wholeRows ? 1024 : 32);
  Value rowSize = e.param("ROWS", chooseBlock(getKnown(dims[walk.dim]), rows));
  e.setAxis(1, columnSize);
  SmallVector<Value> sizes, counts;
  for (int64_t dim = 0; dim <= last; ++dim) {
    sizes.push_back(e.size(dims[dim]));
    if (!sizes.back())
      return failure();
  }
  for (int64_t dim = last; dim >= 0; --dim)
    counts.push_back(dim == last       ? e.ceilDiv(sizes[dim], columnSize)
                     : dim == walk.dim ? e.ceilDiv(sizes[dim], rowSize)
                                       : sizes[dim]);
  SmallVector<Value> ids = e.programIds(counts);
  std::reverse(ids.begin(), ids.end());
  RowsOfProgram own{{}, unsigned(walk.dim), {}};
  for (Value id : ids)
    own.ranges.push_back({id, -1, 1, 1});
  own.ranges.back() = {e.mul(ids.back(), columnSize), 1, 1, 1};
  Value begin = e.mul(ids[walk.dim], rowSize);
  own.ranges[walk.dim].offset = begin;
  own.count = e.min(rowSize, e.sub(sizes[walk.dim], begin));
  return walk.wholeRows ? storeShortOrWhole(e, own, sizes[last])
                        : storeRows(e, own);
}
