// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// One op of the graph dialect as one ONNX node.
#include "NodeWriter.h"
#include "Dialect/Graph/IR/Shape.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace adze::exporter {

int getDataType(Type type) {
  if (type.isF32())
    return 1;
  if (type.isF16())
    return 10;
  if (type.isF64())
    return 11;
  if (type.isBF16())
    return 16;
  auto integer = dyn_cast<IntegerType>(type);
  if (!integer)
    return 0;
  bool isUnsigned = integer.isUnsigned();
  switch (integer.getWidth()) {
  case 1:
    return 9;
  case 8:
    return isUnsigned ? 2 : 3;
  case 16:
    return isUnsigned ? 4 : 5;
  case 32:
    return isUnsigned ? 12 : 6;
  case 64:
    return isUnsigned ? 13 : 7;
  default:
    return 0;
  }
}

/// Ops whose operands and results are the node's, in order. Attributes of type
/// f64 and i64 have the node's names.
static StringRef getSameForm(StringRef op) {
  return llvm::StringSwitch<StringRef>(op)
      .Case("abs", "Abs")
      .Case("neg", "Neg")
      .Case("sign", "Sign")
      .Case("exp", "Exp")
      .Case("log", "Log")
      .Case("sqrt", "Sqrt")
      .Case("reciprocal", "Reciprocal")
      .Case("floor", "Floor")
      .Case("ceil", "Ceil")
      .Case("round", "Round")
      .Case("sin", "Sin")
      .Case("cos", "Cos")
      .Case("tan", "Tan")
      .Case("asin", "Asin")
      .Case("acos", "Acos")
      .Case("atan", "Atan")
      .Case("sinh", "Sinh")
      .Case("cosh", "Cosh")
      .Case("tanh", "Tanh")
      .Case("asinh", "Asinh")
      .Case("acosh", "Acosh")
      .Case("atanh", "Atanh")
      .Case("erf", "Erf")
      .Case("sigmoid", "Sigmoid")
      .Case("softplus", "Softplus")
      .Case("softsign", "Softsign")
      .Case("mish", "Mish")
      .Case("hard_swish", "HardSwish")
      .Case("relu", "Relu")
      .Case("leaky_relu", "LeakyRelu")
      .Case("elu", "Elu")
      .Case("selu", "Selu")
      .Case("celu", "Celu")
      .Case("hard_sigmoid", "HardSigmoid")
      .Case("thresholded_relu", "ThresholdedRelu")
      .Case("not", "Not")
      .Case("is_nan", "IsNaN")
      .Case("add", "Add")
      .Case("sub", "Sub")
      .Case("mul", "Mul")
      .Case("div", "Div")
      .Case("pow", "Pow")
      .Case("minimum", "Min")
      .Case("maximum", "Max")
      .Case("prelu", "PRelu")
      .Case("and", "And")
      .Case("or", "Or")
      .Case("xor", "Xor")
      .Case("equal", "Equal")
      .Case("less", "Less")
      .Case("less_equal", "LessOrEqual")
      .Case("greater", "Greater")
      .Case("greater_equal", "GreaterOrEqual")
      .Case("select", "Where")
      .Case("shape", "Shape")
      .Case("concat", "Concat")
      .Case("softmax", "Softmax")
      .Case("log_softmax", "LogSoftmax")
      .Case("gather", "Gather")
      .Case("gather_elements", "GatherElements")
      .Case("gather_nd", "GatherND")
      .Case("transpose", "Transpose")
      .Case("det", "Det")
      .Default("");
}

static StringRef getReduction(StringRef op) {
  return llvm::StringSwitch<StringRef>(op)
      .Case("reduce_sum", "ReduceSum")
      .Case("reduce_mean", "ReduceMean")
      .Case("reduce_max", "ReduceMax")
      .Case("reduce_min", "ReduceMin")
      .Case("reduce_prod", "ReduceProd")
      .Case("reduce_l1", "ReduceL1")
      .Case("reduce_l2", "ReduceL2")
      .Case("reduce_log_sum", "ReduceLogSum")
      .Case("reduce_log_sum_exp", "ReduceLogSumExp")
      .Case("reduce_sum_square", "ReduceSumSquare")
      .Default("");
}

namespace {
/// Writes one op; each form has a function that fills in what is its own.
class Writer {
public:
  Writer(Operation *op, NodeContext &context) : op(op), context(context) {}

  FailureOr<Node> run();

private:
  InFlightDiagnostic unsupported() {
    return op->emitError("unsupported: no ONNX operator for '")
           << op->getName() << "'";
  }
  void addOperands(Node &node) {
    for (Value operand : op->getOperands())
      node.input(context.getName(operand));
  }
  void addAttributes(Node &node);
  FailureOr<Node> writeSameForm(StringRef name);
  FailureOr<Node> writeReduction(StringRef name);
  FailureOr<Node> write(graph::MatmulOp matmul);
  FailureOr<Node> write(graph::ReshapeOp reshape);
  FailureOr<Node> write(graph::BroadcastToOp broadcast);
  FailureOr<Node> write(graph::SliceOp slice);
  FailureOr<Node> write(graph::PadOp pad);
  FailureOr<Node> write(graph::CastOp cast);
  FailureOr<Node> write(graph::GeluOp gelu);
  FailureOr<Node> write(graph::LayerNormOp norm);
  FailureOr<Node> write(graph::BatchNormOp norm);
  FailureOr<Node> write(graph::ResizeOp resize);
  template <typename OpT>
  FailureOr<Node> writeConv(OpT conv, StringRef name);
  template <typename OpT>
  FailureOr<Node> writePool(OpT pool, StringRef name);
  /// The result's shape as an operand, -1 for one dim that is not static.
  FailureOr<std::string> makeShape(Value shape, bool mayInfer);

  Operation *op;
  NodeContext &context;
};
} // namespace

void Writer::addAttributes(Node &node) {
  for (NamedAttribute attr : op->getAttrs()) {
    StringRef name = attr.getName().strref();
    if (auto real = dyn_cast<FloatAttr>(attr.getValue()))
      node.attribute(name, float(real.getValueAsDouble()));
    else if (auto flag = dyn_cast<BoolAttr>(attr.getValue()))
      node.attribute(name, int64_t(flag.getValue()));
    else if (auto integer = dyn_cast<IntegerAttr>(attr.getValue()))
      node.attribute(name, integer.getInt());
    else if (auto list = dyn_cast<DenseI64ArrayAttr>(attr.getValue()))
      node.attribute(name, list.asArrayRef());
  }
}

FailureOr<Node> Writer::writeSameForm(StringRef name) {
  Node node(name);
  addOperands(node);
  addAttributes(node);
  return node;
}

FailureOr<Node> Writer::writeReduction(StringRef name) {
  Node node(name);
  addOperands(node);
  node.input(context.makeInts(
      op->getAttrOfType<DenseI64ArrayAttr>("axes").asArrayRef()));
  auto keep = op->getAttrOfType<BoolAttr>("keepdims");
  node.attribute("keepdims", int64_t(!keep || keep.getValue()));
  // No axes mean no reduction here, and all of them in ONNX.
  node.attribute("noop_with_empty_axes", int64_t(1));
  return node;
}

FailureOr<Node> Writer::write(graph::MatmulOp matmul) {
  bool transposes = matmul.getTransposeA() || matmul.getTransposeB();
  bool isOfBytes = getElementTypeOrSelf(matmul.getLhs().getType()) !=
                   getElementTypeOrSelf(matmul.getResult().getType());
  if (!transposes) {
    Node node(isOfBytes ? "MatMulInteger" : "MatMul");
    addOperands(node);
    return node;
  }
  auto type = cast<RankedTensorType>(matmul.getResult().getType());
  auto rank = [](Value value) {
    return cast<RankedTensorType>(value.getType()).getRank();
  };
  if (rank(matmul.getLhs()) != 2 || rank(matmul.getRhs()) != 2 ||
      !isa<FloatType>(type.getElementType()))
    return unsupported() << " with transposed operands of other than 2 dims";
  Node node("Gemm");
  addOperands(node);
  node.attribute("transA", int64_t(matmul.getTransposeA()));
  node.attribute("transB", int64_t(matmul.getTransposeB()));
  return node;
}

FailureOr<std::string> Writer::makeShape(Value shape, bool mayInfer) {
  if (shape)
    return context.getName(shape).str();
  SmallVector<int64_t> sizes;
  unsigned numDynamic = 0;
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  for (int64_t size : type.getShape()) {
    numDynamic += ShapedType::isDynamic(size);
    sizes.push_back(ShapedType::isDynamic(size) ? -1 : size);
  }
  if (numDynamic > (mayInfer ? 1 : 0))
    return unsupported() << " to " << numDynamic
                         << " dims that are not static without an operand "
                            "that says them";
  return context.makeInts(sizes);
}

FailureOr<Node> Writer::write(graph::ReshapeOp reshape) {
  FailureOr<std::string> shape = makeShape(reshape.getShape(), true);
  if (failed(shape))
    return failure();
  Node node("Reshape");
  node.input(context.getName(reshape.getInput()));
  node.input(*shape);
  // A dim of 0 is one of 0; beside -1 there is none in ONNX.
  if (!llvm::is_contained(cast<RankedTensorType>(reshape.getType()).getShape(),
                          ShapedType::kDynamic))
    node.attribute("allowzero", int64_t(1));
  return node;
}

FailureOr<Node> Writer::write(graph::BroadcastToOp broadcast) {
  FailureOr<std::string> shape = makeShape(broadcast.getShape(), false);
  if (failed(shape))
    return failure();
  Node node("Expand");
  node.input(context.getName(broadcast.getInput()));
  node.input(*shape);
  return node;
}

FailureOr<Node> Writer::write(graph::SliceOp slice) {
  auto starts = slice.getConstantStarts();
  if (!starts)
    return unsupported() << " with starts that are computed";
  graph::Dims input = graph::getDims(slice.getInput()),
              result = graph::getDims(slice.getResult());
  SmallVector<int64_t> ends, axes;
  for (size_t dim = 0; dim < input.size(); ++dim) {
    int64_t start = (*starts)[dim], step = slice.getSteps()[dim];
    axes.push_back(dim);
    std::optional<int64_t> size =
        result[dim] ? graph::getConstant(result[dim]) : std::nullopt;
    bool isWhole = start == 0 && step == 1 && input[dim] &&
                   graph::areEqual(input[dim], result[dim]);
    if (!size && !isWhole)
      return unsupported() << " of a size that is not static";
    int64_t end = isWhole ? INT64_MAX : start + *size * step;
    ends.push_back(end < 0 ? INT64_MIN : end);
  }
  Node node("Slice");
  node.input(context.getName(slice.getInput()));
  node.input(context.makeInts(*starts));
  node.input(context.makeInts(ends));
  node.input(context.makeInts(axes));
  node.input(context.makeInts(slice.getSteps()));
  return node;
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
  Node node("Cast");
  addOperands(node);
  node.attribute("to", int64_t(getDataType(type.getElementType())));
  return node;
}

FailureOr<Node> Writer::write(graph::GeluOp gelu) {
  Node node("Gelu");
  addOperands(node);
  node.attribute("approximate",
                 graph::stringifyGeluMode(gelu.getApproximate()));
  return node;
}

FailureOr<Node> Writer::write(graph::LayerNormOp norm) {
  if (!norm.getScale())
    return unsupported() << " without a scale";
  Node node("LayerNormalization");
  addOperands(node);
  node.attribute("axis", int64_t(norm.getAxis()));
  node.attribute("epsilon", float(norm.getEpsilon().convertToDouble()));
  return node;
}

FailureOr<Node> Writer::write(graph::BatchNormOp norm) {
  if (norm.getAxis() != 1)
    return unsupported() << " of channels that are not dim 1";
  Node node("BatchNormalization");
  addOperands(node);
  node.attribute("epsilon", float(norm.getEpsilon().convertToDouble()));
  return node;
}

/// By scales where there are some and they give the result's sizes, else by
/// sizes.
FailureOr<Node> Writer::write(graph::ResizeOp resize) {
  auto input = mlir::cast<RankedTensorType>(resize.getInput().getType());
  auto type = mlir::cast<RankedTensorType>(resize.getResult().getType());
  if (!input.hasStaticShape() || !type.hasStaticShape())
    return unsupported() << " of sizes that are not static";
  if (resize.getRoi())
    return unsupported() << " of a part of its input";
  if (auto scales = resize.getScales())
    for (auto [from, to, scale] :
         llvm::zip(input.getShape(), type.getShape(), *scales))
      if (int64_t(std::floor(double(from) * double(float(scale)))) != to)
        return unsupported() << " with scales that do not give its sizes";
  Node node("Resize");
  node.input(context.getName(resize.getInput()));
  node.input(""); // no region of interest
  node.input(resize.getScales() ? context.makeFloats(*resize.getScales()) : "");
  if (!resize.getScales())
    node.input(context.makeInts(type.getShape()));
  node.attribute("mode", graph::stringifyResizeMode(resize.getMode()));
  node.attribute("coordinate_transformation_mode",
                 graph::stringifyCoordinateMode(resize.getCoordinates()));
  node.attribute("nearest_mode",
                 graph::stringifyNearestMode(resize.getNearestMode()));
  node.attribute("cubic_coeff_a",
                 float(resize.getCubicCoeff().convertToDouble()));
  node.attribute("exclude_outside", int64_t(resize.getExcludeOutside()));
  node.attribute("antialias", int64_t(resize.getAntialias()));
  return node;
}

template <typename OpT>
FailureOr<Node> Writer::writeConv(OpT conv, StringRef name) {
  if (conv.getLayout() != graph::Layout::NCHW)
    return unsupported() << " with channels behind";
  Node node(name);
  addOperands(node);
  addAttributes(node);
  return node;
}

template <typename OpT>
FailureOr<Node> Writer::writePool(OpT pool, StringRef name) {
  if (pool.getLayout() != graph::Layout::NCHW)
    return unsupported() << " with channels behind";
  Node node(name);
  addOperands(node);
  node.attribute("kernel_shape", pool.getKernel());
  node.attribute("strides", pool.getStrides());
  node.attribute("pads", pool.getPads());
  node.attribute("dilations", pool.getDilations());
  node.attribute("ceil_mode", int64_t(pool.getCeilMode()));
  if constexpr (std::is_same_v<OpT, graph::AvgPoolOp>)
    node.attribute("count_include_pad", int64_t(pool.getCountIncludePad()));
  return node;
}

FailureOr<Node> Writer::run() {
  StringRef name = op->getName().stripDialect();
  if (!isa<graph::GraphDialect>(op->getDialect()))
    return unsupported();
  if (StringRef same = getSameForm(name); !same.empty())
    return writeSameForm(same);
  if (StringRef reduction = getReduction(name); !reduction.empty())
    return writeReduction(reduction);
  return llvm::TypeSwitch<Operation *, FailureOr<Node>>(op)
      .Case<graph::MatmulOp, graph::ReshapeOp, graph::BroadcastToOp,
            graph::SliceOp, graph::PadOp, graph::CastOp, graph::GeluOp,
            graph::LayerNormOp, graph::BatchNormOp, graph::ResizeOp>(
          [&](auto op) { return write(op); })
      .Case([&](graph::ConvOp conv) { return writeConv(conv, "Conv"); })
      .Case([&](graph::ConvTransposeOp conv) {
        return writeConv(conv, "ConvTranspose");
      })
      .Case([&](graph::MaxPoolOp pool) { return writePool(pool, "MaxPool"); })
      .Case(
          [&](graph::AvgPoolOp pool) { return writePool(pool, "AveragePool"); })
      .Default([&](Operation *) -> FailureOr<Node> { return unsupported(); });
}

FailureOr<Node> writeNode(Operation *op, NodeContext &context) {
  return Writer(op, context).run();
}

} // namespace adze::exporter
