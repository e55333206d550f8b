// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Random windows, data movement and look-ups.
#include "Builder.h"

using namespace mlir;
using namespace adze::graph;

namespace property {

void addWindow(GraphBuilder &b) {
  Value x = b.pickFloat(3);
  if (!x) {
    x = b.input(b.randomFloat(), b.randomDims(4), true);
  }
  if (b.random.chance(15)) {
    b.op("lrn", {x},
         {b.attr("size", b.random.between(1, 5)), b.number("alpha", 0.1)});
    return;
  }
  size_t rank = static_cast<size_t>(GraphBuilder::rankOf(x) - 2);
  SmallVector<int64_t> kernel, strides, pads(2 * rank), dilations;
  for (size_t i = 0; i < rank; ++i) {
    kernel.push_back(b.random.between(1, 3));
    strides.push_back(b.random.between(1, 2));
    dilations.push_back(b.random.chance(85) ? 1 : 2);
    for (size_t side : {i, i + rank})
      pads[side] = b.random.below(kernel.back());
  }
  SmallVector<NamedAttribute> attributes = {
      b.attr("kernel", ArrayRef(kernel)), b.attr("strides", ArrayRef(strides)),
      b.attr("pads", ArrayRef(pads)), b.attr("dilations", ArrayRef(dilations)),
      b.flag("ceil_mode", b.random.chance(25))};
  if (b.random.chance(50)) {
    attributes.push_back(b.flag("count_include_pad", b.random.chance(50)));
    b.op("avg_pool", {x}, attributes);
  } else {
    b.exactOp("max_pool", {x}, attributes);
  }
}

//===----------------------------------------------------------------------===//
// Movement
//===----------------------------------------------------------------------===//

static Value addReshape(GraphBuilder &b, Value x) {
  Dims dims = getDims(x), result;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (i + 1 < dims.size() && b.random.chance(40)) {
      result.push_back(mulExprs(dims[i], dims[i + 1])); // two become one
      ++i;
    } else if (getConstant(dims[i]).value_or(1) % 2 == 0 &&
               b.random.chance(40)) {
      result.push_back(b.expr(2)); // one becomes two
      result.push_back(b.expr(*getConstant(dims[i]) / 2));
    } else {
      result.push_back(dims[i]);
    }
  }
  if (b.random.chance(25))
    result.insert(result.begin() + b.random.below(int64_t(result.size()) + 1),
                  b.expr(1));
  if (result.size() > 6)
    return {};
  return b.exactOp("reshape", {x}, {},
                   {Type(makeType(GraphBuilder::elementOf(x), result))});
}

static Value addTranspose(GraphBuilder &b, Value x) {
  SmallVector<int64_t> perm;
  for (int64_t i = 0; i < GraphBuilder::rankOf(x); ++i)
    perm.insert(perm.begin() + b.random.below(i + 1), i);
  return b.exactOp("transpose", {x}, b.attr("perm", ArrayRef(perm)));
}

/// Arithmetic on a view of moved data, as after windows and pixel shuffles.
static void addMovedView(GraphBuilder &b, Value x) {
  if (Value moved = addTranspose(b, x))
    x = moved;
  Value view = addReshape(b, x);
  for (int64_t i = b.random.between(1, 3); view && i > 0; --i) {
    Value other = b.partner(view);
    view = other ? b.exactOp("maximum", {view, other}) : Value();
  }
}

/// One half of a dynamic dim; returns where it begins.
static AffineExpr takeHalf(GraphBuilder &b, AffineExpr &dim) {
  AffineExpr half = floorDivExprs(dim, b.expr(2)), rest = subExprs(dim, half);
  bool larger = b.random.chance(50);
  AffineExpr whole = std::exchange(dim, larger ? rest : half);
  return b.random.chance(30) ? b.expr(0) : subExprs(whole, dim);
}

static void addSlice(GraphBuilder &b, Value x) {
  Dims dims = getDims(x), starts;
  SmallVector<int64_t> steps;
  for (AffineExpr &dim : dims) {
    std::optional<int64_t> size = getConstant(dim);
    starts.push_back(b.expr(0));
    steps.push_back(1);
    if (!size && dim && b.random.chance(50))
      starts.back() = takeHalf(b, dim);
    if (!size || *size < 2 || b.random.chance(40))
      continue;
    int64_t step = b.random.between(1, 2) * (b.random.chance(30) ? -1 : 1);
    int64_t start = b.random.below(*size);
    int64_t room = step > 0 ? (*size - 1 - start) / step : start / -step;
    starts.back() = b.expr(start);
    steps.back() = step;
    dim = b.expr(b.random.between(0, room) + 1);
  }
  b.exactOp("slice", {x},
            {b.builder.getNamedAttr(
                 "starts", SliceOp::makeStarts(b.builder.getContext(), starts)),
             b.attr("steps", ArrayRef(steps))},
            {Type(makeType(GraphBuilder::elementOf(x), dims))});
}

static void addPad(GraphBuilder &b, Value x) {
  SmallVector<int64_t> low, high;
  bool constant = b.random.chance(60);
  for (int64_t i = 0; i < GraphBuilder::rankOf(x); ++i) {
    int64_t most = constant ? 2 : GraphBuilder::sizeOf(x, i) > 2 ? 1 : 0;
    low.push_back(b.random.between(0, most));
    high.push_back(b.random.between(0, most));
  }
  static constexpr PadMode modes[] = {PadMode::Reflect, PadMode::Edge,
                                      PadMode::Wrap};
  PadMode mode = constant ? PadMode::Constant : b.random.pick<PadMode>(modes);
  b.exactOp("pad", {x},
            {b.attr("low", ArrayRef(low)), b.attr("high", ArrayRef(high)),
             b.builder.getNamedAttr(
                 "mode", PadModeAttr::get(b.builder.getContext(), mode))});
}

static void addConcat(GraphBuilder &b, Value x) {
  int64_t axis = b.random.below(GraphBuilder::rankOf(x));
  SmallVector<Value> parts = {x};
  for (int64_t i = b.random.between(1, 2); i > 0; --i) {
    Value same = b.pick([&](Value v) { return v.getType() == x.getType(); });
    Dims dims = getDims(x);
    dims[static_cast<size_t>(axis)] = b.expr(b.random.between(0, 3));
    bool isKnown = llvm::all_of(
        dims, [](AffineExpr d) { return getConstant(d).has_value(); });
    parts.push_back(b.random.chance(50) || !isKnown
                        ? same
                        : b.weights(GraphBuilder::elementOf(x), dims));
  }
  b.exactOp("concat", parts, b.attr("axis", axis));
}

static void addBroadcast(GraphBuilder &b, Value x) {
  Dims dims = getDims(x);
  for (AffineExpr &dim : dims)
    if (getConstant(dim) == 1)
      dim = b.randomDims(1)[0];
  if (b.random.chance(40))
    dims.insert(dims.begin(), b.randomDims(1)[0]);
  if (dims.size() <= 5)
    b.exactOp("broadcast_to", {x}, {},
              {Type(makeType(GraphBuilder::elementOf(x), dims))});
}

static void addResize(GraphBuilder &b, Value x) {
  Dims dims = getDims(x);
  SmallVector<double> scales;
  for (size_t i = 0; i < dims.size(); ++i) {
    bool spatial = i >= 2 && getConstant(dims[i]).value_or(0) > 0;
    double scale = spatial ? double(b.random.between(1, 2)) : 1;
    if (scale > 1)
      dims[i] = b.expr(*getConstant(dims[i]) * 2);
    scales.push_back(scale);
  }
  static constexpr ResizeMode modes[] = {ResizeMode::Nearest,
                                         ResizeMode::Linear, ResizeMode::Cubic};
  static constexpr CoordinateMode coordinates[] = {
      CoordinateMode::HalfPixel, CoordinateMode::Asymmetric,
      CoordinateMode::AlignCorners, CoordinateMode::PytorchHalfPixel};
  MLIRContext *context = b.builder.getContext();
  b.op(
      "resize", {x},
      {b.builder.getNamedAttr("scales", b.builder.getDenseF64ArrayAttr(scales)),
       b.builder.getNamedAttr(
           "mode",
           ResizeModeAttr::get(context, b.random.pick<ResizeMode>(modes))),
       b.builder.getNamedAttr(
           "coordinates",
           CoordinateModeAttr::get(
               context, b.random.pick<CoordinateMode>(coordinates)))},
      {Type(makeType(GraphBuilder::elementOf(x), dims))});
}

void addMovement(GraphBuilder &b) {
  int64_t kind = b.random.below(10);
  Value x = b.pick(
      [&](Value v) { return GraphBuilder::rankOf(v) >= (kind == 9 ? 3 : 1); });
  if (!x)
    return;
  switch (kind) {
  case 0:
  case 1:
    addReshape(b, x);
    return;
  case 2:
    addTranspose(b, x);
    return;
  case 3:
    return addMovedView(b, x);
  case 4:
    return addSlice(b, x);
  case 5:
    return addPad(b, x);
  case 6:
    return addConcat(b, x);
  case 7:
    return addBroadcast(b, x);
  case 8:
    if (GraphBuilder::rankOf(x) >= 2 && b.random.chance(50))
      b.exactOp("trilu", {x},
                {b.flag("upper", b.random.chance(50)),
                 b.attr("k", b.random.between(-2, 2))});
    else
      b.exactOp("reverse", {x},
                b.attr("axes", ArrayRef<int64_t>{
                                   b.random.below(GraphBuilder::rankOf(x))}));
    return;
  default:
    if (GraphBuilder::isFloat(x))
      addResize(b, x);
  }
}

//===----------------------------------------------------------------------===//
// Look-ups
//===----------------------------------------------------------------------===//

static void addGather(GraphBuilder &b, Value x, int64_t axis, int64_t size) {
  Type types[] = {b.builder.getI64Type(), b.builder.getI32Type()};
  Type type = b.random.pick<Type>(types);
  switch (b.random.below(4)) {
  case 0: {
    Dims dims = getDims(x);
    dims[static_cast<size_t>(axis)] = b.expr(b.random.between(1, 5));
    b.exactOp("gather_elements", {x, b.indices(type, dims, size)},
              b.attr("axis", axis));
    return;
  }
  case 1:
    if (int64_t first = GraphBuilder::sizeOf(x, 0); first > 0)
      b.exactOp("gather_nd",
                {x, b.indices(b.builder.getI64Type(),
                              {b.randomDims(1)[0], b.expr(1)}, first)});
    return;
  default:
    b.exactOp("gather",
              {x, b.indices(type, b.randomDims(b.random.below(3)), size)},
              b.attr("axis", axis));
  }
}

static void addScatter(GraphBuilder &b, Value x, int64_t axis, int64_t size) {
  static constexpr ScatterReduction reductions[] = {
      ScatterReduction::None, ScatterReduction::Add, ScatterReduction::Max};
  ScatterReduction how = b.random.pick<ScatterReduction>(reductions);
  Dims dims = getDims(x);
  dims[static_cast<size_t>(axis)] = b.expr(b.random.between(1, 4));
  Value at = b.indices(b.builder.getI64Type(), dims, size);
  b.op("scatter_elements", {x, at, b.weights(GraphBuilder::elementOf(x), dims)},
       {b.attr("axis", axis),
        b.builder.getNamedAttr("reduction", ScatterReductionAttr::get(
                                                b.builder.getContext(), how))});
}

void addLookup(GraphBuilder &b) {
  Value x = b.pick([](Value v) {
    return GraphBuilder::rankOf(v) >= 1 && !GraphBuilder::isBool(v);
  });
  if (!x)
    return;
  int64_t axis = b.random.below(GraphBuilder::rankOf(x));
  int64_t size = GraphBuilder::sizeOf(x, axis);
  if (size < 1)
    return;
  switch (b.random.below(6)) {
  case 0:
    if (b.fact(x).exact)
      b.exactOp(b.random.chance(50) ? "arg_max" : "arg_min", {x},
                {b.attr("axis", axis), b.flag("keepdims", b.random.chance(50)),
                 b.flag("select_last", b.random.chance(30))});
    return;
  case 1:
    if (b.fact(x).exact && b.fact(x).tame) {
      Dims dims = getDims(x);
      dims[static_cast<size_t>(axis)] = b.expr(b.random.between(1, size));
      b.exactOp("top_k", {x},
                {b.attr("axis", axis), b.flag("largest", b.random.chance(50))},
                {Type(makeType(GraphBuilder::elementOf(x), dims)),
                 Type(makeType(b.builder.getI64Type(), dims))});
    }
    return;
  case 2:
    if (GraphBuilder::isFloat(x))
      addScatter(b, x, axis, size);
    return;
  default:
    addGather(b, x, axis, size);
  }
}

} // namespace property
