// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Windows over fewer dims, and products of windows: part of
// graph-simplify-algebra.
#include "Simplification.h"

using namespace mlir;
using namespace adze::graph;

static bool isOne(AffineExpr size) { return getConstant(size) == 1; }

/// Returns an attribute with `groups` numbers for each spatial dim, without
/// those of the last one.
static DenseI64ArrayAttr dropLast(DenseI64ArrayAttr numbers, unsigned groups) {
  SmallVector<int64_t> kept(numbers.asArrayRef());
  size_t spatial = kept.size() / groups;
  for (unsigned group = groups; group-- > 0;)
    kept.erase(kept.begin() + (group + 1) * spatial - 1);
  return DenseI64ArrayAttr::get(numbers.getContext(), kept);
}

static Type dropLast(Type type) {
  Dims dims = getDims(type);
  dims.pop_back();
  return makeType(getElementTypeOrSelf(type), dims);
}

/// Returns the value without its last dim of size 1.
static Value dropLast(OpBuilder &b, Value value) {
  Type type = dropLast(value.getType());
  if (auto view = value.getDefiningOp<ReshapeOp>();
      view && view.getInput().getType() == type)
    return view.getInput();
  return ReshapeOp::create(b, value.getLoc(), type, value);
}

static bool hasUnitWindow(Operation *op, Value filter) {
  if (filter)
    return isOne(getDims(filter).back());
  return cast<DenseI64ArrayAttr>(op->getAttr("kernel")).asArrayRef().back() ==
         1;
}

/// Windows of a signal, which exporters make an image of one column, become
/// windows along its dim, so that pixels are along rows.
template <typename OpT>
static LogicalResult dropUnitColumn(OpT op, PatternRewriter &rewriter) {
  Value filter;
  if constexpr (std::is_same_v<OpT, ConvOp> ||
                std::is_same_v<OpT, ConvTransposeOp>)
    filter = op.getFilter();
  Value input = op.getInput();
  Dims dims = getDims(input);
  int64_t spatial = dims.size() - 2;
  if (op.getLayout() != Layout::NCHW || spatial < 2 || !areKnown(input) ||
      !isOne(dims.back()) || isOne(dims[spatial]) ||
      !isOne(getDims(op.getResult()).back()))
    return rewriter.notifyMatchFailure(op, "the image is not a 1-D signal");
  if (!hasUnitWindow(op, filter) || op.getPads()[spatial - 1] != 0 ||
      op.getPads()[2 * spatial - 1] != 0)
    return rewriter.notifyMatchFailure(
        op, "the window covers more than the unit dim");
  OperationState state(op.getLoc(), OpT::getOperationName());
  state.addOperands(dropLast(rewriter, input));
  if (filter)
    state.addOperands(dropLast(rewriter, filter));
  state.addOperands(op->getOperands().drop_front(state.operands.size()));
  for (NamedAttribute attribute : op->getAttrs()) {
    auto numbers = dyn_cast<DenseI64ArrayAttr>(attribute.getValue());
    unsigned groups = attribute.getName() == op.getPadsAttrName() ? 2 : 1;
    state.addAttribute(attribute.getName(),
                       numbers ? Attribute(dropLast(numbers, groups))
                               : attribute.getValue());
  }
  state.addTypes(dropLast(op.getType()));
  Value result = rewriter.create(state)->getResult(0);
  rewriter.replaceOpWithNewOp<ReshapeOp>(op, op.getType(), result);
  return success();
}

namespace {
/// A convolution of a signal with one channel, whose windows overlap little. A
/// row of the product covers `joined` adjacent windows.
struct Signal {
  AffineExpr batch, windows;
  int64_t outputs, taps, step, low, high, joined = 1;

  AffineExpr rows() const { return windows.ceilDiv(joined); }
  int64_t rowStep() const { return joined * step; }
  int64_t rowTaps() const { return taps + (joined - 1) * step; }
  int64_t columns() const { return joined * outputs; }

  /// Returns the number of steps that a row begins in or reaches into.
  int64_t pieces() const { return llvm::divideCeil(rowTaps(), rowStep()); }
};
} // namespace

/// Matches such a convolution. Fails if a copy of its windows is much larger
/// than the signal, or if they are short. Windows with few outputs fill no
/// vector of the product's columns: as many as do are joined, if the zeros that
/// the product then multiplies take less time than loads in steps would.
static std::optional<Signal> matchSignal(ConvOp op) {
  constexpr int64_t leastTaps = 32, leastOutputs = 8, mostPieces = 4,
                    lanes = 16, mostWork = 3;
  Dims input = getDims(op.getInput()), filter = getDims(op.getFilter()),
       result = getDims(op.getResult());
  unsigned spatial = input.size() - 2;
  auto outputs = getConstant(filter[0]), taps = getConstant(filter.back());
  if (op.getLayout() != Layout::NCHW || op.getGroup() != 1 ||
      op.getWideResult() || !areKnown(op.getInput()) || !outputs || !taps ||
      *outputs < 1 || !isa<FloatType>(getElement(op.getResult())) ||
      op.getDilations().back() != 1)
    return std::nullopt;
  for (unsigned dim = 1; dim <= spatial; ++dim) // except the last one
    if (!isOne(input[dim]) || !isOne(filter[dim]) ||
        (dim > 1 && !isOne(result[dim])))
      return std::nullopt;
  Signal signal{input[0],
                result.back(),
                *outputs,
                *taps,
                op.getStrides().back(),
                op.getPads()[spatial - 1],
                op.getPads().back()};
  if (*outputs < leastOutputs) {
    signal.joined = llvm::divideCeil(lanes, *outputs);
    if (signal.step == 1 || signal.rowTaps() > mostWork * *taps)
      return std::nullopt;
  }
  if (signal.rowTaps() < leastTaps || signal.pieces() > mostPieces)
    return std::nullopt;
  return signal;
}

/// Creates the rows of windows of such a signal [batch, 1.., length]: [batch,
/// rows, taps].
static Value createWindows(OpBuilder &b, Location loc, Value input,
                           const Signal &signal) {
  Type element = getElement(input);
  auto reshape = [&](Value value, Dims dims) -> Value {
    return ReshapeOp::create(b, loc, makeType(element, dims), value);
  };
  auto slice = [&](Value value, unsigned axis, int64_t start, AffineExpr size) {
    return createSlice(b, loc, value, axis, b.getAffineConstantExpr(start),
                       size);
  };
  int64_t pieces = signal.pieces(), step = signal.rowStep();
  // The padding makes the last row consist of whole steps for all lengths.
  int64_t high = signal.high + pieces * step - signal.taps;
  AffineExpr steps = signal.rows() + (pieces - 1);
  Dims dims{signal.batch, getDims(input).back() + (signal.low + high)};
  Value padded = reshape(input, {signal.batch, getDims(input).back()});
  padded = PadOp::create(b, loc, makeType(element, dims), padded, Value(),
                         ArrayRef<int64_t>{0, signal.low},
                         ArrayRef<int64_t>{0, high}, PadMode::Constant);
  AffineExpr wide = getAffineConstantExpr(step, b.getContext());
  Value frames =
      reshape(slice(padded, 1, 0, steps * step), {signal.batch, steps, wide});
  SmallVector<Value> parts;
  for (int64_t i = 0; i < pieces; ++i) {
    int64_t width = std::min(step, signal.rowTaps() - i * step);
    Value part = slice(frames, 1, i, signal.rows());
    if (width != step)
      part = slice(part, 2, 0, getAffineConstantExpr(width, b.getContext()));
    parts.push_back(part);
  }
  if (parts.size() == 1)
    return parts.front();
  AffineExpr taps = getAffineConstantExpr(signal.rowTaps(), b.getContext());
  return ConcatOp::create(
      b, loc, makeType(element, {signal.batch, signal.rows(), taps}), parts,
      /*axis=*/2);
}

/// Creates the columns of the product [columns, taps]: a filter for each window
/// of a row, with zeros for the taps of the others.
static Value createColumns(OpBuilder &b, Location loc, Value filter,
                           const Signal &signal) {
  Type element = getElement(filter);
  auto makeRows = [&](int64_t rows, int64_t taps) {
    return makeType(element, {getAffineConstantExpr(rows, b.getContext()),
                              getAffineConstantExpr(taps, b.getContext())});
  };
  filter =
      ReshapeOp::create(b, loc, makeRows(signal.outputs, signal.taps), filter);
  if (signal.joined == 1)
    return filter;
  SmallVector<Value> columns;
  for (int64_t i = 0; i < signal.joined; ++i) {
    int64_t low = i * signal.step, high = signal.rowTaps() - signal.taps - low;
    columns.push_back(
        PadOp::create(b, loc, makeRows(signal.outputs, signal.rowTaps()),
                      filter, Value(), ArrayRef<int64_t>{0, low},
                      ArrayRef<int64_t>{0, high}, PadMode::Constant));
  }
  return ConcatOp::create(b, loc, makeRows(signal.columns(), signal.rowTaps()),
                          columns, /*axis=*/0);
}

/// Long windows over one channel, as those of a resampler or a Fourier
/// transform, become rows of a matrix product, whose contracted dim are the
/// taps; a convolution kernel expects it to be the channels.
static LogicalResult multiplyWindows(ConvOp op, PatternRewriter &rewriter) {
  auto signal = matchSignal(op);
  if (!signal)
    return rewriter.notifyMatchFailure(
        op, "the op is not a 1-D convolution with a long window");
  Location loc = op.getLoc();
  Type element = getElement(op.getResult());
  auto number = [&](int64_t value) {
    return getAffineConstantExpr(value, rewriter.getContext());
  };
  Value windows = createWindows(rewriter, loc, op.getInput(), *signal);
  Value columns = createColumns(rewriter, loc, op.getFilter(), *signal);
  Dims dims{signal->batch, signal->rows(), number(signal->columns())};
  Value product = MatmulOp::create(rewriter, loc, makeType(element, dims),
                                   windows, columns, /*transpose_a=*/false,
                                   /*transpose_b=*/true);
  if (signal->joined != 1) {
    dims = {signal->batch, signal->rows() * signal->joined,
            number(signal->outputs)};
    product =
        ReshapeOp::create(rewriter, loc, makeType(element, dims), product);
    product =
        createSlice(rewriter, loc, product, 1, number(0), signal->windows);
  }
  dims = getDims(product);
  if (op.getBias())
    product = AddOp::create(rewriter, loc, product, op.getBias());
  std::swap(dims[1], dims[2]);
  Value channels = TransposeOp::create(rewriter, loc, makeType(element, dims),
                                       product, ArrayRef<int64_t>{0, 2, 1});
  rewriter.replaceOpWithNewOp<ReshapeOp>(op, op.getType(), channels);
  return success();
}

namespace {
/// Moves elementwise ops before the reshape that adds the column back: they are
/// then fused into the kernel of the window, and the next window has no column.
class SinkUnitColumn final
    : public OpInterfaceRewritePattern<ElementwiseOpInterface> {
public:
  SinkUnitColumn(MLIRContext *context, Pass::Statistic &count)
      : OpInterfaceRewritePattern(context), count(count) {}

  LogicalResult matchAndRewrite(ElementwiseOpInterface op,
                                PatternRewriter &rewriter) const override {
    if (op->getNumResults() != 1 || !areKnown(op->getResult(0)) ||
        llvm::none_of(op->getOperands(), isPutBack))
      return rewriter.notifyMatchFailure(
          op, "no operand is a reshape that adds the unit dim");
    for (Value operand : op->getOperands())
      if (Dims dims = getDims(operand);
          !areKnown(operand) || (!dims.empty() && !isOne(dims.back())))
        return rewriter.notifyMatchFailure(
            op, "an operand has an innermost dim other than 1");
    Operation *inner = rewriter.clone(*op);
    for (OpOperand &operand : inner->getOpOperands())
      if (getRank(operand.get()) != 0)
        operand.set(dropLast(rewriter, operand.get()));
    inner->moveBefore(op);
    Type type = op->getResult(0).getType();
    inner->getResult(0).setType(dropLast(type));
    rewriter.replaceOpWithNewOp<ReshapeOp>(op, type, inner->getResult(0));
    ++count;
    return success();
  }

private:
  /// Returns true for the result of a window, or a function of it, with one
  /// more dim of a column.
  static bool isPutBack(Value value) {
    auto view = value.getDefiningOp<ReshapeOp>();
    return view && view->hasOneUse() && areKnown(view.getInput()) &&
           isa_and_nonnull<ConvOp, ConvTransposeOp, MaxPoolOp, AvgPoolOp,
                           ElementwiseOpInterface>(
               view.getInput().getDefiningOp()) &&
           getRank(value) > 3 && isOne(getDims(value).back()) &&
           areEqual(getDims(view.getInput()),
                    ArrayRef(getDims(value)).drop_back());
  }

  Pass::Statistic &count;
};
} // namespace

void adze::graph::addWindowSimplifications(RewritePatternSet &patterns,
                                           Pass::Statistic &count) {
  addSimplifications<ConvOp, ConvTransposeOp, MaxPoolOp, AvgPoolOp>(
      patterns, count, [](auto op, auto &r) { return dropUnitColumn(op, r); });
  addSimplifications<ConvOp>(patterns, count, multiplyWindows);
  patterns.add<SinkUnitColumn>(patterns.getContext(), count);
}
