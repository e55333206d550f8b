// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Random arithmetic: elementwise ops, integers, reductions, normalisations,
// contractions. Ops that amplify errors get operands that limit them, so that a
// difference is a fault and not rounding.
#include "Builder.h"

using namespace mlir;
using namespace adze::graph;

namespace property {

static void addUnary(GraphBuilder &b) {
  Value x = b.pickFloat();
  static constexpr StringLiteral smooth[] = {
      "erf",  "sigmoid",      "softplus", "softsign", "silu", "hard_swish",
      "mish", "hard_sigmoid", "elu",      "selu",     "celu", "leaky_relu",
      "tanh", "atan",         "gelu",     "asinh"};
  static constexpr StringLiteral small[] = {
      "exp", "sin", "cos", "sinh", "cosh", "asin", "acos", "atanh", "tan"};
  static constexpr StringLiteral above[] = {"log", "sqrt", "reciprocal"};
  static constexpr StringLiteral exact[] = {"abs", "neg", "relu"};
  switch (b.random.below(6)) {
  case 0:
    b.op(b.random.pick<StringLiteral>(small), {b.bounded(x, 0.9)});
    return;
  case 1:
    b.op(b.random.pick<StringLiteral>(above), {b.positive(x)});
    return;
  case 2:
    b.exactOp(b.random.pick<StringLiteral>(exact), {x});
    return;
  case 3: {
    static constexpr StringLiteral steps[] = {"floor", "ceil",   "round",
                                              "sign",  "is_nan", "is_inf"};
    b.exactOp(b.random.pick<StringLiteral>(steps), {b.pickExactFloat()});
    return;
  }
  default:
    b.op(b.random.pick<StringLiteral>(smooth), {x});
  }
}

static void addBinary(GraphBuilder &b) {
  Value x = b.pickFloat();
  if (!x)
    return;
  static constexpr StringLiteral exact[] = {"minimum", "maximum"};
  static constexpr StringLiteral plain[] = {"add", "sub", "mul", "add", "mul"};
  Value y = b.partner(x);
  if (b.random.chance(30) && !b.fact(x).tame)
    x = b.bounded(x, 3);
  switch (b.random.below(8)) {
  case 0:
    b.op("div", {x, b.positive(y)});
    return;
  case 1:
    b.op("pow", {b.positive(x), b.bounded(y, 2)});
    return;
  case 2:
    b.exactOp(b.random.pick<StringLiteral>(exact), {x, y});
    return;
  case 3:
    b.op("prelu", {x, y});
    return;
  default:
    if (b.random.chance(50))
      std::swap(x, y);
    b.op(b.random.pick<StringLiteral>(plain), {x, y});
  }
}

static void addChoice(GraphBuilder &b) {
  Value x = b.pickExactFloat();
  if (!x)
    return;
  static constexpr StringLiteral compares[] = {"less", "less_equal", "greater",
                                               "greater_equal", "equal"};
  Value y = b.partner(x);
  if (!y || !b.fact(y).exact)
    return;
  Value which = b.exactOp(b.random.pick<StringLiteral>(compares), {x, y});
  Value lhs = b.pick([&](Value v) {
    return GraphBuilder::isFloat(v) && v.getType() == x.getType();
  });
  if (which && lhs)
    b.exactOp("select", {which, lhs, b.partner(lhs)});
}

static void addCast(GraphBuilder &b) {
  Value x = b.pickFloat();
  if (!x)
    return;
  auto type = GraphBuilder::typeOf(x);
  Type to = b.randomFloat();
  // Converted back to a wider type, the rounded value stays.
  b.op("cast", {x}, {}, {Type(type.clone(to))});
}

void addPointwise(GraphBuilder &b) {
  int64_t kind = b.random.below(10);
  if (kind < 4)
    addUnary(b);
  else if (kind < 8)
    addBinary(b);
  else if (kind < 9)
    addChoice(b);
  else
    addCast(b);
}

//===----------------------------------------------------------------------===//
// Integers
//===----------------------------------------------------------------------===//

static bool isInteger(Value value) {
  return !GraphBuilder::isFloat(value) && !GraphBuilder::isBool(value);
}

static Value pickInteger(GraphBuilder &b) {
  if (b.random.chance(60))
    if (Value x = b.pick(isInteger))
      return x;
  Builder &builder = b.builder;
  Type types[] = {builder.getI32Type(), builder.getI64Type(),
                  builder.getIntegerType(8), builder.getIntegerType(16),
                  builder.getIntegerType(8, /*isSigned=*/false)};
  return b.indices(b.random.pick<Type>(types),
                   b.randomDims(b.random.between(0, 3)), 60);
}

void addIntegers(GraphBuilder &b) {
  static constexpr StringLiteral binary[] = {
      "add",        "sub",         "mul",         "minimum",    "maximum",
      "bitwise_or", "bitwise_and", "bitwise_xor", "shift_left", "shift_right"};
  Value x = pickInteger(b);
  auto type = GraphBuilder::typeOf(x);
  switch (b.random.below(6)) {
  case 0: {
    static constexpr StringLiteral divisions[] = {"div", "mod", "fmod"};
    b.op(b.random.pick<StringLiteral>(divisions),
         {x, b.scalar(type.getElementType(), double(b.random.between(1, 9)))});
    return;
  }
  case 1:
    b.op("cast", {x}, {}, {Type(type.clone(b.randomFloat()))});
    return;
  case 2:
    b.op("cast", {x}, {}, {Type(type.clone(b.builder.getI1Type()))});
    return;
  case 3: {
    static constexpr StringLiteral logic[] = {"and", "or", "xor"};
    Value p = b.pick(GraphBuilder::isBool);
    if (p)
      b.op(b.random.pick<StringLiteral>(logic), {p, b.op("not", {p})});
    return;
  }
  default: {
    Value y = b.pick([&](Value v) { return v.getType() == x.getType(); });
    StringRef name = b.random.pick<StringLiteral>(binary);
    if (name.starts_with("shift"))
      y = b.scalar(type.getElementType(), double(b.random.below(12)));
    b.op(name, {x, y});
  }
  }
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

static SmallVector<int64_t> randomAxes(GraphBuilder &b, int64_t rank) {
  SmallVector<int64_t> axes;
  for (int64_t axis = 0; axis < rank; ++axis)
    if (b.random.chance(50))
      axes.push_back(axis);
  if (axes.empty() && rank)
    axes.push_back(b.random.below(rank));
  return axes;
}

/// Returns a factor: greater than 1 only if a product of that many does not
/// overflow; otherwise one order of the product is infinite and another one is
/// not.
static Value boundFactors(GraphBuilder &b, Value x) {
  constexpr int64_t most = 200; // 1.5^200 is less than 2^127
  int64_t count = 1;
  for (int64_t size : GraphBuilder::typeOf(x).getShape())
    count = size < 0 || count > most ? most + 1 : count * size;
  return b.bounded(x, count > most ? 1 : 1.5);
}

void addReduction(GraphBuilder &b) {
  static constexpr StringLiteral names[] = {
      "sum",         "mean", "l1",  "l2",   "sum_square",
      "log_sum_exp", "max",  "min", "prod", "log_sum"};
  StringRef name = b.random.pick<StringLiteral>(names);
  bool isChoice = name == "max" || name == "min";
  Value x = isChoice ? b.pickExactFloat(1) : b.pickFloat(1);
  if (!x)
    return;
  if (name == "log_sum")
    x = b.positive(x);
  else if (name == "prod")
    x = boundFactors(b, x);
  if (!x)
    return;
  int64_t rank = GraphBuilder::rankOf(x);
  if (b.random.chance(12)) {
    b.op("cumsum", {x},
         {b.attr("axis", b.random.below(rank)),
          b.flag("exclusive", b.random.chance(30)),
          b.flag("reverse", b.random.chance(30))});
    return;
  }
  SmallVector<int64_t> axes = randomAxes(b, rank);
  SmallVector<NamedAttribute> attributes = {
      b.attr("axes", ArrayRef(axes)), b.flag("keepdims", b.random.chance(60))};
  std::string full = ("reduce_" + name).str();
  Value result =
      isChoice ? b.exactOp(full, {x}, attributes) : b.op(full, {x}, attributes);
  // Centred, like a normalisation that is written out.
  if (result && name == "mean" && GraphBuilder::rankOf(result) == rank)
    b.op("sub", {x, result});
}

//===----------------------------------------------------------------------===//
// Normalisations
//===----------------------------------------------------------------------===//

static void addChannelNorm(GraphBuilder &b, Value x) {
  Dims dims = getDims(x);
  Type element = GraphBuilder::elementOf(x);
  auto vector = [&] { return b.weights(element, dims[1]); };
  switch (b.random.below(3)) {
  case 0:
    b.op("batch_norm", {x, vector(), vector(), vector(), b.positive(vector())});
    return;
  case 1:
    b.op("instance_norm", {x, vector(), vector()}, b.number("epsilon", 0.1));
    return;
  default:
    int64_t channels = GraphBuilder::sizeOf(x, 1);
    if (channels > 0)
      b.op("group_norm", {x, vector(), vector()},
           {b.attr("groups", channels % 2 ? 1 : 2), b.number("epsilon", 0.1)});
  }
}

void addNormalization(GraphBuilder &b) {
  Value x = b.pickFloat(1);
  if (!x)
    return;
  // Deviations of nearly equal numbers are rounding errors only.
  if (!b.fact(x).tame && b.random.chance(80))
    x = b.bounded(x, 3);
  if (!x)
    return;
  int64_t rank = GraphBuilder::rankOf(x), axis = b.random.below(rank);
  Dims dims = getDims(x);
  Type element = GraphBuilder::elementOf(x);
  switch (b.random.below(5)) {
  case 0:
    b.op("log_softmax", {x}, b.attr("axis", axis));
    return;
  case 1:
    b.op("rms_norm", {x, b.weights(element, ArrayRef(dims).drop_front(axis))},
         {b.attr("axis", axis), b.number("epsilon", 0.1)});
    return;
  case 2: {
    Value scale = b.weights(element, ArrayRef(dims).drop_front(axis));
    Value bias = b.weights(element, ArrayRef(dims).drop_front(axis));
    b.op("layer_norm", {x, scale, bias},
         {b.attr("axis", axis), b.number("epsilon", 0.1),
          b.builder.getNamedAttr("operandSegmentSizes",
                                 b.builder.getDenseI32ArrayAttr({1, 1, 1}))});
    return;
  }
  case 3:
    if (rank > 2) {
      addChannelNorm(b, x);
      return;
    }
    [[fallthrough]];
  default:
    b.op("softmax", {x}, b.attr("axis", axis));
  }
}

//===----------------------------------------------------------------------===//
// Contractions
//===----------------------------------------------------------------------===//

static void addMatmul(GraphBuilder &b) {
  Value x = b.pickFloat(2);
  if (!x)
    return;
  Dims dims = getDims(x);
  bool swapA = b.random.chance(20), swapB = b.random.chance(30);
  AffineExpr inner = dims[dims.size() - (swapA ? 2 : 1)];
  AffineExpr columns = b.randomDims(1)[0];
  Dims other;
  if (dims.size() > 2 && b.random.chance(40))
    other.append(dims.begin(), dims.end() - 2);
  other.append({swapB ? columns : inner, swapB ? inner : columns});
  Value y = b.weights(GraphBuilder::elementOf(x), other);
  Value product =
      b.op("matmul", {x, y},
           {b.flag("transpose_a", swapA), b.flag("transpose_b", swapB)});
  if (product && b.random.chance(60))
    b.op("add", {product, b.weights(GraphBuilder::elementOf(x), columns)});
}

static void addConv(GraphBuilder &b, bool transposed) {
  Value x = b.pick([](Value v) {
    return GraphBuilder::isFloat(v) && GraphBuilder::rankOf(v) >= 3 &&
           GraphBuilder::sizeOf(v, 1) > 0;
  });
  if (!x || b.random.chance(50)) {
    Dims dims = b.randomDims(b.random.between(3, 4));
    dims[1] = b.expr(b.random.between(1, 8));
    x = b.input(b.randomFloat(), dims, true);
  }
  int64_t channels = GraphBuilder::sizeOf(x, 1);
  int64_t group = b.random.chance(25)                        ? channels
                  : channels % 2 == 0 && b.random.chance(20) ? 2
                                                             : 1;
  int64_t outputs = group * b.random.between(1, 4);
  size_t rank = static_cast<size_t>(GraphBuilder::rankOf(x) - 2);
  Dims filter = {b.expr(transposed ? channels : outputs),
                 b.expr((transposed ? outputs : channels) / group)};
  SmallVector<int64_t> strides, pads(2 * rank), dilations;
  for (size_t i = 0; i < rank; ++i) {
    filter.push_back(b.expr(b.random.between(1, 3)));
    strides.push_back(b.random.chance(70) ? 1 : 2);
    dilations.push_back(b.random.chance(85) ? 1 : 2);
  }
  for (int64_t &pad : pads)
    pad = b.random.below(2);
  Type element = GraphBuilder::elementOf(x);
  SmallVector<Value> operands = {x, b.weights(element, filter)};
  if (b.random.chance(60))
    operands.push_back(b.weights(element, b.expr(outputs)));
  SmallVector<NamedAttribute> attributes = {
      b.attr("strides", ArrayRef(strides)), b.attr("pads", ArrayRef(pads)),
      b.attr("dilations", ArrayRef(dilations)), b.attr("group", group)};
  if (transposed)
    attributes.push_back(
        b.attr("output_padding", ArrayRef(SmallVector<int64_t>(rank, 0))));
  b.op(transposed ? "conv_transpose" : "conv", operands, attributes);
}

void addContraction(GraphBuilder &b) {
  int64_t kind = b.random.below(10);
  if (kind < 5)
    addMatmul(b);
  else
    addConv(b, /*transposed=*/kind == 9);
}

} // namespace property
