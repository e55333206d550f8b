// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Recurrent layers for GPUs. A program computes some units of some rows in one
// step. It reads the states of the previous step from the results, so programs
// of the same rows are a group. One product computes the sums of all gates, as
// a step takes as long as its operands are loaded. If one product depends on
// another (GRU without linear_before_reset), a step of the layer is two steps
// of the grid: the first one stores the operand of the second product in the
// result for the last state, and the update gate in the output of the step.
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
  LogicalResult setTiling();
  /// Returns `initial` in the first step, and `previous` in later ones.
  Value choose(MaybeTile initial, MaybeTile previous, ArrayRef<int> axes);
  LogicalResult step();
  LogicalResult resetStep();
  LogicalResult candidateStep();
  LogicalResult keepLastState();
  LogicalResult runTwofold();
  /// Computes the products of states (axes M and K) by the weights of `count`
  /// gates from `first` on.
  LogicalResult multiply(Value states, int64_t first, int64_t count);
  Value multiplyBytes(Value states, Value weights, int64_t first);
  Value reshape(Value tile, ArrayRef<int> axes);
  /// Return the states of the rows, of all units, and their product for a gate.
  Value allStates() {
    return choose(e.emit(op.getState(), {rows(), all()}), loadPrevious(all()),
                  {M, K});
  }
  Value product(int64_t gate);
  /// Loads the inputs of gates, and the cell of the previous step, before the
  /// product, so that it overlaps with them.
  void fetch(ArrayRef<int64_t> gates);
  Value input(int64_t gate) override {
    Value fetched = inputs.lookup(gate);
    return fetched ? fetched : RecurrentMath::input(gate);
  }

  Value sum(int64_t gate) override;
  Value ownState() override {
    return choose(e.emit(op.getState(), {rows(), units()}),
                  loadPrevious(units()), {M, N});
  }
  Value ownCell() override {
    if (cell)
      return cell;
    DimRanges ranges{rows(), units()};
    return choose(e.emit(op.getMemory(), ranges), e.load(lastMemory, ranges),
                  {M, N});
  }
  Value ownLast() override {
    DimRanges ranges{rows(), units()};
    return choose(e.emit(op.getState(), ranges), e.load(lastState, ranges),
                  {M, N});
  }

  /// Loads what programs stored in earlier steps only.
  MaybeTile loadEarlier(Value memory, const DimRanges &ranges);
  /// Returns a part of the outputs of the previous step.
  MaybeTile loadPrevious(DimRange columns) {
    return loadEarlier(output, {at(before), rows(), columns});
  }

  const Axes apart{M, N, Gate};
  llvm::SmallDenseMap<int64_t, Value> inputs; // of gates
  Value cell;
  Value products;        // of the states and the weights of gates
  int64_t firstGate = 0; // of the products
};

} // namespace

MaybeTile DeviceRecurrent::loadEarlier(Value memory, const DimRanges &ranges) {
  auto tile = e.load(memory, ranges);
  if (succeeded(tile))
    tile->value.getDefiningOp()->setAttr(tile::kEarlierAttribute,
                                         b.getUnitAttr());
  return tile;
}

namespace {
/// The rows and units of a program.
struct DeviceBlocks {
  int64_t rows = 16, units = 16;
};
} // namespace

/// A cluster of blocks computes all steps of its rows if a program then reads
/// few bytes of weights. Few rows make many clusters, whose products are short;
/// more than half of the multiprocessors may not have room for one more. An
/// unknown number of rows is negative.
static DeviceBlocks chooseBlocks(int64_t rows, int64_t hidden,
                                 int64_t bytesOfUnit,
                                 tile::CudaTargetAttr target) {
  constexpr int64_t usualBytes = 256 << 10, usualRows = 4;
  int64_t mostBytes = std::min(usualBytes, 2 * target.getSharedBytes());
  DeviceBlocks blocks;
  int64_t units = std::max<int64_t>(
      blocks.units, llvm::PowerOf2Ceil(llvm::divideCeil(
                        hidden, target.getMostClusterBlocks())));
  if (units * bytesOfUnit > mostBytes)
    return blocks;
  int64_t clusters =
      target.getMultiprocessors() / 2 / llvm::divideCeil(hidden, units);
  int64_t least = rows < 0 ? usualRows : llvm::divideCeil(rows, clusters);
  return {std::min<int64_t>(blocks.rows, llvm::PowerOf2Ceil(least)), units};
}

LogicalResult DeviceRecurrent::setTiling() {
  Dims dims = getDims(op.getOutput());
  steps = e.size(dims[0]);
  Value batch = e.size(dims[1]);
  if (!steps || !batch)
    return failure();
  int64_t ofUnit =
      getKnown(getDims(op.getWeights())[0]) * hidden *
      getElementTypeOrSelf(op.getWeights()).getIntOrFloatBitWidth() / 8;
  int64_t known = getKnown(dims[1]);
  DeviceBlocks blocks = chooseBlocks(known, hidden, ofUnit, e.gpu);
  Value blockM = e.param("BLOCK_M", chooseBlock(known, blocks.rows));
  Value blockN = e.param("BLOCK_N", chooseBlock(hidden, blocks.units));
  e.setAxis(M, blockM);
  e.setAxis(K, e.index(hidden));
  e.setAxis(N, blockN);
  Value most = e.max(e.size(getTurns(op)), e.index(1));
  SmallVector<Value> ids = e.programIds(
      {e.ceilDiv(e.index(hidden), blockN), e.ceilDiv(batch, blockM), most});
  if (getConstantIntValue(most) != 1) {
    e.getKernel().getProgramId().setOrdered(true);
    e.getKernel().getProgramId().setGrouped(true);
  }
  unit = e.mul(ids[0], blockN);
  row = e.mul(ids[1], blockM);
  setTurn(ids[2]);
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
  RankedTensorType result =
      e.tileType(axes, getElementTypeOrSelf(tile.getType()));
  SmallVector<Value> sizes;
  for (auto [axis, size] : llvm::zip_equal(axes, result.getShape()))
    if (ShapedType::isDynamic(size))
      sizes.push_back(e.getAxisSize(axis));
  return tile::ReshapeOp::create(b, loc, result, tile, sizes,
                                 result.getShape());
}

/// Computes (sums of the products of bytes - zero point * sum of weights) *
/// scales.
Value DeviceRecurrent::multiplyBytes(Value states, Value weights,
                                     int64_t first) {
  QuantizedRows quantized = quantizeRows(e, {states, {M, K}});
  Value sums =
      reshape(createDot(e, quantized.bytes.value, weights,
                        e.constant(b.getI32IntegerAttr(0), {M, Column}),
                        getByteProduct(b)),
              apart);
  DimRanges ofGates{{e.index(first), Gate, 1, 1}, units()};
  auto weightSums = e.emit(op.getWeightSums(), ofGates),
       scales = e.emit(op.getScales(), ofGates);
  if (failed(weightSums) || failed(scales)) {
    isRefused = true;
    return {};
  }
  Value zeros = e.broadcast(quantized.zeros, apart);
  sums = make<arith::SubIOp>(
      sums, make<arith::MulIOp>(zeros, e.broadcast(*weightSums, apart)));
  Value number = arith::SIToFPOp::create(b, loc, e.tileType(apart, type), sums);
  return times(number, times(e.broadcast(quantized.scales, apart),
                             e.broadcast(*scales, apart)));
}

LogicalResult DeviceRecurrent::multiply(Value states, int64_t first,
                                        int64_t count) {
  e.setSummed(K);
  firstGate = first;
  e.setAxis(Gate, e.index(count));
  e.setAxis(Column, e.mul(e.index(count), e.getAxisSize(N)));
  auto weights =
      e.emitOn(op.getWeights(), {{e.index(first), Gate, 1, 1}, all(), units()},
               {K, N, Gate});
  if (isRefused || failed(weights))
    return failure();
  Value columns = reshape(*weights, {K, Column});
  if (op.getScales()) {
    products = multiplyBytes(states, columns, first);
    return success(!isRefused);
  }
  Value zero = e.constant(b.getFloatAttr(type, 0.0), {M, Column});
  products = reshape(createDot(e, states, columns, zero), apart);
  return success();
}

Value DeviceRecurrent::product(int64_t gate) {
  Type i32 = b.getI32Type();
  Value own = arith::CmpIOp::create(
      b, loc, arith::CmpIPredicate::eq,
      e.broadcast(e.emitPositions(Gate, i32), apart),
      e.constant(b.getI32IntegerAttr(gate - firstGate), apart));
  Value kept = arith::SelectOp::create(
      b, loc, own, products, e.constant(b.getFloatAttr(type, 0.0), apart));
  return e.reduce(Combiner::Add, type, {kept, apart}, Gate).value;
}

Value DeviceRecurrent::sum(int64_t gate) {
  // The reset gate applies to the product of a candidate, but not to its input.
  bool isReset =
      op.getCell() == RecurrentCell::GRU && !isTwofold() && gate == 2;
  return isReset ? product(gate) : plus(input(gate), product(gate));
}

void DeviceRecurrent::fetch(ArrayRef<int64_t> gates) {
  inputs.clear();
  for (int64_t gate : gates)
    inputs[gate] = RecurrentMath::input(gate);
  if (op.getMemory())
    cell = ownCell();
}

LogicalResult DeviceRecurrent::step() {
  int64_t gates = getKnown(getDims(op.getWeights())[0]);
  fetch(llvm::to_vector(llvm::seq<int64_t>(gates)));
  if (failed(multiply(allStates(), 0, gates)))
    return failure();
  return finish(computeCell());
}

LogicalResult DeviceRecurrent::resetStep() {
  constexpr int64_t gates = 2;
  fetch({0, 1});
  if (failed(multiply(allStates(), 0, gates)))
    return failure();
  Value update = activate(0, sum(0));
  Value left = times(activate(0, sum(1)), ownState());
  return success(
      !isRefused &&
      succeeded(e.store({left, Axes{M, N}}, lastState, {rows(), units()})) &&
      succeeded(e.store({update, Axes{M, N}}, output,
                        {at(position), rows(), units()})));
}

LogicalResult DeviceRecurrent::candidateStep() {
  constexpr int64_t gate = 2;
  DimRanges place{at(position), rows(), units()};
  fetch({gate});
  Value update = own(e.load(output, place));
  auto left = loadEarlier(lastState, {rows(), all()});
  if (failed(left) || failed(multiply(e.broadcast(*left, {M, K}), gate, 1)))
    return failure();
  Value next = mixed(update, activate(1, sum(gate)));
  return isRefused ? failure() : e.store({next, Axes{M, N}}, output, place);
}

/// Copies the states of the last step to the result.
LogicalResult DeviceRecurrent::keepLastState() {
  DimRanges ranges{rows(), units()};
  auto keep = [&](MaybeTile tile) {
    return failed(tile) ? failure() : e.store(*tile, lastState, ranges);
  };
  auto take = [&] {
    return keep(loadEarlier(output, {at(lastPosition), rows(), units()}));
  };
  if (getConstantIntValue(steps).value_or(0) > 0)
    return take();
  return when(is(arith::CmpIPredicate::sgt, steps, e.index(0)), take,
              [&] { return keep(e.emit(op.getState(), ranges)); });
}

LogicalResult DeviceRecurrent::runTwofold() {
  if (failed(e.emit(op.getState(), {rows(), units()}))) // all branches use it
    return failure();
  return when(
      isOver(), [&] { return keepLastState(); },
      [&] {
        return when(
            is(arith::CmpIPredicate::eq, getHalf(), e.index(0)),
            [&] { return resetStep(); }, [&] { return candidateStep(); });
      });
}

LogicalResult DeviceRecurrent::run() {
  if (failed(check()) || failed(setTiling()))
    return failure();
  if (isTwofold())
    return runTwofold();
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
