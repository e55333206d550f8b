// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Matches conversions from and to 8-bit integers.
#include "Quantized.h"
#include "Dialect/Tile/IR/Targets.h"
#include "LinearFolds.h"

using namespace mlir;
using namespace adze::graph;

Value adze::graph::createF32(OpBuilder &b, Location loc, double number) {
  auto scalar = RankedTensorType::get({}, b.getF32Type());
  return ConstantOp::create(
      b, loc, DenseElementsAttr::get(scalar, b.getF32FloatAttr(number)));
}

Value adze::graph::createNumber(OpBuilder &b, Location loc, Type type,
                                int64_t number) {
  auto scalar = RankedTensorType::get({}, type);
  Attribute value =
      isa<FloatType>(type)
          ? Attribute(b.getFloatAttr(type, double(number)))
          : IntegerAttr::get(type, APInt(type.getIntOrFloatBitWidth(), number,
                                         /*isSigned=*/false,
                                         /*implicitTrunc=*/true));
  return ConstantOp::create(b, loc, DenseElementsAttr::get(scalar, value));
}

std::optional<int64_t> adze::graph::getZeroPoint(Value value) {
  std::optional<double> number = getSplatNumber(value);
  if (!number || !(std::fabs(*number) <= 255) ||
      *number != std::nearbyint(*number))
    return std::nullopt;
  return static_cast<int64_t>(*number);
}

std::optional<Dequantized> adze::graph::matchDequantized(Value value) {
  auto mul = value.getDefiningOp<MulOp>();
  if (!mul || !getElement(value).isF32())
    return std::nullopt;
  for (unsigned i : {0, 1}) {
    Dequantized result{mul->getOperand(i), 0, mul->getOperand(1 - i)};
    // An input that has become unsigned has two.
    while (auto sub = result.bytes.getDefiningOp<SubOp>()) {
      std::optional<int64_t> zero = getZeroPoint(sub.getRhs());
      if (!zero)
        break;
      result.zero += *zero;
      result.bytes = sub.getLhs();
    }
    auto cast = result.bytes.getDefiningOp<CastOp>();
    if (!cast || !getElement(cast.getInput()).isInteger(8) ||
        getDims(cast) != getDims(value) || !isConstant(result.scale))
      continue;
    result.bytes = cast.getInput();
    int64_t least = result.isSigned() ? -128 : 0;
    if (result.zero < least || result.zero > least + 255)
      continue;
    return result;
  }
  return std::nullopt;
}

bool adze::graph::haveUnit(Operation *op) {
  Builder b(op->getContext());
  Type lhs = b.getIntegerType(8, /*isSigned=*/false),
       rhs = b.getIntegerType(8, /*isSigned=*/true),
       sum = b.getIntegerType(32, /*isSigned=*/true);
  ArrayRef<Attribute> targets = adze::tile::getTargets(op);
  return !targets.empty() && llvm::all_of(targets, [&](Attribute target) {
    auto cpu = dyn_cast<adze::tile::CpuTargetAttr>(target);
    auto gpu = dyn_cast<adze::tile::CudaTargetAttr>(target);
    return (cpu && cpu.multipliesBytes()) ||
           (gpu && gpu.findUnit(lhs, rhs, sum));
  });
}

bool adze::graph::areCpusWithUnit(Operation *op) {
  return haveUnit(op) && !adze::tile::findCudaTarget(op);
}

Bounded adze::graph::matchBounds(Value value) {
  Bounded result{value};
  while (result.x == value || result.x.hasOneUse()) {
    double number;
    if (Value x = matchWithSplat<MaximumOp>(result.x, number)) {
      // Outer bounds have priority.
      if (number > result.high)
        return {value};
      result.low = std::max(result.low, number);
      result.x = x;
    } else if (Value x = matchWithSplat<MinimumOp>(result.x, number)) {
      if (number < result.low)
        return {value};
      result.high = std::min(result.high, number);
      result.x = x;
    } else if (auto relu = result.x.getDefiningOp<ReluOp>()) {
      if (result.high < 0)
        return {value};
      result.low = std::max(result.low, 0.0);
      result.x = relu.getInput();
    } else {
      break;
    }
  }
  return result;
}

bool adze::graph::isByte(Value value, IntegerType type) {
  Bounded bounded = matchBounds(value);
  if (auto add = bounded.x.getDefiningOp<AddOp>())
    if (getZeroPoint(add.getRhs()))
      bounded.x = add.getLhs();
  double least = type.isUnsigned() ? 0 : -128, greatest = least + 255;
  return type.getWidth() == 8 && bounded.x.getDefiningOp<RoundOp>() &&
         bounded.low >= least && bounded.high <= greatest &&
         bounded.low == std::nearbyint(bounded.low) &&
         bounded.high == std::nearbyint(bounded.high);
}
