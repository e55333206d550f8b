// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Computes the right operands of a pipelined product into shared memory.
#include "OperandProducer.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;

namespace adze::togpu {

/// The bytes that are swizzled as a unit.
constexpr int64_t kUnitBytes = 16;

OperandProducer::OperandProducer(tile::KernelOp kernel,
                                 const PipelinePlan &plan, KernelPlan &spreads,
                                 const KernelFrame &at, DeviceBuilder &d,
                                 Value thread)
    : plan(plan), spreads(spreads), d(d), thread(thread),
      loop(plan.product.loops.front()),
      lowering(kernel, spreads, at, /*fast=*/false) {
  lowering.entry = d.b.getInsertionBlock();
  lowering.scopes.emplace_back();
  columns = lowering.stepAxis(d.toIndex(thread), kWarpgroupThreads,
                              plan.n / kWarpgroupThreads);
  for (auto load : loop.getBody()->getOps<tile::LoadOp>())
    if (load != plan.product.lhs)
      loads.push_back(load);
}

/// Returns the elements of a tile that this thread needs: its columns, and all
/// positions of other dims.
Axes OperandProducer::getAxes(tile::LoadOp load) {
  Axes axes;
  auto isColumns = [&](int cls) {
    return llvm::any_of(plan.product.dots, [&](tile::DotOp dot) {
      return spreads.classesOf(dot.getRhs())[1] == cls;
    });
  };
  for (auto [cls, size] :
       llvm::zip_equal(spreads.classesOf(load.getResult()),
                       tileType(load.getResult()).getShape())) {
    if (isColumns(cls)) {
      axes.push_back(columns);
      continue;
    }
    const Axis *&whole = wholes[size];
    if (!whole)
      whole = lowering.extend(lowering.positionAxis(d.index(0)), size);
    axes.push_back(whole);
  }
  return axes;
}

/// Prepares to emit ops for an iteration.
void OperandProducer::enter(Value iteration) {
  lowering.b.restoreInsertionPoint(d.b.saveInsertionPoint());
  lowering.forget(*loop.getBody());
  lowering.lowerScalars(loop, iteration);
}

SmallVector<Value> OperandProducer::load(Value iteration) {
  enter(iteration);
  lowering.held.clear();
  SmallVector<Value> loaded;
  for (tile::LoadOp load : loads)
    llvm::append_range(loaded, lowering.loadTile(load, getAxes(load)));
  return loaded;
}

void OperandProducer::store(Value iteration, ValueRange loaded, Value stage) {
  enter(iteration);
  for (tile::LoadOp load : loads) {
    Axes axes = getAxes(load);
    int64_t count = countElements(axes);
    lowering.held[load] = {axes, Fragment(loaded.take_front(count))};
    loaded = loaded.drop_front(count);
  }
  int64_t bytes = plan.rhsBytes / plan.countProducts();
  for (tile::DotOp dot : plan.product.dots) {
    for (int64_t number = 0; number < columns->regs(); ++number)
      storeColumn(dot.getRhs(), number, stage);
    stage = d.at(stage, bytes);
  }
}

/// Stores a column of an operand: rows of shared memory with parts of the
/// depth, swizzled as tensor maps would copy them.
void OperandProducer::storeColumn(Value operand, int64_t number, Value memory) {
  constexpr int64_t swizzledRows = 8;
  int64_t elementBytes = plan.getElementBytes(), rowBytes = plan.rhs.rowBytes,
          together = kUnitBytes / elementBytes;
  const Axis *column = lowering.pointAxis(columns, number);
  Value row = d.add(thread, columns->offset[number]),
        swizzle = d.fold<arith::AndIOp>(thread, d.i32(swizzledRows - 1)),
        place = d.at(memory, d.mul(row, rowBytes));
  for (int64_t k = 0; k < plan.k; k += together) {
    const Axis *depth =
        lowering.extend(lowering.positionAxis(d.index(0), k), together);
    lowering.scopes.emplace_back();
    Fragment elements = lowering.emit(operand, {depth, column});
    lowering.scopes.pop_back();
    int64_t bytes = k * elementBytes, inRow = bytes % rowBytes,
            before = bytes / rowBytes * plan.n * rowBytes;
    Value swizzled = d.mul(
        d.fold<arith::XOrIOp>(swizzle, d.i32(inRow / kUnitBytes)), kUnitBytes);
    d.create<LLVM::StoreOp>(d.makeVector(elements),
                            d.at(d.at(place, before), swizzled), kUnitBytes);
  }
}

/// Returns the register of an axis with this position, or -1.
static int64_t findPosition(const Axis *axis, Value base, int64_t offset) {
  auto getPlace = [](Value base, int64_t offset) {
    auto known = getConstantIntValue(base);
    return known ? std::pair(Value(), *known + offset)
                 : std::pair(base, offset);
  };
  for (int64_t r = 0; r < axis->regs(); ++r)
    if (getPlace(axis->base[r], axis->offset[r]) == getPlace(base, offset))
      return r;
  return -1;
}

/// Returns elements that were loaded in advance.
Fragment KernelLowering::takeHeld(tile::LoadOp op, const Axes &axes) {
  const Entry &entry = held.find(op)->second;
  Fragment elements;
  forEachElement(axes, [&](Registers regs, int64_t) {
    int64_t place = 0;
    for (auto [axis, own, r] : llvm::zip_equal(axes, entry.axes, regs)) {
      int64_t at = findPosition(own, axis->base[r], axis->offset[r]);
      if (at < 0)
        return fail(op, "expected an element that was loaded in advance");
      place = place * own->regs() + at;
    }
    elements.push_back(entry.fragment[place]);
  });
  return reason.empty()
             ? elements
             : undefined(tileType(op.getResult()).getElementType(), axes);
}

} // namespace adze::togpu
