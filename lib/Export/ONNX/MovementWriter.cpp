// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Ops that move or select elements as ONNX nodes.
#include "Writer.h"

using namespace mlir;

namespace adze::exporter {

/// Copies a dynamic dimension from the input (0) if the input has the same
/// dimension at this position, infers it (-1) if it is the only other one, and
/// computes it otherwise.
FailureOr<std::string> Writer::makeReshapeSizes(graph::ReshapeOp reshape,
                                                bool &allowZero) {
  auto type = mlir::cast<RankedTensorType>(reshape.getType());
  graph::Dims input = graph::getDims(reshape.getInput()),
              dims = graph::getDims(type);
  allowZero = llvm::is_contained(type.getShape(), 0);
  if (type.hasStaticShape() || allowZero)
    return makeSizes(dims);
  SmallVector<int64_t> sizes;
  for (auto [dim, size] : llvm::enumerate(type.getShape())) {
    bool isCopied = ShapedType::isDynamic(size) && dim < input.size() &&
                    graph::areEqual(input[dim], dims[dim]);
    sizes.push_back(isCopied ? 0 : ShapedType::isDynamic(size) ? -1 : size);
  }
  if (llvm::count(sizes, -1) <= 1)
    return context.makeInts(sizes);
  return makeSizes(dims);
}

FailureOr<Node> Writer::write(graph::ReshapeOp reshape) {
  bool allowZero = false;
  FailureOr<std::string> shape = reshape.getShape()
                                     ? context.getName(reshape.getShape()).str()
                                     : makeReshapeSizes(reshape, allowZero);
  if (failed(shape))
    return failure();
  Node node =
      make("Reshape", {context.getName(reshape.getInput()).str(), *shape});
  if (allowZero)
    node.attribute("allowzero", int64_t(1));
  return node;
}

FailureOr<Node> Writer::write(graph::BroadcastToOp broadcast) {
  FailureOr<std::string> shape =
      broadcast.getShape() ? context.getName(broadcast.getShape()).str()
                           : makeSizes(graph::getDims(broadcast.getResult()));
  if (failed(shape))
    return failure();
  return make("Expand", {context.getName(broadcast.getInput()).str(), *shape});
}

/// Omits dimensions that are taken whole. A slice with a negative step ends at
/// an index counted from the end of the dimension, which may precede all
/// elements.
FailureOr<Node> Writer::write(graph::SliceOp slice) {
  graph::Dims input = graph::getDims(slice.getInput()),
              result = graph::getDims(slice.getResult());
  SmallVector<AffineExpr, 4> starts = slice.getStartExprs();
  auto constant = [&](int64_t value) {
    return getAffineConstantExpr(value, op->getContext());
  };
  std::string begin;
  SmallVector<AffineExpr> from, to;
  SmallVector<int64_t> axes, steps;
  for (auto [dim, step] : llvm::enumerate(slice.getSteps())) {
    AffineExpr start = slice.getBegin() ? constant(0) : starts[dim];
    bool isWhole = !slice.getBegin() && step == 1 &&
                   graph::getConstant(start) == 0 &&
                   graph::areEqual(input[dim], result[dim]);
    if (isWhole)
      continue;
    AffineExpr end =
        graph::addExprs(start, graph::mulExprs(result[dim], constant(step)));
    from.push_back(start);
    to.push_back(step < 0 ? graph::subExprs(end, input[dim]) : end);
    axes.push_back(dim);
    steps.push_back(step);
  }
  std::string source = context.getName(slice.getInput()).str();
  if (axes.empty())
    return make("Identity", {source});
  FailureOr<std::string> first = makeSizes(from), last = makeSizes(to);
  if (failed(first) || failed(last))
    return failure();
  if (slice.getBegin()) {
    first = context.getName(slice.getBegin()).str();
    last = add("Add", {*first, *last});
  }
  return make("Slice", {source, *first, *last, context.makeInts(axes),
                        context.makeInts(steps)});
}

FailureOr<Node> Writer::write(graph::ReverseOp reverse) {
  SmallVector<int64_t> last(reverse.getAxes().size(), -1),
      before(reverse.getAxes().size(), INT64_MIN);
  return make("Slice",
              {context.getName(reverse.getInput()).str(),
               context.makeInts(last), context.makeInts(before),
               context.makeInts(reverse.getAxes()), context.makeInts(last)});
}

FailureOr<Node> Writer::write(graph::PadOp pad) {
  SmallVector<int64_t> pads(pad.getLow());
  llvm::append_range(pads, pad.getHigh());
  Node node("Pad");
  node.input(context.getName(pad.getInput()));
  node.input(context.makeInts(pads));
  if (pad.getValue())
    node.input(context.getName(pad.getValue()));
  node.attribute("mode", graph::stringifyPadMode(pad.getMode()));
  return node;
}

FailureOr<Node> Writer::write(graph::CastOp cast) {
  auto type = mlir::cast<RankedTensorType>(cast.getResult().getType());
  int dataType = getDataType(type.getElementType());
  if (!dataType)
    return unsupported() << " to " << type.getElementType();
  Node node("Cast");
  addOperands(node);
  node.attribute("to", int64_t(dataType));
  if (isa<FloatType>(type.getElementType()) &&
      type.getElementTypeBitWidth() == 8)
    node.attribute("saturate", int64_t(cast.getSaturate()));
  return node;
}

/// Returns true if ONNX's `floor(size * scale)` is the result's size.
static bool givesSize(AffineExpr from, double scale, AffineExpr to) {
  auto known = graph::getConstant(from), wanted = graph::getConstant(to);
  if (known)
    return int64_t(std::floor(double(*known) * double(float(scale)))) == wanted;
  double times = std::round(scale), part = std::round(1 / scale);
  auto constant = [&](double value) {
    return getAffineConstantExpr(int64_t(value), from.getContext());
  };
  if (times >= 1 && times == scale)
    return graph::areEqual(graph::mulExprs(from, constant(times)), to);
  return part >= 1 && part * scale == 1 &&
         graph::areEqual(graph::floorDivExprs(from, constant(part)), to);
}

/// Resizes by scales if they are present and give the result's sizes, and by
/// sizes otherwise.
FailureOr<Node> Writer::write(graph::ResizeOp resize) {
  graph::Dims input = graph::getDims(resize.getInput()),
              result = graph::getDims(resize.getResult());
  if (auto scales = resize.getScales())
    for (auto [from, to, scale] : llvm::zip(input, result, *scales))
      if (!from || !to || !givesSize(from, scale, to))
        return unsupported() << " with scales that do not give its sizes";
  std::string sizes;
  if (!resize.getScales()) {
    FailureOr<std::string> made = makeSizes(result);
    if (failed(made))
      return failure();
    sizes = *made;
  }
  Node node("Resize");
  node.input(context.getName(resize.getInput()));
  node.input(resize.getRoi() ? context.makeFloats(*resize.getRoi()) : "");
  node.input(resize.getScales() ? context.makeFloats(*resize.getScales()) : "");
  if (!sizes.empty())
    node.input(sizes);
  auto real = [](llvm::APFloat value) {
    return float(value.convertToDouble());
  };
  node.attribute("mode", graph::stringifyResizeMode(resize.getMode()));
  node.attribute("coordinate_transformation_mode",
                 graph::stringifyCoordinateMode(resize.getCoordinates()));
  node.attribute("nearest_mode",
                 graph::stringifyNearestMode(resize.getNearestMode()));
  node.attribute("cubic_coeff_a", real(resize.getCubicCoeff()));
  node.attribute("extrapolation_value", real(resize.getExtrapolation()));
  node.attribute("exclude_outside", int64_t(resize.getExcludeOutside()));
  node.attribute("antialias", int64_t(resize.getAntialias()));
  return node;
}

/// The result type determines the number of elements, whatever the limit is.
/// The limit is computed if the operands do not give the same number.
FailureOr<Node> Writer::write(graph::RangeOp range) {
  Type type = getElementTypeOrSelf(range.getResult().getType());
  if (type.isF16() || type.isBF16())
    return unsupported() << " of " << type;
  AffineExpr size = graph::getDims(range.getResult()).front();
  auto start = graph::getElements(range.getStart()),
       limit = graph::getElements(range.getLimit()),
       delta = graph::getElements(range.getDelta());
  bool isSaid =
      size && start && limit && delta &&
      graph::areEqual(graph::mulExprs(size, delta->front()),
                      graph::subExprs(limit->front(), start->front()));
  FailureOr<std::string> count = failure();
  if (size && !isSaid)
    count = context.makeSizes({size});
  Node node("Range");
  addOperands(node);
  if (failed(count))
    return node;
  std::string scalar = add("Reshape", {*count, context.makeInts({})});
  if (!type.isInteger(64))
    scalar = cast(scalar, type);
  if (isa<FloatType>(type)) // between the last element and the one after it
    scalar = add("Sub", {scalar, context.makeScalar(type, 0.5)});
  std::string from = context.getName(range.getStart()).str(),
              step = context.getName(range.getDelta()).str();
  std::string end = add("Add", {from, add("Mul", {scalar, step})});
  return make("Range", {from, end, step});
}

FailureOr<Node> Writer::write(graph::TriluOp triangle) {
  Node node("Trilu");
  addOperands(node);
  node.input(context.makeInts({int64_t(triangle.getK())}, /*isScalar=*/true));
  node.attribute("upper", int64_t(triangle.getUpper()));
  return node;
}

FailureOr<Node> Writer::write(graph::CumsumOp scan) {
  Node node("CumSum");
  addOperands(node);
  node.input(context.makeInts({int64_t(scan.getAxis())}, /*isScalar=*/true));
  node.attribute("exclusive", int64_t(scan.getExclusive()));
  node.attribute("reverse", int64_t(scan.getReverse()));
  return node;
}

FailureOr<Node> Writer::write(graph::TopKOp top) {
  AffineExpr size = graph::getDims(top.getValues())[top.getAxis()];
  FailureOr<std::string> count = makeSizes({size});
  if (failed(count))
    return failure();
  Node node = make("TopK", {context.getName(top.getInput()).str(), *count});
  node.attribute("axis", int64_t(top.getAxis()));
  node.attribute("largest", int64_t(top.getLargest()));
  node.attribute("sorted", int64_t(top.getSorted()));
  return node;
}

FailureOr<Node> Writer::write(graph::OneHotOp oneHot) {
  AffineExpr size = graph::getDims(oneHot.getResult())[oneHot.getAxis()];
  FailureOr<std::string> depth = makeSizes({size});
  if (failed(depth))
    return failure();
  Node node =
      make("OneHot", {context.getName(oneHot.getIndices()).str(), *depth,
                      context.getName(oneHot.getValues()).str()});
  node.attribute("axis", int64_t(oneHot.getAxis()));
  return node;
}

/// The indices of ONNX are not broadcast.
FailureOr<Node> Writer::write(graph::ScatterElementsOp scatter) {
  std::string indices = context.getName(scatter.getIndices()).str();
  graph::Dims wide = graph::getDims(scatter.getUpdates());
  if (!graph::areEqual(graph::getDims(scatter.getIndices()), wide)) {
    FailureOr<std::string> sizes = makeSizes(wide);
    if (failed(sizes))
      return failure();
    indices = add("Expand", {indices, *sizes});
  }
  Node node = make("ScatterElements",
                   {context.getName(scatter.getData()).str(), indices,
                    context.getName(scatter.getUpdates()).str()});
  node.attribute("axis", int64_t(scatter.getAxis()));
  node.attribute("reduction",
                 graph::stringifyScatterReduction(scatter.getReduction()));
  return node;
}

FailureOr<Node> Writer::write(graph::ScatterNDOp scatter) {
  Node node("ScatterND");
  addOperands(node);
  node.attribute("reduction",
                 graph::stringifyScatterReduction(scatter.getReduction()));
  return node;
}

} // namespace adze::exporter
