// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// narrow-conversions: converts bounded floats to narrow integers through i32.
#include "Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace adze {
#define GEN_PASS_DEF_NARROWCONVERSIONS
#include "Transforms/Passes.h.inc"

namespace {
struct NarrowConversionsPass final
    : impl::NarrowConversionsBase<NarrowConversionsPass> {
  void runOnOperation() override;
};

/// The bounds of a float, unless it is NaN.
struct Bounds {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
};
} // namespace

static Bounds getBounds(Value value, int depth = 0) {
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
    return getBounds(op->getOperand(i), depth + 1);
  };
  return llvm::TypeSwitch<Operation *, Bounds>(op)
      .Case<arith::MinimumFOp>([&](auto) {
        Bounds x = operand(0), y = operand(1);
        return Bounds{std::min(x.low, y.low), std::min(x.high, y.high)};
      })
      .Case<arith::MaximumFOp>([&](auto) {
        Bounds x = operand(0), y = operand(1);
        return Bounds{std::max(x.low, y.low), std::max(x.high, y.high)};
      })
      .Case<math::FloorOp, math::CeilOp, math::TruncOp, math::RoundOp,
            math::RoundEvenOp>([&](auto) {
        Bounds x = operand(0);
        return Bounds{std::floor(x.low), std::ceil(x.high)};
      })
      .Default([](Operation *) { return Bounds(); });
}

/// Returns true if all values of the float other than NaN are in the range of
/// i32. The conversion of NaN is undefined in both forms; the bits that are
/// kept of it are 0 in both on CPUs that return the least integer for NaN.
static bool fitsWord(Value value) {
  Bounds bounds = getBounds(value);
  return bounds.low >= double(std::numeric_limits<int32_t>::min()) &&
         bounds.high <= double(std::numeric_limits<int32_t>::max());
}

/// Rewrites bounds of a rounded value to a rounding of a bounded value, and
/// returns the latter. Both are equal if the bounds are integers. Returns null
/// if there is no rounding.
static Value boundBeforeRounding(OpBuilder &b, Value value) {
  if (auto round = value.getDefiningOp<math::RoundEvenOp>())
    return round.getOperand();
  Operation *op = value.getDefiningOp();
  APFloat bound(0.0);
  if (!isa_and_nonnull<arith::MinimumFOp, arith::MaximumFOp>(op) ||
      !op->hasOneUse() ||
      !matchPattern(op->getOperand(1), m_ConstantFloat(&bound)) ||
      !bound.isInteger())
    return {};
  Value inner = boundBeforeRounding(b, op->getOperand(0));
  if (!inner)
    return {};
  return b
      .create(op->getLoc(), op->getName().getIdentifier(),
              {inner, op->getOperand(1)}, op->getResultTypes(), op->getAttrs())
      ->getResult(0);
}

/// Converts a float to an integer. If it is a vector rounded to the nearest,
/// the conversion includes the rounding.
static Value convertToWord(OpBuilder &b, Location loc, Value value, Type type) {
  if (isa<VectorType>(type))
    if (Value exact = boundBeforeRounding(b, value))
      return LLVM::LrintOp::create(b, loc, type, exact);
  return arith::FPToSIOp::create(b, loc, type, value);
}

void NarrowConversionsPass::runOnOperation() {
  constexpr unsigned wordBits = 32;
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
    Value word = convertToWord(b, convert.getLoc(), convert.getIn(), type);
    narrow.getInMutable().assign(word);
    convert.erase();
    ++numNarrowed;
  });
}
} // namespace adze
