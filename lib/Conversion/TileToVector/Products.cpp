// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
#include "Products.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
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

/// Extracts element `i` of words, extended to the type of the sum.
static Value extractElement(OpBuilder &b, Location loc, Value words, int64_t i,
                            Type element, Type sum) {
  unsigned width = element.getIntOrFloatBitWidth(),
           wide = getElementTypeOrSelf(words).getIntOrFloatBitWidth();
  auto shift = [&](int64_t by) -> Value {
    return arith::ConstantOp::create(
        b, loc,
        isa<VectorType>(words.getType())
            ? TypedAttr(DenseElementsAttr::get(
                  cast<VectorType>(words.getType()), b.getI32IntegerAttr(by)))
            : TypedAttr(b.getI32IntegerAttr(by)));
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
