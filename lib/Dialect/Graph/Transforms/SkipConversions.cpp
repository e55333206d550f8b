// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Removes conversions to 8-bit integers and back from clusters.
#include "Quantized.h"

using namespace mlir;
using namespace adze::graph;

/// Returns the op that adds a constant to a sum that `term` is a part of, if
/// no part of the sum has other uses, and the constant.
static std::pair<AddOp, double> findSummand(Value term) {
  double number;
  while (term.hasOneUse()) {
    auto sum = dyn_cast<AddOp>(*term.user_begin());
    if (!sum)
      break;
    if (matchWithSplat<AddOp>(sum, number) == term)
      return {sum, number};
    term = sum;
  }
  return {};
}

/// Erases the op of a value without uses, and those that only compute its
/// operands.
static void eraseDead(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op || !isOpTriviallyDead(op))
    return;
  SmallVector<Value> operands(op->getOperands());
  op->erase();
  for (Value operand : operands)
    if (operand.use_empty())
      eraseDead(operand);
}

/// Rewrites bounds(round(x) + z) * c, and a constant summand of it, to
/// bounds(round(x)) * c with another summand. A new summand that is below the
/// precision of f32, relative to the old one, is a rounding error of the
/// constants, and is omitted.
static void moveZeroPoint(Value byte) {
  double factor;
  auto mul = byte.hasOneUse() ? dyn_cast<MulOp>(*byte.user_begin()) : MulOp();
  if (!mul || matchWithSplat<MulOp>(mul, factor) != byte)
    return;
  Bounded bounds = matchBounds(byte);
  auto moved = bounds.x.getDefiningOp<AddOp>();
  std::optional<int64_t> zero;
  if (moved && moved->hasOneUse())
    zero = getZeroPoint(moved.getRhs());
  auto [sum, summand] = findSummand(mul);
  if (!zero || !sum || !moved.getLhs().getDefiningOp<RoundOp>())
    return;
  OpBuilder b(mul);
  Location loc = mul.getLoc();
  Value x = moved.getLhs();
  x = MaximumOp::create(b, loc, x,
                        createF32(b, loc, bounds.low - double(*zero)));
  x = MinimumOp::create(b, loc, x,
                        createF32(b, loc, bounds.high - double(*zero)));
  byte.replaceAllUsesWith(x);
  eraseDead(byte);
  constexpr double precision = 1.0 / (1 << 22);
  double rest = summand + double(*zero) * factor;
  unsigned place = getSplatNumber(sum.getRhs()) ? 1 : 0;
  Value constant = sum->getOperand(place);
  if (std::fabs(rest) <= precision * std::fabs(summand)) {
    sum.replaceAllUsesWith(sum->getOperand(1 - place));
    sum.erase();
  } else {
    b.setInsertionPoint(sum);
    sum->setOperand(place, createF32(b, loc, rest));
  }
  eraseDead(constant);
}

/// In a kernel, integers of 8 bits and f32 are equivalent.
static void skipConversion(CastOp op) {
  auto narrow = op.getInput().getDefiningOp<CastOp>();
  if (!narrow || !isa<ClusterOp>(op->getParentOp()) ||
      narrow.getInput().getType() != op.getType() || !getElement(op).isF32())
    return;
  auto type = dyn_cast<IntegerType>(getElement(narrow));
  if (!type || !isByte(narrow.getInput(), type))
    return;
  Value byte = narrow.getInput();
  op.replaceAllUsesWith(byte);
  op.erase();
  if (!narrow->use_empty())
    return;
  narrow.erase();
  moveZeroPoint(byte);
}

void adze::graph::skipConversions(func::FuncOp function) {
  SmallVector<CastOp> casts;
  function.walk([&](CastOp op) {
    if (getElement(op).isF32())
      casts.push_back(op);
  });
  for (CastOp op : casts)
    skipConversion(op);
}
