// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Operators of com.microsoft that the optimizer of ONNX Runtime fuses:
// convolutions and products with activations, and group norm with adjacent
// operators.
#include "../OpTable.h"
#include "Arithmetic.h"
#include "Contraction.h"

using namespace adze;
using namespace adze::importer;
using mlir::LogicalResult;
using mlir::Value;

namespace {

/// Applies the activation of an attribute, with its parameters.
Value activate(Binder &b, Value x, llvm::ArrayRef<double> params) {
  Arithmetic a(b);
  llvm::StringRef name = b.getString("activation", "");
  auto has = [&](size_t count) {
    if (params.size() >= count)
      return true;
    (void)b.fail("expected " + llvm::Twine(count) + " parameters of '" + name +
                 "', but got " + llvm::Twine(params.size()));
    return false;
  };
  if (name.empty() || !x)
    return x;
  if (name == "Relu")
    return a.max(x, 0.0);
  if (name == "Sigmoid")
    return a.sigmoid(x);
  if (name == "Tanh")
    return a.tanh(x);
  if (name == "LeakyRelu")
    return has(1) ? a.select(a.less(x, 0.0), a.mul(x, params[0]), x) : Value();
  if (name == "Clip")
    return has(2) ? a.min(a.max(x, params[0]), params[1]) : Value();
  if (name == "HardSigmoid")
    return has(2) ? a.min(a.max(a.add(a.mul(x, params[0]), params[1]), 0.0), 1)
                  : Value();
  (void)b.unsupported("expected activation to be Relu, Sigmoid, Tanh, "
                      "LeakyRelu, Clip or HardSigmoid, but got '" +
                      name + "'");
  return {};
}

/// Applies the activation of a convolution `y`, after Z is added.
Value finishFusedConv(Binder &b, Value y, Value z) {
  if (z)
    y = Arithmetic(b).add(y, z);
  std::vector<double> params;
  if (const Attribute *given = b.node.find("activation_params"))
    params = given->floats;
  return activate(b, y, params);
}

LogicalResult importFusedConv(Binder &b) {
  Value y = buildConv(b, b.operand(0), b.operand(1), b.operand(2));
  y = finishFusedConv(b, y, b.operand(3));
  return y ? b.done(y) : mlir::failure();
}

LogicalResult importFusedGemm(Binder &b) {
  Value y = activate(b, buildGemm(b),
                     {b.getFloat("activation_alpha", 0.0),
                      b.getFloat("activation_beta", 0.0)});
  return y ? b.done(y) : mlir::failure();
}

/// Moves the channels after the batch, or back to the end.
Value moveChannels(Binder &b, Value x, bool toFront) {
  if (!x)
    return {};
  int64_t rank = b.getRank(x);
  auto perm = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  if (rank > 1 && toFront)
    std::rotate(perm.begin() + 1, perm.end() - 1, perm.end());
  else if (rank > 1)
    std::rotate(perm.begin() + 1, perm.begin() + 2, perm.end());
  return b.transpose(x, perm);
}

/// Convolves [N, .., C] by [M, .., C / group].
LogicalResult importNhwcConv(Binder &b) {
  Value y =
      buildConv(b, moveChannels(b, b.operand(0), /*toFront=*/true),
                moveChannels(b, b.operand(1), /*toFront=*/true), b.operand(2));
  return y ? b.done(moveChannels(b, y, /*toFront=*/false)) : mlir::failure();
}

/// The weights are [M, C / group, ..], unlike those of NhwcConv.
LogicalResult importNhwcFusedConv(Binder &b) {
  Value y = buildConv(b, moveChannels(b, b.operand(0), /*toFront=*/true),
                      b.operand(1), b.operand(2));
  y = finishFusedConv(b, y, moveChannels(b, b.operand(3), /*toFront=*/true));
  return y ? b.done(moveChannels(b, y, /*toFront=*/false)) : mlir::failure();
}

//===----------------------------------------------------------------------===//
// Normalisation
//===----------------------------------------------------------------------===//

/// Computes group norm in the type of the scale, with an optional SiLU.
Value normalizeGroups(Binder &b, Value x) {
  Arithmetic a(b);
  int64_t activation = b.getInt("activation", 0);
  if (activation != 0 && activation != 1) {
    (void)b.fail("expected activation to be 0 (none) or 1 (SiLU), but got " +
                 llvm::Twine(activation));
    return {};
  }
  if (!x || b.getRank(x) < 2) {
    (void)b.fail("expected an input of at least 2 dims");
    return {};
  }
  bool isLast = b.getInt("channels_last", 1) != 0;
  mlir::Type type = b.getElementType(x);
  Value scale = b.operand(1), shift = b.operand(2);
  Value wide = b.cast(x, b.getElementType(scale));
  Value y = b.create<graph::GroupNormOp>(
      {isLast ? moveChannels(b, wide, /*toFront=*/true) : wide, scale, shift},
      {b.attr("groups", b.getInt("groups", 0)),
       b.attr("epsilon", b.getFloat("epsilon", double(1e-5f)))});
  if (activation == 1)
    y = a.mul(y, a.sigmoid(y));
  return b.cast(isLast ? moveChannels(b, y, /*toFront=*/false) : y, type);
}

LogicalResult importGroupNorm(Binder &b) {
  Value y = normalizeGroups(b, b.operand(0));
  return y ? b.done(y) : mlir::failure();
}

/// Normalizes input + skip + bias, which is an output, too. Skip may be [N, C].
LogicalResult importSkipGroupNorm(Binder &b) {
  Arithmetic a(b);
  Value x = b.operand(0), skip = b.operand(3), bias = b.operand(4);
  int64_t rank = b.getRank(x);
  bool isLast = b.getInt("channels_last", 1) != 0;
  if (rank < 2)
    return b.fail("expected an input of at least 2 dims");
  if (b.getRank(skip) == 2 && rank > 2) {
    int64_t first = isLast ? 1 : 2;
    skip = b.unsqueeze(
        skip, llvm::to_vector(llvm::seq<int64_t>(first, first + rank - 2)));
  }
  Value sum = a.add(x, skip);
  if (bias)
    sum = a.add(sum, isLast ? bias : b.alongAxis(bias, 1, rank));
  Value y = normalizeGroups(b, sum);
  return y ? b.done({y, sum}) : mlir::failure();
}

/// Computes softmax(data + bias) over all dims from `axis` on. The bias
/// broadcasts along the dims before it: the inner ones or the outer ones.
LogicalResult importBiasSoftmax(Binder &b) {
  Value x = b.operand(0);
  int64_t rank = b.getRank(x), axis = b.getAxis("axis", 1, rank);
  if (b.hasFailed() || b.getRank(b.operand(1)) > rank)
    return b.fail("expected a bias of at most as many dims as the data");
  Arithmetic a(b);
  Dims dims = graph::getDims(x);
  Value sum = a.flatten(a.add(x, b.operand(1)), axis, rank);
  Value y = b.create<graph::SoftmaxOp>(sum, b.attr("axis", axis));
  return y ? b.done(b.reshape(y, dims)) : mlir::failure();
}

} // namespace

void adze::importer::addMicrosoftFusedOps(std::vector<OpRow> &rows) {
  auto add = [&](llvm::StringRef name, unsigned required, Handler handler) {
    rows.push_back(
        {name, 0, required, handler, "", INT32_MAX, "com.microsoft"});
  };
  add("BiasSoftmax", 2, importBiasSoftmax);
  add("FusedConv", 2, importFusedConv);
  add("FusedGemm", 2, importFusedGemm);
  add("GroupNorm", 3, importGroupNorm);
  add("NhwcConv", 2, importNhwcConv);
  add("NhwcFusedConv", 2, importNhwcFusedConv);
  add("SkipGroupNorm", 4, importSkipGroupNorm);
}
