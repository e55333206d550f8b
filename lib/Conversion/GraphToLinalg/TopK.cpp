// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// top_k: the results are a heap of the best elements so far, with the worst of
// them at its root, which is sorted in place at the end. For a large k, the row
// is sorted instead.
#include "SortRows.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace adze::graph;

namespace {

/// An element and its index in the input.
struct Item {
  Value value, place;
};

class Heap {
public:
  Heap(TopKOp op, KernelLowering &k)
      : k(k), values(k.getOutput(op.getValues())),
        places(k.getOutput(op.getIndices())), axis(op.getAxis()),
        declared(
            cast<RankedTensorType>(op.getInput().getType()).getElementType()),
        largest(op.getLargest()) {}

  /// Selects the heap of one row, given by a point without its index along the
  /// axis.
  void setRow(ValueRange point) { row.assign(point.begin(), point.end()); }
  Item get(Value slot) {
    return {k.load(values, at(slot)), k.load(places, at(slot))};
  }
  void set(Value slot, Item item) {
    k.store(item.value, values, at(slot));
    k.store(item.place, places, at(slot));
  }
  /// Returns true if x is before y by value, which may be a vector of values.
  Value isBetter(Value x, Value y);
  /// Returns true if x is before y in the result; no two items are equal.
  Value comesBefore(Item x, Item y);
  /// Adds an item at the end of the heap.
  void push(Item item, Value end);
  /// Inserts an item after those before it by index.
  void insert(Item item, Value end);
  /// Inserts an item into a heap of `size` whose root is free.
  void replaceRoot(Item item, Value size);

private:
  struct Step {
    Value slot, goesOn;
  };
  SmallVector<Value> at(Value slot) {
    SmallVector<Value> point(row);
    point.insert(point.begin() + axis, slot);
    return point;
  }
  /// Emits `condition ? body() : (slot, false)`.
  Step stepIf(Value condition, Value slot, function_ref<Step()> body);
  /// Moves the free slot by steps, and then stores the item in it.
  void sift(Value from, Item item, function_ref<Step(Value)> step);
  /// If `moves`, moves the item at `next` to the slot, which makes `next` the
  /// free slot.
  Step moveIf(Value moves, Value slot, Value next, Item item);

  KernelLowering &k;
  Value values, places;
  int64_t axis;
  Type declared;
  bool largest;
  SmallVector<Value> row;
};

} // namespace

/// NaN is the greatest.
Value Heap::isBetter(Value x, Value y) {
  OpBuilder &b = k.builder;
  if (isa<FloatType>(declared)) {
    using P = arith::CmpFPredicate;
    Value better =
        arith::CmpFOp::create(b, k.loc, largest ? P::OGT : P::OLT, x, y);
    Value odd = largest ? x : y, number = largest ? y : x;
    Value oddIsNan = arith::CmpFOp::create(b, k.loc, P::UNO, odd, odd);
    Value isNumber = arith::CmpFOp::create(b, k.loc, P::ORD, number, number);
    return arith::OrIOp::create(
        b, k.loc, better, arith::AndIOp::create(b, k.loc, oddIsNan, isNumber));
  }
  using P = arith::CmpIPredicate;
  bool isUnsigned = declared.isUnsignedInteger();
  P predicate =
      largest ? (isUnsigned ? P::ugt : P::sgt) : (isUnsigned ? P::ult : P::slt);
  return arith::CmpIOp::create(b, k.loc, predicate, x, y);
}

Value Heap::comesBefore(Item x, Item y) {
  OpBuilder &b = k.builder;
  Value better = isBetter(x.value, y.value), worse = isBetter(y.value, x.value);
  Value earlier = k.compare(arith::CmpIPredicate::slt, x.place, y.place);
  Value isFalse = k.elements().integer(b.getI1Type(), 0);
  Value tie = k.select(worse, isFalse, earlier);
  return arith::OrIOp::create(b, k.loc, better, tie);
}

Heap::Step Heap::stepIf(Value condition, Value slot,
                        function_ref<Step()> body) {
  OpBuilder &b = k.builder;
  Value isFalse = k.elements().integer(b.getI1Type(), 0);
  auto ifOp = scf::IfOp::create(
      b, k.loc, TypeRange{slot.getType(), b.getI1Type()}, condition, true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(ifOp.thenBlock());
  Step step = body();
  scf::YieldOp::create(b, k.loc, ValueRange{step.slot, step.goesOn});
  b.setInsertionPointToStart(ifOp.elseBlock());
  scf::YieldOp::create(b, k.loc, ValueRange{slot, isFalse});
  return {ifOp.getResult(0), ifOp.getResult(1)};
}

Heap::Step Heap::moveIf(Value moves, Value slot, Value next, Item item) {
  return stepIf(moves, slot, [&] {
    set(slot, item);
    return Step{next, moves};
  });
}

void Heap::sift(Value from, Item item, function_ref<Step(Value)> step) {
  OpBuilder &b = k.builder;
  auto loop = scf::WhileOp::create(
      b, k.loc, TypeRange{from.getType()}, ValueRange{from},
      [&](OpBuilder &, Location, ValueRange slots) {
        Step next = step(slots[0]);
        scf::ConditionOp::create(b, k.loc, next.goesOn, next.slot);
      },
      [&](OpBuilder &, Location, ValueRange slots) {
        scf::YieldOp::create(b, k.loc, slots);
      });
  set(loop.getResult(0), item);
}

void Heap::push(Item item, Value end) {
  sift(end, item, [&](Value slot) {
    Value hasParent = k.compare(arith::CmpIPredicate::sgt, slot, k.index(0));
    return stepIf(hasParent, slot, [&] {
      Value parent = k.floorDiv(k.add(slot, -1), 2);
      Item above = get(parent);
      return moveIf(comesBefore(above, item), slot, parent, above);
    });
  });
}

void Heap::insert(Item item, Value end) {
  sift(end, item, [&](Value slot) {
    Value hasOther = k.compare(arith::CmpIPredicate::sgt, slot, k.index(0));
    return stepIf(hasOther, slot, [&] {
      Value next = k.add(slot, -1);
      Item other = get(next);
      Value isLater =
          k.compare(arith::CmpIPredicate::sgt, other.place, item.place);
      return moveIf(isLater, slot, next, other);
    });
  });
}

void Heap::replaceRoot(Item item, Value size) {
  auto exists = [&](Value slot) {
    return k.compare(arith::CmpIPredicate::slt, slot, size);
  };
  sift(k.index(0), item, [&](Value slot) {
    Value left = k.add(k.mul(slot, 2), 1), right = k.add(left, 1);
    return stepIf(exists(left), slot, [&] {
      // The worse child moves up, if it is worse than the item.
      Value isRight = k.ifThenElse(
          exists(right), [&] { return comesBefore(get(left), get(right)); },
          k.elements().integer(k.builder.getI1Type(), 0));
      Value child = k.select(isRight, right, left);
      Item below = get(child);
      return moveIf(comesBefore(item, below), slot, child, below);
    });
  });
}

/// Calls `body` for each set bit of an integer, the lowest first.
static void forEachBit(KernelLowering &k, Value bits,
                       function_ref<void(Value bit)> body) {
  OpBuilder &b = k.builder;
  Type type = bits.getType();
  Value zero = k.elements().integer(type, 0),
        one = k.elements().integer(type, 1);
  scf::WhileOp::create(
      b, k.loc, TypeRange{type}, ValueRange{bits},
      [&](OpBuilder &, Location, ValueRange left) {
        Value hasAny = k.compare(arith::CmpIPredicate::ne, left[0], zero);
        scf::ConditionOp::create(b, k.loc, hasAny, left);
      },
      [&](OpBuilder &, Location, ValueRange left) {
        Value bit = math::CountTrailingZerosOp::create(b, k.loc, left[0]);
        body(arith::IndexCastUIOp::create(b, k.loc, b.getIndexType(), bit));
        Value rest = arith::AndIOp::create(
            b, k.loc, left[0], arith::SubIOp::create(b, k.loc, left[0], one));
        scf::YieldOp::create(b, k.loc, rest);
      });
}

/// Calls `body` for elements [begin, end) of a contiguous row, except those
/// that are not better than the worst one so far. These are the majority, and
/// are skipped a vector at a time. Returns the first element of the remainder.
static Value skipWorse(KernelLowering &k, Heap &heap, Value input,
                       ValueRange row, Value begin, Value end,
                       function_ref<void(Value)> body) {
  constexpr int64_t vectorBits = 512;
  OpBuilder &b = k.builder;
  Type element = cast<MemRefType>(input.getType()).getElementType();
  int64_t lanes = vectorBits / element.getIntOrFloatBitWidth();
  auto type = VectorType::get(lanes, element);
  Value length = k.max(k.sub(end, begin), k.index(0));
  Value whole = k.mul(k.floorDiv(length, lanes), lanes);
  Value last = k.add(begin, whole);
  auto loop = scf::ForOp::create(b, k.loc, begin, last, k.index(lanes));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value at = loop.getInductionVar();
  SmallVector<Value> from(row);
  from.push_back(at);
  Value these = vector::LoadOp::create(b, k.loc, type, input, from);
  Value worst =
      vector::BroadcastOp::create(b, k.loc, type, heap.get(k.index(0)).value);
  Value better = heap.isBetter(these, worst);
  Value bits = vector::BitCastOp::create(
      b, k.loc, VectorType::get(1, b.getIntegerType(lanes)), better);
  forEachBit(k, vector::ExtractOp::create(b, k.loc, bits, 0),
             [&](Value bit) { body(k.add(at, bit)); });
  return last;
}

namespace {
/// Selects the best elements of each row.
class RowTopK {
public:
  RowTopK(TopKOp op, KernelLowering &k)
      : op(op), k(k), heap(op, k), input(k.get(op.getInput())),
        axis(op.getAxis()), outer(k.getSizes(op.getInput())), size(outer[axis]),
        count(k.getSize(op.getValues(), axis)) {
    outer.erase(outer.begin() + axis);
  }
  LogicalResult run();

private:
  void loop(Value begin, Value end, function_ref<void(Value)> body);
  void when(Value condition, function_ref<void()> body,
            function_ref<void()> otherwise = nullptr);
  SmallVector<Value> at(ValueRange row, Value i) {
    SmallVector<Value> point(row);
    point.insert(point.begin() + axis, i);
    return point;
  }
  Item itemAt(ValueRange row, Value i) {
    return {k.load(input, at(row, i)), k.toNumber(i, k.builder.getI64Type())};
  }
  Value isManyOfLong();
  void select(ValueRange row);

  TopKOp op;
  KernelLowering &k;
  Heap heap;
  Value input;
  int64_t axis;
  SmallVector<Value> outer;
  Value size, count;
};
} // namespace

void RowTopK::loop(Value begin, Value end, function_ref<void(Value)> body) {
  k.fold({{begin, end}}, ValueRange(),
         [&](ValueRange at, ValueRange) -> SmallVector<Value> {
           body(at[0]);
           return {};
         });
}

void RowTopK::when(Value condition, function_ref<void()> body,
                   function_ref<void()> otherwise) {
  if (auto known = getConstantIntValue(condition)) {
    if (*known)
      body();
    else if (otherwise)
      otherwise();
    return;
  }
  OpBuilder &b = k.builder;
  auto ifOp = scf::IfOp::create(b, k.loc, condition, bool(otherwise));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(ifOp.thenBlock());
  body();
  if (otherwise) {
    b.setInsertionPointToStart(ifOp.elseBlock());
    otherwise();
  }
}

/// Returns true if the row is long, and k so large that sorting is as fast.
Value RowTopK::isManyOfLong() {
  constexpr int64_t share = 24, leastLength = 64;
  OpBuilder &b = k.builder;
  auto compare = [&](Value x, Value y) {
    return b.createOrFold<arith::CmpIOp>(k.loc, arith::CmpIPredicate::sge, x,
                                         y);
  };
  Value most = b.createOrFold<arith::MulIOp>(k.loc, count, k.index(share));
  return b.createOrFold<arith::AndIOp>(k.loc, compare(most, size),
                                       compare(size, k.index(leastLength)));
}

/// Selects by a heap of the best elements so far.
void RowTopK::select(ValueRange row) {
  Value hasAny = k.compare(arith::CmpIPredicate::sgt, count, k.index(0));
  loop(k.index(0), count, [&](Value i) { heap.push(itemAt(row, i), i); });
  when(hasAny, [&] {
    auto take = [&](Value i) {
      Item item = itemAt(row, i);
      when(heap.comesBefore(item, heap.get(k.index(0))),
           [&] { heap.replaceRoot(item, count); });
    };
    Value first = count;
    bool isContiguous = axis == int64_t(row.size());
    if (isContiguous && !k.isForDevices())
      first = skipWorse(k, heap, input, row, count, size, take);
    loop(first, size, take);
  });
  // The worst of the remaining items moves to the end.
  loop(k.index(1), count, [&](Value i) {
    Value end = k.sub(count, i);
    Item last = heap.get(end), worst = heap.get(k.index(0));
    heap.set(end, worst);
    heap.replaceRoot(last, end);
  });
}

LogicalResult RowTopK::run() {
  Type declared =
      cast<RankedTensorType>(op.getInput().getType()).getElementType();
  Value sorts = isSortable(declared)
                    ? isManyOfLong()
                    : k.elements().integer(k.builder.getI1Type(), 0);
  std::optional<RowSort> sort;
  if (getConstantIntValue(sorts) != 0)
    sort.emplace(k, declared, op.getLargest(), size);
  k.forEachProgram(outer, [&](ValueRange row) {
    heap.setRow(row);
    when(
        sorts,
        [&] {
          sort->run(
              [&](Value i) { return k.load(input, at(row, i)); }, count,
              [&](Value i, Value place) { heap.set(i, itemAt(row, place)); });
        },
        [&] { select(row); });
    if (!op.getSorted())
      loop(k.index(1), count, [&](Value i) { heap.insert(heap.get(i), i); });
  });
  return success();
}

LogicalResult adze::graph::lowerTopK(TopKOp op, KernelLowering &k) {
  return RowTopK(op, k).run();
}
