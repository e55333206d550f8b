// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Scatters that add floats, for GPUs. The updates run at the same time, so that
// the order of floating-point additions would differ from run to run. Integers
// are added instead: updates as multiples of a fraction of the largest one of
// their element (after J. Demmel and H. D. Nguyen, "Fast reproducible
// floating-point summation", 2013). The sum is exact, or has more bits than one
// of f32.
#include "Dialect/Graph/IR/Checks.h"
#include "Dialect/Graph/IR/Shape.h"
#include "Matching.h"
#include "Parallelize.h"

using namespace mlir;
using namespace adze::graph;

namespace {

/// The exponent of f32: that of infinities, and that of the least normal
/// number.
constexpr int32_t exponentMask = 0x7f800000, leastNormal = 0x00800000;

/// Creates the ops that replace one scatter.
template <typename ScatterT>
class ScatterSum {
public:
  explicit ScatterSum(ScatterT op)
      : op(op), b(op), loc(op.getLoc()), i32(b.getI32Type()),
        i64(b.getI64Type()), f32(b.getF32Type()), f64(b.getF64Type()) {}

  Value create();

private:
  template <typename OpT>
  Value make(Value x, Value y) {
    return OpT::create(b, loc, x, y);
  }
  Value select(Value condition, Value x, Value y) {
    return SelectOp::create(b, loc, condition, x, y);
  }
  Value scalar(TypedAttr value) {
    auto type = RankedTensorType::get({}, value.getType());
    return ConstantOp::create(b, loc, DenseElementsAttr::get(type, value));
  }
  Value number(Type type, double value) {
    return scalar(isa<FloatType>(type)
                      ? TypedAttr(b.getFloatAttr(type, value))
                      : b.getIntegerAttr(type, int64_t(value)));
  }
  Value bitcast(Value x, Type to) {
    return BitcastOp::create(b, loc, withElement(x, to), x);
  }
  Type withElement(Value x, Type element) {
    return cast<RankedTensorType>(x.getType()).clone(element);
  }
  Value scatter(double initial, Value updates, ScatterReduction reduction,
                bool isChecked);
  Value gather(Value from);
  Value getUnit(Value largest);
  Value toMultiples(Value updates, Value largest);
  Value toSum(Value multiples, Value largest);
  double getFraction();

  ScatterT op;
  OpBuilder b;
  Location loc;
  Type i32, i64, f32, f64;
};

} // namespace

/// Creates a scatter of integers at the same places into a tensor of which all
/// elements are `initial`. One of them has the checks of the indices.
template <typename ScatterT>
Value ScatterSum<ScatterT>::scatter(double initial, Value updates,
                                    ScatterReduction reduction,
                                    bool isChecked) {
  Type type = withElement(op.getData(), getElement(updates));
  Value data =
      BroadcastToOp::create(b, loc, type, number(getElement(updates), initial));
  ScatterT made = cast<ScatterT>(b.clone(*op));
  made->setOperands({data, op.getIndices(), updates});
  made.setReduction(reduction);
  made.getResult().setType(cast<RankedTensorType>(type));
  if (!isChecked)
    made->removeAttr(messageAttr);
  return made.getResult();
}

/// Gathers the elements to which the updates are added.
template <typename ScatterT>
Value ScatterSum<ScatterT>::gather(Value from) {
  if constexpr (std::is_same_v<ScatterT, ScatterNDOp>) {
    return GatherNDOp::create(b, loc, from, op.getIndices(), /*batch_dims=*/0);
  } else {
    Value indices = op.getIndices();
    Dims wide = getDims(op.getUpdates());
    if (!areEqual(getDims(indices), wide))
      indices = BroadcastToOp::create(
          b, loc, makeType(getElement(indices), wide), indices);
    return GatherElementsOp::create(b, loc, from, indices, op.getAxis());
  }
}

/// Returns the greatest power of two that is at most the number with these
/// bits, or infinity for infinity and NaN.
template <typename ScatterT>
Value ScatterSum<ScatterT>::getUnit(Value largest) {
  Value exponent = make<BitwiseAndOp>(largest, number(i32, exponentMask));
  return createCast(b, loc, bitcast(exponent, f32), f64);
}

/// Returns the number of multiples that a unit has: updates are less than two
/// units, and the sum of all of them has at most 63 bits.
template <typename ScatterT>
double ScatterSum<ScatterT>::getFraction() {
  constexpr int64_t most = int64_t(1) << 31;
  auto count = getConstant(product(op.getContext(), getDims(op.getUpdates())));
  return std::exp2(
      61 - llvm::Log2_64_Ceil(std::max<int64_t>(count.value_or(most), 1)));
}

/// Returns the updates as integers. If the largest one is infinite, these are
/// the numbers of positive and, in the upper half, of negative infinities.
template <typename ScatterT>
Value ScatterSum<ScatterT>::toMultiples(Value updates, Value largest) {
  Value isFinite = make<LessOp>(largest, number(i32, exponentMask));
  Value scale = make<DivOp>(number(f64, getFraction()), getUnit(largest));
  // The gathered operand comes first: its kernel computes what follows.
  Value wide = createCast(b, loc, updates, f64);
  Value multiples = createCast(b, loc, make<MulOp>(scale, wide), i64);
  auto isInfinite = [&](double sign) {
    return make<EqualOp>(updates, number(f32, sign * INFINITY));
  };
  Value counted = select(
      isInfinite(1), number(i64, 1),
      select(isInfinite(-1), number(i64, std::exp2(32)), number(i64, 0)));
  return select(isFinite, multiples, counted);
}

/// Returns the sums, in f64, that the integers represent.
template <typename ScatterT>
Value ScatterSum<ScatterT>::toSum(Value multiples, Value largest) {
  Value isFinite = make<LessOp>(largest, number(i32, exponentMask));
  Value isNan = make<GreaterOp>(largest, number(i32, exponentMask));
  Value scale = make<MulOp>(getUnit(largest), number(f64, 1 / getFraction()));
  Value sum = make<MulOp>(createCast(b, loc, multiples, f64), scale);
  Value halves = number(i64, std::exp2(32));
  Value hasNegative = make<GreaterEqualOp>(multiples, halves);
  Value positive =
      make<BitwiseAndOp>(multiples, number(i64, std::exp2(32) - 1));
  Value hasPositive = make<GreaterOp>(positive, number(i64, 0));
  Value undefined = make<OrOp>(isNan, make<AndOp>(hasPositive, hasNegative));
  Value infinite =
      select(hasPositive, number(f64, INFINITY), number(f64, -INFINITY));
  return select(isFinite, sum, select(undefined, number(f64, NAN), infinite));
}

template <typename ScatterT>
Value ScatterSum<ScatterT>::create() {
  Value updates = createCast(b, loc, op.getUpdates(), f32);
  // The bits of numbers without a sign have the order of the numbers, and those
  // of NaN are greater.
  Value magnitude =
      make<BitwiseAndOp>(bitcast(updates, i32), number(i32, INT32_MAX));
  Value largest = scatter(leastNormal, magnitude, ScatterReduction::Max,
                          /*isChecked=*/true);
  Value multiples =
      scatter(0, toMultiples(updates, gather(largest)), ScatterReduction::Add,
              /*isChecked=*/false);
  Value data = createCast(b, loc, op.getData(), f64);
  Value sum = make<AddOp>(data, toSum(multiples, largest));
  return createCast(b, loc, createCast(b, loc, sum, f32),
                    getElement(op.getData()));
}

template <typename ScatterT>
static bool replace(ScatterT op) {
  auto type = dyn_cast<FloatType>(getElement(op.getData()));
  if (op.getReduction() != ScatterReduction::Add || !type ||
      type.getWidth() > 32)
    return false;
  op.getResult().replaceAllUsesWith(ScatterSum<ScatterT>(op).create());
  op->erase();
  return true;
}

template <typename ScatterT>
static unsigned replaceAll(func::FuncOp function) {
  SmallVector<ScatterT> scatters;
  function.walk([&](ScatterT op) { scatters.push_back(op); });
  return llvm::count_if(scatters, replace<ScatterT>);
}

unsigned adze::graph::addScatteredIntegers(func::FuncOp function) {
  return replaceAll<ScatterElementsOp>(function) +
         replaceAll<ScatterNDOp>(function);
}
