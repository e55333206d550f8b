// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// top_k with a large k: rows are sorted by the bytes of their elements, the
// lowest first (LSD radix sort), which is stable.
#include "SortRows.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace adze::graph;

/// An item is a number with the order of the elements, in the bits above the
/// index of the element.
static constexpr int64_t keyBits = 32, digitBits = 8, digits = 4,
                         buckets = 1 << digitBits;

bool adze::graph::isSortable(Type element) {
  return element.getIntOrFloatBitWidth() <= unsigned(keyBits);
}

RowSort::RowSort(KernelLowering &k, Type declared, bool largest, Value size)
    : k(k), declared(declared), largest(largest), size(size) {
  Type i64 = k.builder.getI64Type();
  auto allocate = [&](ArrayRef<int64_t> shape, Type element,
                      ValueRange dynamic) -> Value {
    return memref::AllocOp::create(k.builder, k.loc,
                                   MemRefType::get(shape, element), dynamic,
                                   k.builder.getI64IntegerAttr(64));
  };
  for (Value &place : items)
    place = allocate(ShapedType::kDynamic, i64, size);
  counts = allocate({digits, buckets}, k.builder.getIndexType(), {});
}

Value RowSort::number(Type type, int64_t value) {
  return k.elements().integer(type, value);
}

/// Returns unsigned numbers with the order of the elements. NaN is the
/// greatest, and both zeros are equal.
Value RowSort::getKey(Value element) {
  OpBuilder &b = k.builder;
  Type i32 = b.getI32Type();
  Value lowest = number(i32, std::numeric_limits<int32_t>::min()),
        all = number(i32, -1), key;
  if (isa<FloatType>(declared)) {
    ElementBuilder e = k.elements();
    Value wide = buildCast(e, element, element.getType(), b.getF32Type());
    Value isNan =
        arith::CmpFOp::create(b, k.loc, arith::CmpFPredicate::UNO, wide, wide);
    wide = arith::AddFOp::create(b, k.loc, wide, e.number(b.getF32Type(), 0));
    Value bits = arith::BitcastOp::create(b, k.loc, i32, wide);
    Value sign = arith::ShRSIOp::create(b, k.loc, bits, number(i32, 31));
    Value turned = arith::OrIOp::create(b, k.loc, sign, lowest);
    key = arith::XOrIOp::create(b, k.loc, bits, turned);
    key = arith::SelectOp::create(b, k.loc, isNan, all, key);
  } else {
    ElementBuilder e = k.elements();
    bool isUnsigned = declared.isUnsignedInteger();
    Type to = isUnsigned ? Type(b.getIntegerType(keyBits, false)) : i32;
    key = buildCast(e, element, declared, to);
    if (!isUnsigned)
      key = arith::XOrIOp::create(b, k.loc, key, lowest);
  }
  return largest ? arith::XOrIOp::create(b, k.loc, key, all).getResult() : key;
}

Value RowSort::getDigit(Value item, int64_t digit) {
  OpBuilder &b = k.builder;
  Type i64 = b.getI64Type();
  Value low = arith::ShRUIOp::create(b, k.loc, item,
                                     number(i64, keyBits + digit * digitBits));
  low = arith::AndIOp::create(b, k.loc, low, number(i64, buckets - 1));
  return arith::IndexCastUIOp::create(b, k.loc, b.getIndexType(), low);
}

/// Fills the items of a row, and counts the items of each digit.
void RowSort::fill(function_ref<Value(Value)> elementAt) {
  OpBuilder &b = k.builder;
  Type i64 = b.getI64Type();
  for (int64_t digit = 0; digit < digits; ++digit)
    k.forEach(k.index(buckets), [&](ValueRange bucket) {
      k.store(k.index(0), counts, {k.index(digit), bucket[0]});
    });
  k.forEach(size, [&](ValueRange at) {
    Value i = at[0];
    Value key = arith::ExtUIOp::create(b, k.loc, i64, getKey(elementAt(i)));
    Value high = arith::ShLIOp::create(b, k.loc, key, number(i64, keyBits));
    Value item = arith::OrIOp::create(b, k.loc, high, k.toNumber(i, i64));
    k.store(item, items[0], i);
    for (int64_t digit = 0; digit < digits; ++digit) {
      SmallVector<Value> bucket{k.index(digit), getDigit(item, digit)};
      k.store(k.add(k.load(counts, bucket), 1), counts, bucket);
    }
  });
}

/// Sorts the items by one digit: computes the first position of each digit,
/// then moves each item.
void RowSort::pass(int64_t digit) {
  Value row = k.index(digit), from = items[digit % 2],
        to = items[(digit + 1) % 2];
  k.fold({{k.index(0), k.index(buckets)}}, k.index(0),
         [&](ValueRange bucket, Value before) {
           Value count = k.load(counts, {row, bucket[0]});
           k.store(before, counts, {row, bucket[0]});
           return k.add(before, count);
         });
  k.forEach(size, [&](ValueRange i) {
    Value item = k.load(from, i);
    SmallVector<Value> at{row, getDigit(item, digit)};
    Value place = k.load(counts, at);
    k.store(item, to, place);
    k.store(k.add(place, 1), counts, at);
  });
}

void RowSort::run(function_ref<Value(Value)> elementAt, Value count,
                  function_ref<void(Value, Value)> store) {
  fill(elementAt);
  for (int64_t digit = 0; digit < digits; ++digit)
    pass(digit);
  OpBuilder &b = k.builder;
  k.forEach(count, [&](ValueRange i) {
    Value item = k.load(items[digits % 2], i);
    Value place = arith::AndIOp::create(
        b, k.loc, item, number(b.getI64Type(), (int64_t(1) << keyBits) - 1));
    store(i[0],
          arith::IndexCastUIOp::create(b, k.loc, b.getIndexType(), place));
  });
}
