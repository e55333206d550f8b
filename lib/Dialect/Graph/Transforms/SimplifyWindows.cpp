// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Windows over fewer dims: part of graph-simplify-algebra.
#include "Simplification.h"

using namespace mlir;
using namespace adze::graph;

static bool isOne(AffineExpr size) { return getConstant(size) == 1; }

/// An attribute with `groups` numbers of each spatial dim, without those of the
/// last one.
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

/// The same without its last dim of one element.
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

/// Windows of a signal, of which exporters make an image of one column, are
/// along its dim: there pixels lie along rows.
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
    return rewriter.notifyMatchFailure(op, "no signal as an image");
  if (!hasUnitWindow(op, filter) || op.getPads()[spatial - 1] != 0 ||
      op.getPads()[2 * spatial - 1] != 0)
    return rewriter.notifyMatchFailure(op, "a window across the column");
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
/// What is done to each element is done before the column is put back: there
/// it is a part of the window's kernel, and the next window has no column.
class SinkUnitColumn final
    : public OpInterfaceRewritePattern<ElementwiseOpInterface> {
public:
  SinkUnitColumn(MLIRContext *context, Pass::Statistic &count)
      : OpInterfaceRewritePattern(context), count(count) {}

  LogicalResult matchAndRewrite(ElementwiseOpInterface op,
                                PatternRewriter &rewriter) const override {
    if (op->getNumResults() != 1 || !areKnown(op->getResult(0)) ||
        llvm::none_of(op->getOperands(), isPutBack))
      return rewriter.notifyMatchFailure(op, "no column that is put back");
    for (Value operand : op->getOperands())
      if (Dims dims = getDims(operand);
          !areKnown(operand) || (!dims.empty() && !isOne(dims.back())))
        return rewriter.notifyMatchFailure(op, "more than one column");
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
  /// A window's result, or what was made of one, with a column of one more dim.
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
  patterns.add<SinkUnitColumn>(patterns.getContext(), count);
}
