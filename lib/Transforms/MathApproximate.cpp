// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// math-approximate: f32 functions on vectors as polynomials.
#include "Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace adze {
#define GEN_PASS_DEF_MATHAPPROXIMATE
#include "Transforms/Passes.h.inc"
} // namespace adze

using namespace mlir;

namespace {
/// Builds arithmetic on values of one shape (scalars or vectors).
struct Arithmetic {
  OpBuilder &b;
  Location loc;
  Type shape; // f32 or vector of f32

  Type withElement(Type element) const {
    if (auto vector = dyn_cast<VectorType>(shape))
      return VectorType::get(vector.getShape(), element);
    return element;
  }
  Type integer() const { return withElement(b.getI32Type()); }
  Value constant(TypedAttr element, Type type) const {
    if (auto vector = dyn_cast<VectorType>(type))
      element = SplatElementsAttr::get(vector, cast<Attribute>(element));
    return arith::ConstantOp::create(b, loc, element);
  }
  Value real(float x) const { return constant(b.getF32FloatAttr(x), shape); }
  Value bits(uint32_t x) const {
    return constant(b.getI32IntegerAttr((int32_t)x), integer());
  }
  Value add(Value x, Value y) const {
    return arith::AddFOp::create(b, loc, x, y);
  }
  Value sub(Value x, Value y) const {
    return arith::SubFOp::create(b, loc, x, y);
  }
  Value mul(Value x, Value y) const {
    return arith::MulFOp::create(b, loc, x, y);
  }
  Value fma(Value x, Value y, Value z) const {
    return math::FmaOp::create(b, loc, x, y, z);
  }
  Value asBits(Value x) const {
    return arith::BitcastOp::create(b, loc, integer(), x);
  }
  Value asReal(Value x) const {
    return arith::BitcastOp::create(b, loc, shape, x);
  }
  Value addI(Value x, Value y) const {
    return arith::AddIOp::create(b, loc, x, y);
  }
  Value subI(Value x, Value y) const {
    return arith::SubIOp::create(b, loc, x, y);
  }
  Value shl(Value x, int64_t n) const {
    return arith::ShLIOp::create(b, loc, x, bits(n));
  }
  Value sar(Value x, int64_t n) const {
    return arith::ShRSIOp::create(b, loc, x, bits(n));
  }
  Value both(Value x, Value y) const {
    return arith::AndIOp::create(b, loc, x, y);
  }
  Value either(Value x, Value y) const {
    return arith::XOrIOp::create(b, loc, x, y);
  }
  Value is(arith::CmpFPredicate p, Value x, Value y) const {
    return arith::CmpFOp::create(b, loc, p, x, y);
  }
  Value select(Value c, Value x, Value y) const {
    return arith::SelectOp::create(b, loc, c, x, y);
  }
  /// max(low, min(high, x)); NaN passes. The operand order is the one that
  /// is a single instruction on x86.
  Value clamp(Value x, float low, float high) const {
    Value top = real(high), bottom = real(low);
    x = select(is(arith::CmpFPredicate::OLT, top, x), top, x);
    return select(is(arith::CmpFPredicate::OGT, bottom, x), bottom, x);
  }
  /// Horner's rule, the coefficient of the highest power first.
  Value polynomial(Value x, ArrayRef<float> coefficients) const {
    Value sum = real(coefficients.front());
    for (float coefficient : coefficients.drop_front())
      sum = fma(sum, x, real(coefficient));
    return sum;
  }
};

/// exp: (2^n)^2 p(r) with x = 2 n ln2 + r; less than 2 ulp. Two equal factors,
/// so that results below 2^-126 need no care; p has a relative error of 2^-26.
Value approximateExp(const Arithmetic &a, Value x) {
  // Below, the result rounds to 0; above, to infinity.
  x = a.clamp(x, -104.0f, 89.0f);
  // Adding 1.5 * 2^23 + 127 leaves the exponent of 2^n in the low bits; unlike
  // a conversion this is defined for NaN.
  Value magic = a.real(12583039.0f);
  Value shifted = a.fma(x, a.real(0.72134752044f), magic);
  Value n = a.sub(shifted, magic);
  Value power = a.asReal(a.shl(a.asBits(shifted), 23));
  Value r = a.fma(n, a.real(-1.38671875f), x);
  r = a.fma(n, a.real(4.2438888e-4f), r);
  Value p = a.polynomial(r, {1.9611230527516454e-4f, 1.410477445460856e-3f,
                             8.336111903190613e-3f, 4.1661255061626434e-2f,
                             1.6666613519191742e-1f, 5.000003576278687e-1f,
                             1.0f, 1.0f});
  return a.mul(a.mul(p, power), power);
}

/// log: e ln2 + p(m - 1) with x = m 2^e, m in [sqrt(1/2), sqrt(2)).
Value approximateLog(const Arithmetic &a, Value x) {
  using P = arith::CmpFPredicate;
  Value tiny = a.is(P::OLT, x, a.real(1.17549435e-38f));
  Value scaled = a.select(tiny, a.mul(x, a.real(8388608.0f)), x);
  // The exponent of m's lower end is taken off, so that rounding down works.
  Value shifted = a.subI(a.asBits(scaled), a.bits(0x3F3504F3));
  Value exponent = a.sar(shifted, 23);
  Value m =
      a.asReal(a.addI(a.both(shifted, a.bits(0x007FFFFF)), a.bits(0x3F3504F3)));
  Value e = arith::SIToFPOp::create(a.b, a.loc, a.shape, exponent);
  e = a.select(tiny, a.sub(e, a.real(23.0f)), e);
  Value f = a.sub(m, a.real(1.0f));
  Value p =
      a.polynomial(f, {7.0376836292e-2f, -1.1514610310e-1f, 1.1676998740e-1f,
                       -1.2420140846e-1f, 1.4249322787e-1f, -1.6668057665e-1f,
                       2.0000714765e-1f, -2.4999993993e-1f, 3.3333331174e-1f});
  Value square = a.mul(f, f);
  Value low = a.mul(a.mul(p, f), square);
  low = a.fma(e, a.real(-2.12194440e-4f), low);
  low = a.fma(square, a.real(-0.5f), low);
  Value result = a.fma(e, a.real(0.693359375f), a.add(f, low));
  Value infinity = a.real(INFINITY);
  result = a.select(a.is(P::OEQ, x, infinity), infinity, result);
  result = a.select(a.is(P::OEQ, x, a.real(0.0f)), a.real(-INFINITY), result);
  // ult is true of NaN: below zero, and NaN itself, give NaN.
  return a.select(a.is(P::ULT, x, a.real(0.0f)), a.real(NAN), result);
}

/// sin for |x| <= 2^30: n = round(x / pi) half turns are taken off in f64,
/// where nothing cancels that an f32 could see. cos is sin a quarter turn on: n
/// is then half an odd number.
Value approximateSin(const Arithmetic &a, Value x, bool isCos) {
  Arithmetic d = {a.b, a.loc, a.withElement(a.b.getF64Type())};
  auto wide = [&](double value) {
    return d.constant(a.b.getF64FloatAttr(value), d.shape);
  };
  Value w = arith::ExtFOp::create(a.b, a.loc, d.shape, x);
  // 1.5 * 2^52 leaves the integer in the low bits; defined for NaN too.
  Value magic = wide(6755399441055744.0);
  Value turns = wide(0.31830988618379067154);
  Value shifted = isCos ? d.add(d.fma(w, turns, wide(-0.5)), magic)
                        : d.fma(w, turns, magic);
  Value n = d.sub(shifted, magic);
  if (isCos)
    n = d.add(n, wide(0.5));
  Value bits64 = arith::BitcastOp::create(
      a.b, a.loc, a.withElement(a.b.getI64Type()), shifted);
  Value k = arith::TruncIOp::create(a.b, a.loc, a.integer(), bits64);
  Value left = d.fma(n, wide(-3.14159265358979311600), w);
  left = d.fma(n, wide(-1.22464679914735320717e-16), left);
  Value r = arith::TruncFOp::create(a.b, a.loc, a.shape, left);
  Value square = a.mul(r, r);
  Value p = a.polynomial(
      square, {2.6083159809786593541503e-06f, -0.0001981069071916863322258f,
               0.00833307858556509017944336f, -0.166666597127914428710938f});
  Value result = a.fma(a.mul(p, square), r, r);
  // Odd half turns change the sign; cos(x) = -sin(x - pi/2), hence one more.
  if (isCos)
    k = a.addI(k, a.bits(1));
  return a.asReal(a.either(a.asBits(result), a.shl(k, 31)));
}

Arithmetic arithmeticOf(OpBuilder &b, Operation *op) {
  return {b, op->getLoc(), op->getResult(0).getType()};
}

bool isF32(Type type) { return getElementTypeOrSelf(type).isF32(); }

template <typename OpT, Value (*approximate)(const Arithmetic &, Value)>
struct Approximate final : OpRewritePattern<OpT> {
  using OpRewritePattern<OpT>::OpRewritePattern;
  LogicalResult matchAndRewrite(OpT op, PatternRewriter &b) const override {
    if (!isF32(op.getType()))
      return b.notifyMatchFailure(op, "expected f32");
    b.replaceOp(op, approximate(arithmeticOf(b, op), op.getOperand()));
    return success();
  }
};

/// Lane by lane through the C library's scalar function.
Value callPerLane(OpBuilder &b, Location loc, func::FuncOp callee, Value x) {
  auto call = [&](Value scalar) {
    return func::CallOp::create(b, loc, callee, scalar).getResult(0);
  };
  auto type = dyn_cast<VectorType>(x.getType());
  if (!type)
    return call(x);
  SmallVector<Value> lanes;
  Value flat = x;
  auto flatType = VectorType::get(type.getNumElements(), type.getElementType());
  if (flatType != type)
    flat = vector::ShapeCastOp::create(b, loc, flatType, x);
  for (int64_t i = 0, e = type.getNumElements(); i < e; ++i)
    lanes.push_back(call(vector::ExtractOp::create(b, loc, flat, i)));
  Value result = vector::FromElementsOp::create(b, loc, flatType, lanes);
  return flatType == type
             ? result
             : vector::ShapeCastOp::create(b, loc, type, result).getResult();
}

/// sin and cos: the polynomial, unless an argument is too large for it.
template <typename OpT, bool isCos>
struct ApproximateSin final : OpRewritePattern<OpT> {
  ApproximateSin(MLIRContext *context, func::FuncOp callee)
      : OpRewritePattern<OpT>(context), callee(callee) {}
  LogicalResult matchAndRewrite(OpT op, PatternRewriter &b) const override {
    if (!isF32(op.getType()))
      return b.notifyMatchFailure(op, "expected f32");
    Location loc = op.getLoc();
    Arithmetic a = arithmeticOf(b, op);
    Value x = op.getOperand();
    Value size = math::AbsFOp::create(b, loc, x);
    Value large = a.is(arith::CmpFPredicate::OGT, size, a.real(1073741824.0f));
    if (auto type = dyn_cast<VectorType>(large.getType())) {
      auto flat = VectorType::get(type.getNumElements(), b.getI1Type());
      if (flat != type)
        large = vector::ShapeCastOp::create(b, loc, flat, large);
      large =
          vector::ReductionOp::create(b, loc, vector::CombiningKind::OR, large);
    }
    auto branch = scf::IfOp::create(b, loc, op.getType(), large, true);
    b.setInsertionPointToStart(branch.thenBlock());
    scf::YieldOp::create(b, loc, callPerLane(b, loc, callee, x));
    b.setInsertionPointToStart(branch.elseBlock());
    scf::YieldOp::create(b, loc, approximateSin(a, x, isCos));
    b.replaceOp(op, branch.getResults());
    return success();
  }
  func::FuncOp callee;
};

func::FuncOp declare(ModuleOp module, StringRef name) {
  if (auto found = module.lookupSymbol<func::FuncOp>(name))
    return found;
  OpBuilder b = OpBuilder::atBlockBegin(module.getBody());
  Type f32 = b.getF32Type();
  auto function = func::FuncOp::create(b, module.getLoc(), name,
                                       b.getFunctionType({f32}, {f32}));
  function.setPrivate();
  return function;
}

bool uses(ModuleOp module, StringRef opName) {
  return module
      .walk([&](Operation *op) {
        return op->getName().getStringRef() == opName &&
                       isF32(op->getResult(0).getType())
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
    // 16-bit floats compute in f32.
    RewritePatternSet widen(&getContext());
    populateMathF32ExpansionPatterns(widen, [](StringRef) { return true; });
    (void)applyPatternsGreedily(module, std::move(widen));
    RewritePatternSet patterns(&getContext());
    patterns.add<Approximate<math::ExpOp, approximateExp>,
                 Approximate<math::LogOp, approximateLog>>(&getContext());
    if (uses(module, "math.sin"))
      patterns.add<ApproximateSin<math::SinOp, false>>(&getContext(),
                                                       declare(module, "sinf"));
    if (uses(module, "math.cos"))
      patterns.add<ApproximateSin<math::CosOp, true>>(&getContext(),
                                                      declare(module, "cosf"));
    // What upstream has that is accurate enough; the rest goes to libm.
    populateMathPolynomialApproximationPatterns(patterns, [](StringRef name) {
      return name == "math.tanh" || name == "math.erf" ||
             name == "math.expm1" || name == "math.log1p";
    });
    (void)applyPatternsGreedily(module, std::move(patterns));
  }
};
} // namespace
