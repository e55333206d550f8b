// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// sin, cos and tan: what repeats every turn.
#include "MathExpansion.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace adze;

namespace {
/// sin(r + k pi) for |r| <= pi / 2; of k the low bit counts.
Value sinOfRest(const Arithmetic &a, Value r, Value k) {
  Value square = a.mul(r, r);
  Value p = a.polynomial(
      square, {2.6083159809786593541503e-06f, -0.0001981069071916863322258f,
               0.00833307858556509017944336f, -0.166666597127914428710938f});
  // Odd half turns change the sign, here of what is left of the argument.
  r = a.asReal(a.either(a.asBits(r), a.shl(k, 31)));
  // The sum with 0 makes 0 of -0, and -0 of r stays.
  return a.fma(a.fma(p, square, a.real(0.0f)), r, r);
}

/// What a sum with 1.5 * 2^23 + 2^16 is in bits where its integer has 16 bits
/// and a sign, but for the low 17.
constexpr uint32_t nearTurns = 0x4B400000, turnBits = 0x0001FFFF;

struct NearSin {
  Value result, turns;
};

/// sin for 2^16 half turns at most: n = round(x / pi) of them are taken off in
/// three parts; the first difference is exact, the others round what is left of
/// it. cos is sin a quarter turn on: n is then half an odd number.
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

/// sin for |x| <= 2^30: n = round(x / pi) half turns are taken off in f64,
/// where nothing cancels that an f32 could see.
template <bool isCos>
Value emitFarSin(const Arithmetic &a, Value x) {
  Arithmetic d = a.inDouble();
  Value w = a.widen(x);
  // 1.5 * 2^52 leaves the integer in the low bits; defined for NaN too.
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

/// Is it true of any lane?
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

/// What `within` gives up to 2^30, else the C library's number.
Value emitFar(const Arithmetic &a, Value x, func::FuncOp callee,
              Value (*within)(const Arithmetic &, Value)) {
  Value large =
      a.is(arith::CmpFPredicate::OGT, a.abs(x), a.real(1073741824.0f));
  return emitIf(
             a, isAny(a, large),
             [&] {
               return SmallVector<Value>{callPerLane(a.b, a.loc, callee, x)};
             },
             [&] { return SmallVector<Value>{within(a, x)}; }, 1)
      .getResult(0);
}

/// One question for all neighbours: is any argument too large for what has been
/// computed already?
template <typename OpT, bool isCos>
void expandSin(ModuleOp module, StringRef function) {
  forNeighbours<OpT>(module, /*together=*/4, [&](ArrayRef<OpT> ops) {
    auto callee = declareFunction(module, function,
                                  Float32Type::get(module.getContext()));
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
            return emitFar(a, op.getOperand(), callee, emitFarSin<isCos>);
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

void expandTan(ModuleOp module) {
  forNeighbours<math::TanOp>(module, 1, [&](ArrayRef<math::TanOp> ops) {
    math::TanOp op = ops.front();
    OpBuilder b(op);
    auto callee = declareFunction(module, "tanf", b.getF32Type());
    replace(op, emitFar(arithmeticOf(b, op), op.getOperand(), callee,
                        approximateTan));
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

void adze::expandTurns(ModuleOp module) {
  expandSin<math::SinOp, false>(module, "sinf");
  expandSin<math::CosOp, true>(module, "cosf");
  expandTan(module);
}
