// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Gathers whose indices depend on positions only, so that adjacent lanes
// usually read nearby elements. If all lanes are inside of two vectors at run
// time, these are loaded and permuted; otherwise a gather runs, which is as
// slow as scalar loads.
#include "Nearby.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace adze::tile;

bool adze::tile::followsFromPositions(Value tile) {
  DenseSet<Value> seen;
  SmallVector<Value> work{tile};
  while (!work.empty()) {
    Value value = work.pop_back_val();
    Operation *op = value.getDefiningOp();
    if (!isTile(value) || !seen.insert(value).second)
      continue;
    if (!op || !(isa<IotaOp, BroadcastOp>(op) ||
                 op->hasTrait<OpTrait::ConstantLike>() ||
                 op->hasTrait<OpTrait::Elementwise>()))
      return false;
    llvm::append_range(work, op->getOperands());
  }
  return true;
}

static int64_t getBits(VectorType type) {
  return type.getNumElements() * type.getElementTypeBitWidth();
}

/// Returns the suffix of the permute intrinsic for the type, or an empty
/// string. Vectors of half the width permute elements of 32 bits only by
/// constants.
static StringRef getSuffix(VectorType type) {
  Type element = type.getElementType();
  bool isWide = getBits(type) == 512;
  if (element.isF32())
    return "ps";
  if (element.isInteger(32))
    return "d";
  return !isWide                 ? ""
         : element.isF64()       ? "pd"
         : element.isInteger(64) ? "q"
                                 : "";
}

bool adze::tile::canPermute(VectorType type, CpuTargetAttr target) {
  if (!target.has(CpuFeature::lane_permute) ||
      !type.getElementType().isIntOrFloat())
    return false;
  int64_t bits = getBits(type);
  return (bits == 256 || bits == 512) && bits <= 8 * target.getVectorBytes() &&
         !getSuffix(type).empty();
}

static Value call(OpBuilder &b, Location loc, VectorType type,
                  const Twine &name, ValueRange operands) {
  return LLVM::CallIntrinsicOp::create(
             b, loc, type, b.getStringAttr("llvm.x86." + name), operands)
      .getResult(0);
}

/// Returns the lanes `picked` of a vector.
static Value permute(OpBuilder &b, Location loc, Value of, Value picked) {
  auto type = cast<VectorType>(of.getType());
  if (getBits(type) != 512)
    return call(b, loc, type, "avx2.perm" + getSuffix(type), {of, picked});
  Type element = type.getElementType();
  StringRef name = isa<FloatType>(element)
                       ? element.isF32() ? "sf" : "df"
                       : (element.isInteger(32) ? "si" : "di");
  return call(b, loc, type, "avx512.permvar." + name + ".512", {of, picked});
}

/// Returns the lanes `picked`, all less than twice their number, of two
/// vectors.
static Value permute(OpBuilder &b, Location loc, Value low, Value high,
                     Value picked) {
  auto type = cast<VectorType>(low.getType());
  if (getBits(type) == 512)
    return call(b, loc, type, "avx512.vpermi2var." + getSuffix(type) + ".512",
                {low, picked, high});
  // Selects from each vector by the low bits of the lane numbers.
  Value lanes = arith::ConstantOp::create(
      b, loc,
      DenseElementsAttr::get(cast<VectorType>(picked.getType()),
                             b.getI32IntegerAttr(type.getNumElements())));
  Value isLow =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, picked, lanes);
  return arith::SelectOp::create(b, loc, isLow, permute(b, loc, low, picked),
                                 permute(b, loc, high, picked));
}

namespace {
/// One or two vectors of a row that contain all lanes of a register.
class Nearby {
public:
  Nearby(OpBuilder &b, Location loc, const NearbyGather &gather,
         VectorType type);

  Value pickOfOne(), pickOfTwo();

  Value isOne, isTwo; // true if one, or two, suffice

private:
  Value number(int64_t value) {
    return arith::ConstantIndexOp::create(b, loc, value);
  }
  Value min(Value x, Value y) { return arith::MinSIOp::create(b, loc, x, y); }
  Value max(Value x, Value y) { return arith::MaxSIOp::create(b, loc, x, y); }
  Value sub(Value x, Value y) { return arith::SubIOp::create(b, loc, x, y); }
  Value isLess(Value x, Value y) {
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, x, y);
  }
  Value spread(Value scalar) {
    return vector::BroadcastOp::create(b, loc, wide, scalar);
  }
  Value areBelow(Value limit);
  Value load(Value from, Value count);
  Value getNumbers();

  OpBuilder &b;
  Location loc;
  const NearbyGather &gather;
  VectorType type, wide;
  int64_t lanes;
  Value base, picked; // first element; lanes of the vectors
};
} // namespace

/// If the least lane is not at one of the ends, the vectors do not suffice.
Nearby::Nearby(OpBuilder &b, Location loc, const NearbyGather &gather,
               VectorType type)
    : b(b), loc(loc), gather(gather), type(type),
      wide(cast<VectorType>(gather.positions.getType())),
      lanes(type.getNumElements()) {
  Value first = vector::ExtractOp::create(b, loc, gather.positions, 0);
  Value last = vector::ExtractOp::create(b, loc, gather.positions, lanes - 1);
  Value least = min(first, last), one = number(lanes), two = number(2 * lanes);
  Value isShort = isLess(sub(max(first, last), least), one);
  Value length = arith::SelectOp::create(b, loc, isShort, one, two);
  base = max(min(least, sub(gather.extent, length)), number(0));
  picked = sub(gather.positions, spread(base));
  isOne = areBelow(one);
  isTwo = areBelow(two);
}

Value Nearby::areBelow(Value limit) {
  Value below = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, picked,
                                      spread(min(limit, gather.extent)));
  Value all =
      vector::ReductionOp::create(b, loc, vector::CombiningKind::AND, below);
  return gather.exists
             ? arith::AndIOp::create(b, loc, all, gather.exists).getResult()
             : all;
}

/// Loads a vector of which only `count` elements exist.
Value Nearby::load(Value from, Value count) {
  Value mask = isLess(vector::StepOp::create(b, loc, wide), spread(count));
  SmallVector<Value> at(gather.at);
  at.back() = from;
  return vector::MaskedLoadOp::create(
      b, loc, type, gather.memref, at, mask,
      vector::BroadcastOp::create(b, loc, type, gather.pad));
}

Value Nearby::getNumbers() {
  Type number = b.getIntegerType(type.getElementType().getIntOrFloatBitWidth());
  return arith::IndexCastOp::create(b, loc, VectorType::get(lanes, number),
                                    picked);
}

Value Nearby::pickOfOne() {
  return permute(b, loc, load(base, gather.extent), getNumbers());
}

/// For a row shorter than two vectors, the vectors begin at its first element.
/// If it is not longer than one vector, the second load reads the address of
/// the first one, since masked loads with no active lane are slow if the
/// address is not mapped.
Value Nearby::pickOfTwo() {
  Value low = load(base, gather.extent), one = number(lanes);
  Value isMore = isLess(one, gather.extent);
  Value more = arith::SelectOp::create(b, loc, isMore, one, number(0));
  Value high =
      load(arith::AddIOp::create(b, loc, base, more), sub(gather.extent, one));
  return permute(b, loc, low, high, getNumbers());
}

Value adze::tile::gatherNearby(OpBuilder &b, Location loc,
                               const NearbyGather &gather, VectorType type,
                               llvm::function_ref<Value()> otherwise) {
  Nearby nearby(b, loc, gather, type);
  OpBuilder::InsertionGuard guard(b);
  auto choose = [&](Value condition, llvm::function_ref<Value()> then) {
    auto branch = scf::IfOp::create(b, loc, type, condition, /*withElse=*/true);
    b.setInsertionPointToStart(branch.thenBlock());
    scf::YieldOp::create(b, loc, then());
    b.setInsertionPointToStart(branch.elseBlock());
    return branch;
  };
  auto one = choose(nearby.isOne, [&] { return nearby.pickOfOne(); });
  auto two = choose(nearby.isTwo, [&] { return nearby.pickOfTwo(); });
  scf::YieldOp::create(b, loc, otherwise());
  b.setInsertionPointAfter(two);
  scf::YieldOp::create(b, loc, two.getResult(0));
  return one.getResult(0);
}
