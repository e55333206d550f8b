// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// graph-simplify-movement: simplifies chains of concatenation, slices, padding,
// repetition, reversal and gathers. Results are bitwise equal.
#include "Dialect/Graph/Transforms/Passes.h"
#include "Fusion.h"
#include "Simplification.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace adze::graph {
#define GEN_PASS_DEF_SIMPLIFYMOVEMENTPASS
#include "Dialect/Graph/Transforms/Passes.h.inc"
} // namespace adze::graph

using namespace mlir;
using namespace adze::graph;

LogicalResult adze::graph::sliceByGather(GatherOp op,
                                         PatternRewriter &rewriter) {
  int64_t axis = op.getAxis();
  Dims data = getDims(op.getData());
  std::optional<int64_t> size = getConstant(data[axis]);
  auto places = getConstantElements(op.getIndices());
  if (!size || !places || places->empty() || !areKnown(op.getResult()) ||
      !areKnown(op.getData()) || op.getData().getDefiningOp<ConstantOp>())
    return rewriter.notifyMatchFailure(op, "the indices are not constant");
  for (int64_t &place : *places)
    if ((place < 0 ? place += *size : place) < 0 || place >= *size)
      return rewriter.notifyMatchFailure(op, "an index is out of bounds");
  int64_t step = places->size() > 1 ? (*places)[1] - (*places)[0] : 1;
  if (step == 0)
    return rewriter.notifyMatchFailure(
        op, "the indices select one element repeatedly");
  for (size_t i = 1; i < places->size(); ++i)
    if ((*places)[i] - (*places)[i - 1] != step)
      return rewriter.notifyMatchFailure(op,
                                         "the indices are not evenly spaced");
  SmallVector<int64_t> starts(data.size(), 0), steps(data.size(), 1);
  starts[axis] = places->front();
  steps[axis] = step;
  data[axis] = rewriter.getAffineConstantExpr(places->size());
  Value slice = SliceOp::create(rewriter, op.getLoc(),
                                makeType(getElement(op.getData()), data),
                                op.getData(), starts, steps);
  rewriter.replaceOpWithNewOp<ReshapeOp>(op, op.getType(), slice);
  return success();
}

namespace {

/// concat(a, concat(b, c)) -> concat(a, b, c), without empty operands.
LogicalResult flattenConcat(ConcatOp op, PatternRewriter &rewriter) {
  SmallVector<Value> parts;
  for (Value input : op.getInputs()) {
    auto inner = input.getDefiningOp<ConcatOp>();
    if (inner && inner->hasOneUse() && inner.getAxis() == op.getAxis())
      llvm::append_range(parts, inner.getInputs());
    else if (getConstant(getDims(input)[op.getAxis()]) != 0)
      parts.push_back(input);
  }
  if (parts.empty() || llvm::equal(parts, op.getInputs()))
    return rewriter.notifyMatchFailure(
        op, "no operand is a concatenation along the same axis");
  rewriter.replaceOpWithNewOp<ConcatOp>(op, op.getType(), parts, op.getAxis());
  return success();
}

/// Returns true if `next` begins where `first` ends, along a dim, and is
/// otherwise equal.
bool follows(SliceOp first, SliceOp next, int64_t axis) {
  if (first.getInput() != next.getInput() ||
      first.getSteps() != next.getSteps() || first.getSteps()[axis] < 1)
    return false;
  Dims one = getDims(first.getResult()), other = getDims(next.getResult());
  Dims from = first.getStartExprs(), to = next.getStartExprs();
  for (int64_t i = 0, e = one.size(); i < e; ++i)
    if (i != axis && (!areEqual(from[i], to[i]) || !areEqual(one[i], other[i])))
      return false;
  AffineExpr step =
      getAffineConstantExpr(first.getSteps()[axis], first.getContext());
  return areEqual(to[axis], addExprs(from[axis], mulExprs(one[axis], step)));
}

/// concat(x[0:2], x[2:5]) -> x[0:5].
LogicalResult joinSlices(ConcatOp op, PatternRewriter &rewriter) {
  int64_t axis = op.getAxis();
  SmallVector<Value> parts;
  for (Value input : op.getInputs()) {
    auto next = input.getDefiningOp<SliceOp>();
    auto last =
        parts.empty() ? SliceOp() : parts.back().getDefiningOp<SliceOp>();
    if (!next || !last || !follows(last, next, axis)) {
      parts.push_back(input);
      continue;
    }
    Dims dims = getDims(parts.back());
    dims[axis] = addExprs(dims[axis], getDims(input)[axis]);
    rewriter.setInsertionPoint(op);
    parts.back() = SliceOp::create(
        rewriter, op.getLoc(), makeType(getElement(input), dims),
        last.getInput(), last.getStartExprs(), last.getSteps());
  }
  if (parts.size() == op.getInputs().size())
    return rewriter.notifyMatchFailure(op, "no adjacent slices");
  rewriter.replaceOpWithNewOp<ConcatOp>(op, op.getType(), parts, axis);
  return success();
}

/// Returns true if the value is computed elementwise from memory, or moved.
bool isFromMemory(Operation *op, unsigned depth) {
  return llvm::all_of(op->getOperands(), [&](Value operand) {
    Operation *producer = operand.getDefiningOp();
    return !producer ||
           isa<ConstantOp, SliceOp, ReshapeOp, RangeOp>(producer) ||
           (depth > 0 && isa<ElementwiseOpInterface, TransposeOp>(producer) &&
            isFromMemory(producer, depth - 1));
  });
}

/// f(concat(a, b), c) -> concat(f(a, c[..]), f(b, c[..])): f is fused with the
/// producers of the operands, and only the concatenation is stored. Elements of
/// other operands along the axis become slices. A kernel that could fuse f as
/// its epilogue must not be split.
class SinkConcat final
    : public OpInterfaceRewritePattern<ElementwiseOpInterface> {
public:
  SinkConcat(MLIRContext *context, Pass::Statistic &count)
      : OpInterfaceRewritePattern(context), count(count) {}

  LogicalResult matchAndRewrite(ElementwiseOpInterface op,
                                PatternRewriter &rewriter) const override {
    if (op->getNumResults() != 1)
      return rewriter.notifyMatchFailure(op, "expected an op with one result");
    for (OpOperand &operand : op->getOpOperands()) {
      auto concat = operand.get().getDefiningOp<ConcatOp>();
      if (!concat || !canSink(op, operand, concat))
        continue;
      sink(op, operand, concat, rewriter);
      ++count;
      return success();
    }
    return rewriter.notifyMatchFailure(
        op, "no operand is a concatenation that can sink");
  }

private:
  static constexpr size_t mostPieces = 4;

  static int64_t getAxisOf(Value other, Value result, int64_t axis) {
    return axis - (getRank(result) - getRank(other));
  }
  /// Returns true if all positions along the axis read the same elements of the
  /// operand.
  static bool isRepeated(Value other, Value result, int64_t axis) {
    int64_t own = getAxisOf(other, result, axis);
    return own < 0 || getConstant(getDims(other)[own]) == 1;
  }

  /// Returns true if the operand can be sliced like the concatenation: a
  /// dynamic size may be 1, and is then broadcast in all operands.
  static bool isAsLong(Value other, Value result, int64_t axis) {
    int64_t own = getAxisOf(other, result, axis);
    return areEqual(getDims(other)[own], getDims(result)[axis]);
  }

  /// Returns the dim of the result that the concatenation is along.
  static int64_t getAxis(ConcatOp concat, Value result) {
    return int64_t(concat.getAxis()) + getRank(result) -
           getRank(concat.getResult());
  }
  /// Returns true for a repeated value, whose slices are free for all users.
  static bool repeats(ConcatOp concat) {
    return llvm::all_equal(concat.getInputs());
  }

  static bool canSink(Operation *op, OpOperand &operand, ConcatOp concat) {
    Value result = op->getResult(0), whole = concat.getResult();
    int64_t axis = getAxis(concat, result);
    auto isKnown = [&](Value piece) {
      return bool(getDims(piece)[concat.getAxis()]);
    };
    bool isWhole =
        repeats(concat)
            ? areEqual(getDims(whole)[concat.getAxis()], getDims(result)[axis])
            : concat->hasOneUse() && areEqual(getDims(whole), getDims(result));
    if (!isWhole || concat.getInputs().size() > mostPieces ||
        // Packed elements are only converted, not moved.
        isPacked(getElement(result)) || !areKnown(result) ||
        !llvm::all_of(concat.getInputs(), isKnown))
      return false;
    return llvm::all_of(op->getOpOperands(), [&](OpOperand &other) {
      Operation *producer = other.get().getDefiningOp();
      if (&other == &operand || isRepeated(other.get(), result, axis))
        return true;
      if (!isAsLong(other.get(), result, axis))
        return false;
      return !producer || isa<ConstantOp, SliceOp>(producer) ||
             hasSamePieces(concat, other.get(), result) ||
             (isa<ElementwiseOpInterface, TransposeOp>(producer) &&
              isFromMemory(producer, /*depth=*/4));
    });
  }

  /// Returns true for another concatenation with the same boundaries, which has
  /// no other use or repeats one value.
  static bool hasSamePieces(ConcatOp concat, Value value, Value result) {
    auto other = value.getDefiningOp<ConcatOp>();
    return other && (other->hasOneUse() || repeats(other)) &&
           getAxis(other, result) == getAxis(concat, result) &&
           llvm::equal(other.getInputs(), concat.getInputs(),
                       [&](Value lhs, Value rhs) {
                         return areEqual(getDims(lhs)[other.getAxis()],
                                         getDims(rhs)[concat.getAxis()]);
                       });
  }

  static void sink(Operation *op, OpOperand &operand, ConcatOp concat,
                   PatternRewriter &rewriter) {
    Value result = op->getResult(0);
    int64_t axis = getAxis(concat, result);
    AffineExpr begin = rewriter.getAffineConstantExpr(0);
    SmallVector<Value> pieces, before;
    for (Value piece : concat.getInputs()) {
      AffineExpr size = getDims(piece)[concat.getAxis()];
      SmallVector<Value> operands;
      for (OpOperand &other : op->getOpOperands())
        operands.push_back(
            &other == &operand ? piece
            : isRepeated(other.get(), result, axis)
                ? other.get()
                : createSlice(rewriter, op->getLoc(), other.get(),
                              getAxisOf(other.get(), result, axis), begin,
                              size));
      begin = addExprs(begin, size);
      if (operands == before) { // a repeated value
        pieces.push_back(pieces.back());
        continue;
      }
      Dims dims = getDims(result);
      dims[axis] = size;
      OperationState state(op->getLoc(), op->getName(), operands,
                           makeType(getElement(result), dims), op->getAttrs());
      pieces.push_back(rewriter.create(state)->getResult(0));
      before = std::move(operands);
    }
    rewriter.replaceOpWithNewOp<ConcatOp>(op, result.getType(), pieces, axis);
  }

  Pass::Statistic &count;
};

/// slice(concat(a, b)) of one operand -> slice of that operand.
LogicalResult slicePart(SliceOp op, PatternRewriter &rewriter) {
  auto concat = op.getInput().getDefiningOp<ConcatOp>();
  if (!concat || op.getBegin())
    return rewriter.notifyMatchFailure(op,
                                       "the operand is not a concatenation");
  int64_t axis = concat.getAxis();
  AffineExpr size = getDims(op.getResult())[axis];
  AffineExpr one = rewriter.getAffineConstantExpr(1);
  AffineExpr step = rewriter.getAffineConstantExpr(op.getSteps()[axis]);
  Dims starts = op.getStartExprs();
  AffineExpr first = starts[axis];
  // An empty slice may be that of any operand, except that its last position
  // must be in it.
  AffineExpr last = addExprs(first, mulExprs(subExprs(size, one), step));
  if (op.getSteps()[axis] < 0)
    std::swap(first, last);
  AffineExpr begin = rewriter.getAffineConstantExpr(0);
  for (Value part : concat.getInputs()) {
    AffineExpr end = addExprs(begin, getDims(part)[axis]);
    if (isNonNegative(subExprs(first, begin)) &&
        isNonNegative(subExprs(subExprs(end, one), last))) {
      starts[axis] = subExprs(starts[axis], begin);
      rewriter.replaceOpWithNewOp<SliceOp>(op, op.getType(), part, starts,
                                           op.getSteps());
      return success();
    }
    begin = end;
  }
  return rewriter.notifyMatchFailure(op, "the slice spans several operands");
}

/// An elementwise expression with its dims of size 1 at other positions.
class UnitView {
public:
  /// `from` are the dims of the expression; `to` are equal up to dims of 1.
  UnitView(ArrayRef<AffineExpr> from, ArrayRef<AffineExpr> to,
           PatternRewriter &rewriter)
      : places(from.size(), 0), rank(to.size()), rewriter(rewriter) {
    size_t next = 0;
    for (auto [place, dim] : llvm::zip_equal(places, from)) {
      if (getConstant(dim) == 1)
        continue;
      while (getConstant(to[next]) == 1)
        ++next;
      place = next++;
    }
  }

  /// Returns the view of a value whose dims are the last ones from `first` on.
  Value get(Value value, size_t first = 0, unsigned depth = 4) {
    Dims own = getDims(value);
    Dims dims(rank, rewriter.getAffineConstantExpr(1));
    bool isSingle = true;
    for (auto [i, dim] : llvm::enumerate(own))
      if (getConstant(dim) != 1) {
        dims[places[first + i]] = dim;
        isSingle = false;
      }
    if (own.empty())
      return value;
    Operation *op = value.getDefiningOp();
    Type type = makeType(getElement(value), dims);
    if (isSingle || depth == 0 || !isa_and_nonnull<ElementwiseOpInterface>(op))
      return ReshapeOp::create(rewriter, value.getLoc(), type, value);
    SmallVector<Value> operands;
    for (Value operand : op->getOperands())
      operands.push_back(
          get(operand, first + own.size() - getRank(operand), depth - 1));
    OperationState state(op->getLoc(), op->getName(), operands, type,
                         op->getAttrs());
    return rewriter.create(state)->getResult(0);
  }

private:
  SmallVector<size_t> places;
  size_t rank;
  PatternRewriter &rewriter;
};

/// concat(reshape(f(x)), ..) -> concat(f(reshape(x)), ..), if only dims of size
/// 1 are added or dropped: the kernel of the concatenation computes its
/// operands.
LogicalResult viewBeforePiece(ReshapeOp op, PatternRewriter &rewriter) {
  auto piece = op.getInput().getDefiningOp<ElementwiseOpInterface>();
  if (!piece || op.getShape() || !isUnitReshape(op) || !op->hasOneUse() ||
      !isa<ConcatOp>(*op->user_begin()))
    return rewriter.notifyMatchFailure(
        op, "the result is not an operand of a concatenation");
  if (!piece->hasOneUse() || piece->getNumResults() != 1 ||
      !areKnown(op.getInput()) || !isFromMemory(piece, /*depth=*/4))
    return rewriter.notifyMatchFailure(
        op, "the operand is stored to memory anyway");
  auto isOne = [](AffineExpr dim) { return getConstant(dim) == 1; };
  if (llvm::all_of(getDims(op.getInput()), isOne))
    return rewriter.notifyMatchFailure(op, "expected more than one element");
  UnitView view(getDims(op.getInput()), getDims(op.getResult()), rewriter);
  rewriter.replaceOp(op, view.get(op.getInput()));
  return success();
}

bool addElements(ArrayRef<int64_t> pads) {
  return llvm::all_of(pads, [](int64_t pad) { return pad >= 0; });
}

/// pad(pad(x)) with the same constant -> the sums of both.
LogicalResult joinPads(PadOp op, PatternRewriter &rewriter) {
  auto inner = op.getInput().getDefiningOp<PadOp>();
  if (!inner || op.getMode() != inner.getMode() ||
      (op.getMode() != PadMode::Constant && op.getMode() != PadMode::Edge) ||
      op.getValue() != inner.getValue())
    return rewriter.notifyMatchFailure(
        op, "the operand is not padding of the same mode and value");
  for (ArrayRef<int64_t> pads :
       {op.getLow(), op.getHigh(), inner.getLow(), inner.getHigh()})
    if (!addElements(pads))
      return rewriter.notifyMatchFailure(op,
                                         "an amount of padding is negative");
  SmallVector<int64_t> low, high;
  for (auto [a, b] : llvm::zip_equal(op.getLow(), inner.getLow()))
    low.push_back(a + b);
  for (auto [a, b] : llvm::zip_equal(op.getHigh(), inner.getHigh()))
    high.push_back(a + b);
  rewriter.replaceOpWithNewOp<PadOp>(op, op.getType(), inner.getInput(),
                                     op.getValue(), low, high, op.getMode());
  return success();
}

/// Padding that only removes elements becomes a slice.
LogicalResult sliceByPad(PadOp op, PatternRewriter &rewriter) {
  auto adds = [](int64_t pad) { return pad > 0; };
  if (llvm::any_of(op.getLow(), adds) || llvm::any_of(op.getHigh(), adds))
    return rewriter.notifyMatchFailure(op, "an amount of padding is positive");
  auto isKnownSize = [](AffineExpr dim) {
    return getConstant(dim).value_or(-1) >= 0;
  };
  if (!llvm::all_of(getDims(op.getResult()), isKnownSize))
    return rewriter.notifyMatchFailure(op, "the result has a dynamic size");
  SmallVector<int64_t> starts, steps(op.getLow().size(), 1);
  for (int64_t pad : op.getLow())
    starts.push_back(-pad);
  rewriter.replaceOpWithNewOp<SliceOp>(op, op.getType(), op.getInput(), starts,
                                       steps);
  return success();
}

/// broadcast_to(broadcast_to(x)) -> broadcast_to(x).
LogicalResult joinBroadcasts(BroadcastToOp op, PatternRewriter &rewriter) {
  auto inner = op.getInput().getDefiningOp<BroadcastToOp>();
  if (!inner)
    return rewriter.notifyMatchFailure(op, "the operand is not a broadcast");
  rewriter.modifyOpInPlace(
      op, [&] { op.getInputMutable().assign(inner.getInput()); });
  return success();
}

/// A view of equal elements is a broadcast, too.
template <typename OpT>
LogicalResult viewOfSplat(OpT op, PatternRewriter &rewriter) {
  auto inner = op.getInput().template getDefiningOp<BroadcastToOp>();
  auto type = inner ? cast<RankedTensorType>(inner.getInput().getType())
                    : RankedTensorType();
  if (!type || type.getRank() != 0 || !areKnown(op.getResult()))
    return rewriter.notifyMatchFailure(op, "the elements may differ");
  rewriter.replaceOpWithNewOp<BroadcastToOp>(op, op.getType(),
                                             inner.getInput());
  return success();
}

/// Removes broadcasts of operands of elementwise ops, which broadcast
/// themselves.
class BroadcastOfOperand final
    : public OpInterfaceRewritePattern<ElementwiseOpInterface> {
public:
  BroadcastOfOperand(MLIRContext *context, Pass::Statistic &count)
      : OpInterfaceRewritePattern(context), count(count) {}

  LogicalResult matchAndRewrite(ElementwiseOpInterface op,
                                PatternRewriter &rewriter) const override {
    if (op->getNumOperands() < 2 || op->getNumResults() != 1)
      return rewriter.notifyMatchFailure(
          op, "expected several operands and one result");
    for (OpOperand &operand : op->getOpOperands()) {
      auto broadcast = operand.get().getDefiningOp<BroadcastToOp>();
      if (!broadcast || !keepsShape(op, operand, broadcast.getInput()))
        continue;
      rewriter.modifyOpInPlace(op, [&] { operand.set(broadcast.getInput()); });
      ++count;
      return success();
    }
    return rewriter.notifyMatchFailure(op,
                                       "no operand is a redundant broadcast");
  }

private:
  static bool keepsShape(Operation *op, OpOperand &operand, Value source) {
    SmallVector<Dims> shapes;
    for (OpOperand &other : op->getOpOperands())
      shapes.push_back(getDims(&other == &operand ? source : other.get()));
    std::string error;
    FailureOr<Dims> dims = broadcastDims(shapes, error);
    return succeeded(dims) && areEqual(*dims, getDims(op->getResult(0)));
  }

  Pass::Statistic &count;
};

/// Removes a broadcast of the indices of a scatter, which broadcasts them.
LogicalResult scatterByNarrowIndices(ScatterElementsOp op,
                                     PatternRewriter &rewriter) {
  auto broadcast = op.getIndices().getDefiningOp<BroadcastToOp>();
  if (!broadcast || getRank(broadcast.getInput()) != getRank(op.getData()))
    return rewriter.notifyMatchFailure(op, "the indices are not a broadcast");
  for (auto [size, wide] :
       llvm::zip(getDims(broadcast.getInput()), getDims(broadcast.getResult())))
    if (getConstant(size) != 1 && !areEqual(size, wide))
      return rewriter.notifyMatchFailure(op, "a size may be 1 at run time");
  rewriter.modifyOpInPlace(
      op, [&] { op.getIndicesMutable().assign(broadcast.getInput()); });
  return success();
}

/// scatter(x, i, transpose(concat(a, b))) -> scatter(x, i, concat(transpose(a),
/// transpose(b))) if rows are concatenated: the kernel of the scatter then
/// stores the operands.
LogicalResult scatterPieces(ScatterElementsOp op, PatternRewriter &rewriter) {
  auto transpose = op.getUpdates().getDefiningOp<TransposeOp>();
  auto concat =
      transpose ? transpose.getInput().getDefiningOp<ConcatOp>() : ConcatOp();
  int64_t last = getRank(op.getData()) - 1;
  if (!concat || !op.replacesRows() || !transpose->hasOneUse() ||
      !concat->hasOneUse() || int64_t(concat.getAxis()) != last ||
      transpose.getPerm().back() != last)
    return rewriter.notifyMatchFailure(
        op, "the updates are not permuted rows of operands");
  SmallVector<Value> pieces;
  for (Value piece : concat.getInputs())
    pieces.push_back(TransposeOp::create(rewriter, transpose.getLoc(), piece,
                                         transpose.getPermAttr()));
  rewriter.replaceOpWithNewOp<ConcatOp>(transpose, transpose.getType(), pieces,
                                        last);
  return success();
}

/// reverse(reverse(x)) along the same dims -> x.
LogicalResult dropReversals(ReverseOp op, PatternRewriter &rewriter) {
  auto inner = op.getInput().getDefiningOp<ReverseOp>();
  if (!inner || inner.getAxes() != op.getAxes())
    return rewriter.notifyMatchFailure(
        op, "the operand is not a reversal of the same dims");
  rewriter.replaceOp(op, inner.getInput());
  return success();
}

/// A gather of equal elements becomes a broadcast of one.
template <typename OpT>
LogicalResult gatherSplat(OpT op, PatternRewriter &rewriter) {
  DenseElementsAttr data;
  if (!matchPattern(op.getData(), m_Constant(&data)) || data.empty() ||
      !data.isSplat() || !areKnown(op.getResult()))
    return rewriter.notifyMatchFailure(op, "the data are not a splat constant");
  auto scalar = RankedTensorType::get({}, data.getElementType());
  Value element = ConstantOp::create(
      rewriter, op.getLoc(),
      DenseElementsAttr::get(scalar, data.getSplatValue<Attribute>()));
  rewriter.replaceOpWithNewOp<BroadcastToOp>(op, op.getType(), element);
  return success();
}

/// A one-hot encoding of known depth selects between its two values by the
/// comparison of positions with the indices, which counts from the end for
/// negative ones.
LogicalResult compareOneHot(OneHotOp op, PatternRewriter &b) {
  Location loc = op.getLoc();
  Dims dims = getDims(op.getResult());
  int64_t axis = op.getAxis();
  auto depth = getConstant(dims[axis]);
  if (!depth || op.getDepth())
    return b.notifyMatchFailure(op, "the depth is not known");
  Type i64 = b.getI64Type();
  auto number = [&](int64_t value) {
    return ConstantOp::create(
        b, loc, DenseElementsAttr::get(RankedTensorType::get({}, i64), value));
  };
  auto pick = [&](int64_t i) {
    AffineExpr at = b.getAffineConstantExpr(i),
               one = b.getAffineConstantExpr(1);
    return createReshape(b, loc,
                         createSlice(b, loc, op.getValues(), 0, at, one), {});
  };
  Value index = createCast(b, loc, op.getIndices(), i64), zero = number(0);
  Value fromEnd = AddOp::create(b, loc, index, number(*depth));
  index = SelectOp::create(b, loc, LessOp::create(b, loc, index, zero), fromEnd,
                           index);
  Dims column(dims), row(dims.size(), b.getAffineConstantExpr(1));
  row[axis] = dims[axis];
  column[axis] = b.getAffineConstantExpr(1);
  Value positions = RangeOp::create(b, loc, RankedTensorType::get(*depth, i64),
                                    zero, /*limit=*/number(*depth), number(1));
  Value isHot = EqualOp::create(b, loc, createReshape(b, loc, positions, row),
                                createReshape(b, loc, index, column));
  b.replaceOpWithNewOp<SelectOp>(op, op.getType(), isHot, pick(1), pick(0));
  return success();
}

class SimplifyMovementPass final
    : public adze::graph::impl::SimplifyMovementPassBase<SimplifyMovementPass> {
public:
  using SimplifyMovementPassBase::SimplifyMovementPassBase;

  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<BroadcastOfOperand, SinkConcat>(&getContext(), simplified);
    addMovementIdentities(patterns, simplified);
    addSimplifications<ConcatOp>(patterns, simplified, flattenConcat);
    addSimplifications<ConcatOp>(patterns, simplified, joinSlices);
    addSimplifications<SliceOp>(patterns, simplified, slicePart);
    addSimplifications<ReshapeOp>(patterns, simplified, viewBeforePiece);
    addSimplifications<PadOp>(patterns, simplified, joinPads);
    addSimplifications<PadOp>(patterns, simplified, sliceByPad);
    addSimplifications<BroadcastToOp>(patterns, simplified, joinBroadcasts);
    addSimplifications<SliceOp>(patterns, simplified, viewOfSplat<SliceOp>);
    addSimplifications<ReshapeOp>(patterns, simplified, viewOfSplat<ReshapeOp>);
    addSimplifications<TransposeOp>(patterns, simplified,
                                    viewOfSplat<TransposeOp>);
    addSimplifications<ScatterElementsOp>(patterns, simplified,
                                          scatterByNarrowIndices);
    addSimplifications<ScatterElementsOp>(patterns, simplified, scatterPieces);
    addSimplifications<ReverseOp>(patterns, simplified, dropReversals);
    addSimplifications<OneHotOp>(patterns, simplified, compareOneHot);
    addSimplifications<GatherOp>(patterns, simplified, sliceByGather);
    addSimplifications<GatherOp>(patterns, simplified, gatherSplat<GatherOp>);
    addSimplifications<GatherElementsOp>(patterns, simplified,
                                         gatherSplat<GatherElementsOp>);
    addSimplifications<GatherNDOp>(patterns, simplified,
                                   gatherSplat<GatherNDOp>);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
