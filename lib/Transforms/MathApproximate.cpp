// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// math-approximate: f32 functions on vectors as polynomials.
#include "Dialect/Graph/IR/Weights.h"
#include "Dialect/Tile/IR/Targets.h"
#include "MathExpansion.h"
#include "Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "llvm/ADT/bit.h"

namespace adze {
#define GEN_PASS_DEF_MATHAPPROXIMATE
#include "Transforms/Passes.h.inc"
} // namespace adze

using namespace mlir;
using namespace adze;

namespace {
/// Computes expm1 as 2 (2^(n-1) p(r) + (2^(n-1) - 1/2)) with x = n ln2 + r; the
/// error is less than 1.5 ulp. Half the power is used, so that it does not
/// overflow before the result does.
Value approximateExpm1(const Arithmetic &a, Value x) {
  Value c = a.clamp(x, -18.0f, 89.0f); // below, the result rounds to -1
  Value magic = a.real(12583038.0f);   // 1.5 * 2^23 + 126
  Value shifted = a.fma(c, a.real(1.44269504f), magic);
  Value n = a.sub(shifted, magic);
  Value half = a.asReal(a.shl(a.asBits(shifted), 23));
  Value r = a.fma(n, a.real(-0.693359375f), c);
  r = a.fma(n, a.real(2.12194440e-4f), r);
  Value p =
      a.polynomial(r, {1.9913740107e-04f, 1.3941139914e-03f, 8.3332741633e-03f,
                       4.1666351259e-02f, 1.6666667163e-01f, 5.0e-01f});
  p = a.fma(a.mul(r, r), p, r);
  Value result = a.fma(p, half, a.sub(half, a.real(0.5f)));
  result = a.add(result, result);
  Value isZero = a.is(arith::CmpFPredicate::OEQ, x, a.real(0.0f));
  return a.select(isZero, x, result); // -0 stays
}

/// Intervals around the multiples of 1/4 below 4, with erf(t) / t as a
/// polynomial of the distance of t from the middle: a column of coefficients
/// for each. The error is 2^-28. The middles are points where the constant term
/// is a float up to thousandths of an ulp (Gal's accurate tables), as its
/// rounding would bias the whole interval.
constexpr float erfMiddles[16] = {
    0.050131496f, 0.25092626f, 0.50047636f, 0.74986106f, 1.0004278f, 1.2509307f,
    1.5007057f,   1.7501897f,  2.0001588f,  2.2488797f,  2.5016143f, 2.7493472f,
    2.9978828f,   3.2507145f,  3.4993384f,  3.751685f};
constexpr float erfByQuarter[6][16] = {
    {1.1274346f, 1.1051375f, 1.0408452f, 0.94826406f, 0.84251785f, 0.73794657f,
     0.6438231f, 0.563757f, 0.49762326f, 0.44401187f, 0.3995806f, 0.36368597f,
     0.33356127f, 0.30762336f, 0.2857681f, 0.26654688f},
    {-0.03765475f, -0.18178669f, -0.32465327f, -0.4070074f, -0.42758253f,
     -0.40128148f, -0.34993163f, -0.2919781f, -0.23846577f, -0.19424492f,
     -0.15886535f, -0.13206683f, -0.11121857f, -0.094623595f, -0.08166191f,
     -0.071047015f},
    {-0.37442788f, -0.33505788f, -0.2296753f, -0.10028952f, 0.012645499f,
     0.08481399f, 0.11449919f, 0.114086926f, 0.09857001f, 0.07919597f,
     0.06134448f, 0.04744736f, 0.036958005f, 0.029079469f, 0.023330944f,
     0.01893646f},
    {0.022570934f, 0.105047226f, 0.16695721f, 0.16935392f, 0.1257844f,
     0.06610728f, 0.016078776f, -0.0136922095f, -0.025181722f, -0.02551762f,
     -0.021206439f, -0.01625107f, -0.012061261f, -0.008885906f, -0.0066557718f,
     -0.005044777f},
    {0.11188791f, 0.08847312f, 0.032239825f, -0.024528934f, -0.05635293f,
     -0.057724196f, -0.04043445f, -0.019731471f, -0.0047179204f, 0.0027729047f,
     0.0050231204f, 0.0047145407f, 0.0036723076f, 0.0026494702f, 0.0018853357f,
     0.0013441212f},
    {-0.011768088f, -0.03565941f, -0.04967634f, -0.037669927f, -0.01239306f,
     0.008661207f, 0.016953524f, 0.014947726f, 0.008839807f, 0.003508125f,
     0.0004423329f, -0.0006834716f, -0.00090703863f, -0.00070301956f,
     -0.00048436693f, -0.00037979498f}};

/// Computes erf for AVX-512, where selecting one of 16 coefficients is as cheap
/// as a constant. The error is less than 1 ulp, and 0.01 ulp on average in an
/// interval. From 3.875 on, erf rounds to 1.
Value chooseErf(const Arithmetic &a, Value x) {
  constexpr float end = 3.875f;
  Value t = a.abs(x), c = a.atMost(t, end);
  // Adding 1.5 * 2^21 rounds to quarters.
  Value index = a.asBits(a.add(c, a.real(3145728.0f)));
  auto pick = [&](ArrayRef<float> numbers) {
    SmallVector<int32_t> bits;
    for (float number : numbers)
      bits.push_back(llvm::bit_cast<int32_t>(number));
    return a.asReal(a.choose(bits, index));
  };
  Value off = a.sub(c, pick(erfMiddles)), q = pick(erfByQuarter[5]);
  for (unsigned power = 5; power-- > 1;)
    q = a.fma(q, off, pick(erfByQuarter[power]));
  Value y = a.fma(c, pick(erfByQuarter[0]), a.mul(a.mul(c, off), q));
  Value one = a.real(1.0f);
  y = a.select(a.is(arith::CmpFPredicate::OGE, t, a.real(end)), one, y);
  return a.withSign(a.atMost(y, 1.0f), x);
}

/// Computes erf by an odd polynomial, and from 0.93 on as 1 - e^-p(t) with p =
/// -log(erfc); the error is less than 1.5 ulp. Beyond 4, erf rounds to 1.
Value approximateErf(const Arithmetic &a, Value x) {
  if (a.hasScale())
    return chooseErf(a, x);
  Value t = a.abs(x), square = a.mul(x, x);
  Value p = a.polynomial(square, {8.1850907009e-05f, -8.0977025209e-04f,
                                  5.1969517954e-03f, -2.6857705787e-02f,
                                  1.1283663660e-01f, -3.7612631917e-01f,
                                  1.2837916613e-01f});
  Value low = a.fma(t, p, t);
  Value four = a.real(4.0f);
  Value c = a.select(a.is(arith::CmpFPredicate::OLT, four, t), four, t);
  Value q = a.polynomial(c, {-2.1217938411e-05f, 4.3588489643e-04f,
                             -4.1779628955e-03f, 2.5137623772e-02f,
                             -1.0830827057e-01f, -6.3332122564e-01f,
                             -1.1295276880e+00f, 1.7733496497e-04f});
  Value high = a.sub(a.real(1.0f), expInRange(a, q, PowerSize::small));
  Value isLow = a.is(arith::CmpFPredicate::OLT, t, a.real(0.93f));
  return a.withSign(a.select(isLow, low, high), x);
}

/// Computes log(1 + f) + e ln2, for 1 + f in [sqrt(1/2), sqrt(2)).
Value logOfParts(const Arithmetic &a, Value f, Value e) {
  Value p =
      a.polynomial(f, {7.0376836292e-2f, -1.1514610310e-1f, 1.1676998740e-1f,
                       -1.2420140846e-1f, 1.4249322787e-1f, -1.6668057665e-1f,
                       2.0000714765e-1f, -2.4999993993e-1f, 3.3333331174e-1f});
  Value square = a.mul(f, f);
  Value low = a.mul(a.mul(p, f), square);
  low = a.fma(e, a.real(-2.12194440e-4f), low);
  low = a.fma(square, a.real(-0.5f), low);
  return a.fma(e, a.real(0.693359375f), a.add(f, low));
}

/// A positive normal number as m 2^e, with m in [sqrt(1/2), sqrt(2)).
struct Parts {
  Parts(const Arithmetic &a, Value x) {
    // The lower end of m is subtracted first, so that rounding down is correct.
    Value end = a.bits(0x3F3504F3);
    Value shifted = a.subI(a.asBits(x), end);
    exponent = a.sar(shifted, 23);
    m = a.asReal(a.addI(a.both(shifted, a.bits(0x007FFFFF)), end));
    e = arith::SIToFPOp::create(a.b, a.loc, a.shape, exponent);
  }
  Value exponent, m, e;
};

/// Sets the results of both logarithms at `zero` (minus infinity), below it
/// (NaN) and for infinity.
Value withEnds(const Arithmetic &a, Value x, float zero, Value result) {
  using P = arith::CmpFPredicate;
  Value infinity = a.real(INFINITY), end = a.real(zero);
  result = a.select(a.is(P::OEQ, x, infinity), infinity, result);
  result = a.select(a.is(P::OEQ, x, end), a.real(-INFINITY), result);
  // ULT is true for NaN.
  return a.select(a.is(P::ULT, x, end), a.real(NAN), result);
}

/// Computes log with an error of less than 1.5 ulp.
Value approximateLog(const Arithmetic &a, Value x) {
  using P = arith::CmpFPredicate;
  Value tiny = a.is(P::OLT, x, a.real(1.17549435e-38f));
  Parts parts(a, a.select(tiny, a.mul(x, a.real(8388608.0f)), x));
  Value e = a.select(tiny, a.sub(parts.e, a.real(23.0f)), parts.e);
  Value f = a.sub(parts.m, a.real(1.0f));
  return withEnds(a, x, 0.0f, logOfParts(a, f, e));
}

/// Computes log1p with the parts of 1 + x rounded, but f = x / 2^e + (1 / 2^e -
/// 1) from x itself; the error is less than 1.5 ulp. If 2^e is huge, the 1 is
/// negligible.
Value approximateLog1p(const Arithmetic &a, Value x) {
  Value one = a.real(1.0f);
  Parts parts(a, a.add(x, one));
  Value scale = a.asReal(a.subI(a.bits(0x3F800000), a.shl(parts.exponent, 23)));
  Value isHuge = arith::CmpIOp::create(a.b, a.loc, arith::CmpIPredicate::sgt,
                                       parts.exponent, a.bits(32));
  Value f =
      a.select(isHuge, a.sub(parts.m, one), a.fma(x, scale, a.sub(scale, one)));
  Value result = withEnds(a, x, -1.0f, logOfParts(a, f, parts.e));
  Value isZero = a.is(arith::CmpFPredicate::OEQ, x, a.real(0.0f));
  return a.select(isZero, x, result); // -0 stays
}

template <typename OpT, Value (*approximate)(const Arithmetic &, Value)>
struct Approximate final : OpRewritePattern<OpT> {
  Approximate(MLIRContext *context, int64_t vectorBytes)
      : OpRewritePattern<OpT>(context), vectorBytes(vectorBytes) {}
  LogicalResult matchAndRewrite(OpT op, PatternRewriter &b) const override {
    if (!isF32(op.getType()))
      return b.notifyMatchFailure(op, "expected f32");
    b.replaceOp(op,
                approximate(arithmeticOf(b, op, vectorBytes), op.getOperand()));
    return success();
  }
  int64_t vectorBytes;
};

bool hasFlags(arith::FastMathFlags flags, arith::FastMathFlags wanted) {
  return arith::bitEnumContainsAll(flags, wanted);
}

Value approximate(math::ExpOp op, const Arithmetic &a) {
  return approximateExp(
      a, op.getOperand(), hasFlags(op.getFastmath(), graph::tinyIsZero),
      hasFlags(op.getFastmath(), graph::isWeight) ? PowerSize::small
                                                  : PowerSize::any);
}

Value approximate(math::Exp2Op op, const Arithmetic &a) {
  return approximateExp2(a, op.getOperand(),
                         hasFlags(op.getFastmath(), graph::tinyIsZero));
}

Value approximate(math::ErfOp op, const Arithmetic &a) {
  return approximateErf(a, op.getOperand());
}

Value approximate(math::TanhOp op, const Arithmetic &a) {
  return approximateTanh(a, op.getOperand());
}

/// Replaces functions by approximations that depend on attributes of the op.
template <typename OpT>
struct ApproximateOp final : OpRewritePattern<OpT> {
  ApproximateOp(MLIRContext *context, int64_t vectorBytes)
      : OpRewritePattern<OpT>(context), vectorBytes(vectorBytes) {}
  LogicalResult matchAndRewrite(OpT op, PatternRewriter &b) const override {
    if (!isF32(op.getType()))
      return b.notifyMatchFailure(op, "expected f32");
    b.replaceOp(op, approximate(op, arithmeticOf(b, op, vectorBytes)));
    return success();
  }
  int64_t vectorBytes;
};

/// Expands the same function on several adjacent vectors together.
template <typename OpT>
void expandVectors(Operation *root, int64_t vectorBytes, size_t together) {
  forNeighbours<OpT>(root, together, [&](ArrayRef<OpT> ops) {
    if (ops.size() == 1)
      return; // scalars are left to the pattern
    auto results = emitTogether(ops, [&](OpBuilder &b, OpT op) {
      return approximate(op, arithmeticOf(b, op, vectorBytes));
    });
    for (auto [op, result] : llvm::zip_equal(ops, results))
      replace(op, result);
  });
}

struct ApproximatePow final : OpRewritePattern<math::PowFOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(math::PowFOp op,
                                PatternRewriter &b) const override {
    if (!isF32(op.getType()))
      return b.notifyMatchFailure(op, "expected f32");
    b.replaceOp(op,
                approximatePow(arithmeticOf(b, op), op.getLhs(), op.getRhs()));
    return success();
  }
};

/// Functions on f64 call the C library for each lane, as the upstream
/// expansions log(1 + x) and e^x - 1 lose small arguments.
template <typename OpT>
struct CallDouble final : OpRewritePattern<OpT> {
  CallDouble(MLIRContext *context, func::FuncOp callee)
      : OpRewritePattern<OpT>(context), callee(callee) {}
  LogicalResult matchAndRewrite(OpT op, PatternRewriter &b) const override {
    if (!getElementTypeOrSelf(op.getType()).isF64())
      return b.notifyMatchFailure(op, "expected f64");
    b.replaceOp(op, callPerLane(b, op.getLoc(), callee, op.getOperand()));
    return success();
  }
  func::FuncOp callee;
};

bool uses(ModuleOp module, StringRef opName, Type element) {
  return module
      .walk([&](Operation *op) {
        return op->getName().getStringRef() == opName &&
                       getElementTypeOrSelf(op->getResult(0).getType()) ==
                           element
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

struct MathApproximate final
    : adze::impl::MathApproximateBase<MathApproximate> {
  using MathApproximateBase::MathApproximateBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    MLIRContext *context = &getContext();
    tile::CpuTargetAttr target = tile::findCpuTarget(module);
    int64_t vectorBytes = target ? target.getVectorBytes() : 0;
    // Functions on 16-bit floats are computed in f32.
    RewritePatternSet widen(&getContext());
    populateMathF32ExpansionPatterns(widen, [](StringRef) { return true; });
    (void)applyPatternsGreedily(module, std::move(widen));
    expandVectors<math::ErfOp>(module, vectorBytes,
                               /*together=*/vectorBytes == 64 ? 4 : 8);
    expandVectors<math::TanhOp>(module, vectorBytes, /*together=*/8);
    expandVectors<math::ExpOp>(module, vectorBytes, /*together=*/4);
    expandVectors<math::Exp2Op>(module, vectorBytes, /*together=*/4);
    expandTurns(module);
    expandDivisions(module, vectorBytes);
    RewritePatternSet patterns(&getContext());
    populateMathApproximatePatterns(patterns, vectorBytes);
    addCalling<CallDouble<math::Log1pOp>>(patterns, "math.log1p", "log1p",
                                          Float64Type::get(context));
    addCalling<CallDouble<math::ExpM1Op>>(patterns, "math.expm1", "expm1",
                                          Float64Type::get(context));
    (void)applyPatternsGreedily(module, std::move(patterns));
  }

private:
  /// Adds a pattern that calls the function of the C library, if an op needs
  /// it.
  template <typename PatternT>
  void addCalling(RewritePatternSet &patterns, StringRef op, StringRef function,
                  Type element) {
    if (uses(getOperation(), op, element))
      patterns.add<PatternT>(
          &getContext(), declareFunction(getOperation(), function, element));
  }
};
} // namespace

void adze::populateMathApproximatePatterns(RewritePatternSet &patterns,
                                           int64_t vectorBytes) {
  patterns.add<ApproximateOp<math::ExpOp>, ApproximateOp<math::Exp2Op>,
               ApproximateOp<math::TanhOp>, ApproximateOp<math::ErfOp>,
               Approximate<math::ExpM1Op, approximateExpm1>,
               Approximate<math::LogOp, approximateLog>,
               Approximate<math::Log1pOp, approximateLog1p>,
               Approximate<math::AtanOp, approximateAtan>,
               Approximate<math::AsinOp, approximateAsin>,
               Approximate<math::AcosOp, approximateAcos>,
               Approximate<math::SinhOp, approximateSinh>,
               Approximate<math::CoshOp, approximateCosh>,
               Approximate<math::AsinhOp, approximateAsinh>,
               Approximate<math::AcoshOp, approximateAcosh>,
               Approximate<math::AtanhOp, approximateAtanh>>(
      patterns.getContext(), vectorBytes);
  patterns.add<ApproximatePow>(patterns.getContext());
}
