// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Recurrent layers. Steps run one after the other, each tiled into rows and
// hidden units. A program multiplies the state of its rows, the output of the
// previous step, by the weights of its units for each gate, and computes the
// cell from the sums. Cells and last states are stored in the results from the
// first step on. If one product depends on another (GRU without
// linear_before_reset), a step of the layer is two steps of the grid: between
// them, the result for the last state holds the operand of the second product.
// If weights are bytes, a program first quantizes the states of its rows.
#include "RecurrentMath.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;
using namespace adze;
using namespace adze::graph;

namespace {

class RecurrentEmitter final : public RecurrentMath {
public:
  using RecurrentMath::RecurrentMath;

  LogicalResult run();

private:
  LogicalResult check();
  LogicalResult setTiling();
  LogicalResult begin();
  LogicalResult giveState();
  LogicalResult takeState();
  LogicalResult takeAll(Value from, const DimRanges &ranges, Value to);
  LogicalResult quantizeState();
  LogicalResult multiply(ArrayRef<std::pair<int64_t, Value>> products);
  LogicalResult step();
  LogicalResult resetStep();
  LogicalResult candidateStep();
  LogicalResult keepLastState();
  LogicalResult runSteps();
  LogicalResult runTwofold();

  /// Return the product of a gate for the rows and units of the program.
  Value product(int64_t gate, Value sum, Value memory);
  Value product(int64_t gate, Value sum) { return product(gate, sum, state); }
  Value byteProduct(int64_t gate, Value sum);
  /// Returns the input of a gate plus its product by these states, which
  /// `multiply` may have computed.
  Value sum(int64_t gate, Value memory);
  Value sum(int64_t gate) override { return sum(gate, state); }
  Value ownState() override { return ownUnits(state); }
  Value ownCell() override {
    return own(e.load(lastMemory, {rows(), units()}));
  }
  Value ownLast() override { return own(e.load(lastState, {rows(), units()})); }
  /// Returns the units of the program, of the memory of all units of its rows.
  Value ownUnits(Value memory) {
    return own(e.load(memory, {{e.index(0), M, 1, 1}, units()}));
  }
  DimRanges block() { return {{e.index(0), M, 1, 1}, {e.index(0), N, 1, 1}}; }

  Value state, held;                // of the rows of the program, all units
  SmallVector<Value> sums;          // of its rows and units, for each gate
  Value bytes, rowScales, rowZeros; // the quantized state
};

} // namespace

static RecurrentBlocks chooseBlocks(const KernelEmitter &e, RecurrentOp op) {
  Dims weights = getDims(op.getWeights());
  return chooseRecurrentBlocks(
      e.target, e.getKnownRows(getDims(op.getOutput())[1]),
      getKnown(weights[1]), getKnown(weights[0]),
      getElementTypeOrSelf(op.getWeights()).getIntOrFloatBitWidth() / 8);
}

AffineExpr adze::getGroups(const KernelEmitter &e, RecurrentOp op) {
  RecurrentBlocks blocks = chooseBlocks(e, op);
  return blocks.keepsRows ? getDims(op.getOutput())[1].ceilDiv(blocks.rows)
                          : AffineExpr();
}

LogicalResult RecurrentEmitter::check() {
  if (op.getScales() &&
      hidden % getPackedGroup(e, op.getWeights(), hidden).size != 0)
    return e.fail("weights of bytes have a depth that is not a multiple of the "
                  "group");
  return RecurrentMath::check();
}

/// Computes sizes, axes, blocks and program ids.
LogicalResult RecurrentEmitter::setTiling() {
  Dims dims = getDims(op.getOutput());
  steps = e.size(dims[0]);
  Value batch = e.size(dims[1]);
  if (!steps || !batch)
    return failure();
  RecurrentBlocks blocks = chooseBlocks(e, op);
  // The groups of rows of a launch are no parameter.
  Value blockM =
      blocks.keepsRows ? e.index(blocks.rows) : e.param("BLOCK_M", blocks.rows);
  Value blockN = e.param("BLOCK_N", blocks.units);
  e.setAxis(M, blockM);
  e.setAxis(K, e.index(hidden));
  e.setAxis(N, blockN);
  PackedGroup group = getPackedGroup(e, op.getWeights(), hidden);
  group.depth = group.size;
  e.pack(op.getWeights(), getPanelMap(op.getContext(), 3, /*transposed=*/false,
                                      blocks.panel, group));
  Value most = e.max(e.size(getTurns(op)), e.index(1));
  SmallVector<Value> counts{e.ceilDiv(batch, blockM),
                            e.ceilDiv(e.index(hidden), blockN), most};
  if (blocks.keepsRows) // programs of one group are adjacent
    std::swap(counts[0], counts[1]);
  SmallVector<Value> ids = e.programIds(counts);
  if (blocks.keepsRows)
    std::swap(ids[0], ids[1]);
  if (getConstantIntValue(most) != 1)
    e.getKernel().getProgramId().setOrdered(true);
  row = e.mul(ids[0], blockM);
  unit = e.mul(ids[1], blockN);
  setTurn(ids[2]);
  state = e.scratch({blockM, e.index(hidden)}, type);
  if (isTwofold())
    held = e.scratch({blockM, e.index(hidden)}, type);
  if (op.getScales()) {
    bytes = e.scratch({blockM, e.index(hidden)}, b.getI8Type());
    rowScales = e.scratch({blockM}, type);
    rowZeros = e.scratch({blockM}, b.getI32Type());
  }
  int64_t gates = getKnown(getDims(op.getWeights())[0]);
  for (int64_t gate = 0; gates > 1 && gate < gates; ++gate)
    sums.push_back(e.scratch({blockM, blockN}, type));
  return success();
}

LogicalResult RecurrentEmitter::giveState() {
  return e.phase([&]() -> LogicalResult {
    auto tile = e.emit(op.getState(), {rows(), all()});
    return failed(tile) ? failure()
                        : e.store(*tile, state, {{e.index(0), M, 1, 1}, all()});
  });
}

/// Copies the given states to the results, where the first step reads them;
/// they are the results if there are no steps.
LogicalResult RecurrentEmitter::begin() {
  auto copy = [&](Value from, Value to) {
    return e.phase([&]() -> LogicalResult {
      DimRanges ranges{rows(), units()};
      auto tile = e.emit(from, ranges);
      return failed(tile) ? failure() : e.store(*tile, to, ranges);
    });
  };
  if (failed(copy(op.getState(), lastState)) ||
      (lastMemory && failed(copy(op.getMemory(), lastMemory))))
    return failure();
  return giveState();
}

/// Loads all units of the rows of the program, which other programs stored in a
/// previous step.
LogicalResult RecurrentEmitter::takeAll(Value from, const DimRanges &ranges,
                                        Value to) {
  return e.phase([&]() -> LogicalResult {
    auto tile = e.load(from, ranges);
    return failed(tile) ? failure()
                        : e.store(*tile, to, {{e.index(0), M, 1, 1}, all()});
  });
}

/// All later steps use the results of the previous step.
LogicalResult RecurrentEmitter::takeState() {
  return takeAll(output, {at(before), rows(), all()}, state);
}

LogicalResult RecurrentEmitter::quantizeState() {
  return e.phase([&]() -> LogicalResult {
    DimRange rows{e.index(0), M, 1, 1};
    auto tile = e.load(state, {rows, all()});
    if (failed(tile))
      return failure();
    QuantizedRows quantized = quantizeRows(e, *tile);
    return success(succeeded(e.store(quantized.scales, rowScales, {rows})) &&
                   succeeded(e.store(quantized.zeros, rowZeros, {rows})) &&
                   succeeded(e.store(quantized.bytes, bytes, {rows, all()})));
  });
}

/// Computes (sum of the products of bytes - zero point * sum of weights) *
/// scales.
Value RecurrentEmitter::byteProduct(int64_t gate, Value sum) {
  DimRange rows{e.index(0), M, 1, 1};
  auto left = e.load(bytes, {rows, all()});
  auto right =
      e.emitOn(op.getWeights(), {at(e.index(gate)), all(), units()}, {K, N});
  auto ofUnits = [&](Value vector) {
    return own(e.emit(vector, {at(e.index(gate)), units()}));
  };
  if (failed(left) || failed(right) || !sum) {
    isRefused = true;
    return {};
  }
  Value exact =
      createDot(e, left->value, *right,
                e.constant(b.getI32IntegerAttr(0), {M, N}), getByteProduct(b));
  Value zeros = own(e.load(rowZeros, {rows})),
        weightSums = ofUnits(op.getWeightSums()),
        scale = times(own(e.load(rowScales, {rows})), ofUnits(op.getScales()));
  if (isRefused)
    return {};
  exact = make<arith::SubIOp>(exact, make<arith::MulIOp>(zeros, weightSums));
  Value number =
      arith::SIToFPOp::create(b, loc, e.tileType({M, N}, type), exact);
  return plus(sum, times(number, scale));
}

Value RecurrentEmitter::product(int64_t gate, Value sum, Value memory) {
  if (op.getScales())
    return byteProduct(gate, sum);
  auto left = e.load(memory, {{e.index(0), M, 1, 1}, all()});
  auto right =
      e.emitOn(op.getWeights(), {at(e.index(gate)), all(), units()}, {K, N});
  if (failed(left) || failed(right) || !sum) {
    isRefused = true;
    return {};
  }
  return createDot(e, left->value, *right, sum);
}

Value RecurrentEmitter::sum(int64_t gate, Value memory) {
  if (!sums.empty())
    return own(e.load(sums[gate], block()));
  // The reset gate applies to the product of a candidate, but not to its input.
  bool isReset = op.getCell() == RecurrentCell::GRU && !isTwofold();
  return product(gate, isReset && gate == 2 ? zeros() : input(gate), memory);
}

/// Computes the products of gates with these states one after the other into
/// memory. If sums were kept in registers across gates, the loops of later
/// gates would have fewer of them.
LogicalResult
RecurrentEmitter::multiply(ArrayRef<std::pair<int64_t, Value>> products) {
  SmallVector<Value> targets = std::exchange(sums, {});
  for (const std::pair<int64_t, Value> &pair : products) {
    auto run = [&]() -> LogicalResult {
      e.setSummed(K);
      Value all = sum(pair.first, pair.second);
      return isRefused
                 ? failure()
                 : e.store({all, Axes{M, N}}, targets[pair.first], block());
    };
    if (!targets.empty() && failed(e.phase(run)))
      return failure();
  }
  sums = targets;
  return success();
}

LogicalResult RecurrentEmitter::step() {
  if (op.getScales() && failed(quantizeState()))
    return failure();
  SmallVector<std::pair<int64_t, Value>> products;
  for (int64_t gate = 0, end = sums.size(); gate < end; ++gate)
    if (gate != 2 || !op.getInputForget())
      products.push_back({gate, state});
  if (failed(multiply(products)))
    return failure();
  return e.phase([&]() -> LogicalResult {
    if (sums.empty())
      e.setSummed(K);
    return finish(computeCell());
  });
}

/// Stores the state after the reset gate, the operand of the second product:
/// all units, in the memory of the last state.
LogicalResult RecurrentEmitter::resetStep() {
  return e.phase([&]() -> LogicalResult {
    e.setSummed(K);
    Value reset = activate(0, product(1, input(1)));
    Value left = times(reset, ownState());
    return isRefused
               ? failure()
               : e.store({left, Axes{M, N}}, lastState, {rows(), units()});
  });
}

LogicalResult RecurrentEmitter::candidateStep() {
  if (failed(takeAll(lastState, {rows(), all()}, held)))
    return failure();
  if (failed(multiply({{0, state}, {2, held}})))
    return failure();
  return e.phase([&]() -> LogicalResult {
    if (sums.empty())
      e.setSummed(K);
    Value update = activate(0, sum(0)), candidate = activate(1, sum(2, held));
    Value next = mixed(update, candidate);
    return isRefused ? failure()
                     : e.store({next, Axes{M, N}}, output,
                               {at(position), rows(), units()});
  });
}

LogicalResult RecurrentEmitter::keepLastState() {
  DimRanges ranges{rows(), units()};
  auto keep = [&](function_ref<MaybeTile()> from) {
    return e.phase([&]() -> LogicalResult {
      auto tile = from();
      return failed(tile) ? failure() : e.store(*tile, lastState, ranges);
    });
  };
  auto take = [&] {
    return keep(
        [&] { return e.load(output, {at(lastPosition), rows(), units()}); });
  };
  if (getConstantIntValue(steps).value_or(0) > 0)
    return take();
  return when(is(arith::CmpIPredicate::sgt, steps, e.index(0)), take, [&] {
    return keep([&] { return e.emit(op.getState(), ranges); });
  });
}

LogicalResult RecurrentEmitter::runTwofold() {
  return when(
      isOver(), [&] { return keepLastState(); },
      [&]() -> LogicalResult {
        Value isFirst = is(arith::CmpIPredicate::eq, now, e.index(0));
        Value half = getHalf();
        if (failed(when(
                isFirst, [&] { return giveState(); },
                [&] { return takeState(); })))
          return failure();
        return when(
            is(arith::CmpIPredicate::eq, half, e.index(0)),
            [&] { return resetStep(); }, [&] { return candidateStep(); });
      });
}

/// If the number of rows is dynamic, a single row is computed separately at run
/// time; otherwise a program computes the rows that exist.
LogicalResult RecurrentEmitter::run() {
  if (failed(check()) || failed(setTiling()))
    return failure();
  if (e.getKnownRows(getDims(op.getOutput())[1]) >= 0)
    return runSteps();
  Value rows = e.size(op.getOutput(), 1), block = e.getAxisSize(M);
  return when(
      is(arith::CmpIPredicate::eq, rows, e.index(1)),
      [&] {
        llvm::SaveAndRestore first(row, e.index(0));
        e.setAxis(M, e.index(1));
        return runSteps();
      },
      [&] {
        e.setAxis(M, block);
        sums.clear();
        return runSteps();
      });
}

LogicalResult RecurrentEmitter::runSteps() {
  if (isTwofold())
    return runTwofold();
  Value isFirst = is(arith::CmpIPredicate::eq, now, e.index(0));
  if (failed(
          when(isFirst, [&] { return begin(); }, [&] { return takeState(); })))
    return failure();
  if (getConstantIntValue(steps).value_or(0) > 0)
    return step();
  return when(is(arith::CmpIPredicate::slt, now, steps),
              [&] { return step(); });
}

LogicalResult adze::emitRecurrent(KernelEmitter &e, RecurrentOp op,
                                  Tiling tiling) {
  if (tiling != Tiling::Dims)
    return e.fail("a recurrent layer has a tiling by dims only");
  return e.gpu ? emitDeviceRecurrent(e, op) : RecurrentEmitter(e, op).run();
}
