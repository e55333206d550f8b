// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Optimisers of ai.onnx.preview.training: the update rule of each tensor.
#include "../OpTable.h"
#include "Arithmetic.h"

using namespace adze;
using namespace adze::importer;
using mlir::LogicalResult;
using mlir::Value;

namespace {

/// The operands are learning rate and step, then one group for each tensor: the
/// tensors, their gradients and the state of the optimiser.
class Optimizer {
public:
  Optimizer(Binder &b, unsigned groups)
      : b(b), a(b), count((b.getNumOperands() - 2) / groups) {
    if (b.getNumOperands() < 2 || (b.getNumOperands() - 2) % groups != 0)
      (void)b.fail("expected a rate, a step and " + llvm::Twine(groups) +
                   " operands a tensor");
    for (Value operand : b.getOperands())
      if (!operand)
        (void)b.fail("expected all operands to be present");
  }

  Value operand(unsigned group, unsigned i) {
    return b.operand(2 + group * count + i);
  }
  Value getRate(mlir::Type type) {
    return b.cast(b.reshape(b.operand(0), {}), type);
  }
  Value getStep(mlir::Type type) {
    return b.cast(b.reshape(b.operand(1), {}), type);
  }
  /// Returns the gradient plus the regularization of the tensor.
  Value getGradient(unsigned i) {
    double share = b.getFloat("norm_coefficient", 0.0);
    Value x = operand(0, i), gradient = operand(1, i);
    return share == 0 ? gradient : a.add(a.mul(x, share), gradient);
  }

  Binder &b;
  Arithmetic a;
  unsigned count;
};

LogicalResult importAdagrad(Binder &b) {
  Optimizer o(b, 3);
  if (b.hasFailed())
    return mlir::failure();
  llvm::SmallVector<Value> tensors, squares;
  for (unsigned i = 0; i < o.count; ++i) {
    Value x = o.operand(0, i), g = o.getGradient(i);
    mlir::Type type = b.getElementType(x);
    double decay = b.getFloat("decay_factor", 0.0);
    Value rate =
        o.a.div(o.getRate(type), o.a.add(o.a.mul(o.getStep(type), decay), 1.0));
    Value h = o.a.add(o.operand(2, i), o.a.mul(g, g));
    Value root = o.a.add(o.a.sqrt(h), b.getFloat("epsilon", 0.0));
    tensors.push_back(o.a.sub(x, o.a.div(o.a.mul(rate, g), root)));
    squares.push_back(h);
  }
  tensors.append(squares);
  return b.done(tensors);
}

LogicalResult importAdam(Binder &b) {
  Optimizer o(b, 4);
  if (b.hasFailed())
    return mlir::failure();
  double alpha = b.getFloat("alpha", double(0.9f)),
         beta = b.getFloat("beta", double(0.999f)),
         after = b.getFloat("norm_coefficient_post", 0.0);
  llvm::SmallVector<Value> tensors, means, squares;
  for (unsigned i = 0; i < o.count; ++i) {
    Value x = o.operand(0, i), g = o.getGradient(i);
    mlir::Type type = b.getElementType(x);
    Value v = o.a.add(o.a.mul(o.operand(2, i), alpha), o.a.mul(g, 1 - alpha));
    Value h = o.a.add(o.a.mul(o.operand(3, i), beta),
                      o.a.mul(o.a.mul(g, g), 1 - beta));
    Value rate = o.getRate(type), step = o.getStep(type);
    auto left = [&](double factor) { // 1 - factor^step
      return o.a.sub(1.0, o.a.pow(b.scalar(type, factor), step));
    };
    Value adjusted = o.a.div(o.a.mul(rate, o.a.sqrt(left(beta))), left(alpha));
    rate = o.a.select(o.a.greater(step, 0.0), adjusted, rate);
    Value root = o.a.add(o.a.sqrt(h), b.getFloat("epsilon", double(1e-6f)));
    Value next = o.a.sub(x, o.a.div(o.a.mul(rate, v), root));
    tensors.push_back(after == 0 ? next : o.a.mul(next, 1 - after));
    means.push_back(v);
    squares.push_back(h);
  }
  tensors.append(means);
  tensors.append(squares);
  return b.done(tensors);
}

LogicalResult importMomentum(Binder &b) {
  Optimizer o(b, 3);
  if (b.hasFailed())
    return mlir::failure();
  llvm::StringRef mode = b.getString("mode", "standard");
  if (mode != "standard" && mode != "nesterov")
    return b.fail("expected mode to be standard or nesterov, but got '" + mode +
                  "'");
  double alpha = b.getFloat("alpha", 0.0), beta = b.getFloat("beta", 0.0);
  llvm::SmallVector<Value> tensors, momenta;
  for (unsigned i = 0; i < o.count; ++i) {
    Value x = o.operand(0, i), g = o.getGradient(i);
    mlir::Type type = b.getElementType(x);
    Value share = o.a.select(o.a.greater(o.getStep(type), 0.0),
                             b.scalar(type, beta), b.scalar(type, 1.0));
    Value v = o.a.add(o.a.mul(o.operand(2, i), alpha), o.a.mul(share, g));
    Value move = mode == "standard" ? v : o.a.add(g, o.a.mul(v, alpha));
    tensors.push_back(o.a.sub(x, o.a.mul(o.getRate(type), move)));
    momenta.push_back(v);
  }
  tensors.append(momenta);
  return b.done(tensors);
}

} // namespace

void adze::importer::addTrainingOps(std::vector<OpRow> &rows) {
  constexpr llvm::StringRef domain = "ai.onnx.preview.training";
  rows.insert(rows.end(),
              {
                  {"Adagrad", 1, 5, importAdagrad, "", INT32_MAX, domain},
                  {"Adam", 1, 6, importAdam, "", INT32_MAX, domain},
                  {"Momentum", 1, 5, importMomentum, "", INT32_MAX, domain},
              });
}
