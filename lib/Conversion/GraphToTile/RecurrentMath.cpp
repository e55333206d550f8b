// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The cells of recurrent layers.
#include "RecurrentMath.h"
#include "TileElementBuilder.h"

using namespace mlir;
using namespace adze;
using namespace adze::graph;

RecurrentMath::RecurrentMath(KernelEmitter &e, RecurrentOp op)
    : e(e), op(op), b(e.builder()), loc(e.loc()),
      type(getSignlessType(getElementTypeOrSelf(op.getOutput()))),
      hidden(getKnown(getDims(op.getWeights())[1])) {}

/// Returns true if all elements are known to be 0.
static bool isZero(Value value) {
  while (auto broadcast = value.getDefiningOp<BroadcastToOp>())
    value = broadcast.getInput();
  return matchPattern(value, m_AnyZeroFloat());
}

static bool isTwofoldLayer(RecurrentOp op) {
  return op.getCell() == RecurrentCell::GRU && !op.getLinearBeforeReset();
}

bool RecurrentMath::isTwofold() const { return isTwofoldLayer(op); }

AffineExpr adze::getTurns(RecurrentOp op) {
  AffineExpr steps = getDims(op.getOutput())[0];
  return steps && isTwofoldLayer(op) ? steps * 2 + 1 : steps;
}

LogicalResult RecurrentMath::check() {
  if (type != getAccumulatorType(type))
    return e.fail("the state requires a wider type than its own");
  if (isTwofold() && op.getLengths())
    return e.fail(
        "rows of several lengths run steps of two dependent products");
  // The first step of a row that begins late requires zeros before it.
  if (op.getLengths() && op.getReverse() && !isZero(op.getState()))
    return e.fail(
        "rows of several lengths run in reverse from an initial state");
  if (op.getScales() && isTwofold())
    return e.fail("weights of bytes are in steps of two dependent products");
  auto memoryOf = [&](Value result) -> Value {
    for (auto [i, made] : llvm::enumerate(e.getOutputs()))
      if (made == result)
        return e.getOutputMemory(i);
    return {};
  };
  output = memoryOf(op.getOutput());
  lastState = memoryOf(op.getLastState());
  lastMemory = op.getLastMemory() ? memoryOf(op.getLastMemory()) : Value();
  if (hidden < 1 || !output || !lastState ||
      bool(lastMemory) != bool(op.getLastMemory()))
    return e.fail("the states are not stored, or have a dynamic size");
  return success();
}

void RecurrentMath::setTurn(Value number) {
  turn = now = number;
  Value last = e.sub(steps, e.index(1));
  lastPosition = op.getReverse() ? e.index(0) : last;
  if (isTwofold())
    now = e.min(e.div(turn, e.index(2)), e.max(last, e.index(0)));
  position = op.getReverse() ? e.sub(last, now) : now;
  before = op.getReverse() ? e.min(e.add(position, e.index(1)), last)
                           : e.max(e.sub(now, e.index(1)), e.index(0));
}

Value RecurrentMath::isOver() {
  return is(arith::CmpIPredicate::sge, turn, e.mul(steps, e.index(2)));
}

LogicalResult RecurrentMath::when(Value condition,
                                  function_ref<LogicalResult()> body,
                                  function_ref<LogicalResult()> otherwise) {
  auto branch = scf::IfOp::create(b, loc, condition, bool(otherwise));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(branch.thenYield());
  if (failed(body()))
    return failure();
  if (!otherwise)
    return success();
  b.setInsertionPoint(branch.elseYield());
  return otherwise();
}

Value RecurrentMath::own(MaybeTile tile) {
  if (failed(tile)) {
    isRefused = true;
    return {};
  }
  return e.broadcast(*tile, {M, N});
}

Value RecurrentMath::input(int64_t gate) {
  return own(e.emit(op.getGates(), {at(position), rows(), units(gate)}));
}

Value RecurrentMath::parameter(Value vector, int64_t gate) {
  return own(e.emit(vector, {units(gate)}));
}

Value RecurrentMath::activate(unsigned i, Value x) {
  if (!x)
    return {};
  if (double clip = op.getClip().convertToDouble(); clip != 0) {
    x = arith::MinimumFOp::create(b, loc, x, number(clip));
    x = arith::MaximumFOp::create(b, loc, x, number(-clip));
  }
  TileElementBuilder builder(e, {M, N});
  x = op.buildActivation(builder, i, x);
  isRefused |= !x;
  return x;
}

RecurrentMath::Next RecurrentMath::computeCell() {
  switch (op.getCell()) {
  case RecurrentCell::RNN:
    return {activate(0, sum(0)), {}};
  case RecurrentCell::GRU:
    return {gru(), {}};
  case RecurrentCell::LSTM:
    return lstm();
  }
  return {};
}

Value RecurrentMath::gru() {
  Value update = activate(0, sum(0));
  Value reset = activate(0, sum(1));
  Value inner = sum(2);
  if (op.getBias())
    inner = plus(inner, parameter(op.getBias(), 0));
  Value candidate = activate(1, plus(input(2), times(reset, inner)));
  return mixed(update, candidate);
}

Value RecurrentMath::mixed(Value update, Value candidate) {
  Value kept = times(update, ownState());
  return plus(times(minus(number(1.0), update), candidate), kept);
}

/// Gates are in the order i, o, f, c; peepholes in the order i, o, f.
RecurrentMath::Next RecurrentMath::lstm() {
  Value cell = ownCell();
  auto gate = [&](int64_t g, Value sum, Value seen) {
    if (op.getPeephole() && g < 3)
      sum = plus(sum, times(parameter(op.getPeephole(), g), seen));
    return activate(g == 3 ? 1 : 0, sum);
  };
  Value in = sum(0), out = sum(1), candidate = sum(3);
  Value forget = op.getInputForget() ? Value() : sum(2);
  in = gate(0, in, cell);
  forget = op.getInputForget() ? minus(number(1.0), in) : gate(2, forget, cell);
  candidate = gate(3, candidate, cell);
  Value updated = plus(times(forget, cell), times(in, candidate));
  out = gate(1, out, updated);
  TileElementBuilder builder(e, {M, N});
  Value shown = isRefused ? Value() : op.buildActivation(builder, 2, updated);
  isRefused |= !shown;
  return {times(out, shown), updated};
}

LogicalResult RecurrentMath::storeStep(const Next &next, Value shown) {
  Axes axes{M, N};
  DimRanges ranges{rows(), units()};
  if (isRefused ||
      failed(e.store({shown, axes}, output, {at(position), rows(), units()})) ||
      failed(e.store({next.state, axes}, lastState, ranges)))
    return failure();
  return next.cell ? e.store({next.cell, axes}, lastMemory, ranges) : success();
}

LogicalResult RecurrentMath::finish(const Next &next) {
  if (!op.getLengths() || isRefused)
    return storeStep(next, next.state);
  auto lengths = e.emit(op.getLengths(), {rows()});
  if (failed(lengths))
    return failure();
  Type number = getElementTypeOrSelf(lengths->value.getType());
  Value self = arith::IndexCastOp::create(b, loc, number, position);
  Value counts = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt,
                                       e.broadcast({self, {}}, {M, N}),
                                       e.broadcast(*lengths, {M, N}));
  auto keep = [&](Value x, Value old) -> Value {
    return isRefused ? old : arith::SelectOp::create(b, loc, counts, x, old);
  };
  Value shown = arith::SelectOp::create(b, loc, counts, next.state, zeros());
  Next kept{keep(next.state, ownLast()), {}};
  if (next.cell)
    kept.cell = keep(next.cell, ownCell());
  return storeStep(kept, shown);
}
