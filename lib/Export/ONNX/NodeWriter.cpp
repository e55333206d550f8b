// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// The ONNX operator of each op, and the common forms of several ops.
#include "Writer.h"
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
  if (isa<Float8E4M3FNType>(type))
    return 17;
  if (isa<Float8E4M3FNUZType>(type))
    return 18;
  if (isa<Float8E5M2Type>(type))
    return 19;
  if (isa<Float8E5M2FNUZType>(type))
    return 20;
  auto integer = dyn_cast<IntegerType>(type);
  if (!integer || integer.isSigned()) // numbers of strings
    return 0;
  bool isUnsigned = integer.isUnsigned();
  switch (integer.getWidth()) {
  case 1:
    return 9;
  case 4:
    return isUnsigned ? 21 : 22;
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

/// Returns the operator of ops whose operands and results are those of the
/// node, in order. Attributes of type f64 and i64 have the names of the node.
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
      .Case("bitwise_and", "BitwiseAnd")
      .Case("bitwise_or", "BitwiseOr")
      .Case("bitwise_xor", "BitwiseXor")
      .Case("bitwise_not", "BitwiseNot")
      .Case("shape", "Shape")
      .Case("non_zero", "NonZero")
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
  // No axes mean no reduction here, and a reduction over all axes in ONNX.
  node.attribute("noop_with_empty_axes", int64_t(1));
  return node;
}

std::string Writer::add(StringRef name, ArrayRef<std::string> inputs) {
  return context.addNode(make(name, inputs), op->getName().stripDialect());
}

Node Writer::make(StringRef name, ArrayRef<std::string> inputs) {
  Node node(name);
  for (const std::string &input : inputs)
    node.input(input);
  return node;
}

FailureOr<std::string> Writer::makeSizes(ArrayRef<AffineExpr> sizes) {
  FailureOr<std::string> name = context.makeSizes(sizes);
  if (failed(name))
    return unsupported() << " of sizes " << graph::toString(sizes)
                         << " that no earlier value has";
  return name;
}

template <typename OpT>
FailureOr<Node> Writer::writeArg(OpT arg, StringRef name) {
  Node node(name);
  addOperands(node);
  node.attribute("axis", int64_t(arg.getAxis()));
  node.attribute("keepdims", int64_t(arg.getKeepdims()));
  node.attribute("select_last_index", int64_t(arg.getSelectLast()));
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
  if (name == "shift_left" || name == "shift_right")
    return writeShift(name == "shift_left" ? "LEFT" : "RIGHT");
  return llvm::TypeSwitch<Operation *, FailureOr<Node>>(op)
      .Case<graph::MatmulOp, graph::ConvOp, graph::ConvTransposeOp,
            graph::MaxPoolOp, graph::AvgPoolOp, graph::LRNOp, graph::SiluOp,
            graph::GeluOp, graph::CeluOp, graph::RangeOp, graph::IsInfOp,
            graph::ModOp, graph::FmodOp, graph::LayerNormOp, graph::RMSNormOp,
            graph::BatchNormOp, graph::InstanceNormOp, graph::GroupNormOp,
            graph::AttentionOp, graph::ReshapeOp, graph::BroadcastToOp,
            graph::SliceOp, graph::ReverseOp, graph::PadOp, graph::CastOp,
            graph::ResizeOp, graph::TriluOp, graph::CumsumOp, graph::TopKOp,
            graph::OneHotOp, graph::ScatterElementsOp, graph::ScatterNDOp,
            graph::TreeLeavesOp>([&](auto op) { return write(op); })
      .Case([&](graph::ArgMaxOp arg) { return writeArg(arg, "ArgMax"); })
      .Case([&](graph::ArgMinOp arg) { return writeArg(arg, "ArgMin"); })
      .Default([&](Operation *) -> FailureOr<Node> { return unsupported(); });
}

FailureOr<Node> writeNode(Operation *op, NodeContext &context) {
  return Writer(op, context).run();
}

} // namespace adze::exporter
