// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// RNN, GRU, LSTM and DynamicQuantizeLSTM of com.microsoft: one product for the
// inputs of all steps, and one op for the steps of each direction.
#include "../IndexRange.h"
#include "../OpTable.h"
#include "Arithmetic.h"
#include "Quantization.h"

using namespace adze;
using namespace adze::importer;
using graph::RecurrentCell;
using mlir::AffineExpr;
using mlir::LogicalResult;
using mlir::Value;

namespace {

/// The ONNX name, the mnemonic of the op, and the defaults of ONNX.
struct Activation {
  const char *onnx, *name;
  double alpha, beta;
};
constexpr Activation kActivations[] = {
    {"affine", "affine", 1.0, 0.0},
    {"elu", "elu", 1.0, 0.0},
    {"hardsigmoid", "hard_sigmoid", double(0.2f), 0.5},
    {"leakyrelu", "leaky_relu", double(0.01f), 0.0},
    {"relu", "relu", 0.0, 0.0},
    {"scaledtanh", "scaled_tanh", 1.0, 1.0},
    {"sigmoid", "sigmoid", 0.0, 0.0},
    {"softplus", "softplus", 0.0, 0.0},
    {"softsign", "softsign", 0.0, 0.0},
    {"tanh", "tanh", 0.0, 0.0},
    {"thresholdedrelu", "thresholded_relu", 1.0, 0.0},
};

class Layer {
public:
  Layer(Binder &b, RecurrentCell cell, bool isQuantized = false)
      : b(b), a(b), cell(cell), isQuantized(isQuantized) {}
  LogicalResult run();

private:
  LogicalResult readActivations(int64_t directions);
  /// Returns the part of direction `d` of an operand [directions, ..].
  Value pick(Value operand, int64_t d) {
    if (!operand)
      return {};
    Dims dims = graph::getDims(operand);
    dims.erase(dims.begin());
    return b.reshape(b.slice(operand, 0, d, b.expr(1)), dims);
  }
  /// The weights of the state in one direction, [G, H, H], and for bytes their
  /// scales and sums.
  struct Weights {
    Value values, scales = {}, sums = {};
  };
  Weights getWeights(int64_t d);
  Weights getQuantizedWeights(int64_t d);
  Value multiplyInput(int64_t d);
  Value getGates(int64_t d, Value &inner);
  Value getInitial(unsigned i, int64_t d);
  LogicalResult addDirection(int64_t d, bool reverse);

  Binder &b;
  Arithmetic a;
  RecurrentCell cell;
  /// True if weights are bytes with a sum for each column, and operands 8 to 11
  /// are the scales and zero points of W and R.
  bool isQuantized;
  bool batchFirst = false;
  int64_t hidden = 0;
  LogicalResult refineOperands(int64_t directions);

  Value input; // [T, B, I]
  DynamicBytes inputBytes;
  /// Operands 0 to 7, with the dims that the attributes determine.
  llvm::SmallVector<Value> operands;
  llvm::SmallVector<mlir::Attribute> activations;
  llvm::SmallVector<double> alphas, betas;
  llvm::SmallVector<Value> outputs, states, memories; // one for each direction
};

LogicalResult Layer::readActivations(int64_t directions) {
  llvm::SmallVector<std::string> names;
  if (const Attribute *given = b.node.find("activations");
      given && !given->strings.empty())
    names.assign(given->strings.begin(), given->strings.end());
  else
    for (int64_t d = 0; d < directions; ++d)
      switch (cell) {
      case RecurrentCell::RNN:
        names.push_back("Tanh");
        break;
      case RecurrentCell::GRU:
        names.append({"Sigmoid", "Tanh"});
        break;
      case RecurrentCell::LSTM:
        names.append({"Sigmoid", "Tanh", "Tanh"});
        break;
      }
  int64_t each = cell == RecurrentCell::RNN   ? 1
                 : cell == RecurrentCell::GRU ? 2
                                              : 3;
  if (int64_t(names.size()) != each * directions)
    return b.fail("expected " + llvm::Twine(each * directions) +
                  " activations, but got " + llvm::Twine(names.size()));
  // Given values are assigned to the activations that have parameters, in
  // order.
  auto numbers = [&](llvm::StringRef name) {
    const Attribute *given = b.node.find(name);
    return given ? llvm::ArrayRef<double>(given->floats)
                 : llvm::ArrayRef<double>();
  };
  llvm::ArrayRef<double> givenAlphas = numbers("activation_alpha"),
                         givenBetas = numbers("activation_beta");
  auto take = [](llvm::ArrayRef<double> &given, double otherwise) {
    if (given.empty())
      return otherwise;
    double value = given.front();
    given = given.drop_front();
    return value;
  };
  for (const std::string &name : names) {
    const auto *found = llvm::find_if(kActivations, [&](const Activation &x) {
      return llvm::StringRef(name).equals_insensitive(x.onnx);
    });
    if (found == std::end(kActivations))
      return b.fail("expected an activation of ONNX, but got '" + name + "'");
    bool hasBeta =
        found->beta != 0.0 || llvm::StringRef(found->name) == "affine";
    bool hasAlpha = hasBeta || found->alpha != 0.0;
    activations.push_back(b.builder.getStringAttr(found->name));
    alphas.push_back(hasAlpha ? take(givenAlphas, found->alpha) : 0.0);
    betas.push_back(hasBeta ? take(givenBetas, found->beta) : 0.0);
  }
  return mlir::success();
}

/// Multiplies the inputs of all steps by W.
Value Layer::multiplyInput(int64_t d) {
  Value weights = pick(operands[1], d);
  if (!isQuantized)
    return a.matmul(input, weights, /*transposeY=*/true);
  Value sum = buildIntegerMatmul(b, inputBytes.values, inputBytes.zero, weights,
                                 pick(b.operand(9), d));
  Value scale = a.mul(inputBytes.scale, pick(b.operand(8), d));
  return a.mul(b.cast(sum, b.builder.getF32Type()), scale);
}

/// Computes x * W' + all biases outside of products with the state; `inner` is
/// set to the one inside, [H], of a GRU with linear_before_reset.
Value Layer::getGates(int64_t d, Value &inner) {
  Value gates = multiplyInput(d);
  Value biases = pick(operands[3], d);
  if (!biases || !gates)
    return gates;
  int64_t numGates = graph::RecurrentOp::getNumGates(cell);
  mlir::AffineExpr all = b.expr(numGates * hidden);
  Value outer = b.slice(biases, 0, 0, all);
  Value recurrent = b.slice(biases, 0, numGates * hidden, all);
  if (cell == RecurrentCell::GRU && b.getInt("linear_before_reset", 0) != 0) {
    inner = b.slice(recurrent, 0, 2 * hidden, b.expr(hidden));
    Value zero = b.broadcastTo(a.like(recurrent, 0), b.expr(hidden));
    recurrent =
        a.concat({b.slice(recurrent, 0, 0, b.expr(2 * hidden)), zero}, 0);
  }
  return a.add(gates, a.add(outer, recurrent));
}

/// Returns initial_h or initial_c as [B, H], or zeros if they are absent.
Value Layer::getInitial(unsigned i, int64_t d) {
  Value given = operands[i];
  if (given && batchFirst)
    given = b.transpose(given, {1, 0, 2});
  if (given)
    return pick(given, d);
  if (!input)
    return {};
  return b.broadcastTo(a.like(input, 0),
                       {graph::getDims(input)[1], b.expr(hidden)});
}

Layer::Weights Layer::getWeights(int64_t d) {
  if (isQuantized)
    return getQuantizedWeights(d);
  AffineExpr units = b.expr(hidden);
  Value weights = pick(operands[2], d); // [G * H, H], a row for each sum
  if (!weights)
    return {};
  Dims dims{b.expr(graph::RecurrentOp::getNumGates(cell)), units, units};
  return {b.transpose(b.reshape(weights, dims), {0, 2, 1})};
}

/// Weights without a zero point stay bytes. Others are dequantized, and then
/// the state is not quantized.
Layer::Weights Layer::getQuantizedWeights(int64_t d) {
  AffineExpr units = b.expr(hidden),
             gates = b.expr(graph::RecurrentOp::getNumGates(cell));
  mlir::Type f32 = b.builder.getF32Type(), i32 = b.builder.getI32Type();
  Value scale = pick(b.operand(10), d);
  Bytes bytes = toBytes(b, pick(operands[2], d), pick(b.operand(11), d),
                        /*isSigned=*/true); // [H, G * H], a column a sum
  if (!scale || !bytes.values)
    return {};
  auto split = [&](Value x) {
    return b.transpose(b.reshape(x, {units, gates, units}), {1, 0, 2});
  };
  if (bytes.zero || !isMadeOfConstant(bytes.values)) {
    Value steps = b.cast(bytes.values, f32);
    if (bytes.zero)
      steps = a.sub(steps, b.cast(bytes.zero, f32));
    return {split(a.mul(steps, scale))};
  }
  Value values = split(bytes.values);
  Dims perUnit{gates, units};
  Value scales = b.getRank(scale) == 0 ? b.broadcastTo(scale, perUnit)
                                       : b.reshape(scale, perUnit);
  return {values, scales, a.sum(b.cast(values, i32), {1})};
}

LogicalResult Layer::addDirection(int64_t d, bool reverse) {
  Value inner;
  Value gates = getGates(d, inner);
  Weights weights = getWeights(d);
  bool isLSTM = cell == RecurrentCell::LSTM;
  Value state = getInitial(5, d);
  Value memory = isLSTM ? getInitial(6, d) : Value();
  Value peephole = isLSTM ? pick(operands[7], d) : Value();
  Value lengths = operands[4];
  if (!gates || !weights.values || !state)
    return mlir::failure();
  // States of small floats have the type of sums between steps.
  mlir::Type element = b.getElementType(gates),
             wide = graph::getAccumulatorType(element);
  llvm::SmallVector<Value> used;
  llvm::SmallVector<int32_t> segments;
  for (Value operand : {gates, weights.values, state, memory, inner, peephole,
                        lengths, weights.scales, weights.sums}) {
    segments.push_back(operand ? 1 : 0);
    if (operand)
      used.push_back(llvm::isa<mlir::FloatType>(b.getElementType(operand))
                         ? b.cast(operand, wide)
                         : operand);
  }
  Dims dims = graph::getDims(gates);
  dims.back() = b.expr(hidden);
  mlir::Type stateType =
      graph::makeType(wide, llvm::ArrayRef(dims).drop_front());
  llvm::SmallVector<mlir::Type> types{graph::makeType(wide, dims), stateType};
  if (isLSTM)
    types.push_back(stateType);
  size_t each = isLSTM ? 3 : cell == RecurrentCell::GRU ? 2 : 1;
  auto mine = [&](auto &list) {
    return llvm::ArrayRef(list).slice(d * each, each);
  };
  mlir::Builder &builder = b.builder;
  Value output = b.createAs<graph::RecurrentOp>(
      types, used,
      {b.attr("operandSegmentSizes", builder.getDenseI32ArrayAttr(segments)),
       b.attr("cell",
              graph::RecurrentCellAttr::get(builder.getContext(), cell)),
       b.attr("activations", builder.getArrayAttr(mine(activations))),
       b.attr("alphas", builder.getDenseF64ArrayAttr(mine(alphas))),
       b.attr("betas", builder.getDenseF64ArrayAttr(mine(betas))),
       b.attr("clip", b.getFloat("clip", 0.0)), b.attr("reverse", reverse),
       b.attr("linear_before_reset",
              cell == RecurrentCell::GRU &&
                  b.getInt("linear_before_reset", 0) != 0),
       b.attr("input_forget", isLSTM && b.getInt("input_forget", 0) != 0)});
  if (!output)
    return mlir::failure();
  auto op = output.getDefiningOp<graph::RecurrentOp>();
  outputs.push_back(b.unsqueeze(b.cast(output, element), {1}));
  states.push_back(b.unsqueeze(b.cast(op.getLastState(), element), {0}));
  if (isLSTM)
    memories.push_back(b.unsqueeze(b.cast(op.getLastMemory(), element), {0}));
  return mlir::success();
}

LogicalResult Layer::refineOperands(int64_t directions) {
  int64_t gates = graph::RecurrentOp::getNumGates(cell) * hidden;
  AffineExpr count = b.expr(directions), any;
  Dims wanted[] = {{},
                   {count, b.expr(gates), any},
                   {count, b.expr(gates), b.expr(hidden)},
                   {count, b.expr(2 * gates)},
                   {},
                   batchFirst ? Dims{any, count, b.expr(hidden)}
                              : Dims{count, any, b.expr(hidden)},
                   {},
                   {count, b.expr(3 * hidden)}};
  wanted[6] = wanted[5];
  if (isQuantized)
    for (Dims &dims : llvm::MutableArrayRef(wanted).slice(1, 2))
      std::swap(dims[1], dims[2]);
  for (auto [i, dims] : llvm::enumerate(wanted)) {
    operands.push_back(b.operand(i));
    if (operands.back() && !dims.empty())
      operands.back() = b.refine(operands.back(), dims);
  }
  return mlir::failure(b.hasFailed());
}

LogicalResult Layer::run() {
  input = b.operand(0);
  Value recurrent = b.operand(2);
  if (b.getRank(input) != 3 || b.getRank(b.operand(1)) != 3 ||
      b.getRank(recurrent) != 3)
    return b.fail("expected X, W and R of 3 dims");
  auto size =
      graph::getConstant(graph::getDims(recurrent)[isQuantized ? 1 : 2]);
  if (!size && !b.hasAttribute("hidden_size"))
    return b.unsupported("expected a hidden size that is static");
  hidden = size ? *size : b.getInt("hidden_size", 0);
  if (hidden < 1 || b.getInt("hidden_size", hidden) != hidden)
    return b.fail("expected hidden_size to be that of R, " +
                  llvm::Twine(hidden) + ", but got " +
                  llvm::Twine(b.getInt("hidden_size", hidden)));
  // The size of all gates is at most a small multiple of it.
  constexpr int64_t mostHidden = int64_t(1) << 31;
  if (hidden > mostHidden)
    return b.fail("expected hidden_size up to 2^31, but got " +
                  llvm::Twine(hidden));
  batchFirst = b.getInt("layout", 0) != 0;
  if (batchFirst)
    input = b.transpose(input, {1, 0, 2});
  llvm::StringRef direction = b.getString("direction", "forward");
  int64_t directions = direction == "bidirectional" ? 2 : 1;
  if (directions == 1 && direction != "forward" && direction != "reverse")
    return b.fail("expected direction to be forward, reverse or "
                  "bidirectional, but got '" +
                  direction + "'");
  if (mlir::failed(readActivations(directions)) ||
      mlir::failed(refineOperands(directions)) ||
      mlir::failed(checkLengths(b, operands[4], graph::getDims(input)[0])))
    return mlir::failure();
  if (isQuantized)
    inputBytes = buildDynamicQuantization(b, input);
  for (int64_t d = 0; d < directions; ++d)
    if (mlir::failed(addDirection(d, d == 1 || direction == "reverse")))
      return mlir::failure();
  Value output = a.concat(outputs, 1), state = a.concat(states, 0), memory;
  if (!memories.empty())
    memory = a.concat(memories, 0);
  if (batchFirst) {
    output = b.transpose(output, {2, 0, 1, 3});
    state = b.transpose(state, {1, 0, 2});
    if (memory)
      memory = b.transpose(memory, {1, 0, 2});
  }
  return b.done({output, state, memory});
}

LogicalResult importDynamicQuantizeLSTM(Binder &b) {
  for (int64_t i : {8, 9, 10, 11}) {
    int64_t rank = b.operand(i) ? b.getRank(b.operand(i)) : 0;
    if (rank != 1 && rank != 2)
      return b.fail("expected scales and zero points of 1 or 2 dims");
  }
  return Layer(b, RecurrentCell::LSTM, /*isQuantized=*/true).run();
}

template <RecurrentCell cell>
LogicalResult importRecurrent(Binder &b) {
  return Layer(b, cell).run();
}

} // namespace

void adze::importer::addRecurrentOps(std::vector<OpRow> &rows) {
  // Older versions have attributes that newer ones do not have.
  rows.insert(rows.end(),
              {
                  {"GRU", 1, 3, importRecurrent<RecurrentCell::GRU>},
                  {"LSTM", 1, 3, importRecurrent<RecurrentCell::LSTM>},
                  {"RNN", 1, 3, importRecurrent<RecurrentCell::RNN>},
                  {"DynamicQuantizeLSTM", 0, 3, importDynamicQuantizeLSTM, "",
                   INT32_MAX, "com.microsoft"},
              });
}
