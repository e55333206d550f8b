// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// graph-fold-requantization: computes 8-bit integers from other integers by one
// linear combination, one rounding and one pair of bounds.
#include "AttentionViews.h"
#include "Dialect/Graph/IR/Graph.h"
#include "Dialect/Graph/IR/Shape.h"
#include "Dialect/Graph/Transforms/Passes.h"
#include "LinearFolds.h"
#include "Quantized.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Transforms/RegionUtils.h"
#include <cmath>

namespace adze::graph {
#define GEN_PASS_DEF_FOLDREQUANTIZATIONPASS
#include "Dialect/Graph/Transforms/Passes.h.inc"
} // namespace adze::graph

using namespace mlir;
using namespace adze::graph;

namespace {

Value createF64(OpBuilder &b, Location loc, double number) {
  auto scalar = RankedTensorType::get({}, b.getF64Type());
  return ConstantOp::create(
      b, loc, DenseElementsAttr::get(scalar, b.getF64FloatAttr(number)));
}

/// The sum of `value * factor` (null: 1) over the terms, plus a constant.
/// Factors and the constant are computed in f64, so that each is rounded once.
class LinearCombination {
public:
  LinearCombination(OpBuilder &b, Location loc) : b(b), loc(loc) {}

  /// Adds `value * factor`. Returns false if the value is not computed from
  /// integers by sums and constant factors.
  bool add(Value value, Value factor, unsigned depth = 0) {
    constexpr unsigned most = 8;
    Operation *op = value.getDefiningOp();
    if (!op || depth > most)
      return false;
    if (isConstant(value)) {
      Value constant = multiply(convert(value, b.getF64Type()), factor);
      offset = offset ? AddOp::create(b, loc, offset, constant).getResult()
                      : constant;
      return true;
    }
    // Casts and convolutions of integers are the leaves.
    if (isa<CastOp, ConvOp>(op)) {
      bool isTerm = getElement(value).isF32() &&
                    isa<IntegerType>(getElement(op->getOperand(0)));
      if (isTerm)
        terms.push_back({value, factor});
      return isTerm;
    }
    // Values with other uses are computed in any case, unless they are only
    // conversions.
    if (depth > 0 && !value.hasOneUse() && !isConversion(op))
      return false;
    if (auto mul = dyn_cast<MulOp>(op)) {
      for (unsigned i : {1, 0})
        if (isConstant(mul->getOperand(i)))
          return add(
              mul->getOperand(1 - i),
              multiply(convert(mul->getOperand(i), b.getF64Type()), factor),
              depth + 1);
      return false;
    }
    if (auto sum = dyn_cast<AddOp>(op))
      return add(sum.getLhs(), factor, depth + 1) &&
             add(sum.getRhs(), factor, depth + 1);
    if (auto difference = dyn_cast<SubOp>(op)) {
      Value negated = factor ? factor : createF64(b, loc, 1);
      negated = NegOp::create(b, loc, negated);
      return add(difference.getLhs(), factor, depth + 1) &&
             add(difference.getRhs(), negated, depth + 1);
    }
    return false;
  }

  bool hasTerms() const { return !terms.empty(); }

  /// Emits the sum; there is at least one term.
  Value emit() {
    Value sum;
    for (auto [value, factor] : terms) {
      Value scaled =
          multiply(value, factor ? convert(factor, b.getF32Type()) : Value());
      sum = sum ? AddOp::create(b, loc, sum, scaled).getResult() : scaled;
    }
    if (offset)
      sum = AddOp::create(b, loc, sum, convert(offset, b.getF32Type()));
    return sum;
  }

private:
  /// Returns true for a part of (cast(x) - z) * s.
  static bool isConversion(Operation *op) {
    Operation *input = op->getOperand(0).getDefiningOp();
    return isa<MulOp, SubOp>(op) && isConstant(op->getOperand(1)) && input &&
           (isa<CastOp>(input) || (isa<SubOp>(input) && isConversion(input)));
  }

  Value convert(Value value, Type type) {
    return CastOp::create(b, loc, makeType(type, getDims(value)), value);
  }

  Value multiply(Value value, Value factor) {
    return factor ? MulOp::create(b, loc, value, factor).getResult() : value;
  }

  OpBuilder &b;
  Location loc;
  SmallVector<std::pair<Value, Value>> terms;
  Value offset;
};

/// cast(bounds(round(x * scale or x / scale) + zero)) to 8 bits.
struct Quantization {
  Bounded bounds;
  int64_t zero = 0;
  Value scaled; // before the rounding
};

std::optional<Quantization> matchQuantization(CastOp cast) {
  if (!getElement(cast).isInteger(8) || !getElement(cast.getInput()).isF32())
    return std::nullopt;
  Quantization result;
  result.bounds = matchBounds(cast.getInput());
  Value x = result.bounds.x;
  if (!std::isfinite(result.bounds.low) || !std::isfinite(result.bounds.high) ||
      !x.hasOneUse())
    return std::nullopt;
  if (auto add = x.getDefiningOp<AddOp>()) {
    std::optional<int64_t> zero = getZeroPoint(add.getRhs());
    if (!zero || !add.getLhs().hasOneUse())
      return std::nullopt;
    result.zero = *zero;
    x = add.getLhs();
  }
  auto round = x.getDefiningOp<RoundOp>();
  if (!round)
    return std::nullopt;
  result.scaled = round.getInput();
  return result;
}

/// Returns the bytes if `x`, between bounds, is their dequantized form, and is
/// quantized by the same scale and zero point: the result is these bytes.
Value findSameBytes(const Quantization &q, const Bounded &x, double scale,
                    Type result) {
  std::optional<Dequantized> source = matchDequantized(x.x);
  if (!source || source->bytes.getType() != result || source->zero != q.zero)
    return {};
  std::optional<double> step = getSplatNumber(source->scale);
  if (!step || float(*step * scale) != 1.0f)
    return {};
  double least = source->isSigned() ? -128 : 0,
         low = (least - double(q.zero)) * *step, high = low + 255 * *step;
  bool isWhole = q.bounds.low <= least && q.bounds.high >= least + 255 &&
                 x.low <= low && x.high >= high;
  return isWhole ? source->bytes : Value();
}

/// Folds round(x / s) + z between bounds, for x = bounds(sum of q * t): the
/// factors are divided by s, and the inner bounds are merged into the outer
/// ones, as rounding is monotonic.
LogicalResult fold(CastOp cast, RewriterBase &b) {
  std::optional<Quantization> q = matchQuantization(cast);
  if (!q)
    return failure();
  Location loc = cast.getLoc();
  b.setInsertionPoint(cast);
  Value x = q->scaled, factor;
  double scale = 1, number;
  if (auto div = x.getDefiningOp<DivOp>()) {
    std::optional<double> divisor = getSplatNumber(div.getRhs());
    if (!divisor || !(*divisor > 0))
      return failure();
    scale = 1 / *divisor;
    x = div.getLhs();
  } else if (Value other = matchWithSplat<MulOp>(x, number)) {
    if (!(number > 0))
      return failure();
    scale = number;
    x = other;
  }
  if (Value same = findSameBytes(*q, matchBounds(x), scale, cast.getType())) {
    b.replaceOp(cast, same);
    return success();
  }
  if (!q->scaled.hasOneUse())
    return failure();
  LinearCombination sum(b, loc);
  if (scale != 1)
    factor = createF64(b, loc, scale);
  Bounded inner = matchBounds(x);
  if (!inner.x.hasOneUse())
    inner = {x};
  auto move = [&](double bound) {
    return std::nearbyint(bound * scale) + double(q->zero);
  };
  double low = std::max(q->bounds.low, move(inner.low)),
         high = std::min(q->bounds.high, move(inner.high));
  if (!(low <= high) || !sum.add(inner.x, factor) || !sum.hasTerms())
    return failure();
  // The zero point is often greater than the values, and less exact then: it is
  // added after the rounding.
  Value value = RoundOp::create(b, loc, sum.emit());
  if (q->zero != 0)
    value = AddOp::create(b, loc, value, createF32(b, loc, double(q->zero)));
  value = MaximumOp::create(b, loc, value, createF32(b, loc, low));
  value = MinimumOp::create(b, loc, value, createF32(b, loc, high));
  b.replaceOpWithNewOp<CastOp>(cast, cast.getType(), value);
  return success();
}

/// Converts the operand of a product of two activations before its bytes are
/// moved: the epilogue that quantizes them then stores the integers of f16, and
/// the product loads them where they are. Does nothing if the bytes have other
/// uses, are not quantized in this function, or are not moved.
void convertBeforeMoves(OpOperand &operand, IRRewriter &b) {
  auto difference = operand.get().getDefiningOp<SubOp>();
  Value integers = difference ? difference.getLhs() : operand.get();
  auto cast = integers.getDefiningOp<CastOp>();
  if (!cast || !getElement(integers).isF16() ||
      (difference && !getSplatNumber(difference.getRhs())))
    return;
  SmallVector<Operation *> moves;
  Value bytes = cast.getInput();
  while (
      isa_and_nonnull<ReshapeOp, SliceOp, TransposeOp>(bytes.getDefiningOp()) &&
      bytes.hasOneUse()) {
    moves.push_back(bytes.getDefiningOp());
    bytes = moves.back()->getOperand(0);
  }
  if (moves.empty() || !bytes.hasOneUse() || !bytes.getDefiningOp<CastOp>() ||
      !getElement(bytes).isInteger(8))
    return;
  Location loc = cast.getLoc();
  b.setInsertionPointAfterValue(bytes);
  Value moved = CastOp::create(b, loc, bytes, b.getF16Type());
  if (difference)
    moved = SubOp::create(
        b, loc, moved,
        createNumber(b, loc, b.getF16Type(),
                     int64_t(*getSplatNumber(difference.getRhs()))));
  b.setInsertionPoint(cast);
  for (Operation *move : llvm::reverse(moves)) {
    Operation *made = b.clone(*move);
    made->setOperand(0, moved);
    moved = made->getResult(0);
    moved.setType(withElement(moved, b.getF16Type()));
  }
  operand.set(moved);
}

class FoldRequantizationPass final
    : public adze::graph::impl::FoldRequantizationPassBase<
          FoldRequantizationPass> {
public:
  using FoldRequantizationPassBase::FoldRequantizationPassBase;

  void runOnOperation() override {
    IRRewriter b(&getContext());
    getOperation().walk([&](CastOp cast) {
      if (succeeded(fold(cast, b)))
        ++folded;
    });
    // Conversions that were folded are no uses.
    (void)runRegionDCE(b, getOperation()->getRegions());
    // Units that multiply operands where they are have no tensor map for a
    // result with a dynamic number of columns, and store it slowly.
    getOperation().walk([&](MatmulOp op) {
      auto type = cast<RankedTensorType>(op.getType());
      if (op.getWideResult() && type.hasStaticShape())
        for (OpOperand &operand : op->getOpOperands())
          convertBeforeMoves(operand, b);
    });
  }
};

} // namespace
