// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
#include "Products.h"
#include "Transforms/FloatBounds.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace adze;
using namespace adze::tile;

Type adze::tile::getSignless(Type type) {
  return isa<IntegerType>(type)
             ? IntegerType::get(type.getContext(), type.getIntOrFloatBitWidth())
             : type;
}

/// Returns the type `like` with another element type.
static Type withElement(Type like, Type element) {
  auto vector = dyn_cast<VectorType>(like);
  return vector ? VectorType::get(vector.getShape(), element) : element;
}

/// Emits the instruction of the target for all lanes, or returns null if it has
/// none.
static Value createUnitProducts(OpBuilder &b, Location loc,
                                CpuTargetAttr target, ProductAttr product,
                                Value x, Value y, Value sum) {
  auto type = dyn_cast<VectorType>(sum.getType());
  Type acc = product.getAcc();
  TargetUnitAttr unit =
      target.findUnit(product.getLhs(), product.getRhs(), acc);
  if (!unit) {
    unit = target.findUnit(product.getRhs(), product.getLhs(), acc);
    std::swap(x, y);
  }
  if (!type || !unit || unit.getIntrinsic().empty())
    return {};
  constexpr int64_t leastBits = 128;
  int64_t lanes = type.getNumElements(),
          bits = lanes * acc.getIntOrFloatBitWidth();
  if (bits < leastBits || bits > 8 * target.getVectorBytes())
    return {};
  auto split = [&](Value words, Type element) {
    auto narrow =
        VectorType::get(lanes * unit.getGroup(), getSignless(element));
    return vector::BitCastOp::create(b, loc, narrow, words);
  };
  auto name = b.getStringAttr(unit.getIntrinsic() + "." + std::to_string(bits));
  return LLVM::CallIntrinsicOp::create(
             b, loc, type, name,
             ValueRange{sum, split(x, unit.getLhs()), split(y, unit.getRhs())})
      .getResult(0);
}

/// Returns words of 16-bit integers that are the even or the odd bytes of
/// `words`, which have bytes of type `element`.
static Value extendHalf(OpBuilder &b, Location loc, Value words, bool isOdd,
                        Type element) {
  auto type = cast<VectorType>(words.getType());
  auto pairs = VectorType::get(2 * type.getNumElements(), b.getI16Type());
  constexpr int64_t byteBits = 8, evenBytes = 0xFF;
  Value halves = vector::BitCastOp::create(b, loc, pairs, words),
        shift = createSplat(b, loc, pairs, b.getI16IntegerAttr(byteBits));
  if (element.isUnsignedInteger())
    return isOdd
               ? arith::ShRUIOp::create(b, loc, halves, shift).getResult()
               : arith::AndIOp::create(
                     b, loc, halves,
                     createSplat(b, loc, pairs, b.getI16IntegerAttr(evenBytes)))
                     .getResult();
  if (!isOdd)
    halves = arith::ShLIOp::create(b, loc, halves, shift);
  return arith::ShRSIOp::create(b, loc, halves, shift);
}

/// Returns the greatest byte of words that a mask bounds, or of any.
static uint64_t getGreatestByte(Value words) {
  constexpr uint64_t any = 0xFF;
  constexpr unsigned byteBits = 8;
  auto masked = words.getDefiningOp<arith::AndIOp>();
  if (!masked)
    return any;
  Value mask = masked.getRhs();
  if (auto broadcast = mask.getDefiningOp<vector::BroadcastOp>())
    mask = broadcast.getSource();
  APInt bits;
  if (!matchPattern(mask, m_ConstantInt(&bits)))
    return any;
  uint64_t greatest = 0;
  for (unsigned at = 0; at < bits.getBitWidth(); at += byteBits)
    greatest = std::max(greatest, bits.extractBitsAsZExtValue(byteBits, at));
  return greatest;
}

/// Returns the sums of the products of pairs by the instruction of a unit.
static Value multiplyPairs(OpBuilder &b, Location loc, TargetUnitAttr unit,
                           Value x, Value y) {
  int64_t lanes = unit.getShape()[1];
  auto factors =
      VectorType::get(unit.getGroup() * lanes, getSignless(unit.getLhs()));
  auto split = [&](Value words) {
    return vector::BitCastOp::create(b, loc, factors, words);
  };
  return LLVM::CallIntrinsicOp::create(
             b, loc, VectorType::get(lanes, getSignless(unit.getAcc())),
             b.getStringAttr(unit.getIntrinsic()),
             ValueRange{split(x), split(y)})
      .getResult(0);
}

/// Multiplies unsigned by signed bytes by the unit that sums the products of
/// pairs in 16 bits, or returns null if the target has none or if the sums may
/// saturate.
static Value multiplyBoundedBytes(OpBuilder &b, Location loc,
                                  CpuTargetAttr target, ProductAttr product,
                                  Value x, Value y) {
  Type lhs = product.getLhs(), rhs = product.getRhs();
  if (rhs.isUnsignedInteger()) {
    std::swap(lhs, rhs);
    std::swap(x, y);
  }
  constexpr uint64_t greatestSum = 0x7FFF, greatestSigned = 0x80;
  TargetUnitAttr unit = target.findUnit(lhs, rhs, b.getIntegerType(16, true));
  if (!unit || 2 * getGreatestByte(x) * greatestSigned > greatestSum)
    return {};
  return multiplyPairs(b, loc, unit, x, y);
}

/// Multiplies bytes by the target's units that sum the products of pairs, or
/// returns null if it has none. Bytes without a bound are extended to 16 bits.
static Value createPairProducts(OpBuilder &b, Location loc,
                                CpuTargetAttr target, ProductAttr product,
                                Value x, Value y, Value sum) {
  auto type = dyn_cast<VectorType>(sum.getType());
  TargetUnitAttr unit = target.findPairUnit();
  auto isByte = [](Type type) {
    return isa<IntegerType>(type) && type.getIntOrFloatBitWidth() == 8;
  };
  if (!type || !unit || unit.getShape()[1] != type.getNumElements() ||
      !isByte(product.getLhs()) || !isByte(product.getRhs()))
    return {};
  auto add = [&](Value x, Value y) {
    sum = arith::AddIOp::create(b, loc, sum, multiplyPairs(b, loc, unit, x, y));
  };
  if (Value sums = multiplyBoundedBytes(b, loc, target, product, x, y)) {
    add(sums, createSplat(b, loc, sums.getType(), b.getI16IntegerAttr(1)));
    return sum;
  }
  for (bool isOdd : {false, true})
    add(extendHalf(b, loc, x, isOdd, product.getLhs()),
        extendHalf(b, loc, y, isOdd, product.getRhs()));
  return sum;
}

/// Extracts element `i` of words, extended to the type of the sum.
static Value extractElement(OpBuilder &b, Location loc, Value words, int64_t i,
                            Type element, Type sum) {
  unsigned width = element.getIntOrFloatBitWidth(),
           wide = getElementTypeOrSelf(words).getIntOrFloatBitWidth();
  auto shift = [&](int64_t by) {
    return createSplat(b, loc, words.getType(), b.getI32IntegerAttr(by));
  };
  if (isa<FloatType>(element)) {
    Value low = arith::ShRUIOp::create(b, loc, words, shift(i * width));
    Value bits = arith::TruncIOp::create(
        b, loc, withElement(words.getType(), b.getIntegerType(width)), low);
    Value number = arith::BitcastOp::create(
        b, loc, withElement(words.getType(), element), bits);
    return arith::ExtFOp::create(b, loc, sum, number);
  }
  Value high =
      arith::ShLIOp::create(b, loc, words, shift(wide - width - i * width));
  if (element.isUnsignedInteger())
    return arith::ShRUIOp::create(b, loc, high, shift(wide - width));
  return arith::ShRSIOp::create(b, loc, high, shift(wide - width));
}

Value adze::tile::createWordProducts(OpBuilder &b, Location loc,
                                     CpuTargetAttr target, ProductAttr product,
                                     Value x, Value y, Value sum) {
  if (Value result = createUnitProducts(b, loc, target, product, x, y, sum))
    return result;
  if (Value result = createPairProducts(b, loc, target, product, x, y, sum))
    return result;
  int64_t elements = getElementTypeOrSelf(x).getIntOrFloatBitWidth() /
                     product.getLhs().getIntOrFloatBitWidth();
  for (int64_t i = 0; i < elements; ++i) {
    Value lhs = extractElement(b, loc, x, i, product.getLhs(), sum.getType()),
          rhs = extractElement(b, loc, y, i, product.getRhs(), sum.getType());
    if (isa<FloatType>(product.getAcc()))
      sum = math::FmaOp::create(b, loc, lhs, rhs, sum);
    else
      sum = arith::AddIOp::create(b, loc,
                                  arith::MulIOp::create(b, loc, lhs, rhs), sum);
  }
  return sum;
}
