// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// sin, cos and tan on f32.
#include "MathExpansion.h"
#include "Transforms/Passes.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace adze;

namespace {
/// Computes sin(r + k pi) for |r| <= pi / 2; only the low bit of k matters.
Value sinOfRest(const Arithmetic &a, Value r, Value k) {
  Value square = a.mul(r, r);
  Value p = a.polynomial(
      square, {2.6083159809786593541503e-06f, -0.0001981069071916863322258f,
               0.00833307858556509017944336f, -0.166666597127914428710938f});
  // An odd number of half turns changes the sign, here that of the reduced
  // argument.
  r = a.asReal(a.either(a.asBits(r), a.shl(k, 31)));
  // The addition of 0 turns -0 into 0, and the -0 of r is kept.
  return a.fma(a.fma(p, square, a.real(0.0f)), r, r);
}

/// The bits of a sum with 1.5 * 2^23 + 2^16 whose integer has 16 bits and a
/// sign, except the low 17 bits.
constexpr uint32_t nearTurns = 0x4B400000, turnBits = 0x0001FFFF;

struct NearSin {
  Value result, turns;
};

/// Computes sin for at most 2^16 half turns: n = round(x / pi) of them are
/// subtracted in three parts, of which the first difference is exact, and the
/// others round the remainder. cos is sin shifted by a quarter turn: n is then
/// half an odd number.
template <bool isCos>
NearSin emitNearSin(const Arithmetic &a, Value x) {
  Value base = a.real(12648448.0f), turns = a.real(0.318309886f);
  Value shifted = isCos ? a.add(a.fma(x, turns, a.real(-0.5f)), base)
                        : a.fma(x, turns, base);
  Value n = a.sub(shifted, base), bits = a.asBits(shifted), k = bits;
  if (isCos) { // cos(x) = -sin(x - pi/2), hence one more
    n = a.add(n, a.real(0.5f));
    k = a.addI(k, a.bits(1));
  }
  Value r = a.fma(n, a.real(-3.141592502593994f), x);
  r = a.fma(n, a.real(-1.5099578831723193e-07f), r);
  r = a.fma(n, a.real(-1.078060505991553e-14f), r);
  return {sinOfRest(a, r, k), bits};
}

/// Computes sin for |x| <= 2^30: n = round(x / pi) half turns are subtracted in
/// f64, where cancellation is below the precision of f32.
template <bool isCos>
Value emitFarSin(const Arithmetic &a, Value x) {
  Arithmetic d = a.inDouble();
  Value w = a.widen(x);
  // Adding 1.5 * 2^52 leaves the integer in the low bits, and is defined for
  // NaN.
  Value magic = d.real(6755399441055744.0);
  Value turns = d.real(0.31830988618379067154);
  Value shifted = isCos ? d.add(d.fma(w, turns, d.real(-0.5)), magic)
                        : d.fma(w, turns, magic);
  Value n = d.sub(shifted, magic);
  Value k = arith::TruncIOp::create(a.b, a.loc, a.integer(), d.asBits(shifted));
  if (isCos) {
    n = d.add(n, d.real(0.5));
    k = a.addI(k, a.bits(1));
  }
  Value left = d.fma(n, d.real(-3.14159265358979311600), w);
  left = d.fma(n, d.real(-1.22464679914735320717e-16), left);
  return sinOfRest(a, a.narrow(left), k);
}

/// Returns true if the mask is true for any lane.
Value isAny(const Arithmetic &a, Value mask) {
  auto type = dyn_cast<VectorType>(mask.getType());
  if (!type)
    return mask;
  auto flat = VectorType::get(type.getNumElements(), a.b.getI1Type());
  if (flat != type)
    mask = vector::ShapeCastOp::create(a.b, a.loc, flat, mask);
  mask =
      vector::ReductionOp::create(a.b, a.loc, vector::CombiningKind::OR, mask);
  Value no = arith::ConstantOp::create(a.b, a.loc, a.b.getBoolAttr(false));
  return LLVM::ExpectOp::create(a.b, a.loc, mask, no);
}

scf::IfOp emitIf(const Arithmetic &a, Value condition,
                 llvm::function_ref<SmallVector<Value>()> then,
                 llvm::function_ref<SmallVector<Value>()> otherwise,
                 size_t results) {
  SmallVector<Type> types(results, a.shape);
  auto branch = scf::IfOp::create(a.b, a.loc, types, condition, true);
  OpBuilder::InsertionGuard guard(a.b);
  a.b.setInsertionPointToStart(branch.thenBlock());
  scf::YieldOp::create(a.b, a.loc, then());
  a.b.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(a.b, a.loc, otherwise());
  return branch;
}

/// Returns `word` << s, filled with bits of `next`, for s in [0, 63].
Value shiftIn(const Arithmetic &d, Value word, Value next, Value s) {
  Value rest = arith::SubIOp::create(d.b, d.loc, d.bits(63), s);
  Value low = arith::ShRUIOp::create(d.b, d.loc, next, rest);
  low = arith::ShRUIOp::create(d.b, d.loc, low, d.bits(1));
  word = arith::ShLIOp::create(d.b, d.loc, word, s);
  return arith::OrIOp::create(d.b, d.loc, word, low);
}

/// Computes |x| / pi modulo 2 for |x| > 2^30, as an unsigned multiple of 2^-63,
/// with an error of a few units (Payne and Hanek, 1983): for |x| = m 2^e, only
/// the bits of 1/pi from 2^-e on matter.
Value emitHugeTurns(const Arithmetic &a, Value x) {
  Arithmetic d = a.inDouble();
  auto shr = [&](Value word, uint64_t n) -> Value {
    return arith::ShRUIOp::create(a.b, a.loc, word, d.bits(n));
  };
  auto mul = [&](Value l, Value r) -> Value {
    return arith::MulIOp::create(a.b, a.loc, l, r);
  };
  Value bits = arith::ExtUIOp::create(a.b, a.loc, d.integer(), a.asBits(x));
  Value exponent = shr(bits, 23);
  exponent = d.both(exponent, d.bits(255));
  Value m = d.either(d.both(bits, d.bits((1 << 23) - 1)), d.bits(1 << 23));
  Value e = d.subI(exponent, d.bits(127 + 23));
  Value s = d.both(e, d.bits(63));
  Value isHigh = arith::CmpIOp::create(a.b, a.loc, arith::CmpIPredicate::sgt, e,
                                       d.bits(63));
  constexpr uint64_t inversePi[] = {0x28be60db9391054a, 0x7f09d5f47d4d3770,
                                    0x36d8a5664f10e410, 0x7f9458eaf7aef158};
  Value words[3];
  for (int i = 0; i < 3; ++i)
    words[i] = d.select(isHigh, d.bits(inversePi[i + 1]), d.bits(inversePi[i]));
  Value high = shiftIn(d, words[0], words[1], s);
  Value low = shiftIn(d, words[1], words[2], s);
  return d.addI(mul(m, high), shr(mul(m, shr(low, 32)), 32));
}

/// The difference of |x| > 2^30 and the nearest multiple of pi, in f64.
struct HugeRest {
  Value rest, turns; // only the low bit of `turns` matters
};

HugeRest reduceHuge(const Arithmetic &a, Value turns) {
  Arithmetic d = a.inDouble();
  Value k = arith::ShRUIOp::create(
      a.b, a.loc, d.addI(turns, d.bits(uint64_t(1) << 62)), d.bits(63));
  Value rest = d.subI(turns, d.shl(k, 63));
  rest = arith::SIToFPOp::create(a.b, a.loc, d.shape, rest);
  return {d.mul(rest, d.real(0x1.921fb54442d18p-62)), k}; // pi 2^-63
}

/// Computes sin or cos for |x| > 2^30; NaN for infinities and NaN.
template <bool isCos>
Value emitHugeSin(const Arithmetic &a, Value x) {
  Value turns = emitHugeTurns(a, x);
  if (isCos) { // sin, shifted by a quarter turn
    Arithmetic d = a.inDouble();
    turns = d.addI(turns, d.bits(uint64_t(1) << 62));
  }
  HugeRest huge = reduceHuge(a, turns);
  Value r = a.narrow(huge.rest);
  if (!isCos) // sin(-x) = -sin(x): the remainder has the sign of x
    r = a.withSign(r, x);
  Value k = arith::TruncIOp::create(a.b, a.loc, a.integer(), huge.turns);
  return a.add(sinOfRest(a, r, k), a.sub(x, x));
}

Value emitHugeTan(const Arithmetic &a, Value x) {
  HugeRest huge = reduceHuge(a, emitHugeTurns(a, x));
  Value result = a.withSign(approximateTanOfDouble(a, huge.rest), x);
  return a.add(result, a.sub(x, x));
}

using Emit = Value (*)(const Arithmetic &, Value);

/// Emits `within` for |x| <= 2^30 and `beyond` for larger arguments.
Value emitFar(const Arithmetic &a, Value x, Emit within, Emit beyond) {
  Value large =
      a.is(arith::CmpFPredicate::OGT, a.abs(x), a.real(1073741824.0f));
  return emitIf(
             a, isAny(a, large),
             [&] {
               return SmallVector<Value>{
                   a.select(large, beyond(a, x), within(a, x))};
             },
             [&] { return SmallVector<Value>{within(a, x)}; }, 1)
      .getResult(0);
}

/// Tests adjacent ops together: whether any argument is too large for the short
/// form, which is computed in any case.
template <typename OpT, bool isCos>
void expandSin(Operation *root) {
  forNeighbours<OpT>(root, /*together=*/4, [&](ArrayRef<OpT> ops) {
    auto nears = emitTogether(ops, [&](OpBuilder &b, OpT op) {
      return emitNearSin<isCos>(arithmeticOf(b, op), op.getOperand());
    });
    OpT last = ops.back();
    OpBuilder b(last->getContext());
    b.setInsertionPointAfterValue(nears.back().result);
    Arithmetic a = arithmeticOf(b, last);
    Value off;
    for (const NearSin &near : nears) {
      Value bits = a.either(near.turns, a.bits(nearTurns));
      off = off ? arith::OrIOp::create(b, a.loc, off, bits).getResult() : bits;
    }
    Value isFar = arith::CmpIOp::create(b, a.loc, arith::CmpIPredicate::ugt,
                                        off, a.bits(turnBits));
    auto branch = emitIf(
        a, isAny(a, isFar),
        [&] {
          return llvm::map_to_vector(ops, [&](OpT op) {
            return emitFar(a, op.getOperand(), emitFarSin<isCos>,
                           emitHugeSin<isCos>);
          });
        },
        [&] {
          return llvm::map_to_vector(
              nears, [](const NearSin &near) { return near.result; });
        },
        ops.size());
    for (auto [op, result] : llvm::zip_equal(ops, branch.getResults()))
      replace(op, result);
  });
}

void expandTan(Operation *root) {
  forNeighbours<math::TanOp>(root, 1, [&](ArrayRef<math::TanOp> ops) {
    math::TanOp op = ops.front();
    OpBuilder b(op);
    replace(op, emitFar(arithmeticOf(b, op), op.getOperand(), approximateTan,
                        emitHugeTan));
  });
}
} // namespace

func::FuncOp adze::declareFunction(ModuleOp module, StringRef name, Type type) {
  if (auto found = module.lookupSymbol<func::FuncOp>(name))
    return found;
  OpBuilder b = OpBuilder::atBlockBegin(module.getBody());
  auto function = func::FuncOp::create(b, module.getLoc(), name,
                                       b.getFunctionType({type}, {type}));
  function.setPrivate();
  return function;
}

Value adze::callPerLane(OpBuilder &b, Location loc, func::FuncOp callee,
                        Value x) {
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

void adze::expandTurns(Operation *root) {
  expandSin<math::SinOp, false>(root);
  expandSin<math::CosOp, true>(root);
  expandTan(root);
}
