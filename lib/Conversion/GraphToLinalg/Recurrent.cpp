// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Recurrent layers. Each step computes the products with the state, accumulated
// in place along contiguous gates, which LLVM vectorises, and then the cell of
// each unit. States that are multiplied by bytes are quantized first.
#include "KernelLowering.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace adze::graph;

namespace {

/// The steps of one layer.
class Recurrence {
public:
  Recurrence(RecurrentOp op, KernelLowering &k);
  void run();

private:
  Value temporary(ArrayRef<Value> sizes) { return temporary(sizes, type); }
  Value temporary(ArrayRef<Value> sizes, Type element);
  void copyState(Value from, Value to);
  void multiply(Value state, int64_t from, int64_t to);
  void addProducts(Value vector, Value to, int64_t from, int64_t end);
  void computeProducts(Value vector, Value to, int64_t from, int64_t end);
  Value loadWeight(Type element, ValueRange place);
  void quantize(Value vector, Value row);
  void rnn(Value step);
  void gru(Value step);
  void lstm(Value step);

  /// Return, for hidden unit j, its input to gate g, and its product with the
  /// state.
  Value input(Value step, Value row, int64_t gate, Value j) {
    return k.loadWide(gates, {step, row, column(gate, j)});
  }
  Value product(Value row, int64_t gate, Value j) {
    return k.load(sums, {row, column(gate, j)});
  }
  Value column(int64_t gate, Value j) { return k.add(k.mul(hidden, gate), j); }
  Value activate(unsigned i, Value x);
  /// Writes the state of one unit, if the step is valid for the row.
  void finish(Value step, ValueRange at, Value next, Value cell = {});

  RecurrentOp op;
  KernelLowering &k;
  Type type; // type of sums
  Value gates, weights, output, lengths;
  Value steps, batch, hidden;
  Value state, memory; // of all rows, in the type of sums
  Value next;          // of the next step, as others still read this one
  Value sums, scaled;
  Value steps32, rowScales, sums32; // of quantized states
};

Recurrence::Recurrence(RecurrentOp op, KernelLowering &k)
    : op(op), k(k), gates(k.get(op.getGates())),
      weights(k.get(op.getWeights())), output(k.getOutput(op.getOutput())),
      lengths(op.getLengths() ? k.get(op.getLengths()) : Value()) {
  type =
      getAccumulatorType(cast<MemRefType>(output.getType()).getElementType());
  SmallVector<Value> sizes = k.getSizes(op.getOutput());
  steps = sizes[0];
  batch = sizes[1];
  hidden = sizes[2];
  state = temporary({batch, hidden});
  next = temporary({batch, hidden});
  int64_t numGates = RecurrentOp::getNumGates(op.getCell());
  sums = temporary({batch, k.mul(hidden, numGates)});
  if (op.getMemory())
    memory = temporary({batch, hidden});
  if (op.getCell() == RecurrentCell::GRU && !op.getLinearBeforeReset())
    scaled = temporary({batch, hidden});
  if (op.getScales()) {
    Type i32 = k.builder.getI32Type();
    steps32 = temporary({batch, hidden}, i32);
    rowScales = temporary({batch});
    sums32 = temporary({batch, k.mul(hidden, numGates)}, i32);
  }
}

Value Recurrence::temporary(ArrayRef<Value> sizes, Type element) {
  SmallVector<int64_t> shape;
  SmallVector<Value> dynamic;
  for (Value size : sizes) {
    auto constant = getConstantIntValue(size);
    shape.push_back(constant.value_or(ShapedType::kDynamic));
    if (!constant)
      dynamic.push_back(size);
  }
  return memref::AllocOp::create(k.builder, k.loc,
                                 MemRefType::get(shape, element), dynamic,
                                 k.builder.getI64IntegerAttr(64));
}

void Recurrence::copyState(Value from, Value to) {
  k.forEach({batch, hidden},
            [&](ValueRange at) { k.storeWide(k.loadWide(from, at), to, at); });
}

Value Recurrence::loadWeight(Type element, ValueRange place) {
  if (isa<FloatType>(element))
    return k.loadWide(weights, place);
  return arith::ExtSIOp::create(k.builder, k.loc, element,
                                k.load(weights, place));
}

/// As addProducts, in the same order, with the sums of a unit in registers:
/// units are independent.
void Recurrence::computeProducts(Value vector, Value to, int64_t from,
                                 int64_t end) {
  Type element = cast<MemRefType>(to.getType()).getElementType();
  SmallVector<Value> zeros(end - from, k.number(element, 0));
  k.forEach({batch, hidden}, [&](ValueRange at) {
    SmallVector<Value> results = k.fold(
        k.getRanges(hidden), zeros, [&](ValueRange j, ValueRange before) {
          Value x = k.load(vector, {at[0], j[0]});
          SmallVector<Value> next;
          for (auto [i, sum] : llvm::enumerate(before)) {
            Value w = loadWeight(element, {k.index(from + i), j[0], at[1]});
            next.push_back(k.addNum(sum, k.mulNum(x, w)));
          }
          return next;
        });
    for (auto [i, sum] : llvm::enumerate(results))
      k.store(sum, to, {at[0], column(from + i, at[1])});
  });
}

/// Sets gates [from, end) of `to` to the products of a vector, in its type.
void Recurrence::addProducts(Value vector, Value to, int64_t from,
                             int64_t end) {
  Type element = cast<MemRefType>(to.getType()).getElementType();
  if (k.isForDevices())
    return computeProducts(vector, to, from, end);
  k.forEach(batch, [&](ValueRange row) {
    for (int64_t gate = from; gate < end; ++gate)
      k.forEach(hidden, [&](ValueRange unit) {
        k.store(k.number(element, 0), to, {row[0], column(gate, unit[0])});
      });
    k.forEach(hidden, [&](ValueRange j) {
      Value x = k.load(vector, {row[0], j[0]});
      for (int64_t gate = from; gate < end; ++gate)
        k.forEach(hidden, [&](ValueRange unit) {
          SmallVector<Value> at{row[0], column(gate, unit[0])};
          SmallVector<Value> place{k.index(gate), j[0], unit[0]};
          Value w = loadWeight(element, place);
          k.store(k.addNum(k.load(to, at), k.mulNum(x, w)), to, at);
        });
    });
  });
}

/// Quantizes a row as ONNX DynamicQuantizeLinear, to differences from its zero
/// point.
void Recurrence::quantize(Value vector, Value row) {
  auto minimum = [&](Value x, Value y) -> Value {
    return arith::MinimumFOp::create(k.builder, k.loc, x, y);
  };
  auto maximum = [&](Value x, Value y) -> Value {
    return arith::MaximumFOp::create(k.builder, k.loc, x, y);
  };
  auto round = [&](Value x) -> Value {
    return math::RoundEvenOp::create(k.builder, k.loc, x);
  };
  Value none = k.number(type, 0), most = k.number(type, 255);
  SmallVector<Value> range =
      k.fold(k.getRanges(hidden), {none, none},
             [&](ValueRange j, ValueRange found) -> SmallVector<Value> {
               Value x = k.load(vector, {row, j[0]});
               return {minimum(found[0], x), maximum(found[1], x)};
             });
  Value width = k.subNum(range[1], range[0]);
  Value isZero = arith::CmpFOp::create(k.builder, k.loc,
                                       arith::CmpFPredicate::OEQ, width, none);
  Value scale = k.select(isZero, k.number(type, 1), k.divNum(width, most));
  auto limit = [&](Value x) { return minimum(maximum(x, none), most); };
  Value zero = round(limit(k.subNum(none, k.divNum(range[0], scale))));
  k.store(scale, rowScales, row);
  k.forEach(hidden, [&](ValueRange j) {
    SmallVector<Value> at{row, j[0]};
    Value x = round(k.divNum(k.load(vector, at), scale));
    x = k.subNum(limit(k.addNum(x, zero)), zero);
    k.store(
        arith::FPToSIOp::create(k.builder, k.loc, k.builder.getI32Type(), x),
        steps32, at);
  });
}

/// Computes the sums of gates [from, to): state * weights of these gates.
void Recurrence::multiply(Value vector, int64_t from, int64_t to) {
  if (!op.getScales())
    return addProducts(vector, sums, from, to);
  k.forEach(batch, [&](ValueRange row) { quantize(vector, row[0]); });
  addProducts(steps32, sums32, from, to);
  Value scales = k.get(op.getScales());
  k.forEach({batch, hidden}, [&](ValueRange at) {
    for (int64_t gate = from; gate < to; ++gate) {
      SmallVector<Value> place{at[0], column(gate, at[1])};
      Value scale = k.mulNum(k.load(rowScales, at[0]),
                             k.load(scales, {k.index(gate), at[1]}));
      Value sum = arith::SIToFPOp::create(k.builder, k.loc, type,
                                          k.load(sums32, place));
      k.store(k.mulNum(sum, scale), sums, place);
    }
  });
}

Value Recurrence::activate(unsigned i, Value x) {
  ElementBuilder b = k.elements();
  if (double clip = op.getClip().convertToDouble(); clip != 0) {
    x = arith::MinimumFOp::create(k.builder, k.loc, x, k.number(type, clip));
    x = arith::MaximumFOp::create(k.builder, k.loc, x, k.number(type, -clip));
  }
  return op.buildActivation(b, i, x);
}

void Recurrence::finish(Value step, ValueRange at, Value value, Value cell) {
  SmallVector<Value> place = {step, at[0], at[1]};
  Value shown = value;
  if (lengths) {
    Value length = arith::IndexCastOp::create(
        k.builder, k.loc, k.builder.getIndexType(), k.load(lengths, at[0]));
    Value counts = k.compare(arith::CmpIPredicate::slt, step, length);
    shown = k.select(counts, value, k.number(type, 0));
    value = k.select(counts, value, k.load(state, at));
    if (cell)
      cell = k.select(counts, cell, k.load(memory, at));
  }
  k.storeWide(shown, output, place);
  k.store(value, next, at);
  if (cell)
    k.store(cell, memory, at);
}

void Recurrence::rnn(Value step) {
  multiply(state, 0, 1);
  k.forEach({batch, hidden}, [&](ValueRange at) {
    Value sum =
        k.addNum(input(step, at[0], 0, at[1]), product(at[0], 0, at[1]));
    finish(step, at, activate(0, sum));
  });
}

void Recurrence::gru(Value step) {
  bool late = op.getLinearBeforeReset();
  multiply(state, 0, late ? 3 : 2);
  auto gate = [&](int64_t g, ValueRange at) {
    return activate(
        0, k.addNum(input(step, at[0], g, at[1]), product(at[0], g, at[1])));
  };
  if (!late) {
    k.forEach({batch, hidden}, [&](ValueRange at) {
      k.store(k.mulNum(gate(1, at), k.load(state, at)), scaled, at);
    });
    multiply(scaled, 2, 3);
  }
  k.forEach({batch, hidden}, [&](ValueRange at) {
    Value inner = product(at[0], 2, at[1]);
    if (late) {
      if (op.getBias())
        inner = k.addNum(inner, k.loadWide(k.get(op.getBias()), at[1]));
      inner = k.mulNum(gate(1, at), inner);
    }
    Value candidate =
        activate(1, k.addNum(input(step, at[0], 2, at[1]), inner));
    Value update = gate(0, at);
    Value kept = k.mulNum(update, k.load(state, at));
    Value rest = k.subNum(k.number(type, 1), update);
    finish(step, at, k.addNum(k.mulNum(rest, candidate), kept));
  });
}

void Recurrence::lstm(Value step) {
  multiply(state, 0, 4);
  k.forEach({batch, hidden}, [&](ValueRange at) {
    Value cell = k.load(memory, at);
    // Peepholes are in the order i, o, f; gates in the order i, o, f, c.
    auto gate = [&](int64_t g, Value seen) {
      Value sum =
          k.addNum(input(step, at[0], g, at[1]), product(at[0], g, at[1]));
      if (op.getPeephole() && g < 3) {
        Value p = k.loadWide(k.get(op.getPeephole()), column(g, at[1]));
        sum = k.addNum(sum, k.mulNum(p, seen));
      }
      return activate(g == 3 ? 1 : 0, sum);
    };
    Value in = gate(0, cell);
    Value forget =
        op.getInputForget() ? k.subNum(k.number(type, 1), in) : gate(2, cell);
    Value candidate = gate(3, cell);
    Value updated = k.addNum(k.mulNum(forget, cell), k.mulNum(in, candidate));
    Value out = gate(1, updated);
    ElementBuilder b = k.elements();
    finish(step, at, k.mulNum(out, op.buildActivation(b, 2, updated)), updated);
  });
}

void Recurrence::run() {
  copyState(k.get(op.getState()), state);
  if (memory)
    copyState(k.get(op.getMemory()), memory);
  k.forEach(steps, [&](ValueRange i) {
    Value step = op.getReverse() ? k.sub(k.add(steps, -1), i[0]) : i[0];
    switch (op.getCell()) {
    case RecurrentCell::RNN:
      rnn(step);
      break;
    case RecurrentCell::GRU:
      gru(step);
      break;
    case RecurrentCell::LSTM:
      lstm(step);
      break;
    }
    copyState(next, state);
  });
  copyState(state, k.getOutput(op.getLastState()));
  if (memory)
    copyState(memory, k.getOutput(op.getLastMemory()));
}

} // namespace

FamilyResult adze::graph::lowerRecurrent(Operation *op, KernelLowering &k) {
  auto recurrent = dyn_cast<RecurrentOp>(op);
  if (!recurrent)
    return std::nullopt;
  for (Attribute name : recurrent.getActivations()) {
    StringRef mnemonic = cast<StringAttr>(name).getValue();
    auto info = RegisteredOperationName::lookup("graph." + mnemonic.str(),
                                                op->getContext());
    if (mnemonic != "affine" && mnemonic != "scaled_tanh" &&
        (!info || !info->hasInterface<ElementwiseOpInterface>()))
      return recurrent.emitError("expected an activation that is an "
                                 "elementwise op, but got '")
             << mnemonic << "'";
  }
  Recurrence(recurrent, k).run();
  return success();
}
