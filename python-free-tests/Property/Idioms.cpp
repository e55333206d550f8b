// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Random graphs of several ops in the forms of models, which passes match.
#include "Builder.h"

using namespace mlir;
using namespace adze::graph;

namespace property {

/// Adds one of two equivalent ops.
static Value scaleBy(GraphBuilder &b, Value x, double factor) {
  if (!x)
    return {};
  bool divides = b.random.chance(40);
  Value number =
      b.scalar(GraphBuilder::elementOf(x), divides ? 1 / factor : factor);
  return b.op(divides ? "div" : "mul", {x, number});
}

static AffineExpr pickSize(GraphBuilder &b, ArrayRef<int64_t> sizes) {
  return b.random.chance(40) ? b.randomDims(1)[0]
                             : b.expr(b.random.pick<int64_t>(sizes));
}

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

static Value addMask(GraphBuilder &b, Value scores) {
  Dims dims = getDims(scores);
  Type element = GraphBuilder::elementOf(scores);
  switch (b.random.below(4)) {
  case 0:
    return b.op("add", {scores, b.input(element, {dims[2], dims[3]}, true)});
  case 1:
    return b.op(
        "add",
        {scores,
         b.input(element, {dims[0], b.expr(1), b.expr(1), dims[3]}, true)});
  case 2: {
    Value visible = b.input(b.builder.getI1Type(),
                            {b.expr(1), b.expr(1), dims[2], dims[3]}, true);
    return b.op("select", {visible, scores, b.scalar(element, -30)});
  }
  default:
    return scores;
  }
}

/// Merges batch and heads to one dim.
static Value mergeHeads(GraphBuilder &b, Value x) {
  if (!x)
    return x;
  Dims dims = getDims(x);
  Dims merged{mulExprs(dims[0], dims[1]), dims[2], dims[3]};
  return b.exactOp("reshape", {x}, {},
                   {Type(makeType(GraphBuilder::elementOf(x), merged))});
}

static void addAttention(GraphBuilder &b) {
  static constexpr int64_t counts[] = {1, 2, 3}, lengths[] = {1, 5, 8, 16, 19},
                           depths[] = {4, 8, 16, 33};
  AffineExpr batch = pickSize(b, counts),
             heads = b.expr(b.random.between(1, 3)),
             queries = pickSize(b, lengths), keys = pickSize(b, lengths),
             depth = b.expr(b.random.pick<int64_t>(depths)),
             width = b.random.chance(70)
                         ? depth
                         : b.expr(b.random.pick<int64_t>(depths));
  Type element = b.builder.getF32Type();
  Value q = b.input(element, {batch, heads, queries, depth}, true);
  bool isTurned = b.random.chance(40);
  Value k = isTurned ? b.input(element, {batch, keys, heads, depth}, true)
                     : b.input(element, {batch, heads, keys, depth}, true);
  Value v = b.input(element, {batch, heads, keys, width}, true);
  if (!isTurned && b.random.chance(25)) // the same for the whole batch
    k = b.input(element, {heads, keys, depth}, true);
  if (isTurned)
    k = b.op("transpose", {k}, b.attr("perm", {0, 2, 3, 1}));
  if (b.random.chance(30))
    q = scaleBy(b, q, 0.5);
  Value scores =
      b.op("matmul", {q, k},
           {b.flag("transpose_a", false), b.flag("transpose_b", !isTurned)});
  if (b.random.chance(70))
    scores = scaleBy(b, scores, 0.25);
  if (!scores)
    return;
  int64_t axis = 3;
  if (b.random.chance(25)) {
    Value bias = b.input(element, {batch, heads, queries, keys}, true);
    scores = mergeHeads(b, addMask(b, scores));
    bias = mergeHeads(b, bias);
    v = mergeHeads(b, v);
    if (!scores || !bias || !v)
      return;
    scores = b.op("add", {scores, bias});
    axis = 2;
  } else {
    scores = addMask(b, scores);
  }
  Value weights = b.op("softmax", {scores}, b.attr("axis", axis));
  b.op("matmul", {weights, v},
       {b.flag("transpose_a", false), b.flag("transpose_b", false)});
}

//===----------------------------------------------------------------------===//
// Recurrent layers
//===----------------------------------------------------------------------===//

static void addRecurrent(GraphBuilder &b) {
  using adze::graph::RecurrentCell;
  static constexpr int64_t counts[] = {1, 3, 5, 6},
                           rows[] = {1, 2, 8, 10, 12, 19, 32},
                           units[] = {1, 8, 16, 24, 33, 64};
  static constexpr RecurrentCell cells[] = {
      RecurrentCell::RNN, RecurrentCell::GRU, RecurrentCell::LSTM};
  RecurrentCell cell = b.random.pick<RecurrentCell>(cells);
  bool isLSTM = cell == RecurrentCell::LSTM;
  int64_t numGates = adze::graph::RecurrentOp::getNumGates(cell),
          size = b.random.pick<int64_t>(units);
  AffineExpr steps = pickSize(b, counts), batch = pickSize(b, rows),
             hidden = b.expr(size), all = b.expr(numGates * size);
  Type element = b.builder.getF32Type();
  Value gates = b.input(element, {steps, batch, all}, true);
  Value state = b.input(element, {batch, hidden}, true);
  // Rounding errors do not grow from step to step.
  Value weights =
      scaleBy(b, b.weights(element, {b.expr(numGates), hidden, hidden}),
              0.25 / std::sqrt(double(size)));
  if (!weights)
    return;
  SmallVector<Value> operands{gates, weights, state};
  SmallVector<Type> types{
      adze::graph::makeType(element, {steps, batch, hidden}), state.getType()};
  SmallVector<Attribute> activations{b.builder.getStringAttr("sigmoid")};
  if (isLSTM) {
    operands.push_back(state);
    types.push_back(state.getType());
  }
  while (int64_t(activations.size()) < (isLSTM ? 3 : numGates > 1 ? 2 : 1))
    activations.push_back(b.builder.getStringAttr("tanh"));
  SmallVector<double> zeros(activations.size(), 0.0);
  SmallVector<int32_t> segments{1, 1, 1, isLSTM, 0, 0, 0};
  Builder &make = b.builder;
  auto attr = [&](StringRef name, Attribute value) {
    return make.getNamedAttr(name, value);
  };
  b.op("recurrent", operands,
       {attr("operandSegmentSizes", make.getDenseI32ArrayAttr(segments)),
        attr("cell",
             adze::graph::RecurrentCellAttr::get(make.getContext(), cell)),
        attr("activations", make.getArrayAttr(activations)),
        attr("alphas", make.getDenseF64ArrayAttr(zeros)),
        attr("betas", make.getDenseF64ArrayAttr(zeros)),
        b.flag("reverse", b.random.chance(30)),
        b.flag("linear_before_reset",
               cell == RecurrentCell::GRU && b.random.chance(50))},
       types);
}

//===----------------------------------------------------------------------===//
// Branches
//===----------------------------------------------------------------------===//

static Value activate(GraphBuilder &b, Value x) {
  static constexpr StringLiteral names[] = {"relu", "sigmoid", "silu", "tanh"};
  return b.random.chance(40) ? x
                             : b.op(b.random.pick<StringLiteral>(names), {x});
}

static void joinBranches(GraphBuilder &b, ArrayRef<Value> branches,
                         int64_t axis) {
  if (!llvm::is_contained(branches, Value()) && b.random.chance(60))
    b.exactOp("concat", branches, b.attr("axis", axis));
}

static void addProducts(GraphBuilder &b) {
  Value x = b.pick([](Value v) {
    return GraphBuilder::isFloat(v) && GraphBuilder::rankOf(v) >= 2 &&
           GraphBuilder::sizeOf(v, GraphBuilder::rankOf(v) - 1) > 0;
  });
  if (!x)
    return;
  int64_t rank = GraphBuilder::rankOf(x);
  int64_t depth = GraphBuilder::sizeOf(x, rank - 1);
  Type element = GraphBuilder::elementOf(x);
  bool hasBias = b.random.chance(60), isActive = b.random.chance(50);
  SmallVector<Value> branches;
  for (int64_t i = b.random.between(2, 3); i > 0; --i) {
    int64_t columns = b.random.between(1, 12);
    Value y =
        b.op("matmul", {x, b.constant(element, {depth, columns})},
             {b.flag("transpose_a", false), b.flag("transpose_b", false)});
    if (hasBias)
      y = b.op("add", {y, b.constant(element, {columns})});
    branches.push_back(isActive ? b.op("relu", {y}) : activate(b, y));
  }
  joinBranches(b, branches, rank - 1);
}

/// The window of a convolution, which is the same along both dims.
struct WindowSteps {
  int64_t stride = 1, dilation = 1, low = 0, high = 0;
};

static Value addConv(GraphBuilder &b, Value x, int64_t outputs, int64_t taps,
                     WindowSteps steps, int64_t group = 1) {
  Type element = GraphBuilder::elementOf(x);
  int64_t inputs = GraphBuilder::sizeOf(x, 1);
  SmallVector<Value> operands = {
      x, b.constant(element, {outputs, inputs / group, taps, taps})};
  if (b.random.chance(50))
    operands.push_back(b.constant(element, {outputs}));
  return b.op("conv", operands,
              {b.attr("strides", {steps.stride, steps.stride}),
               b.attr("dilations", {steps.dilation, steps.dilation}),
               b.attr("pads", {steps.low, steps.low, steps.high, steps.high}),
               b.attr("group", group)});
}

static Value addConv(GraphBuilder &b, Value x, int64_t outputs, int64_t taps) {
  WindowSteps steps;
  steps.low = steps.high = taps / 2;
  return addConv(b, x, outputs, taps, steps);
}

/// A depthwise convolution of an image that exceeds small caches, between dense
/// ones.
static void addDepthwise(GraphBuilder &b) {
  static constexpr int64_t channels[] = {8, 16, 24}, wide[] = {24, 32, 40},
                           sizes[] = {25, 32, 37};
  Value x = b.input(b.builder.getF32Type(),
                    {b.expr(b.random.between(1, 2)),
                     b.expr(b.random.pick<int64_t>(channels)),
                     b.expr(b.random.pick<int64_t>(sizes)),
                     b.expr(b.random.pick<int64_t>(sizes))},
                    /*tame=*/true);
  if (!x)
    return;
  Value y = x;
  if (b.random.chance(70))
    y = activate(b, addConv(b, y, b.random.pick<int64_t>(wide),
                            b.random.chance(30) ? 3 : 1));
  WindowSteps steps;
  int64_t taps = b.random.chance(60) ? 3 : b.random.between(1, 5);
  steps.stride = b.random.between(1, 2);
  steps.dilation = b.random.chance(20) ? 2 : 1;
  steps.low = b.random.between(0, taps);
  steps.high = b.random.between(0, taps);
  if (!y)
    return;
  int64_t count = GraphBuilder::sizeOf(y, 1);
  y = activate(b, addConv(b, y, count, taps, steps, count));
  if (!y || !b.random.chance(70))
    return;
  y = addConv(b, y, b.random.chance(60) ? GraphBuilder::sizeOf(x, 1) : 40, 1);
  if (y && areEqual(getDims(x), getDims(y)))
    b.op("add", {y, x});
}

/// A block with separately trained branches: windows of several sizes and
/// normalisations of one image, added.
static void addSummedConvs(GraphBuilder &b, Value x, int64_t outputs) {
  Type element = b.builder.getF32Type();
  auto normalise = [&](Value y, int64_t channels) {
    auto vector = [&] { return b.constant(element, {channels}); };
    return b.op("batch_norm",
                {y, vector(), vector(), vector(), b.positive(vector())});
  };
  int64_t inputs = GraphBuilder::sizeOf(x, 1), stride = b.random.between(1, 2);
  int64_t group = inputs == outputs && b.random.chance(30) ? inputs : 1;
  Value sum;
  if (inputs == outputs && stride == 1 && b.random.chance(40))
    sum = normalise(x, inputs);
  for (int64_t i = b.random.between(2, 4); i > 0; --i) {
    WindowSteps steps;
    int64_t taps = b.random.chance(50) ? 3 : 1;
    steps.stride = stride;
    steps.dilation = b.random.chance(15) ? 2 : 1;
    steps.low = steps.high = taps / 2 * steps.dilation;
    Value y = addConv(b, x, outputs, taps, steps, group);
    if (y && b.random.chance(60))
      y = normalise(y, outputs);
    if (sum && y && areEqual(getDims(sum), getDims(y)))
      y = b.random.chance(80) ? b.op("add", {sum, y}) : b.op("add", {y, sum});
    sum = y;
  }
  activate(b, sum);
}

/// An inception block, sometimes with a normalisation.
static void addConvs(GraphBuilder &b) {
  static constexpr int64_t channels[] = {3, 4, 8, 16}, sizes[] = {5, 8, 14};
  Value x = b.input(b.builder.getF32Type(),
                    {b.expr(b.random.between(1, 2)),
                     b.expr(b.random.pick<int64_t>(channels)),
                     b.expr(b.random.pick<int64_t>(sizes)),
                     b.expr(b.random.pick<int64_t>(sizes))},
                    true);
  if (x && b.random.chance(30))
    return addSummedConvs(b, x,
                          b.random.chance(60)
                              ? GraphBuilder::sizeOf(x, 1)
                              : b.random.pick<int64_t>(channels));
  SmallVector<Value> branches;
  for (int64_t i = b.random.between(1, 3); i > 0; --i) {
    int64_t outputs = b.random.pick<int64_t>(channels);
    Value y = addConv(b, x, outputs, b.random.chance(50) ? 3 : 1);
    Type element = b.builder.getF32Type();
    auto vector = [&] { return b.constant(element, {outputs}); };
    if (b.random.chance(40))
      y = b.op("batch_norm",
               {y, vector(), vector(), vector(), b.positive(vector())});
    branches.push_back(activate(b, y));
  }
  joinBranches(b, branches, 1);
}

/// Channels that are moved to pixels of a larger image, in either order.
static void addPixels(GraphBuilder &b) {
  static constexpr int64_t channels[] = {1, 2, 3, 8, 16}, sizes[] = {3, 5, 8};
  Type element = b.builder.getF32Type();
  Dims dims{b.expr(b.random.between(1, 3)), b.expr(b.random.between(3, 9)),
            b.expr(b.random.pick<int64_t>(sizes)),
            b.expr(b.random.pick<int64_t>(sizes))};
  Value x = b.input(element, dims, true);
  if (!x)
    return;
  dims = getDims(x);
  int64_t factor = b.random.between(2, 3);
  AffineExpr count = b.expr(b.random.pick<int64_t>(channels)),
             r = b.expr(factor);
  Value y = addConv(b, x, *getConstant(count) * factor * factor,
                    b.random.chance(50) ? 3 : 1);
  bool isFirst = b.random.chance(50);
  auto view = [&](Value value, ArrayRef<AffineExpr> to) {
    return b.exactOp("reshape", {value}, {}, {Type(makeType(element, to))});
  };
  y = view(activate(b, y), isFirst
                               ? Dims{dims[0], count, r, r, dims[2], dims[3]}
                               : Dims{dims[0], r, r, count, dims[2], dims[3]});
  y = b.exactOp("transpose", {y},
                isFirst ? b.attr("perm", {0, 1, 4, 2, 5, 3})
                        : b.attr("perm", {0, 3, 4, 1, 5, 2}));
  activate(
      b, view(y, {dims[0], count, mulExprs(dims[2], r), mulExprs(dims[3], r)}));
}

//===----------------------------------------------------------------------===//
// Normalisations and activations that are written out
//===----------------------------------------------------------------------===//

/// The dims of a normalisation: the last one; or, for an even number of
/// channels in two groups, all dims of the view of `x` except for the first one
/// and that of the groups.
static SmallVector<int64_t> chooseNormalised(GraphBuilder &b, Value &x) {
  int64_t last = GraphBuilder::rankOf(x) - 1;
  int64_t channels = GraphBuilder::sizeOf(x, last);
  if (last < 2 || channels < 2 || channels % 2 != 0 || !b.random.chance(40))
    return {last};
  Dims dims = getDims(x);
  dims.back() = b.builder.getAffineConstantExpr(2);
  dims.push_back(b.builder.getAffineConstantExpr(channels / 2));
  Value view = b.exactOp("reshape", {x}, {},
                         {Type(makeType(GraphBuilder::elementOf(x), dims))});
  if (!view)
    return {last};
  x = view;
  SmallVector<int64_t> axes(llvm::to_vector(llvm::seq<int64_t>(1, last)));
  axes.push_back(last + 1);
  return axes;
}

static void addNormInParts(GraphBuilder &b) {
  Value x = b.pick([](Value v) {
    return GraphBuilder::elementOf(v).isF32() && GraphBuilder::rankOf(v) >= 1;
  });
  if (!x)
    return;
  x = b.bounded(x, 3);
  if (!x)
    return;
  SmallVector<int64_t> axes = chooseNormalised(b, x);
  int64_t axis = axes.back();
  Type element = GraphBuilder::elementOf(x);
  SmallVector<NamedAttribute> reduction = {
      b.attr("axes", ArrayRef<int64_t>(axes)), b.flag("keepdims", true)};
  Value y = x;
  if (b.random.chance(60))
    y = b.op("sub", {x, b.op("reduce_mean", {x}, reduction)});
  auto meanSquare = [&](Value v) {
    return b.op("reduce_mean",
                {b.random.chance(50) ? b.op("mul", {v, v})
                                     : b.op("pow", {v, b.scalar(element, 2)})},
                reduction);
  };
  Value variance;
  if (y != x && b.random.chance(25)) { // mean(x^2) - mean(x)^2
    Value mean = b.op("reduce_mean", {x}, reduction);
    variance = b.op("sub", {meanSquare(x), b.op("mul", {mean, mean})});
    variance = b.op("maximum", {variance, b.scalar(element, 0)});
  } else if (int64_t size = GraphBuilder::sizeOf(x, axis);
             axes.size() == 1 && size > 0 && b.random.chance(25)) {
    variance = b.op("reduce_sum_square", {y}, reduction);
    variance = scaleBy(b, variance, 1.0 / double(size));
  } else {
    variance = meanSquare(y);
  }
  Value root = b.op("sqrt", {b.op("add", {variance, b.scalar(element, 0.1)})});
  y = b.random.chance(60) ? b.op("div", {y, root})
                          : b.op("mul", {y, b.op("reciprocal", {root})});
  Dims dims = getDims(x);
  if (b.random.chance(60))
    y = b.op("mul", {y, b.weights(element, dims[static_cast<size_t>(axis)])});
  if (b.random.chance(60))
    b.op("add", {y, b.weights(element, dims[static_cast<size_t>(axis)])});
}

static Value makeGelu(GraphBuilder &b, Value x) {
  Type element = GraphBuilder::elementOf(x);
  auto number = [&](double value) { return b.scalar(element, value); };
  Value inner;
  if (b.random.chance(25)) { // the complement, of -x
    Value minus =
        b.op("erf", {scaleBy(b, b.op("neg", {x}), 0.70710678118654752)});
    return scaleBy(b, b.op("mul", {x, b.op("sub", {number(1), minus})}), 0.5);
  }
  if (b.random.chance(50)) {
    inner = b.op("erf", {scaleBy(b, x, 0.70710678118654752)});
  } else {
    Value cube = b.op("pow", {x, number(3)});
    Value sum = b.op("add", {x, b.op("mul", {cube, number(0.044715)})});
    inner = b.op("tanh", {b.op("mul", {sum, number(0.79788456080286536)})});
  }
  Value gate = b.op("add", {inner, number(1)});
  if (b.random.chance(50))
    return scaleBy(b, b.op("mul", {x, gate}), 0.5);
  return b.op("mul", {x, scaleBy(b, gate, 0.5)});
}

static void addActivationInParts(GraphBuilder &b) {
  Value x = b.pickFloat();
  if (!x)
    return;
  if (!b.fact(x).tame)
    x = b.bounded(x, 3);
  if (!x)
    return;
  Type element = GraphBuilder::elementOf(x);
  switch (b.random.below(4)) {
  case 0:
    makeGelu(b, x);
    return;
  case 1:
    b.op("mul", {x, b.op("sigmoid", {x})});
    return;
  case 2:
    b.op("mul", {x, b.op("tanh", {b.op("softplus", {x})})});
    return;
  default:
    Value shifted = b.op("add", {x, b.scalar(element, 3)});
    Value cut =
        b.op("minimum", {b.op("maximum", {shifted, b.scalar(element, 0)}),
                         b.scalar(element, 6)});
    scaleBy(b, b.op("mul", {x, cut}), 1.0 / 6);
  }
}

/// Enough elements for a reduction in parts.
static void addLongReduction(GraphBuilder &b) {
  static constexpr StringLiteral names[] = {"sum", "mean", "max", "l2"};
  Value x = b.input(b.builder.getF32Type(),
                    {b.expr(b.random.between(1, 2)),
                     b.expr(b.random.between(16500, 17000) * 2)},
                    true);
  b.op(("reduce_" + b.random.pick<StringLiteral>(names)).str(), {x},
       {b.attr("axes", ArrayRef<int64_t>{1}),
        b.flag("keepdims", b.random.chance(50))});
}

/// Several reductions of values computed from one value, over the same dims: to
/// numbers, to indices, and of values computed from one of the results.
static void addParallelReductions(GraphBuilder &b) {
  static constexpr StringLiteral names[] = {"sum", "mean", "max",
                                            "min", "l1",   "log_sum_exp"};
  Value x = b.pick([](Value v) {
    return GraphBuilder::elementOf(v).isF32() && GraphBuilder::rankOf(v) >= 1;
  });
  if (!x || !(x = b.bounded(x, 3)))
    return;
  int64_t axis = b.random.below(GraphBuilder::rankOf(x));
  if (b.random.chance(50))
    x = b.op("tanh", {x});
  Value mean =
      b.op("reduce_mean", {x},
           {b.attr("axes", ArrayRef<int64_t>{axis}), b.flag("keepdims", true)});
  for (int64_t i = b.random.between(1, 3); i > 0; --i) {
    Value y = b.random.chance(30)   ? b.op("mul", {x, x})
              : b.random.chance(30) ? b.op("abs", {b.op("sub", {x, mean})})
                                    : x;
    bool keeps = b.random.chance(50);
    if (b.random.chance(20) && b.fact(x).exact)
      b.exactOp(b.random.chance(50) ? "arg_max" : "arg_min", {x},
                {b.attr("axis", axis), b.flag("keepdims", keeps)});
    else
      b.op(
          ("reduce_" + b.random.pick<StringLiteral>(names)).str(), {y},
          {b.attr("axes", ArrayRef<int64_t>{axis}), b.flag("keepdims", keeps)});
  }
}

/// Ops that change nothing or result in one number, and similar ops that do
/// not.
static void addIdentities(GraphBuilder &b) {
  Value x = b.pickFloat(/*minRank=*/2);
  if (!x)
    return;
  Type element = GraphBuilder::elementOf(x);
  auto number = [&](double value) { return b.scalar(element, value); };
  int64_t axis = b.random.below(GraphBuilder::rankOf(x));
  switch (b.random.below(7)) {
  case 0:
    b.exactOp("trilu", {x},
              {b.attr("k", b.random.between(-9, 9)),
               b.flag("upper", b.random.chance(50))});
    return;
  case 1:
    b.exactOp(b.random.chance(50) ? "maximum" : "minimum",
              {x, number(b.random.chance(50) ? INFINITY : -INFINITY)});
    return;
  case 2:
    b.op("add", {b.op("neg", {x}), x});
    return;
  case 3:
    b.op("pow", {x, number(0)});
    return;
  case 4:
    b.exactOp("not", {b.exactOp("less", {x, x})});
    return;
  case 5:
    b.op(b.random.chance(50) ? "reduce_l1" : "reduce_sum_square", {x},
         {b.attr("axes", ArrayRef<int64_t>{axis}),
          b.flag("keepdims", b.random.chance(50))});
    return;
  default:
    if (GraphBuilder::sizeOf(x, axis) > 0) // part of a row by its length
      b.op("div", {x, b.op("reduce_l2", {x},
                           {b.attr("axes", ArrayRef<int64_t>{axis}),
                            b.flag("keepdims", true)})});
  }
}

void addIdiom(GraphBuilder &b) {
  int64_t kind = b.random.below(32);
  if (kind < 5)
    addAttention(b);
  else if (kind < 8)
    addProducts(b);
  else if (kind < 12)
    addConvs(b);
  else if (kind < 15)
    addNormInParts(b);
  else if (kind < 19)
    addActivationInParts(b);
  else if (kind < 21)
    addParallelReductions(b);
  else if (kind < 24)
    addPixels(b);
  else if (kind < 26)
    addIdentities(b);
  else if (kind < 29)
    addDepthwise(b);
  else if (kind < 31)
    addRecurrent(b);
  else
    addLongReduction(b);
}

} // namespace property
