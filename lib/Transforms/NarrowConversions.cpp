// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// narrow-conversions: converts bounded floats to narrow integers through i32.
#include "Dialect/Tile/IR/Targets.h"
#include "Transforms/FloatBounds.h"
#include "Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"
#include <cmath>

using namespace mlir;

namespace adze {
#define GEN_PASS_DEF_NARROWCONVERSIONS
#include "Transforms/Passes.h.inc"

namespace {
struct NarrowConversionsPass final
    : impl::NarrowConversionsBase<NarrowConversionsPass> {
  void runOnOperation() override;
};

/// A value before the rounding, with bounds, and an integer that is added after
/// it.
struct BoundedValue {
  Value x; // null if there is no rounding
  double shift = 0;
};
} // namespace

/// Returns the bounds of a value between `low` and `high` after its rounding
/// and those of its terms, whose magnitudes have the sum `size`.
static FloatBounds widen(double low, double high, double size) {
  constexpr double precision = 1.0 / (1 << 20);
  if (!std::isfinite(size))
    return {};
  return {low - size * precision, high + size * precision};
}

/// Returns the bounds of a rounded sum: as rounding is monotonic, those of the
/// exact sum, rounded to the type. Rounding to f64 before does not change them
/// for types of up to 32 bits.
static FloatBounds addBounds(const FloatBounds &x, const FloatBounds &y,
                             Type type) {
  const llvm::fltSemantics &semantics =
      cast<FloatType>(getElementTypeOrSelf(type)).getFloatSemantics();
  auto add = [&](double a, double b, double otherwise) {
    if (std::isnan(a + b))
      return otherwise;
    APFloat sum(a + b);
    bool isInexact;
    sum.convert(semantics, APFloat::rmNearestTiesToEven, &isInexact);
    sum.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven,
                &isInexact);
    return sum.convertToDouble();
  };
  const FloatBounds none;
  return {add(x.low, y.low, none.low), add(x.high, y.high, none.high)};
}

/// Returns the bounds of a sum of which the first term is not rounded.
static FloatBounds addToProduct(const FloatBounds &x, const FloatBounds &y) {
  return widen(x.low + y.low, x.high + y.high,
               std::max(-x.low, x.high) + std::max(-y.low, y.high));
}

static FloatBounds multiplyBounds(const FloatBounds &x, const FloatBounds &y) {
  auto [low, high] = std::minmax(
      {x.low * y.low, x.low * y.high, x.high * y.low, x.high * y.high});
  return widen(low, high, std::max(-x.low, x.high) * std::max(-y.low, y.high));
}

/// Returns the bounds of a narrow integer.
static FloatBounds getIntegerBounds(Value value, bool isSigned) {
  constexpr unsigned most = 16;
  unsigned width = getElementTypeOrSelf(value).getIntOrFloatBitWidth();
  if (width > most)
    return {};
  double count = 1 << width;
  return isSigned ? FloatBounds{-count / 2, count / 2 - 1}
                  : FloatBounds{0, count - 1};
}

FloatBounds getFloatBounds(Value value, int depth) {
  constexpr int longest = 8; // conversions are a few ops after their bounds
  APFloat constant(0.0);
  if (matchPattern(value, m_ConstantFloat(&constant)) && !constant.isNaN()) {
    bool isInexact;
    constant.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven,
                     &isInexact);
    double number = constant.convertToDouble();
    return {number, number};
  }
  Operation *op = value.getDefiningOp();
  if (!op || depth == longest)
    return {};
  auto operand = [&](unsigned i) {
    return getFloatBounds(op->getOperand(i), depth + 1);
  };
  return llvm::TypeSwitch<Operation *, FloatBounds>(op)
      .Case<arith::MinimumFOp>([&](auto) {
        FloatBounds x = operand(0), y = operand(1);
        return FloatBounds{std::min(x.low, y.low), std::min(x.high, y.high)};
      })
      .Case<arith::MaximumFOp>([&](auto) {
        FloatBounds x = operand(0), y = operand(1);
        return FloatBounds{std::max(x.low, y.low), std::max(x.high, y.high)};
      })
      .Case<math::FloorOp, math::CeilOp, math::TruncOp, math::RoundOp,
            math::RoundEvenOp>([&](auto) {
        FloatBounds x = operand(0);
        return FloatBounds{std::floor(x.low), std::ceil(x.high)};
      })
      .Case<arith::AddFOp>([&](auto sum) {
        return addBounds(operand(0), operand(1), sum.getType());
      })
      .Case<arith::SubFOp>([&](auto difference) {
        FloatBounds y = operand(1);
        return addBounds(operand(0), {-y.high, -y.low}, difference.getType());
      })
      .Case<arith::MulFOp>(
          [&](auto) { return multiplyBounds(operand(0), operand(1)); })
      .Case<math::FmaOp>([&](auto) {
        return addToProduct(multiplyBounds(operand(0), operand(1)), operand(2));
      })
      .Case([&](arith::SIToFPOp convert) {
        return getIntegerBounds(convert.getIn(), /*isSigned=*/true);
      })
      .Case([&](arith::UIToFPOp convert) {
        return getIntegerBounds(convert.getIn(), /*isSigned=*/false);
      })
      .Default([](Operation *) { return FloatBounds(); });
}

/// Returns true if all values of the float other than NaN are in the range of
/// i32. The conversion of NaN is undefined in both forms; the bits that are
/// kept of it are 0 in both on CPUs that return the least integer for NaN.
static bool fitsWord(Value value) {
  FloatBounds bounds = getFloatBounds(value);
  return bounds.low >= double(std::numeric_limits<int32_t>::min()) &&
         bounds.high <= double(std::numeric_limits<int32_t>::max());
}

/// Returns the constant second operand of an op with one use, if it is an
/// integer.
static std::optional<double> getWholeNumber(Operation *op) {
  APFloat number(0.0);
  if (!op || !op->hasOneUse() || op->getNumOperands() != 2 ||
      !matchPattern(op->getOperand(1), m_ConstantFloat(&number)) ||
      !number.isInteger())
    return std::nullopt;
  bool isInexact;
  number.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven,
                 &isInexact);
  return number.convertToDouble();
}

/// Rewrites bounds of a rounded value plus an integer to a rounding of a
/// bounded value, and returns the latter. Both are equal if the bounds are
/// integers, and all integers are small.
static BoundedValue boundBeforeRounding(OpBuilder &b, Value value) {
  constexpr double greatest = 1 << 16; // sums with these are exact below 2^23
  if (auto round = value.getDefiningOp<math::RoundEvenOp>())
    return {round.getOperand()};
  Operation *op = value.getDefiningOp();
  std::optional<double> number = getWholeNumber(op);
  if (!number || !isa<arith::MinimumFOp, arith::MaximumFOp, arith::AddFOp>(op))
    return {};
  BoundedValue inner = boundBeforeRounding(b, op->getOperand(0));
  Type type = value.getType(), element = getElementTypeOrSelf(type);
  bool isSmall =
      std::fabs(*number) <= greatest && element.getIntOrFloatBitWidth() >= 32;
  bool isSum = isa<arith::AddFOp>(op);
  if (!inner.x || (!isSmall && (isSum || inner.shift != 0)))
    return {};
  if (isSum) {
    // Bounds of the summand would be exact, too, but do not occur.
    bool isRounded = op->getOperand(0).getDefiningOp<math::RoundEvenOp>();
    return isRounded ? BoundedValue{inner.x, *number} : BoundedValue();
  }
  Value bound = createSplat(b, op->getLoc(), type,
                            b.getFloatAttr(element, *number - inner.shift));
  inner.x = b.create(op->getLoc(), op->getName().getIdentifier(),
                     {inner.x, bound}, op->getResultTypes(), op->getAttrs())
                ->getResult(0);
  return inner;
}

/// Returns the divisor of a vector of f32 by a constant whose reciprocal is
/// rounded as Markstein's theorem requires: its significand is not all ones.
static std::optional<float> getDivisor(arith::DivFOp division) {
  constexpr float least = 0x1p-60f, greatest = 0x1p60f;
  APFloat number(0.0f);
  if (!division || !isa<VectorType>(division.getType()) ||
      !getElementTypeOrSelf(division.getType()).isF32() ||
      !matchPattern(division.getRhs(), m_ConstantFloat(&number)))
    return std::nullopt;
  constexpr uint32_t significand = (1 << 23) - 1;
  float divisor = number.convertToFloat();
  if (!(divisor >= least && divisor <= greatest) ||
      (llvm::bit_cast<uint32_t>(divisor) & significand) == significand)
    return std::nullopt;
  return divisor;
}

/// Divides by a constant without the division unit: two steps of Newton's
/// method on the product with the reciprocal give the rounded quotient, if the
/// dividend has neither infinities nor great numbers. The quotient is between
/// small bounds afterwards, so that its own magnitude may be bounded first.
static void expandQuotient(Value bounded) {
  constexpr float most = 1 << 17; // bounds are less
  FloatBounds bounds = getFloatBounds(bounded);
  Value value = bounded;
  Operation *bound = nullptr;
  while (isa_and_nonnull<arith::MaximumFOp, arith::MinimumFOp>(
      value.getDefiningOp())) {
    bound = value.getDefiningOp();
    value = bound->getOperand(0);
  }
  auto division = value.getDefiningOp<arith::DivFOp>();
  std::optional<float> divisor = getDivisor(division);
  if (!bound || !divisor || !(bounds.low > -most && bounds.high < most))
    return;
  OpBuilder b(division);
  Location loc = division.getLoc();
  Type type = division.getType();
  auto number = [&](float value) {
    return createSplat(b, loc, type, b.getF32FloatAttr(value));
  };
  Value x = division.getLhs(), reciprocal = number(1 / *divisor),
        negated = number(-*divisor);
  x = arith::MaximumFOp::create(b, loc, x, number(-*divisor * most));
  x = arith::MinimumFOp::create(b, loc, x, number(*divisor * most));
  Value quotient = arith::MulFOp::create(b, loc, x, reciprocal);
  for (int step = 0; step < 2; ++step) {
    Value rest = math::FmaOp::create(b, loc, quotient, negated, x);
    quotient = math::FmaOp::create(b, loc, rest, reciprocal, quotient);
  }
  bound->setOperand(0, quotient);
}

/// Converts a float to an integer. If it is rounded to the nearest, integers
/// are added after the conversion, which includes the rounding of vectors.
/// `fuses`: the target has fused multiply-adds.
static Value convertToWord(OpBuilder &b, Location loc, Value value, Type type,
                           bool fuses) {
  BoundedValue exact = boundBeforeRounding(b, value);
  bool isVector = isa<VectorType>(type);
  if (!exact.x || (!isVector && exact.shift == 0))
    return arith::FPToSIOp::create(b, loc, type, value);
  Value word;
  if (fuses)
    expandQuotient(exact.x);
  if (isVector)
    word = LLVM::LrintOp::create(b, loc, type, exact.x);
  else
    word = arith::FPToSIOp::create(b, loc, type,
                                   math::RoundEvenOp::create(b, loc, exact.x));
  if (exact.shift == 0)
    return word;
  Value shift = createSplat(
      b, loc, type,
      b.getIntegerAttr(getElementTypeOrSelf(type), int64_t(exact.shift)));
  return arith::AddIOp::create(b, loc, word, shift);
}

void NarrowConversionsPass::runOnOperation() {
  constexpr unsigned wordBits = 32;
  // CPUs with AVX2 have fused multiply-adds.
  tile::CpuTargetAttr target = tile::findCpuTarget(getOperation());
  bool fuses = target && target.has(tile::CpuFeature::lane_permute);
  getOperation().walk([&](arith::TruncIOp narrow) {
    auto convert = narrow.getIn().getDefiningOp<arith::FPToSIOp>();
    if (!convert || !convert->hasOneUse() ||
        getElementTypeOrSelf(convert.getType()).getIntOrFloatBitWidth() <=
            wordBits ||
        getElementTypeOrSelf(narrow.getType()).getIntOrFloatBitWidth() >=
            wordBits ||
        !fitsWord(convert.getIn()))
      return;
    OpBuilder b(convert);
    Type type = b.getIntegerType(wordBits);
    if (auto vector = dyn_cast<VectorType>(convert.getType()))
      type = vector.clone(type);
    Value word =
        convertToWord(b, convert.getLoc(), convert.getIn(), type, fuses);
    narrow.getInMutable().assign(word);
    convert.erase();
    ++numNarrowed;
  });
}
} // namespace adze
