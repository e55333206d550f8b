// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Floats that are bounded become narrow integers without a detour over i64.
#include "Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
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

/// What a float, if it is a number, lies between.
struct Bounds {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
};
} // namespace

static Bounds getBounds(Value value, int depth = 0) {
  constexpr int longest = 8; // conversions are a few ops behind their bounds
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

/// Whether all numbers that it may be are numbers of an i32. What is none has
/// no conversion either way; the bits that are taken of it are 0 both ways on
/// CPUs that give the least integer for it.
static bool fitsWord(Value value) {
  Bounds bounds = getBounds(value);
  return bounds.low >= double(std::numeric_limits<int32_t>::min()) &&
         bounds.high <= double(std::numeric_limits<int32_t>::max());
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
    Value word =
        arith::FPToSIOp::create(b, convert.getLoc(), type, convert.getIn());
    narrow.getInMutable().assign(word);
    convert.erase();
    ++numNarrowed;
  });
}
} // namespace adze
