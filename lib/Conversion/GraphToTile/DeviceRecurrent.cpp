// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Recurrent layers for GPUs. A program computes some units of some rows in one
// step: a launch for each step has the programs of all units and rows. They
// read the states of the previous step from the results. One product computes
// the sums of all gates, as a step takes as long as its operands are loaded.
#include "Dialect/Tile/Analysis/IndexRange.h"
#include "RecurrentMath.h"

using namespace mlir;
using namespace adze;
using namespace adze::graph;

namespace {

/// The gates, and all gates of the units.
enum GateAxis { Gate = 4, Column = 5 };

class DeviceRecurrent final : public RecurrentMath {
public:
  using RecurrentMath::RecurrentMath;

  LogicalResult run();

private:
  LogicalResult check();
  LogicalResult setTiling();
  /// Returns `initial` in the first step, and `previous` in later ones.
  Value choose(MaybeTile initial, MaybeTile previous, ArrayRef<int> axes);
  LogicalResult step();
  LogicalResult multiply();
  Value reshape(Value tile, ArrayRef<int> axes);

  Value sum(int64_t gate) override;
  Value ownState() override {
    return choose(e.emit(op.getState(), {rows(), units()}),
                  loadPrevious(units()), {M, N});
  }
  Value ownCell() override {
    DimRanges ranges{rows(), units()};
    return choose(e.emit(op.getMemory(), ranges), e.load(lastMemory, ranges),
                  {M, N});
  }

  /// Returns a part of the outputs of the previous step.
  MaybeTile loadPrevious(DimRange columns);

  const Axes apart{M, N, Gate};
  Value products; // of the states and the weights of all gates
};

} // namespace

MaybeTile DeviceRecurrent::loadPrevious(DimRange columns) {
  auto tile = e.load(output, {at(before), rows(), columns});
  if (succeeded(tile))
    tile->value.getDefiningOp()->setAttr(tile::kEarlierAttribute,
                                         b.getUnitAttr());
  return tile;
}

LogicalResult DeviceRecurrent::check() {
  if (type != getAccumulatorType(type))
    return e.fail("the state requires a wider type than its own");
  if (op.getCell() == RecurrentCell::GRU && !op.getLinearBeforeReset())
    return e.fail("a step has two dependent products");
  if (op.getLengths() || op.getScales())
    return e.fail("rows of several lengths, and weights of bytes, have no "
                  "device code");
  return findMemory();
}

LogicalResult DeviceRecurrent::setTiling() {
  constexpr int64_t rowsAtOnce = 16, unitsAtOnce = 16;
  Dims dims = getDims(op.getOutput());
  steps = e.size(dims[0]);
  Value batch = e.size(dims[1]);
  if (!steps || !batch)
    return failure();
  Value blockM = e.param("BLOCK_M", chooseBlock(getKnown(dims[1]), rowsAtOnce));
  Value blockN = e.param("BLOCK_N", chooseBlock(hidden, unitsAtOnce));
  e.setAxis(M, blockM);
  e.setAxis(K, e.index(hidden));
  e.setAxis(N, blockN);
  Value gates = e.index(getKnown(getDims(op.getWeights())[0]));
  e.setAxis(Gate, gates);
  e.setAxis(Column, e.mul(gates, blockN));
  Value most = e.max(steps, e.index(1));
  SmallVector<Value> ids = e.programIds(
      {e.ceilDiv(batch, blockM), e.ceilDiv(e.index(hidden), blockN), most});
  if (getConstantIntValue(most) != 1)
    e.getKernel().getProgramId().setOrdered(true);
  row = e.mul(ids[0], blockM);
  unit = e.mul(ids[1], blockN);
  setStep(ids[2], e.sub(steps, e.index(1)));
  return success();
}

Value DeviceRecurrent::choose(MaybeTile initial, MaybeTile previous,
                              ArrayRef<int> axes) {
  if (failed(initial) || failed(previous)) {
    isRefused = true;
    return {};
  }
  Value isFirst = is(arith::CmpIPredicate::eq, now, e.index(0));
  return arith::SelectOp::create(b, loc, e.broadcast({isFirst, {}}, axes),
                                 e.broadcast(*initial, axes),
                                 e.broadcast(*previous, axes));
}

Value DeviceRecurrent::reshape(Value tile, ArrayRef<int> axes) {
  RankedTensorType result = e.tileType(axes, type);
  SmallVector<Value> sizes;
  for (auto [axis, size] : llvm::zip_equal(axes, result.getShape()))
    if (ShapedType::isDynamic(size))
      sizes.push_back(e.getAxisSize(axis));
  return tile::ReshapeOp::create(b, loc, result, tile, sizes,
                                 result.getShape());
}

LogicalResult DeviceRecurrent::multiply() {
  e.setSummed(K);
  Value states = choose(e.emit(op.getState(), {rows(), all()}),
                        loadPrevious(all()), {M, K});
  auto weights =
      e.emitOn(op.getWeights(), {{e.index(0), Gate, 1, 1}, all(), units()},
               {K, N, Gate});
  if (isRefused || failed(weights))
    return failure();
  Value zero = e.constant(b.getFloatAttr(type, 0.0), {M, Column});
  products = reshape(createDot(e, states, reshape(*weights, {K, Column}), zero),
                     apart);
  return success();
}

Value DeviceRecurrent::sum(int64_t gate) {
  Type i32 = b.getI32Type();
  Value own =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq,
                            e.broadcast(e.emitPositions(Gate, i32), apart),
                            e.constant(b.getI32IntegerAttr(gate), apart));
  Value kept = arith::SelectOp::create(
      b, loc, own, products, e.constant(b.getFloatAttr(type, 0.0), apart));
  Value product = e.reduce(Combiner::Add, type, {kept, apart}, Gate).value;
  // The reset gate applies to the product of a candidate, but not to its input.
  bool isReset = op.getCell() == RecurrentCell::GRU && gate == 2;
  return isReset ? product : plus(input(gate), product);
}

LogicalResult DeviceRecurrent::step() {
  if (failed(multiply()))
    return failure();
  Next next = computeCell();
  return storeStep(next, next.state);
}

LogicalResult DeviceRecurrent::run() {
  if (failed(check()) || failed(setTiling()))
    return failure();
  if (getConstantIntValue(steps).value_or(0) > 0)
    return step();
  // Both branches use these tiles.
  DimRanges ranges{rows(), units()};
  auto initial = e.emit(op.getState(), ranges);
  MaybeTile cell = lastMemory ? e.emit(op.getMemory(), ranges) : initial;
  if (failed(initial) || failed(cell))
    return failure();
  return when(
      is(arith::CmpIPredicate::slt, now, steps), [&] { return step(); },
      [&]() -> LogicalResult {
        // Without steps, the initial states are the results.
        if (failed(e.store(*initial, lastState, ranges)))
          return failure();
        return lastMemory ? e.store(*cell, lastMemory, ranges) : success();
      });
}

LogicalResult adze::emitDeviceRecurrent(KernelEmitter &e, RecurrentOp op) {
  return DeviceRecurrent(e, op).run();
}
