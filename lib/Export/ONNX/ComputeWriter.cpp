// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Contractions, windows, activations and norms as ONNX nodes.
#include "Writer.h"

using namespace mlir;

namespace adze::exporter {

static int64_t getRank(Value value) {
  return cast<RankedTensorType>(value.getType()).getRank();
}

static Type getElementType(Value value) {
  return getElementTypeOrSelf(value.getType());
}

/// Adds a node that swaps the last two dims, and returns the name of its
/// result.
std::string Writer::transpose(Value value) {
  SmallVector<int64_t> perm =
      llvm::to_vector(llvm::seq<int64_t>(getRank(value)));
  std::swap(perm[perm.size() - 1], perm[perm.size() - 2]);
  Node node("Transpose");
  node.input(context.getName(value));
  node.attribute("perm", perm);
  return context.addNode(std::move(node), "transpose");
}

std::string Writer::cast(StringRef name, Type elementType) {
  Node node("Cast");
  node.input(name);
  node.attribute("to", int64_t(getDataType(elementType)));
  return context.addNode(std::move(node), "cast");
}

FailureOr<Node> Writer::write(graph::MatmulOp matmul) {
  bool transA = matmul.getTransposeA(), transB = matmul.getTransposeB();
  bool isOfBytes =
      getElementType(matmul.getLhs()) != getElementType(matmul.getResult());
  bool isGemm = (transA || transB) && getRank(matmul.getLhs()) == 2 &&
                getRank(matmul.getRhs()) == 2 &&
                isa<FloatType>(getElementType(matmul.getResult()));
  if (isGemm) {
    Node node("Gemm");
    addOperands(node);
    node.attribute("transA", int64_t(transA));
    node.attribute("transB", int64_t(transB));
    return node;
  }
  auto operand = [&](Value value, bool isTransposed) {
    return isTransposed ? transpose(value) : context.getName(value).str();
  };
  return make(
      isOfBytes ? "MatMulInteger" : "MatMul",
      {operand(matmul.getLhs(), transA), operand(matmul.getRhs(), transB)});
}

FailureOr<Node> Writer::write(graph::ConvOp conv) {
  if (conv.getLayout() != graph::Layout::NCHW)
    return unsupported() << " with layout nhwc";
  if (conv.getBand())
    return unsupported() << " with a band";
  Type type = getElementType(conv.getInput());
  if (!isa<FloatType>(type) && type.getIntOrFloatBitWidth() != 8)
    return unsupported() << " of " << type;
  if (isa<FloatType>(type)) {
    Node node("Conv");
    addOperands(node);
    addAttributes(node);
    return node;
  }
  Node node("ConvInteger");
  node.input(context.getName(conv.getInput()));
  node.input(context.getName(conv.getFilter()));
  addAttributes(node);
  if (!conv.getBias())
    return node;
  // ConvInteger has no bias: add one element per channel.
  SmallVector<int64_t> shape(getRank(conv.getInput()) - 1, 1);
  shape.front() = -1;
  std::string product = context.addNode(std::move(node), "conv");
  std::string bias = add("Reshape", {context.getName(conv.getBias()).str(),
                                     context.makeInts(shape)});
  return make("Add", {product, bias});
}

FailureOr<Node> Writer::write(graph::ConvTransposeOp conv) {
  if (conv.getLayout() != graph::Layout::NCHW)
    return unsupported() << " with layout nhwc";
  Node node("ConvTranspose");
  addOperands(node);
  addAttributes(node);
  return node;
}

/// Returns true if rounding down gives the same number of windows. ONNX's shape
/// inference counts a last window that starts in the padding, which no runtime
/// computes.
template <typename OpT>
static bool isSameRoundedDown(OpT pool) {
  auto input = mlir::cast<RankedTensorType>(pool.getInput().getType());
  auto result = mlir::cast<RankedTensorType>(pool.getResult().getType());
  size_t rank = pool.getKernel().size();
  for (size_t i = 0; i < rank; ++i) {
    int64_t from = input.getDimSize(i + 2), to = result.getDimSize(i + 2);
    if (ShapedType::isDynamic(from) || ShapedType::isDynamic(to))
      return false;
    int64_t window = pool.getDilations()[i] * (pool.getKernel()[i] - 1) + 1;
    int64_t extent =
        from + pool.getPads()[i] + pool.getPads()[rank + i] - window;
    if (extent < 0 || extent / pool.getStrides()[i] + 1 != to)
      return false;
  }
  return true;
}

template <typename OpT>
FailureOr<Node> Writer::writePool(OpT pool, StringRef name) {
  if (pool.getLayout() != graph::Layout::NCHW)
    return unsupported() << " with layout nhwc";
  Node node(name);
  addOperands(node);
  node.attribute("kernel_shape", pool.getKernel());
  node.attribute("strides", pool.getStrides());
  node.attribute("pads", pool.getPads());
  node.attribute("dilations", pool.getDilations());
  node.attribute("ceil_mode",
                 int64_t(pool.getCeilMode() && !isSameRoundedDown(pool)));
  if constexpr (std::is_same_v<OpT, graph::AvgPoolOp>)
    node.attribute("count_include_pad", int64_t(pool.getCountIncludePad()));
  return node;
}

FailureOr<Node> Writer::write(graph::MaxPoolOp pool) {
  return writePool(pool, "MaxPool");
}

FailureOr<Node> Writer::write(graph::AvgPoolOp pool) {
  return writePool(pool, "AveragePool");
}

FailureOr<Node> Writer::write(graph::LRNOp lrn) {
  if (lrn.getAxis() != 1)
    return unsupported() << " along dim " << lrn.getAxis()
                         << ", expected the channels in dim 1";
  Node node("LRN");
  addOperands(node);
  node.attribute("size", int64_t(lrn.getSize()));
  node.attribute("alpha", float(lrn.getAlpha().convertToDouble()));
  node.attribute("beta", float(lrn.getBeta().convertToDouble()));
  node.attribute("bias", float(lrn.getBias().convertToDouble()));
  return node;
}

FailureOr<Node> Writer::write(graph::SiluOp silu) {
  std::string input = context.getName(silu.getInput()).str();
  return make("Mul", {input, add("Sigmoid", {input})});
}

FailureOr<Node> Writer::write(graph::GeluOp gelu) {
  Node node("Gelu");
  addOperands(node);
  node.attribute("approximate",
                 graph::stringifyGeluMode(gelu.getApproximate()));
  return node;
}

FailureOr<Node> Writer::write(graph::CeluOp celu) {
  if (!getElementType(celu.getResult()).isF32())
    return unsupported() << " of other floats than f32";
  return writeSameForm("Celu");
}

FailureOr<Node> Writer::write(graph::IsInfOp test) {
  Node node("IsInf");
  addOperands(node);
  node.attribute("detect_negative", int64_t(test.getDetectNegative()));
  node.attribute("detect_positive", int64_t(test.getDetectPositive()));
  return node;
}

FailureOr<Node> Writer::write(graph::ModOp mod) {
  if (isa<FloatType>(getElementType(mod.getResult())))
    return unsupported() << " of floats";
  Node node("Mod");
  addOperands(node);
  return node;
}

FailureOr<Node> Writer::write(graph::FmodOp mod) {
  Node node("Mod");
  addOperands(node);
  node.attribute("fmod", int64_t(1));
  return node;
}

FailureOr<Node> Writer::writeShift(StringRef direction) {
  if (!getElementType(op->getResult(0)).isUnsignedInteger())
    return unsupported() << " of signed integers";
  Node node("BitShift");
  addOperands(node);
  node.attribute("direction", direction);
  return node;
}

/// Applies a scale or bias that does not have the normalised shape in a
/// separate node. A missing scale is a constant of ones.
FailureOr<Node> Writer::write(graph::LayerNormOp norm) {
  graph::Dims dims = graph::getDims(norm.getInput());
  auto normalized = ArrayRef(dims).drop_front(norm.getAxis());
  auto fits = [&](Value value) {
    return value && graph::areEqual(graph::getDims(value), normalized);
  };
  bool isDirect =
      fits(norm.getScale()) && (!norm.getBias() || fits(norm.getBias()));
  Node node("LayerNormalization");
  node.attribute("axis", int64_t(norm.getAxis()));
  node.attribute("epsilon", float(norm.getEpsilon().convertToDouble()));
  if (isDirect) {
    addOperands(node);
    return node;
  }
  FailureOr<std::string> sizes = makeSizes(normalized);
  if (failed(sizes))
    return failure();
  std::string one = context.makeScalar(getElementType(norm.getInput()), 1);
  node.input(context.getName(norm.getInput()));
  node.input(add("Expand", {one, *sizes}));
  if (!norm.getScale() && !norm.getBias())
    return node;
  std::string result = context.addNode(std::move(node), "layer_norm");
  if (norm.getScale() && norm.getBias())
    result = add("Mul", {result, context.getName(norm.getScale()).str()});
  Value last = norm.getBias() ? norm.getBias() : norm.getScale();
  return make(norm.getBias() ? "Add" : "Mul",
              {result, context.getName(last).str()});
}

/// Writes the operator decomposed, in f32 or f64: the ONNX operator is newer
/// than the opset.
FailureOr<Node> Writer::write(graph::RMSNormOp norm) {
  Type type = getElementType(norm.getInput());
  bool isNarrow = type.getIntOrFloatBitWidth() < 32;
  Type wide = isNarrow ? Type(Float32Type::get(op->getContext())) : type;
  std::string x = context.getName(norm.getInput()).str();
  if (isNarrow)
    x = cast(x, wide);
  Node mean("ReduceMean");
  mean.input(add("Mul", {x, x}));
  mean.input(context.makeInts(llvm::to_vector(
      llvm::seq<int64_t>(norm.getAxis(), getRank(norm.getInput())))));
  std::string square = context.addNode(std::move(mean), "mean");
  std::string epsilon =
      context.makeScalar(wide, norm.getEpsilon().convertToDouble());
  std::string root = add("Sqrt", {add("Add", {square, epsilon})});
  Node quotient = make("Div", {x, root});
  if (!isNarrow && !norm.getScale())
    return quotient;
  std::string result = context.addNode(std::move(quotient), "rms_norm");
  if (isNarrow && norm.getScale())
    result = cast(result, type);
  if (norm.getScale())
    return make("Mul", {result, context.getName(norm.getScale()).str()});
  Node back = make("Cast", {result});
  back.attribute("to", int64_t(getDataType(type)));
  return back;
}

FailureOr<Node> Writer::write(graph::BatchNormOp norm) {
  if (norm.getAxis() != 1)
    return unsupported() << " along dim " << norm.getAxis()
                         << ", expected the channels in dim 1";
  Node node("BatchNormalization");
  addOperands(node);
  node.attribute("epsilon", float(norm.getEpsilon().convertToDouble()));
  return node;
}

FailureOr<Node> Writer::write(graph::InstanceNormOp norm) {
  if (norm.getAxis() != 1)
    return unsupported() << " along dim " << norm.getAxis()
                         << ", expected the channels in dim 1";
  Node node("InstanceNormalization");
  addOperands(node);
  node.attribute("epsilon", float(norm.getEpsilon().convertToDouble()));
  return node;
}

FailureOr<Node> Writer::write(graph::GroupNormOp norm) {
  Node node("GroupNormalization");
  addOperands(node);
  node.attribute("num_groups", int64_t(norm.getGroups()));
  node.attribute("epsilon", float(norm.getEpsilon().convertToDouble()));
  return node;
}

/// Writes the operator by its definition: the ONNX operator is newer than the
/// opset.
FailureOr<Node> Writer::write(graph::AttentionOp attention) {
  Type type = getElementType(attention.getQuery());
  for (Value operand : {attention.getKey(), attention.getValue()})
    for (int64_t dim = 0; dim < getRank(operand) - 2; ++dim)
      if (auto repeats = attention.getRepeats(operand, dim);
          !repeats || *repeats > 1)
        return unsupported() << " with groups of heads";
  if (attention.getCausal() != graph::Causal::None)
    return unsupported() << " with a causal mask";
  auto scalar = [&](double value) { return context.makeScalar(type, value); };
  std::string scores =
      add("MatMul", {context.getName(attention.getQuery()).str(),
                     transpose(attention.getKey())});
  scores = add("Mul", {scores, scalar(attention.getScale().convertToDouble())});
  if (double cap = attention.getSoftcap().convertToDouble(); cap > 0) {
    scores = add("Tanh", {add("Div", {scores, scalar(cap)})});
    scores = add("Mul", {scores, scalar(cap)});
  }
  if (Value bias = attention.getBias())
    scores = add("Add", {scores, context.getName(bias).str()});
  if (Value mask = attention.getMask())
    scores = add("Where", {context.getName(mask).str(), scores,
                           scalar(attention.getFill().convertToDouble())});
  std::string weights = add("Softmax", {scores});
  if (attention.getZeroMasked()) {
    std::string isNone =
        add("And", {add("IsNaN", {weights}),
                    add("Equal", {scores, scalar(-INFINITY)})});
    weights = add("Where", {isNone, scalar(0), weights});
  }
  if (attention.getZeroEmpty())
    weights = add("Where", {add("IsNaN", {weights}), scalar(0), weights});
  return make("MatMul", {weights, context.getName(attention.getValue()).str()});
}

} // namespace adze::exporter
