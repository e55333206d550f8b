// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Quantised operators of com.microsoft, in the arithmetic that they stand for.
#include "../OpTable.h"
#include "Arithmetic.h"
#include "Quantization.h"

using namespace adze;
using namespace adze::importer;
using mlir::LogicalResult;
using mlir::Value;

namespace {

/// (x - zero) * scale of three operands from `first` on, in f32.
Value dequantize(Binder &b, unsigned first) {
  Arithmetic a(b);
  mlir::Type f32 = b.builder.getF32Type();
  Value x = b.cast(b.operand(first), f32);
  if (Value zero = b.operand(first + 2))
    x = a.sub(x, b.cast(zero, f32));
  return a.mul(x, b.operand(first + 1));
}

/// The result for the scale and the zero point that are operands `first` and
/// the one behind it, in the type of operand 0.
LogicalResult quantize(Binder &b, Value y, unsigned first) {
  mlir::Type type = b.getElementType(b.operand(0));
  Value scaled = Arithmetic(b).div(y, b.operand(first));
  return b.done(buildRequantize(b, scaled, b.operand(first + 1), type));
}

LogicalResult importQLinearAdd(Binder &b) {
  return quantize(b, Arithmetic(b).add(dequantize(b, 0), dequantize(b, 3)), 6);
}

LogicalResult importQLinearMul(Binder &b) {
  return quantize(b, Arithmetic(b).mul(dequantize(b, 0), dequantize(b, 3)), 6);
}

LogicalResult importQLinearLeakyRelu(Binder &b) {
  Arithmetic a(b);
  Value x = dequantize(b, 0);
  double alpha = b.getFloat("alpha", double(0.01f));
  return quantize(b, a.select(a.less(x, 0.0), a.mul(x, alpha), x), 3);
}

LogicalResult importQLinearSigmoid(Binder &b) {
  return quantize(b, Arithmetic(b).sigmoid(dequantize(b, 0)), 3);
}

/// In f32: ONNX Runtime's older definition takes all dims from `axis` on.
LogicalResult importQLinearSoftmax(Binder &b) {
  Arithmetic a(b);
  Value x = dequantize(b, 0);
  int64_t rank = b.getRank(x);
  if (!x || rank == 0)
    return b.fail("expected an input of at least one dim");
  int64_t axis = b.getAxis("axis", -1, rank);
  if (b.hasFailed())
    return mlir::failure();
  bool isOld = b.getInt("opset", 0) < 13;
  Dims dims = graph::getDims(x);
  Value y = b.create<graph::SoftmaxOp>(isOld ? a.flatten(x, axis, rank) : x,
                                       b.attr("axis", axis));
  return y ? quantize(b, b.reshape(y, dims), 3) : mlir::failure();
}

LogicalResult importQLinearGlobalAveragePool(Binder &b) {
  Value x = dequantize(b, 0);
  int64_t rank = b.getRank(x);
  if (!x || rank < 3)
    return b.fail("expected an input of at least 3 dims");
  int64_t first = b.getInt("channels_last", 0) != 0 ? 1 : 2;
  auto axes = llvm::to_vector(llvm::seq<int64_t>(first, first + rank - 2));
  return quantize(
      b, Arithmetic(b).reduce<graph::ReduceMeanOp>(x, axes, /*keepdims=*/true),
      3);
}

/// Scale and zero point of the result, then three operands a piece.
LogicalResult importQLinearConcat(Binder &b) {
  unsigned count = b.getNumOperands();
  if (count < 5 || count % 3 != 2)
    return b.fail("expected a tensor, a scale and a zero point for each piece");
  llvm::SmallVector<Value> pieces;
  for (unsigned i = 2; i < count; i += 3) {
    if (!b.operand(i) || !b.operand(i + 1))
      return b.fail("expected a tensor and a scale for each piece");
    pieces.push_back(dequantize(b, i));
    if (!pieces.back() || b.getRank(pieces.back()) == 0)
      return b.fail("expected pieces of at least one dim");
  }
  int64_t axis = b.getAxis("axis", 0, b.getRank(pieces.front()));
  if (b.hasFailed())
    return mlir::failure();
  Arithmetic a(b);
  Value scaled = a.div(a.concat(pieces, axis), b.operand(0));
  return b.done(
      buildRequantize(b, scaled, b.operand(1), b.getElementType(b.operand(1))));
}

/// product * scale + bias; scales are one, or one a column.
LogicalResult finishProduct(Binder &b, Value product, Value scale, Value bias) {
  Arithmetic a(b);
  mlir::Type f32 = b.builder.getF32Type(), type = b.getElementType(scale);
  Value y = a.mul(b.cast(product, f32), b.cast(scale, f32));
  if (bias)
    y = a.add(y, b.cast(bias, f32));
  return b.done(b.cast(y, type));
}

LogicalResult importMatMulIntegerToFloat(Binder &b) {
  mlir::Type f32 = b.builder.getF32Type();
  if (b.getRank(b.operand(2)) > 0)
    if (auto size = graph::getConstant(graph::getDims(b.operand(2))[0]);
        b.getRank(b.operand(2)) > 1 || size != 1)
      return b.unsupported("expected an a_scale of one number");
  Value product = buildIntegerMatmul(b, b.operand(0), b.operand(4),
                                     b.operand(1), b.operand(5));
  Value scale =
      Arithmetic(b).mul(b.cast(b.operand(2), f32), b.cast(b.operand(3), f32));
  if (!scale || !product)
    return mlir::failure();
  scale = b.cast(scale, b.getElementType(b.operand(2)));
  return finishProduct(b, product, scale, b.operand(6));
}

/// The left operand is quantised to uint8 by its own range first.
LogicalResult importDynamicQuantizeMatMul(Binder &b) {
  Arithmetic a(b);
  Value x = b.operand(0);
  auto dims = llvm::to_vector(llvm::seq<int64_t>(0, b.getRank(x)));
  Value low = a.min(a.reduce<graph::ReduceMinOp>(x, dims), 0.0),
        high = a.max(a.reduce<graph::ReduceMaxOp>(x, dims), 0.0);
  Value scale = a.div(a.sub(high, low), 255.0);
  scale = a.select(a.equal(scale, 0.0), a.like(scale, 1), scale);
  Value zero = a.round(a.min(a.max(a.div(a.neg(low), scale), 0.0), 255.0));
  mlir::Type ui8 = b.builder.getIntegerType(8, /*isSigned=*/false);
  zero = b.cast(zero, ui8);
  Value bytes = buildRequantize(b, a.div(x, scale), zero, ui8);
  Value product =
      buildIntegerMatmul(b, bytes, zero, b.operand(1), b.operand(3));
  return finishProduct(b, product, a.mul(scale, b.operand(2)), b.operand(4));
}

} // namespace

void adze::importer::addMicrosoftQuantizedOps(std::vector<OpRow> &rows) {
  auto add = [&](llvm::StringRef name, unsigned required, Handler handler,
                 llvm::StringRef note = "") {
    rows.push_back(
        {name, 0, required, handler, note, INT32_MAX, "com.microsoft"});
  };
  add("DynamicQuantizeMatMul", 3, importDynamicQuantizeMatMul);
  add("MatMulIntegerToFloat", 4, importMatMulIntegerToFloat,
      "scales per row of the left operand");
  add("QLinearAdd", 2, importQLinearAdd);
  add("QLinearConcat", 5, importQLinearConcat);
  add("QLinearGlobalAveragePool", 2, importQLinearGlobalAveragePool);
  add("QLinearLeakyRelu", 2, importQLinearLeakyRelu);
  add("QLinearMul", 2, importQLinearMul);
  add("QLinearSigmoid", 2, importQLinearSigmoid);
  add("QLinearSoftmax", 2, importQLinearSoftmax);
}
