// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// graph-convert-layout: each convolution or pooling op is wrapped in
// transposes, which then sink through other ops until they cancel with their
// inverse, or reach a result of the model.
#include "ChannelsLastNorm.h"
#include "Dialect/Graph/IR/Graph.h"
#include "Dialect/Graph/IR/Shape.h"
#include "Dialect/Graph/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "llvm/ADT/TypeSwitch.h"

namespace adze::graph {
#define GEN_PASS_DEF_CONVERTLAYOUTPASS
#include "Dialect/Graph/Transforms/Passes.h.inc"
} // namespace adze::graph

using namespace mlir;
using namespace adze::graph;

namespace {

using Perm = SmallVector<int64_t, 5>;

/// Returns the permutation from channels first to channels last.
Perm toChannelsLast(int64_t rank) {
  Perm perm{0};
  for (int64_t d = 2; d < rank; ++d)
    perm.push_back(d);
  perm.push_back(1);
  return perm;
}

/// Returns the permutation from channels last to channels first.
Perm toChannelsFirst(int64_t rank) {
  Perm perm{0, rank - 1};
  for (int64_t d = 1; d < rank - 1; ++d)
    perm.push_back(d);
  return perm;
}

int64_t getRank(Value value) {
  return cast<RankedTensorType>(value.getType()).getRank();
}

/// Returns the transpose to channels first that defines the value, or null.
TransposeOp getSinkable(Value value) {
  auto transpose = value.getDefiningOp<TransposeOp>();
  if (!transpose || getRank(value) < 3 ||
      transpose.getPerm() != ArrayRef<int64_t>(toChannelsFirst(getRank(value))))
    return {};
  return transpose;
}

/// Returns the type before a transpose to channels first.
RankedTensorType toChannelsLast(RankedTensorType type) {
  Dims dims = getDims(type), last;
  for (int64_t d : toChannelsLast(type.getRank()))
    last.push_back(dims[d]);
  return makeType(type.getElementType(), last);
}

/// Reorders attribute values for each dim to channels last.
template <typename T>
SmallVector<T> toChannelsLast(ArrayRef<T> values) {
  SmallVector<T> last;
  for (int64_t d : toChannelsLast(values.size()))
    last.push_back(values[d]);
  return last;
}

//===----------------------------------------------------------------------===//
// Wrapping
//===----------------------------------------------------------------------===//

/// op -> transpose(op{nhwc}(transpose)).
template <typename OpTy>
bool wrap(Operation *candidate, OpBuilder &builder) {
  auto op = dyn_cast<OpTy>(candidate);
  if (!op || op.getLayout() != Layout::NCHW)
    return false;
  Location loc = op.getLoc();
  int64_t rank = getRank(op.getInput());
  builder.setInsertionPoint(op);
  Value last =
      TransposeOp::create(builder, loc, op.getInput(), toChannelsLast(rank));
  auto type = cast<RankedTensorType>(op.getResult().getType());
  builder.setInsertionPointAfter(op);
  auto first = TransposeOp::create(builder, loc, type, op.getResult(),
                                   toChannelsFirst(rank));
  op.getResult().replaceAllUsesExcept(first, first);
  op.getInputMutable().assign(last);
  op.setLayout(Layout::NHWC);
  op.getResult().setType(toChannelsLast(type));
  return true;
}

bool wrapConvolution(Operation *op, OpBuilder &builder) {
  return wrap<ConvOp>(op, builder) || wrap<ConvTransposeOp>(op, builder);
}
/// Returns true for a convolution with so few output channels that pixels are
/// better vector lanes than channels: it reads planes of its inputs, one after
/// the other.
bool keepsPlanes(Operation *candidate) {
  constexpr int64_t leastWidth = 16, fewOutputs = 4;
  auto op = dyn_cast<ConvOp>(candidate);
  if (!op || op.getLayout() != Layout::NCHW || op.getGroup() != 1 ||
      !getElementTypeOrSelf(op.getType()).isF32() ||
      op.getStrides().back() != 1)
    return false;
  Dims filter = getDims(op.getFilter());
  auto outputs = getConstant(filter[0]),
       width = getConstant(getDims(op).back());
  bool known = llvm::all_of(
      filter, [](AffineExpr dim) { return getConstant(dim).has_value(); });
  bool pointwise =
      llvm::all_of(ArrayRef<AffineExpr>(filter).drop_front(2),
                   [](AffineExpr dim) { return getConstant(dim) == 1; });
  if (!known || pointwise)
    return false;
  // Channels-last inputs would have to be moved. Winograd's algorithm
  // (Winograd.cpp) has a quarter of the work, so planes are no improvement.
  auto isOne = [](int64_t step) { return step == 1; };
  bool patches = filter.size() == 4 && getConstant(filter[2]) == 3 &&
                 getConstant(filter[3]) == 3 &&
                 llvm::all_of(op.getStrides(), isOne) &&
                 llvm::all_of(op.getDilations(), isOne);
  if (patches && op.getInput().getDefiningOp() &&
      *getConstant(filter[1]) > fewOutputs)
    return false;
  return *outputs <= fewOutputs && (!width || *width >= leastWidth);
}
bool wrapPool(Operation *op, OpBuilder &builder) {
  return wrap<MaxPoolOp>(op, builder) || wrap<AvgPoolOp>(op, builder);
}

//===----------------------------------------------------------------------===//
// Sinking
//===----------------------------------------------------------------------===//

/// Returns the channels-last dim of dim `axis` of a channels-first tensor.
int64_t mapAxis(int64_t axis, int64_t rank) {
  return toChannelsFirst(rank)[axis];
}

/// Adjusts attributes of an op that now has channels-last operands; elementwise
/// ops need no change.
void permuteAttributes(Operation *op, int64_t rank) {
  TypeSwitch<Operation *>(op)
      .Case<ConcatOp, SoftmaxOp, LogSoftmaxOp, LRNOp, BatchNormOp,
            InstanceNormOp>(
          [&](auto axisOp) { axisOp.setAxis(mapAxis(axisOp.getAxis(), rank)); })
      .Case<SliceOp>([&](SliceOp slice) {
        Dims starts = slice.getStartExprs();
        slice.setStartsAttr(SliceOp::makeStarts(
            slice.getContext(), toChannelsLast(ArrayRef<AffineExpr>(starts))));
        slice.setSteps(toChannelsLast(slice.getSteps()));
      })
      .Case<PadOp>([&](PadOp pad) {
        pad.setLow(toChannelsLast(pad.getLow()));
        pad.setHigh(toChannelsLast(pad.getHigh()));
      })
      .Case<ResizeOp>([&](ResizeOp resize) {
        if (auto scales = resize.getScales())
          resize.setScales(toChannelsLast(*scales));
      });
}

/// Returns true if transposes may sink through the op, before anything changes.
bool isTransparent(Operation *op) {
  if (op->getNumResults() != 1)
    return false;
  if (auto slice = dyn_cast<SliceOp>(op))
    return !slice.getBegin();
  if (auto resize = dyn_cast<ResizeOp>(op))
    return !resize.getRoi();
  return isa<ElementwiseOpInterface, ConcatOp, SoftmaxOp, LogSoftmaxOp, LRNOp,
             BatchNormOp, InstanceNormOp, PadOp>(op);
}

/// Returns true for operands that are not indexed like the result: one element
/// for each channel, and the scalar of a pad.
bool isParameter(OpOperand &operand) {
  return isa<BatchNormOp, InstanceNormOp, PadOp>(operand.getOwner()) &&
         operand.getOperandNumber() > 0;
}

/// op(transpose(x), ..) -> transpose(op(x, ..)). Other operands get the inverse
/// transpose, which folds for constants; there must not be more of these than
/// of the others.
class SinkTranspose final : public RewritePattern {
public:
  SinkTranspose(MLIRContext *context, Pass::Statistic &sunk)
      : RewritePattern(MatchAnyOpTypeTag(), 1, context), sunk(sunk) {}

  LogicalResult matchAndRewrite(Operation *op,
                                PatternRewriter &rewriter) const override {
    if (!isTransparent(op))
      return rewriter.notifyMatchFailure(
          op, "the op does not commute with transposes");
    int64_t rank = getRank(op->getResult(0));
    int64_t gained = 0, added = 0;
    for (OpOperand &operand : op->getOpOperands()) {
      if (isParameter(operand))
        continue;
      auto transpose = getSinkable(operand.get());
      if (transpose && getRank(transpose) == rank)
        gained += !isConstant(transpose.getInput());
      else if (!isCheap(operand.get(), rank))
        ++added;
    }
    // In rank 3 the transpose is its own inverse, so added transposes could
    // sink again, without end, if there were as many.
    if (added > gained || (added == gained && (rank == 3 || gained == 0)))
      return rewriter.notifyMatchFailure(op, "sinking would add transposes");
    SmallVector<Value> operands;
    for (OpOperand &operand : op->getOpOperands())
      operands.push_back(isParameter(operand)
                             ? operand.get()
                             : getChannelsLast(operand.get(), rank, rewriter));
    auto type = cast<RankedTensorType>(op->getResult(0).getType());
    Operation *last = rewriter.clone(*op);
    last->setOperands(operands);
    permuteAttributes(last, rank);
    last->getResult(0).setType(toChannelsLast(type));
    rewriter.replaceOpWithNewOp<TransposeOp>(op, type, last->getResult(0),
                                             toChannelsFirst(rank));
    ++sunk;
    return success();
  }

private:
  static bool isConstant(Value value) {
    return matchPattern(value, m_Constant());
  }

  /// Returns true if transposing the value moves no data at run time. In rank
  /// 3, computed values count as expensive in any case, as their transposes
  /// could sink again without end.
  static bool isCheap(Value value, int64_t rank) {
    auto type = cast<RankedTensorType>(value.getType());
    if (isConstant(value))
      return true;
    return rank != 3 && llvm::count_if(getDims(type), [](AffineExpr dim) {
                          return getConstant(dim) != 1;
                        }) <= 1;
  }

  static Value getChannelsLast(Value value, int64_t rank, OpBuilder &builder) {
    auto type = cast<RankedTensorType>(value.getType());
    if (auto transpose = getSinkable(value);
        transpose && type.getRank() == rank)
      return transpose.getInput();
    if (type.getRank() == 0)
      return value;
    Dims dims = getDims(type);
    if (type.getRank() < rank) { // makes broadcasting explicit
      dims.insert(dims.begin(), rank - type.getRank(),
                  getAffineConstantExpr(1, value.getContext()));
      type = makeType(type.getElementType(), dims);
      value = ReshapeOp::create(builder, value.getLoc(), type, value);
    }
    return TransposeOp::create(builder, value.getLoc(), value,
                               toChannelsLast(rank));
  }

  Pass::Statistic &sunk;
};

/// reduce(transpose(x)) -> transpose(reduce(x)); without keepdims, the
/// transpose is that of the remaining dims.
class SinkThroughReduce final
    : public OpInterfaceRewritePattern<ReduceOpInterface> {
public:
  SinkThroughReduce(MLIRContext *context, Pass::Statistic &sunk)
      : OpInterfaceRewritePattern(context), sunk(sunk) {}

  LogicalResult matchAndRewrite(ReduceOpInterface reduce,
                                PatternRewriter &rewriter) const override {
    auto transpose = getSinkable(reduce.getInput());
    if (!transpose || reduce.getAxes().empty())
      return rewriter.notifyMatchFailure(
          reduce, "the operand is not a transpose that can sink");
    int64_t rank = getRank(transpose);
    SmallVector<int64_t> axes;
    for (int64_t axis : reduce.getAxes())
      axes.push_back(mapAxis(axis, rank));
    llvm::sort(axes);
    Operation *op = reduce, *last = rewriter.clone(*op);
    last->setOperand(0, transpose.getInput());
    last->setAttr("axes", rewriter.getDenseI64ArrayAttr(axes));
    // The new dim of each old dim of the result.
    Perm perm;
    for (int64_t d : toChannelsFirst(rank)) {
      bool reduced = llvm::is_contained(axes, d);
      if (reduce.getKeepdims())
        perm.push_back(d);
      else if (!reduced)
        perm.push_back(d -
                       llvm::count_if(axes, [&](int64_t a) { return a < d; }));
    }
    auto type = cast<RankedTensorType>(op->getResult(0).getType());
    Dims dims = getDims(type), lastDims(dims.size());
    for (auto [i, d] : llvm::enumerate(perm))
      lastDims[d] = dims[i];
    last->getResult(0).setType(makeType(type.getElementType(), lastDims));
    rewriter.replaceOpWithNewOp<TransposeOp>(op, type, last->getResult(0),
                                             perm);
    ++sunk;
    return success();
  }

private:
  Pass::Statistic &sunk;
};

/// reshape(transpose(x)) that merges all spatial dims into one -> the same
/// transpose of a reshape, of rank 3.
class SinkThroughMerge final : public OpRewritePattern<ReshapeOp> {
public:
  SinkThroughMerge(MLIRContext *context, Pass::Statistic &sunk)
      : OpRewritePattern(context), sunk(sunk) {}

  LogicalResult matchAndRewrite(ReshapeOp op,
                                PatternRewriter &rewriter) const override {
    auto transpose = getSinkable(op.getInput());
    if (!transpose || op.getShape() || getRank(op) != 3 ||
        getRank(transpose) < 4)
      return rewriter.notifyMatchFailure(
          op, "the reshape does not merge spatial dims");
    Dims from = getDims(transpose), to = getDims(op);
    if (!areEqual(from[0], to[0]) || !areEqual(from[1], to[1]))
      return rewriter.notifyMatchFailure(
          op, "the reshape changes batch or channels");
    auto type = cast<RankedTensorType>(op.getType());
    Value merged = ReshapeOp::create(
        rewriter, op.getLoc(), toChannelsLast(type), transpose.getInput());
    rewriter.replaceOpWithNewOp<TransposeOp>(op, type, merged,
                                             toChannelsFirst(3));
    ++sunk;
    return success();
  }

private:
  Pass::Statistic &sunk;
};

/// A normalisation of a tensor that was transposed to channels first, over
/// groups of channels and all later dims.
struct ChannelNorm {
  TransposeOp transpose;
  Value source; // the transposed elements, [batch, channels, ..]
  int64_t groups, channels;

  static std::optional<ChannelNorm> match(LayerNormOp op);
  std::optional<Dims> perChannel(Value operand,
                                 ArrayRef<AffineExpr> rows) const;
};

std::optional<ChannelNorm> ChannelNorm::match(LayerNormOp op) {
  ChannelNorm norm{};
  norm.source = op.getInput();
  auto reshape = norm.source.getDefiningOp<ReshapeOp>();
  if (reshape && !reshape.getShape())
    norm.source = reshape.getInput();
  norm.transpose = getSinkable(norm.source);
  if (!norm.transpose)
    return std::nullopt;
  Dims first = getDims(norm.source), rows = getDims(op.getInput());
  auto channels = getConstant(first[1]);
  std::optional<int64_t> groups;
  if (op.getAxis() == 1)
    groups = 1;
  else if (op.getAxis() == 2)
    groups = getConstant(rows[1]);
  if (!channels || !groups || *groups < 1 || *channels % *groups != 0 ||
      llvm::is_contained(first, AffineExpr()) || !areEqual(first[0], rows[0]))
    return std::nullopt;
  norm.groups = *groups;
  norm.channels = *channels;
  return norm;
}

/// Returns the dims of a scale or bias of `rows` for channels-first elements:
/// one number for each channel, or one for all. Returns nothing for others.
std::optional<Dims> ChannelNorm::perChannel(Value operand,
                                            ArrayRef<AffineExpr> rows) const {
  AffineExpr one = getAffineConstantExpr(1, operand.getContext());
  Dims dims = getDims(operand);
  if (dims.size() > rows.size())
    return std::nullopt;
  dims.insert(dims.begin(), rows.size() - dims.size(), one);
  int64_t seen = 1;
  size_t after = 1;
  for (; after < rows.size() && seen < channels; ++after)
    seen *= getConstant(rows[after]).value_or(channels + 1);
  bool each = seen == channels, same = true;
  for (size_t dim = 0; dim < rows.size(); ++dim) {
    each &= areEqual(dims[dim], dim >= 1 && dim < after ? rows[dim] : one);
    same &= areEqual(dims[dim], one);
  }
  if (!each && !same)
    return std::nullopt;
  Dims result(getRank(source) - 1, one);
  if (!same)
    result[0] = getAffineConstantExpr(channels, operand.getContext());
  return result;
}

/// layer_norm(transpose(x)) -> transpose((x - mean) / deviation): the kernel of
/// a normalisation requires contiguous rows, which channels-last groups are
/// not. As reductions and elementwise ops, all memory is accessed in order, by
/// many programs even for a single row.
class SinkThroughNorm final : public OpRewritePattern<LayerNormOp> {
public:
  SinkThroughNorm(MLIRContext *context, Pass::Statistic &sunk)
      : OpRewritePattern(context), sunk(sunk) {}

  LogicalResult matchAndRewrite(LayerNormOp op,
                                PatternRewriter &rewriter) const override {
    Type element = getElementTypeOrSelf(op.getType());
    if (!element.isF32() && !element.isF64())
      return rewriter.notifyMatchFailure(op, "the statistics need f32");
    auto norm = ChannelNorm::match(op);
    if (!norm)
      return rewriter.notifyMatchFailure(
          op, "the op does not normalise rows of channels-last data");
    Dims rows = getDims(op.getInput());
    Value scale = op.getScale(), bias = op.getBias();
    auto scaleDims = norm->perChannel(scale ? scale : op.getInput(), rows);
    auto biasDims = norm->perChannel(bias ? bias : op.getInput(), rows);
    if ((scale && !scaleDims) || (bias && !biasDims))
      return rewriter.notifyMatchFailure(op,
                                         "a scale or bias is not per channel");
    Location loc = op.getLoc();
    auto type = cast<RankedTensorType>(norm->source.getType());
    Value y = createChannelsLastNorm(rewriter, loc, norm->transpose.getInput(),
                                     norm->groups, op.getEpsilon());
    y = TransposeOp::create(rewriter, loc, type, y,
                            toChannelsFirst(type.getRank()));
    if (scale)
      y = MulOp::create(rewriter, loc, y, reshape(rewriter, scale, *scaleDims));
    if (bias)
      y = AddOp::create(rewriter, loc, y, reshape(rewriter, bias, *biasDims));
    rewriter.replaceOpWithNewOp<ReshapeOp>(op, op.getType(), y);
    ++sunk;
    return success();
  }

private:
  static Value reshape(OpBuilder &b, Value value, ArrayRef<AffineExpr> dims) {
    auto type = makeType(getElementTypeOrSelf(value.getType()), dims);
    return type == value.getType()
               ? value
               : ReshapeOp::create(b, value.getLoc(), type, value).getResult();
  }

  Pass::Statistic &sunk;
};

class ConvertLayoutPass final
    : public adze::graph::impl::ConvertLayoutPassBase<ConvertLayoutPass> {
public:
  using ConvertLayoutPassBase::ConvertLayoutPassBase;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    auto countTransposes = [&] {
      int64_t n = 0;
      function.walk([&](TransposeOp) { ++n; });
      return n;
    };
    transposesBefore = countTransposes();
    OpBuilder builder(&getContext());
    SmallVector<Operation *> candidates;
    function.walk([&](Operation *op) { candidates.push_back(op); });
    int64_t wrapped = 0;
    bool isForGpus = bool(adze::tile::findCudaTarget(function));
    for (Operation *op : candidates)
      if (isForGpus || !keepsPlanes(op))
        wrapped += wrapConvolution(op, builder);
    if (wrapped == 0) // pooling alone is faster without
      return;
    for (Operation *op : candidates)
      wrapped += wrapPool(op, builder);
    converted += wrapped;
    // Normalisations are converted when no other transpose can cancel with its
    // inverse.
    if (!sink(/*norms=*/false) || !sink(/*norms=*/true))
      return signalPassFailure();
    transposesAfter = countTransposes();
  }

private:
  bool sink(bool norms) {
    RewritePatternSet patterns(&getContext());
    patterns.add<SinkTranspose, SinkThroughReduce, SinkThroughMerge>(
        &getContext(), sunk);
    if (norms)
      patterns.add<SinkThroughNorm>(&getContext(), sunk);
    TransposeOp::getCanonicalizationPatterns(patterns, &getContext());
    ReshapeOp::getCanonicalizationPatterns(patterns, &getContext());
    GreedyRewriteConfig config;
    config.setMaxIterations(GreedyRewriteConfig::kNoLimit);
    return succeeded(
        applyPatternsGreedily(getOperation(), std::move(patterns), config));
  }
};

} // namespace
