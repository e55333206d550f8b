// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Factors and summands of channels beside convolutions and matmuls go into
// their weights: what is left of normalisations, and what exporters make of
// scales.
#include "LinearFolds.h"

using namespace mlir;
using namespace adze::graph;

bool adze::graph::isConstant(Value value, unsigned depth) {
  constexpr unsigned most = 16;
  if (matchPattern(value, m_Constant()))
    return true;
  Operation *op = value.getDefiningOp();
  return op && depth < most &&
         isa<MulOp, AddOp, SubOp, DivOp, SqrtOp, NegOp, ReciprocalOp, ReshapeOp,
             BroadcastToOp, ReduceSumOp>(op) &&
         llvm::all_of(
             op->getOperands(),
             [&](Value operand) { return isConstant(operand, depth + 1); });
}

Value adze::graph::alongAxis(OpBuilder &builder, Value vector, int64_t axis,
                             int64_t rank) {
  auto type = cast<RankedTensorType>(vector.getType());
  Dims dims(rank, getAffineConstantExpr(1, vector.getContext()));
  dims[axis] = getDims(type)[0];
  return ReshapeOp::create(builder, vector.getLoc(),
                           makeType(type.getElementType(), dims), vector);
}

Value adze::graph::scaleSecond(OpBuilder &builder, Location loc, Value filter,
                               Value vector, int64_t groups) {
  Dims dims = getDims(filter);
  if (groups == 1)
    return MulOp::create(builder, loc, filter,
                         alongAxis(builder, vector, 1, dims.size()));
  auto type = cast<RankedTensorType>(filter.getType());
  Dims split =
      makeDims(builder.getContext(), {groups, type.getDimSize(0) / groups});
  split.append(dims.begin() + 1, dims.end());
  Dims numbers(split.size(), getAffineConstantExpr(1, builder.getContext()));
  numbers[0] = split[0];
  numbers[2] = split[2];
  Type element = type.getElementType();
  Value apart =
      ReshapeOp::create(builder, loc, makeType(element, split), filter);
  Value each =
      ReshapeOp::create(builder, loc, makeType(element, numbers), vector);
  Value scaled = MulOp::create(builder, loc, apart, each);
  return ReshapeOp::create(builder, loc, type, scaled);
}

namespace {

/// A constant that only `reader` and other constants are made of: what is made
/// of it takes its place.
bool isOwnConstant(Value value, Operation *reader) {
  return isConstant(value) &&
         llvm::all_of(value.getUsers(), [&](Operation *user) {
           return user == reader || (user->getNumResults() == 1 &&
                                     isConstant(user->getResult(0)));
         });
}

/// Numbers of the channels of a result of `rank` dims (all others are 1), or
/// one for all?
bool isChannelVector(Value constant, int64_t axis, int64_t rank,
                     AffineExpr channels) {
  auto type = cast<RankedTensorType>(constant.getType());
  Dims dims = getDims(constant);
  std::optional<int64_t> count = getConstant(channels);
  int64_t elements = type.hasStaticShape() ? type.getNumElements() : -1;
  if (!isConstant(constant) || !count || type.getRank() > rank ||
      (elements != 1 && elements != *count))
    return false;
  for (int64_t i = 0; i < type.getRank(); ++i)
    if (rank - type.getRank() + i != axis && getConstant(dims[i]) != 1)
      return false;
  return true;
}

/// The same as a vector; null, and no op is made, for other constants.
Value getChannelVector(OpBuilder &builder, Value constant, int64_t axis,
                       int64_t rank, AffineExpr channels) {
  if (!isChannelVector(constant, axis, rank, channels))
    return {};
  auto type = cast<RankedTensorType>(constant.getType());
  int64_t elements = type.getNumElements(), count = *getConstant(channels);
  auto vector = RankedTensorType::get({elements}, type.getElementType());
  Value flat = ReshapeOp::create(builder, constant.getLoc(), vector, constant);
  if (elements == count)
    return flat;
  return BroadcastToOp::create(
      builder, constant.getLoc(),
      RankedTensorType::get({count}, type.getElementType()), flat);
}

/// What a vector stands for beside an op: as a factor or a summand.
Value asFactorOrSummand(OpBuilder &builder, Operation *op, Value vector) {
  Location loc = op->getLoc();
  if (isa<SubOp>(op))
    return NegOp::create(builder, loc, vector);
  return isa<DivOp>(op) ? ReciprocalOp::create(builder, loc, vector).getResult()
                        : vector;
}

/// How many operands of the op may be the value: x - t is no t - x.
template <typename OpT>
unsigned countPlaces() {
  return std::is_same_v<OpT, DivOp> || std::is_same_v<OpT, SubOp> ? 1 : 2;
}

/// conv(x, w, b) * s -> conv(x, w * s, b * s); conv(x, w, b) + t -> conv(x, w,
/// b + t): what exporters make of scales and shifts of channels; / s and - t
/// too.
template <typename OpT>
class FoldScaleIntoConv final : public OpRewritePattern<OpT> {
public:
  FoldScaleIntoConv(MLIRContext *context, Pass::Statistic &folded)
      : OpRewritePattern<OpT>(context), folded(folded) {}

  LogicalResult matchAndRewrite(OpT op,
                                PatternRewriter &rewriter) const override {
    for (unsigned i = 0; i < countPlaces<OpT>(); ++i) {
      auto conv = op->getOperand(i).template getDefiningOp<ConvOp>();
      if (!conv || !conv->hasOneUse() || !isConstant(conv.getFilter()) ||
          (conv.getBias() && !isConstant(conv.getBias())) ||
          conv.getType() != op.getType())
        continue;
      int64_t rank = cast<RankedTensorType>(op.getType()).getRank();
      int64_t axis = getChannelAxis(conv);
      Value vector = getChannelVector(rewriter, op->getOperand(1 - i), axis,
                                      rank, getDims(conv.getResult())[axis]);
      if (!vector)
        continue;
      apply(op, conv, asFactorOrSummand(rewriter, op, vector), rewriter);
      ++folded;
      return success();
    }
    return rewriter.notifyMatchFailure(op, "no convolution with constants");
  }

private:
  static void apply(OpT op, ConvOp conv, Value vector,
                    PatternRewriter &rewriter) {
    auto fused = cast<ConvOp>(rewriter.clone(*conv));
    fused->setLoc(rewriter.getFusedLoc({conv.getLoc(), op.getLoc()}));
    Value bias = conv.getBias();
    if (isa<MulOp, DivOp>(op)) {
      int64_t rank =
          cast<RankedTensorType>(conv.getFilter().getType()).getRank();
      fused.getFilterMutable().assign(
          MulOp::create(rewriter, conv.getLoc(), conv.getFilter(),
                        alongAxis(rewriter, vector, /*axis=*/0, rank)));
      bias =
          bias ? MulOp::create(rewriter, conv.getLoc(), bias, vector) : Value();
    } else {
      bias =
          bias ? AddOp::create(rewriter, conv.getLoc(), bias, vector) : vector;
    }
    if (bias)
      fused.getBiasMutable().assign(bias);
    // What the weights are made of stands before them.
    fused->moveBefore(op);
    rewriter.replaceOp(op, fused);
  }

  Pass::Statistic &folded;
};

/// (matmul(x, w) + b) * s -> matmul(x, w * s) + b * s, and / s.
template <typename OpT>
class FoldScaleIntoMatmul final : public OpRewritePattern<OpT> {
public:
  FoldScaleIntoMatmul(MLIRContext *context, Pass::Statistic &folded)
      : OpRewritePattern<OpT>(context), folded(folded) {}

  LogicalResult matchAndRewrite(OpT op,
                                PatternRewriter &rewriter) const override {
    int64_t rank = cast<RankedTensorType>(op.getType()).getRank();
    if (rank < 2)
      return rewriter.notifyMatchFailure(op, "not of a matrix");
    AffineExpr columns = getDims(op.getResult()).back();
    for (unsigned i = 0; i < countPlaces<OpT>(); ++i) {
      Value sum = op->getOperand(i), bias;
      if (auto add = sum.template getDefiningOp<AddOp>();
          add && add->hasOneUse() &&
          isChannelVector(add.getRhs(), rank - 1, rank, columns)) {
        bias = add.getRhs();
        sum = add.getLhs();
      }
      auto matmul = sum.template getDefiningOp<MatmulOp>();
      if (!matmul || !matmul->hasOneUse() ||
          !isOwnConstant(matmul.getRhs(), matmul) ||
          matmul.getType() != op.getType())
        continue;
      Value vector = getChannelVector(rewriter, op->getOperand(1 - i), rank - 1,
                                      rank, columns);
      if (!vector)
        continue;
      vector = asFactorOrSummand(rewriter, op, vector);
      Location loc = op.getLoc();
      int64_t own = cast<RankedTensorType>(matmul.getRhs().getType()).getRank();
      Value weight =
          MulOp::create(rewriter, loc, matmul.getRhs(),
                        alongAxis(rewriter, vector,
                                  own - (matmul.getTransposeB() ? 2 : 1), own));
      auto product = cast<MatmulOp>(rewriter.clone(*matmul));
      product.getRhsMutable().assign(weight);
      product->setLoc(rewriter.getFusedLoc({matmul.getLoc(), loc}));
      product->moveBefore(op);
      if (bias)
        bias = getChannelVector(rewriter, bias, rank - 1, rank, columns);
      if (bias)
        rewriter.replaceOpWithNewOp<AddOp>(
            op, product.getResult(),
            MulOp::create(rewriter, loc, bias, vector));
      else
        rewriter.replaceOp(op, product);
      ++folded;
      return success();
    }
    return rewriter.notifyMatchFailure(op, "no product with constants");
  }

private:
  Pass::Statistic &folded;
};

/// conv(x * s, w) -> conv(x, w * s), transposed ones too; matmul(x * s, w) ->
/// matmul(x, w * s), and / s. (Summands before a convolution are not the same where it is padded.)
template <typename OpT>
class FoldScaleBefore final : public OpRewritePattern<OpT> {
public:
  FoldScaleBefore(MLIRContext *context, Pass::Statistic &folded)
      : OpRewritePattern<OpT>(context), folded(folded) {}

  LogicalResult matchAndRewrite(OpT op,
                                PatternRewriter &rewriter) const override {
    Value input = op->getOperand(0), weight = op->getOperand(1);
    Operation *scale = input.getDefiningOp();
    if (!isa_and_nonnull<MulOp, DivOp>(scale) || !scale->hasOneUse() ||
        !isOwnConstant(weight, op))
      return rewriter.notifyMatchFailure(op, "not of factors and constants");
    int64_t rank = cast<RankedTensorType>(input.getType()).getRank();
    int64_t axis = rank - 1;
    if constexpr (!std::is_same_v<OpT, MatmulOp>)
      axis = getChannelAxis(op);
    else if (op.getTransposeA())
      return rewriter.notifyMatchFailure(op, "rows are scaled");
    for (unsigned i = 0; i < (isa<DivOp>(scale) ? 1u : 2u); ++i) {
      Value x = scale->getOperand(i);
      if (x.getType() != input.getType() || isConstant(x))
        continue;
      Value vector = getChannelVector(rewriter, scale->getOperand(1 - i), axis,
                                      rank, getDims(input)[axis]);
      if (!vector)
        continue;
      vector = asFactorOrSummand(rewriter, scale, vector);
      Value scaled = apply(op, vector, rewriter);
      rewriter.modifyOpInPlace(op, [&] {
        op->setOperand(0, x);
        op->setOperand(1, scaled);
        op->setLoc(rewriter.getFusedLoc({scale->getLoc(), op.getLoc()}));
      });
      ++folded;
      return success();
    }
    return rewriter.notifyMatchFailure(op, "no factors of the channels");
  }

private:
  static Value apply(OpT op, Value vector, PatternRewriter &rewriter) {
    Value weight = op->getOperand(1);
    if constexpr (std::is_same_v<OpT, ConvOp>) {
      return scaleSecond(rewriter, op.getLoc(), weight, vector, op.getGroup());
    } else if constexpr (std::is_same_v<OpT, ConvTransposeOp>) {
      // Its filters are [inputs, outputs of a group, window..].
      int64_t rank = cast<RankedTensorType>(weight.getType()).getRank();
      return MulOp::create(rewriter, op.getLoc(), weight,
                           alongAxis(rewriter, vector, /*axis=*/0, rank));
    } else {
      int64_t rank = cast<RankedTensorType>(weight.getType()).getRank();
      return MulOp::create(rewriter, op.getLoc(), weight,
                           alongAxis(rewriter, vector,
                                     rank - (op.getTransposeB() ? 1 : 2),
                                     rank));
    }
  }

  Pass::Statistic &folded;
};

/// conv(x + t, w, b) -> conv(x, w, b + sum(w * t)), where nothing is padded.
class FoldShiftBeforeConv final : public OpRewritePattern<ConvOp> {
public:
  FoldShiftBeforeConv(MLIRContext *context, Pass::Statistic &folded)
      : OpRewritePattern(context), folded(folded) {}

  LogicalResult matchAndRewrite(ConvOp conv,
                                PatternRewriter &rewriter) const override {
    Operation *sum = conv.getInput().getDefiningOp();
    if (!isa_and_nonnull<AddOp, SubOp>(sum) || !sum->hasOneUse() ||
        !isConstant(conv.getFilter()) ||
        (conv.getBias() && !isConstant(conv.getBias())) ||
        sum->getOperand(0).getType() != conv.getInput().getType() ||
        llvm::any_of(conv.getPads(), [](int64_t pad) { return pad != 0; }))
      return rewriter.notifyMatchFailure(conv, "no foldable summands");
    int64_t rank = cast<RankedTensorType>(conv.getInput().getType()).getRank();
    int64_t axis = getChannelAxis(conv);
    Value vector = getChannelVector(rewriter, sum->getOperand(1), axis, rank,
                                    getDims(conv.getInput())[axis]);
    if (!vector)
      return rewriter.notifyMatchFailure(conv, "no summands of the channels");
    vector = asFactorOrSummand(rewriter, sum, vector);
    Location loc = conv.getLoc();
    Value shifted =
        scaleSecond(rewriter, loc, conv.getFilter(), vector, conv.getGroup());
    SmallVector<int64_t> axes = llvm::to_vector(llvm::seq<int64_t>(1, rank));
    Value bias =
        ReduceSumOp::create(rewriter, loc, shifted, axes, /*keepdims=*/false);
    if (conv.getBias())
      bias = AddOp::create(rewriter, loc, conv.getBias(), bias);
    rewriter.modifyOpInPlace(conv, [&] {
      conv.getInputMutable().assign(sum->getOperand(0));
      conv.getBiasMutable().assign(bias);
      conv->setLoc(rewriter.getFusedLoc({sum->getLoc(), loc}));
    });
    ++folded;
    return success();
  }

private:
  Pass::Statistic &folded;
};

/// matmul(x + t, w) -> matmul(x, w) + t w.
class FoldShiftBeforeMatmul final : public OpRewritePattern<MatmulOp> {
public:
  FoldShiftBeforeMatmul(MLIRContext *context, Pass::Statistic &folded)
      : OpRewritePattern(context), folded(folded) {}

  LogicalResult matchAndRewrite(MatmulOp op,
                                PatternRewriter &rewriter) const override {
    auto add = op.getLhs().getDefiningOp<AddOp>();
    Value weight = op.getRhs();
    auto type = cast<RankedTensorType>(weight.getType());
    if (!add || !add->hasOneUse() || !isConstant(weight) ||
        type.getRank() != 2 || op.getTransposeA() ||
        add.getLhs().getType() != add.getType())
      return rewriter.notifyMatchFailure(op, "not of a sum and constants");
    int64_t rank = cast<RankedTensorType>(add.getType()).getRank();
    Value vector = getChannelVector(rewriter, add.getRhs(), rank - 1, rank,
                                    getDims(add.getResult()).back());
    if (!vector)
      return rewriter.notifyMatchFailure(op, "no summands of the columns");
    Location loc = op.getLoc();
    int64_t depth = op.getTransposeB() ? 1 : 0;
    Value shifted = MulOp::create(rewriter, loc, weight,
                                  alongAxis(rewriter, vector, depth, 2));
    Value bias =
        ReduceSumOp::create(rewriter, loc, shifted, ArrayRef<int64_t>{depth},
                            /*keepdims=*/false);
    auto product = cast<MatmulOp>(rewriter.clone(*op));
    product.getLhsMutable().assign(add.getLhs());
    product->setLoc(rewriter.getFusedLoc({add.getLoc(), loc}));
    rewriter.replaceOpWithNewOp<AddOp>(op, product.getResult(), bias);
    ++folded;
    return success();
  }

private:
  Pass::Statistic &folded;
};

} // namespace

void adze::graph::addScaleFolds(RewritePatternSet &patterns,
                                Pass::Statistic &folded) {
  patterns.add<FoldScaleIntoConv<MulOp>, FoldScaleIntoConv<AddOp>,
               FoldScaleIntoConv<DivOp>, FoldScaleIntoConv<SubOp>,
               FoldScaleIntoMatmul<MulOp>, FoldScaleIntoMatmul<DivOp>,
               FoldScaleBefore<ConvOp>, FoldScaleBefore<ConvTransposeOp>,
               FoldScaleBefore<MatmulOp>,
               FoldShiftBeforeMatmul, FoldShiftBeforeConv>(
      patterns.getContext(), folded);
}
