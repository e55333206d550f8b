// Part of Adze, under the Apache License v2.0 with LLVM Exceptions.
//
// Mixtures of experts of com.microsoft: a loop over the experts, which skips
// those that no token has selected.
#include "../OpTable.h"
#include "Arithmetic.h"
#include "Microsoft.h"

using namespace adze;
using namespace adze::importer;
using mlir::AffineExpr;
using mlir::LogicalResult;
using mlir::Value;

namespace {

/// The operands of one product of an expert; null if absent.
struct Projection {
  Value weights, bias;
  Value scales, zeros; // of quantised weights
  int64_t bits = 0;
};

class Experts {
public:
  Experts(Binder &b, bool isQuantised) : b(b), a(b), isQuantised(isQuantised) {}
  LogicalResult run();

private:
  void getProjections();
  LogicalResult checkForm();
  LogicalResult checkQuantised();
  Value route();
  Value getWeights(const Projection &projection, Value expert);
  Value multiply(Value x, Value expert, const Projection &projection);
  Value gate(Value x, Value up);
  Value activate(Value x, Value hidden, Value expert);
  Value apply(Value x, Value expert);

  Binder &b;
  Arithmetic a;
  bool isQuantised;
  Projection projections[3];
  // Weights of the selected experts, instead of those of the router.
  Value mixing;
  int64_t numExperts = 0;
  llvm::StringRef activation;
};

void Experts::getProjections() {
  for (unsigned i = 0; i < 3; ++i) {
    Projection &p = projections[i];
    if (!isQuantised) {
      p.weights = b.operand(2 + 2 * i);
      p.bias = b.operand(3 + 2 * i);
      continue;
    }
    p.weights = b.operand(2 + 3 * i);
    p.scales = b.operand(3 + 3 * i);
    p.bias = b.operand(4 + 3 * i);
    p.zeros = b.operand(11 + i);
    std::string own = "fc" + std::to_string(i + 1) + "_expert_weight_bits";
    p.bits = b.getInt(own, b.getInt("expert_weight_bits", 4));
  }
  if (isQuantised)
    mixing = b.operand(14);
}

LogicalResult Experts::checkQuantised() {
  if (llvm::StringRef type = b.getString("quant_type", "int"); type != "int")
    return b.unsupported("expected quant_type to be int, but got '" + type +
                         "'");
  if (b.getInt("weights_prepacked", 0) > 0)
    return b.unsupported("expected weights that are not packed before");
  for (unsigned i = 15; i < 21; ++i)
    if (b.operand(i))
      return b.unsupported("expected operand " + llvm::Twine(i) +
                           " to be absent");
  for (const Projection &p : projections) {
    if (!p.weights)
      continue;
    if (p.bits != 2 && p.bits != 4 && p.bits != 8)
      return b.unsupported("expected weights of 2, 4 or 8 bits, but got " +
                           llvm::Twine(p.bits));
    auto type = llvm::cast<mlir::RankedTensorType>(p.weights.getType());
    if (!p.scales || !type.hasStaticShape() ||
        (b.getRank(p.scales) != 2 && b.getRank(p.scales) != 3) ||
        !llvm::cast<mlir::RankedTensorType>(p.scales.getType())
             .hasStaticShape())
      return b.unsupported("expected weights of static size, with scales per "
                           "row or per block");
    if (p.zeros && b.getRank(p.zeros) != b.getRank(p.scales))
      return b.fail("expected zero points of as many dims as the scales");
  }
  return mlir::success();
}

LogicalResult Experts::checkForm() {
  activation = b.getString("activation_type", "relu");
  if (mlir::failed(expectInts(
          b, {{"swiglu_limit_after_activation", 0}, {"use_sparse_mixer", 0}})))
    return mlir::failure();
  constexpr llvm::StringRef known[] = {"relu", "gelu", "silu", "swiglu",
                                       "identity"};
  if (!llvm::is_contained(known, activation))
    return b.unsupported("expected activation_type to be relu, gelu, silu, "
                         "swiglu or identity, but got '" +
                         activation + "'");
  Value router = b.operand(1), first = projections[0].weights;
  for (const Projection &p : projections)
    if (b.getRank(router) != 2 || (p.weights && b.getRank(p.weights) != 3))
      return b.fail("expected router_probs of 2 dims and weights of 3");
  if (!first || !projections[1].weights)
    return b.fail("expected fc1_experts_weights and fc2_experts_weights");
  if (isQuantised && mlir::failed(checkQuantised()))
    return mlir::failure();
  auto count = graph::getConstant(graph::getDims(first)[0]);
  if (!count)
    return b.unsupported("expected a number of experts that is static");
  numExperts = *count;
  int64_t k = b.getInt("k", 1);
  if (k < 1 || k > numExperts)
    return b.fail("expected k in [1, " + llvm::Twine(numExperts) +
                  "], but got " + llvm::Twine(k));
  int64_t fusion = b.getInt("swiglu_fusion", 0);
  if (activation == "swiglu" && (fusion < 0 || fusion > 2 ||
                                 (fusion == 0) != bool(projections[2].weights)))
    return b.fail(
        "expected fc3_experts_weights, or swiglu_fusion to be 1 or 2");
  return mlir::success();
}

/// Returns the weight of each expert for each token, [T, E]: 0 except for the k
/// best.
Value Experts::route() {
  Value router = b.refine(b.operand(1), {AffineExpr(), b.expr(numExperts)});
  Value shares = b.create<graph::SoftmaxOp>(router, b.attr("axis", int64_t(1)));
  if (!shares)
    return {};
  Dims dims = graph::getDims(shares), best{dims[0], b.expr(b.getInt("k", 1))};
  Value values = b.createAs<graph::TopKOp>(
      mlir::TypeRange{graph::makeType(b.getElementType(shares), best),
                      graph::makeType(b.builder.getI64Type(), best)},
      shares, {b.attr("axis", int64_t(1)), b.attr("largest", true)});
  if (!values)
    return {};
  Value places = values.getDefiningOp()->getResult(1);
  if (mixing)
    values = b.create<graph::GatherElementsOp>({b.refine(mixing, dims), places},
                                               b.attr("axis", int64_t(1)));
  if (b.getInt("normalize_routing_weights", 0) != 0)
    values = a.div(values, a.sum(values, {1}, /*keepdims=*/true));
  Value none = b.broadcastTo(a.like(shares, 0), dims);
  return b.create<graph::ScatterElementsOp>({none, places, values},
                                            b.attr("axis", int64_t(1)));
}

/// Returns the weights [N, K] of an expert.
Value Experts::getWeights(const Projection &p, Value expert) {
  Value weights = a.gather(p.weights, expert, 0);
  if (!isQuantised)
    return weights;
  mlir::Type type = b.getElementType(b.operand(0));
  Value scales = b.cast(a.gather(p.scales, expert, 0), type);
  Value numbers = b.cast(unpack(b, weights, p.bits), type);
  if (!numbers || !scales)
    return {};
  Dims dims = graph::getDims(numbers), scaled = graph::getDims(scales);
  // The shape is [N, blocks, K / blocks]; a scale for each row is that of a
  // single block.
  if (scaled.size() == 1)
    scaled.push_back(b.expr(1));
  auto blocks = graph::getConstant(scaled[1]);
  AffineExpr size = *blocks > 0 ? a.quotient(dims[1], *blocks) : AffineExpr();
  if (!size || !graph::areEqual(scaled[0], dims[0])) {
    (void)b.fail("expected scales of all rows and of equal blocks, but got " +
                 graph::toString(scaled) + " for " + graph::toString(dims));
    return {};
  }
  Value zero = b.scalar(type, double(1 << (p.bits - 1)));
  if (p.zeros) {
    zero = unpack(b, a.gather(p.zeros, expert, 0), p.bits);
    int64_t last = b.getRank(zero) - 1;
    zero = b.slice(zero, last, 0, last == 0 ? scaled[0] : scaled[1]);
    zero = b.reshape(b.cast(zero, type), {scaled[0], scaled[1], b.expr(1)});
  }
  numbers = b.reshape(numbers, {dims[0], scaled[1], size});
  numbers = a.mul(a.sub(numbers, zero),
                  b.reshape(scales, {scaled[0], scaled[1], b.expr(1)}));
  return b.reshape(numbers, dims);
}

/// Computes x * W' + bias of an expert.
Value Experts::multiply(Value x, Value expert, const Projection &p) {
  Value y = a.matmul(x, getWeights(p, expert), /*transposeY=*/true);
  return p.bias ? a.add(y, a.gather(p.bias, expert, 0)) : y;
}

/// Computes gate * sigmoid(alpha * gate) * (up + beta), with both clamped.
Value Experts::gate(Value x, Value up) {
  if (b.hasAttribute("swiglu_limit")) {
    double limit = b.getFloat("swiglu_limit", 0.0);
    x = a.min(x, limit);
    up = a.min(a.max(up, -limit), limit);
  }
  Value swish =
      a.mul(x, a.sigmoid(a.mul(x, b.getFloat("activation_alpha", 1.0))));
  return a.mul(swish, a.add(up, b.getFloat("activation_beta", 0.0)));
}

Value Experts::activate(Value x, Value hidden, Value expert) {
  if (!hidden)
    return {};
  if (activation == "swiglu") {
    int64_t fusion = b.getInt("swiglu_fusion", 0);
    if (fusion == 0)
      return gate(hidden, multiply(x, expert, projections[2]));
    Dims dims = graph::getDims(hidden);
    AffineExpr half = a.quotient(dims[1], 2);
    if (!half) {
      (void)b.fail("expected fc1_experts_weights of an even number of rows");
      return {};
    }
    // Pairs are adjacent or separate.
    int64_t axis = fusion == 1 ? 2 : 1;
    Dims pairs = fusion == 1 ? Dims{dims[0], half, b.expr(2)}
                             : Dims{dims[0], b.expr(2), half};
    Value both = b.reshape(hidden, pairs);
    auto part = [&](int64_t i) {
      return b.reshape(b.slice(both, axis, i, b.expr(1)), {dims[0], half});
    };
    return gate(part(0), part(1));
  }
  Value y = hidden;
  if (activation == "relu")
    y = a.max(hidden, 0.0);
  else if (activation == "silu")
    y = a.mul(hidden, a.sigmoid(hidden));
  else if (activation == "gelu")
    y = b.create<graph::GeluOp>(
        hidden, b.attr("approximate",
                       mlir::Attribute(graph::GeluModeAttr::get(
                           b.builder.getContext(), graph::GeluMode::Tanh))));
  return projections[2].weights ? a.mul(y, multiply(x, expert, projections[2]))
                                : y;
}

Value Experts::apply(Value x, Value expert) {
  Value hidden = activate(x, multiply(x, expert, projections[0]), expert);
  return hidden ? multiply(hidden, expert, projections[1]) : Value();
}

LogicalResult Experts::run() {
  Value input = b.operand(0);
  int64_t rank = b.getRank(input);
  if (rank != 2 && rank != 3)
    return b.fail("expected an input of 2 or 3 dims");
  getProjections();
  if (mlir::failed(checkForm()))
    return mlir::failure();
  Value x = rank == 3 ? a.flatten(input, 0, 2) : input;
  Value weights = route();
  if (!x || !weights)
    return mlir::failure();
  // There are as many tokens as the router has rows.
  Dims tokens = graph::getDims(x);
  weights = b.refine(weights, {tokens[0], AffineExpr()});
  Value zero = b.broadcastTo(a.like(x, 0), tokens);
  Binder::Values sums = b.createLoop(
      b.scalar(b.builder.getI64Type(), double(numExperts)), Value(), zero,
      [&](Value expert, mlir::ValueRange carried, Binder::LoopBody &body) {
        Value sum = carried[0];
        Value weight =
            a.gather(weights, b.reshape(expert, {b.expr(1)}), 1); // [T, 1]
        Value isChosen = a.greater(a.sum(weight, {0, 1}), 0.0);
        body.carried = b.createIf(
            isChosen,
            [&](Binder::Values &values) {
              values.push_back(a.add(sum, a.mul(apply(x, expert), weight)));
              return mlir::failure(b.hasFailed());
            },
            [&](Binder::Values &values) {
              values.push_back(sum);
              return mlir::success();
            });
        return mlir::failure(b.hasFailed());
      });
  if (sums.empty())
    return mlir::failure();
  return b.done(b.reshape(sums[0], graph::getDims(input)));
}

template <bool isQuantised>
LogicalResult importExperts(Binder &b) {
  return Experts(b, isQuantised).run();
}

} // namespace

void adze::importer::addMicrosoftExpertsOps(std::vector<OpRow> &rows) {
  rows.push_back({"MoE", 0, 3, importExperts<false>, "sparse mixers", INT32_MAX,
                  "com.microsoft"});
  rows.push_back({"QMoE", 0, 3, importExperts<true>,
                  "sparse mixers, weights of floats or of 3 bits", INT32_MAX,
                  "com.microsoft"});
}
